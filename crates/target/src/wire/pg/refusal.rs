//! What a server refuses, and classing it by its code.

use super::line::lost;
use crate::routine::INTEGRITY_STATE;
use crate::{Class, Error};

/// Codes that ask for another attempt: serialization failure, deadlock, lock not available.
const RETRY: [&str; 3] = ["40001", "40P01", "55P03"];

pub(super) fn garbled() -> Refusal {
    Refusal::Lost(lost("a message that can't be read"))
}

pub(super) fn unexpected(tag: u8) -> Refusal {
    Refusal::Lost(lost(&format!("a message `{}` where none may be", tag.escape_ascii())))
}

/// Why an answer is not what was asked for.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The server's ErrorResponse.
    Said { code: String, message: String },
    /// There is no talking to it any more.
    Lost(Error),
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Self {
        Refusal::Lost(e)
    }
}

impl Refusal {
    /// Reads an ErrorResponse: fields of a letter and a text each.
    pub(super) fn read(body: &[u8]) -> Self {
        let (mut code, mut message, mut detail) = (String::new(), String::new(), None);
        for field in body.split(|byte| *byte == 0) {
            let Some((letter, text)) = field.split_first() else { continue };
            let text = String::from_utf8_lossy(text);
            match letter {
                b'C' => code = text.into_owned(),
                b'M' => message = text.into_owned(),
                b'D' => detail = Some(text.into_owned()),
                _ => {}
            }
        }
        Refusal::Said { code, message: one_line(&message, detail.as_deref()) }
    }

    pub(super) fn error(self) -> Error {
        match self {
            Refusal::Said { code, message } => classed(code, message),
            Refusal::Lost(e) => e,
        }
    }

    /// The same, where the server closed the connection behind it.
    pub(super) fn error_of_lost(self) -> Error {
        match self {
            Refusal::Said { code, message } => Error::new(Class::Lost, Some(code), message),
            Refusal::Lost(e) => e,
        }
    }
}

fn one_line(message: &str, detail: Option<&str>) -> String {
    let text = detail.map_or(message.to_owned(), |detail| format!("{message}: {detail}"));
    text.replace('\n', " ")
}

/// The code of what comes in a transaction that has failed.
pub(super) const FAILED_TRANSACTION: &str = "25P02";

/// Beginnings of codes that say: the connection, or this way into the cluster, is of no more use. Nothing is committed
/// unless COMMIT was under way; then nobody knows (of 40003 that is the very meaning).
///
/// `08` connection, `57P` the server goes down, `25006` it no longer takes writes (another is the primary now); CockroachDB's `40003` ambiguous result, `58C0` a range or node can't be reached.
const LOST: [&str; 5] = ["08", "57P", "25006", "40003", "58C0"];

/// Classes an error by its SQLSTATE, never by its text.
pub(super) fn classed(code: String, mut message: String) -> Error {
    let hint = match code.as_str() {
        "3D000" => ": create it first (CREATE DATABASE)",
        "53300" => ": ask for fewer --connections, or raise max_connections at the server",
        // Statements prepared over one server connection, used over another.
        "26000" | "42P05" => ": is a pooler in transaction mode in front? Connect to the server, or pool by session",
        "28000" if message.contains("no encryption") => ": add ?sslmode=require to the URL",
        _ => "",
    };
    let class = if RETRY.contains(&code.as_str()) {
        Class::Retry
    } else if LOST.iter().any(|lost| code.starts_with(lost)) {
        Class::Lost
    } else if code == INTEGRITY_STATE {
        Class::Integrity
    } else {
        Class::Permanent
    };
    message.push_str(hint);
    Error::new(class, Some(code), message)
}

/// A refusal met while the connection was opened.
pub(super) fn refusal(e: tokio_postgres::Error) -> Error {
    match e.as_db_error() {
        Some(db) => classed(db.code().code().to_owned(), one_line(db.message(), db.detail())),
        None => {
            let cause = std::error::Error::source(&e).map(|cause| format!(": {cause}")).unwrap_or_default();
            Error::new(Class::Lost, None, format!("{e}{cause}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line_and_classed_by_its_code() {
        let said = |fields: &[u8]| Refusal::read(fields).error();
        let conflict = said(b"SERROR\0VERROR\0C40001\0Mcould not\nserialize\0Dreason\0\0");
        assert_eq!((conflict.class(), conflict.to_string().lines().count()), (Class::Retry, 1));
        assert!(conflict.to_string().contains("could not serialize: reason"), "{conflict}");
        assert_eq!(said(b"C57P01\0Mgoing\0\0").class(), Class::Lost);
        assert_eq!(said(b"C25006\0Mread-only\0\0").class(), Class::Lost);
        assert_eq!(said(b"C23505\0Mtwice\0\0").class(), Class::Permanent);
    }
}
