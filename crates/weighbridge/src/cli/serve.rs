//! Arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Where runs leave their folders if they are not told.
pub(crate) const USUAL_RESULTS: &str = "results";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge serve\n  weighbridge serve /srv/results --listen 127.0.0.1:0\n  \
    weighbridge serve --listen 0.0.0.0:8080 --token-file token --name bench.example.org")]
pub(crate) struct ServeArgs {
    /// The folder of results; the usual one is made if it is not there yet
    #[arg(value_name = "DIR", default_value = USUAL_RESULTS)]
    pub(crate) folder: PathBuf,
    /// Where to listen; port 0 takes any that is free. The page's address is the first line of standard output
    ///
    /// Any address but this machine's own (127.0.0.1, ::1) needs a token.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Another name by which the server is asked for, such as that of a proxy before it
    #[arg(long = "name", value_name = "HOST", value_parser = host)]
    pub(crate) names: Vec<String>,
    /// A file with the token that whoever asks must show, of 16 characters at least [env: WEIGHBRIDGE_TOKEN is the token]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let tags be changed; they are kept in tags.json of the folder
    #[arg(long)]
    pub(crate) writable: bool,
}

/// A name alone: with a scheme or a port no request could match it.
fn host(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if is_name || text.parse::<std::net::IpAddr>().is_ok() {
        Ok(text.to_owned())
    } else {
        Err("it is to be a name alone, without scheme and port, such as bench.example.org".to_owned())
    }
}
