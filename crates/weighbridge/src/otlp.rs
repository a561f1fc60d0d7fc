//! The metrics of a run sent to a collector of OpenTelemetry: OTLP over HTTP, in protobuf.
//!
//! It has a thread of its own that takes the latest there is, so a collector that is slow or gone holds nothing up. As
//! counters count from the start of the run, what could not be sent is in what is sent next.

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use percent_encoding::percent_decode_str;
use prost::Message;
use record::run::Target;
use report::Families;
use report::otlp::message::ExportMetricsServiceResponse;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::{oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Time from one export to the next.
const EVERY: Duration = Duration::from_secs(5);

/// The longest that one may take, as OpenTelemetry has it.
const LONGEST: Duration = Duration::from_secs(10);

/// The longest that the last one may take, for which the end of the run waits.
const LAST: Duration = Duration::from_secs(3);

/// Where a collector listens where nobody says.
const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:4318";

/// The environment's part: where to, what else to send, and whom to trust. These are OpenTelemetry's own names.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const CERTIFICATE: &str = "OTEL_EXPORTER_OTLP_CERTIFICATE";

/// What is sent next.
#[derive(Clone)]
struct Export {
    families: Arc<Families>,
    resource: Arc<[(&'static str, String)]>,
    at: SystemTime,
}

/// Exports until it ends, then once more.
pub(crate) struct Exporter {
    told: watch::Sender<Option<Export>>,
    instance: String,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Exporter {
    /// Begins to export to the collector at `endpoint`, or where the environment says if it is empty.
    ///
    /// # Errors
    /// What is wrong with the endpoint or with the environment, without any secret in it.
    pub(crate) fn start(endpoint: &str) -> Result<Self, String> {
        let link = Link::new(endpoint)?;
        let start = SystemTime::now();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        let (told, tells) = watch::channel(None);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(export(link, start, tells, stopped));
            // A name that is still being looked up is not waited for.
            runtime.shutdown_background();
        });
        let since = start.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let instance = format!("{since:x}-{:x}", std::process::id());
        Ok(Exporter { told, instance, running: Some((stop, thread)) })
    }

    /// Puts these in the place of those before.
    pub(crate) fn tell(&mut self, families: Arc<Families>, target: &Target) {
        let database = if target.kind == "postgres" { "postgresql" } else { &target.kind };
        let resource = [
            ("service.name", "weighbridge"),
            ("service.version", env!("CARGO_PKG_VERSION")),
            ("service.instance.id", &self.instance),
            ("db.system.name", database),
        ];
        let resource = resource.map(|(name, value)| (name, value.to_owned())).into();
        self.told.send_replace(Some(Export { families, resource, at: SystemTime::now() }));
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            let _ = stop.send(());
            let _ = thread.join();
        }
    }
}

/// Exports what is told every few seconds, and what was told last when it is stopped.
async fn export(
    link: Link,
    start: SystemTime,
    mut tells: watch::Receiver<Option<Export>>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut said = false;
    let mut say = |sent: Result<(), String>| {
        if let Err(why) = sent
            && !std::mem::replace(&mut said, true)
        {
            say!("warning: metrics can't be exported to {}: {why} (said once)", link.shown);
        }
    };
    loop {
        let mut next = async || {
            ticks.tick().await;
            let told = tells.borrow_and_update().clone();
            match told {
                Some(told) => link.send(&told, start).await,
                None => Ok(()),
            }
        };
        tokio::select! {
            _ = &mut stopped => break,
            sent = next() => say(sent),
        }
    }
    let told = tells.borrow().clone();
    if let Some(told) = told {
        say(timeout(LAST, link.send(&told, start)).await.unwrap_or_else(|_| Err("no answer at the end".to_owned())));
    }
}

/// A way to the collector.
struct Link {
    client: Client,
    url: Url,
    /// The endpoint as it may be said.
    shown: String,
}

impl Link {
    fn new(endpoint: &str) -> Result<Self, String> {
        let environment = std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
        let (source, text) = match (endpoint, environment) {
            ("", Some(text)) => (ENDPOINT, text),
            ("", None) => ("--otlp", DEFAULT_ENDPOINT.to_owned()),
            (given, _) => ("--otlp", given.to_owned()),
        };
        let wrong = || format!("{source}: such as {DEFAULT_ENDPOINT} or https://collector.example:4318");
        let mut url = Url::parse(&text).ok().filter(|url| url.has_host()).ok_or_else(wrong)?;
        if !matches!(url.scheme(), "http" | "https") || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(format!("{source}: what gives access goes into {HEADERS}, not into the URL"));
        }
        let shown = url.to_string();
        url.set_path(&format!("{}/v1/metrics", url.path().trim_end_matches('/')));
        let client = Client::builder()
            .tls_backend_preconfigured(tls()?)
            .default_headers(headers(&std::env::var(HEADERS).unwrap_or_default())?)
            // Elsewhere the headers are nobody's business.
            .redirect(Policy::none())
            .timeout(LONGEST)
            .build()
            .map_err(|e| format!("{source}: {}", innermost(&e)))?;
        Ok(Link { client, url, shown })
    }

    /// Sends it, and sees whether all was taken.
    async fn send(&self, told: &Export, start: SystemTime) -> Result<(), String> {
        let body = told.families.otlp(&told.resource, start, told.at);
        let sent = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/x-protobuf").body(body);
        let answer = sent.send().await.map_err(|e| innermost(&e))?;
        if !answer.status().is_success() {
            return Err(format!("the answer is {}", answer.status()));
        }
        let body = answer.bytes().await.map_err(|e| innermost(&e))?;
        let taken = ExportMetricsServiceResponse::decode(body).unwrap_or_default().partial_success.unwrap_or_default();
        match taken.rejected_data_points {
            0 => Ok(()),
            refused => Err(format!("{refused} data points were refused: {}", taken.error_message.replace('\n', " "))),
        }
    }
}

