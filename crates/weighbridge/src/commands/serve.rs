//! `weighbridge serve`: a web page over a folder of results.

use serve::{Options, ServeError, Server, Token};

use super::{Ended, Failure, Status};
use crate::cli::ServeArgs;
use crate::{interrupt, output};

/// The token, for those who would rather not keep it in a file.
const TOKEN: &str = "WEIGHBRIDGE_TOKEN";

pub(crate) fn run(args: &ServeArgs) -> Ended {
    let token = token(args)?;
    let mut stop = interrupt::stop();
    let options = Options {
        folder: args.folder.clone(),
        listen: args.listen,
        names: args.names.clone(),
        token,
        writable: args.writable,
    };
    let server = Server::bind(options).map_err(|e| match e {
        ServeError::Open(_) => Failure::Usage(e.to_string()),
        e => Failure::from(e),
    })?;
    output::print(&format!("http://{}/", server.address()))?;
    eprintln!("serving {}; Ctrl-C ends it", args.folder.display());
    server.run(async move {
        // Whether a signal came or nobody can send one any more: it is over.
        let _ = stop.wait_for(|stop| *stop).await;
    })?;
    Ok(Status::Done)
}

fn token(args: &ServeArgs) -> Result<Option<Token>, Failure> {
    let (from, text) = match &args.token_file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|e| Failure::Usage(format!("{}: {e}", file.display())))?;
            (file.display().to_string(), text)
        }
        None => match std::env::var(TOKEN) {
            Ok(text) => (TOKEN.to_owned(), text),
            Err(_) => return Ok(None),
        },
    };
    Token::new(&text).map(Some).map_err(|why| Failure::Usage(format!("{from}: {why}")))
}
