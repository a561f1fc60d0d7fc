//! TLS on the PostgreSQL wire, where the server's certificate and name are always verified; and the cryptography of both wires.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// Chooses the cryptography of this process, unless somebody has: where another library of the program brings a second
/// one, rustls can't choose by itself.
pub(crate) fn choose_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The files that a URL names.
#[derive(Debug, Default)]
pub(crate) struct Files<'a> {
    /// Authorities to trust, in place of the public ones.
    pub(crate) root_certificates: Option<&'a str>,
    /// The client's own certificate.
    pub(crate) certificate: Option<&'a str>,
    /// Its key.
    pub(crate) key: Option<&'a str>,
}

impl Files<'_> {
    /// Reads them.
    ///
    /// # Errors
    /// The file that can't be used, and why.
    pub(crate) fn client(&self) -> Result<Arc<ClientConfig>, String> {
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
        let config = ClientConfig::builder().with_root_certificates(roots);
        let config = match (self.certificate, self.key) {
            (None, None) => config.with_no_client_auth(),
            (Some(certificate), Some(key)) => {
                let private = PrivateKeyDer::from_pem_file(Path::new(key)).map_err(|e| format!("{key}: {e}"))?;
                let chain = certificates(certificate)?;
                config.with_client_auth_cert(chain, private).map_err(|e| format!("{certificate}, {key}: {e}"))?
            }
            _ => return Err("sslcert and sslkey go together: name both files, or none".into()),
        };
        Ok(Arc::new(config))
    }
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let unusable = |e: rustls::pki_types::pem::Error| format!("{file}: {e}");
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(Path::new(file)).map_err(unusable)?.collect();
    match found.map_err(unusable)? {
        none if none.is_empty() => Err(format!("{file}: no certificate in PEM form")),
        found => Ok(found),
    }
}
