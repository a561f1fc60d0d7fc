//! TLS, where the server's certificate is always verified: what a URL asks for, and the cryptography of all wires.

use std::path::Path;
use std::sync::Arc;

use crate::UrlError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Chooses the cryptography of this process, unless it is chosen: rustls can't choose if another library of the program
/// brings a second one.
fn choose_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// What a URL asks for.
#[derive(Debug, Default)]
pub(crate) struct Tls<'a> {
    /// Whether TLS at all; `None`: nothing was said.
    pub(crate) wanted: Option<bool>,
    /// Whether a certificate of the authority is enough, whatever name is in it.
    pub(crate) any_name: bool,
    /// Authorities to trust, in place of the public ones.
    pub(crate) root_certificates: Option<&'a str>,
    /// The client's own certificate.
    pub(crate) certificate: Option<&'a str>,
    /// Its key.
    pub(crate) key: Option<&'a str>,
}

impl Tls<'_> {
    /// Reads its files; `None` where TLS is not asked for.
    ///
    /// # Errors
    /// The file that can't be used, and why; files without a word that TLS is wanted, which `mode` would be.
    pub(crate) fn client(&self, mode: &str) -> Result<Option<Arc<ClientConfig>>, UrlError> {
        let files = [self.root_certificates, self.certificate, self.key];
        match self.wanted {
            Some(true) => {}
            Some(false) => return Ok(None),
            None if files.iter().all(Option::is_none) => return Ok(None),
            None => return Err(format!("the URL names files for TLS and doesn't ask for it: add {mode}").into()),
        }
        let mut roots = RootCertStore::empty();
        match self.root_certificates {
            Some(file) => {
                for certificate in certificates(file)? {
                    roots.add(certificate).map_err(|e| format!("{file}: {e}"))?;
                }
            }
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        }
        choose_cryptography();
        let verifier = WebPkiServerVerifier::builder(Arc::new(roots)).build().map_err(|e| e.to_string())?;
        let config = if self.any_name {
            ClientConfig::builder().dangerous().with_custom_certificate_verifier(Arc::new(AnyName(verifier)))
        } else {
            ClientConfig::builder().with_webpki_verifier(verifier)
        };
        let config = match (self.certificate, self.key) {
            (None, None) => config.with_no_client_auth(),
            (Some(certificate), Some(key)) => {
                let private = PrivateKeyDer::from_pem_file(Path::new(key)).map_err(|e| format!("{key}: {e}"))?;
                let chain = certificates(certificate)?;
                config.with_client_auth_cert(chain, private).map_err(|e| format!("{certificate}, {key}: {e}"))?
            }
            _ => return Err("a client's certificate and its key go together: name both files, or none".into()),
        };
        Ok(Some(Arc::new(config)))
    }
}

/// Verifies that a certificate is the authority's, and leaves out whose name is in it.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // The name is checked last.
        match self.0.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, UrlError> {
    let unusable = |e: rustls::pki_types::pem::Error| UrlError::from(format!("{file}: {e}"));
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(Path::new(file)).map_err(unusable)?.collect();
    match found.map_err(unusable)? {
        none if none.is_empty() => Err(format!("{file}: no certificate in PEM form").into()),
        found => Ok(found),
    }
}
