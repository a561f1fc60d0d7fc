//! `weighbridge serve`: a web page over a folder of results.

use std::env::VarError;
use std::path::Path;

use serve::{Options, ServeError, Server, Token};

use super::{Ended, Failure, Status};
use crate::cli::{ServeArgs, USUAL_RESULTS};
use crate::{interrupt, output};

/// The token, for those who would rather not keep it in a file.
const TOKEN: &str = "WEIGHBRIDGE_TOKEN";

pub(crate) fn run(args: &ServeArgs) -> Ended {
    let token = token(args)?;
    make_usual_folder(&args.folder)?;
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
    say!("serving {}; Ctrl-C ends it", args.folder.display());
    server.run(async move {
        // Whether a signal came or nobody can send one any more: it is over.
        let _ = stop.wait_for(|stop| *stop).await;
    })?;
    Ok(Status::Done)
}

/// Makes the folder that runs use where nobody names one: who looks before the first run is to see it come.
fn make_usual_folder(folder: &Path) -> Result<(), Failure> {
    if folder == Path::new(USUAL_RESULTS) && !folder.exists() {
        std::fs::create_dir(folder).map_err(|e| Failure::Failed(format!("can't make {}: {e}", folder.display())))?;
    }
    Ok(())
}

fn token(args: &ServeArgs) -> Result<Option<Token>, Failure> {
    let (from, text) = match &args.token_file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|e| Failure::Usage(format!("{}: {e}", file.display())))?;
            (file.display().to_string(), text)
        }
        None => match std::env::var(TOKEN) {
            Ok(text) => (TOKEN.to_owned(), text),
            Err(VarError::NotPresent) => return Ok(None),
            // What it is is not shown.
            Err(VarError::NotUnicode(_)) => return Err(Failure::Usage(format!("{TOKEN}: it is no text in UTF-8"))),
        },
    };
    Token::new(&text).map(Some).map_err(|why| Failure::Usage(format!("{from}: {why}")))
}