/// What is at the bottom of an error, which is what can be done something about.
fn innermost(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause.to_string()
}

/// Trust in the public authorities, or in those of the file that the environment names.
fn tls() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match std::env::var(CERTIFICATE).ok().filter(|file| !file.is_empty()) {
        Some(file) => {
            let wrong = |why: String| format!("{CERTIFICATE}: {file}: {why}");
            let bytes = fs::read(&file).map_err(|e| wrong(e.to_string()))?;
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                let certificate = certificate.map_err(|e| wrong(e.to_string()))?;
                roots.add(certificate).map_err(|e| wrong(e.to_string()))?;
            }
            if roots.is_empty() {
                return Err(wrong("no certificate in it".to_owned()));
            }
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(config.map_err(|e| e.to_string())?.with_root_certificates(roots).with_no_client_auth())
}

/// Reads `name=value,name=value`, values percent-encoded.
fn headers(text: &str) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (number, pair) in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).enumerate() {
        let read = || {
            let (name, value) = pair.split_once('=')?;
            let name: HeaderName = name.trim().parse().ok()?;
            let value: Vec<u8> = percent_decode_str(value.trim()).collect();
            let mut value = HeaderValue::from_bytes(&value).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        // It may be a secret, so it is not repeated.
        let (name, value) = read().ok_or_else(|| format!("{HEADERS}: number {} is no name=value", number + 1))?;
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_never_repeated() {
        let found = headers("authorization=Bearer%20a%3Db, x-scope = t1,").unwrap_or_default();
        assert_eq!(found["authorization"], "Bearer a=b");
        assert_eq!(found["x-scope"], "t1");
        assert!(!format!("{found:?}").contains("Bearer"));
        let why = headers("a=b,sesame").expect_err("no pair");
        assert!(why.contains("number 2") && !why.contains("sesame"), "{why}");
    }
}
