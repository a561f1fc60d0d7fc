//! What stands around every page, and the headers that every answer has.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use report::Page;

/// Everything is fetched from here, by addresses; nothing in a page is run, whatever should have got into it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of every answer. With a policy of `no-referrer` browsers would not tell where a change comes from.
pub(crate) const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (CACHE_CONTROL, "no-store"),
];

pub(crate) fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// How wide a page is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// As wide as text is read well.
    Text,
    /// As wide as tables need.
    Table,
}

/// The way from the list to where the reader is.
pub(crate) struct Breadcrumb<'a> {
    /// The kind of page, or its name.
    pub(crate) here: &'a str,
    /// The series that it belongs to: its name and its link.
    pub(crate) series: Option<(String, String)>,
}

/// A page in its frame.
pub(crate) fn framed(
    status: StatusCode,
    page: &Page,
    way: Option<&Breadcrumb<'_>>,
    width: Width,
    refresh: bool,
) -> Response {
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) " · weighbridge" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/style.css";
                script src="/script.js" defer {}
                @if refresh {
                    script src="/live.js" defer {}
                    // Without a script the page is fetched again.
                    noscript { meta http-equiv="refresh" content="5"; }
                }
            }
            body class=(if width == Width::Table { "broad" } else { "text" }) {
                a.skip href="#main" { "Skip to the content" }
                @if let Some(way) = way { (path(way)) }
                (page.header)
                main id="main" { (page.content) }
                footer { (page.footer) }
            }
        }
    };
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], text.into_string()).into_response()
}

fn path(way: &Breadcrumb<'_>) -> Markup {
    html! {
        nav.way aria-label="Where you are" {
            ol {
                li { a href="/" { "All results" } }
                @if let Some((name, link)) = &way.series { li { a href=(link) { (name) } } }
                li { span aria-current="page" { (way.here) } }
            }
        }
    }
}

/// A page that says why there is nothing to be seen.
pub(crate) fn refused(status: StatusCode, title: &str, why: &Markup) -> Response {
    let page = Page {
        title: title.to_owned(),
        header: html! { header { p.brand { "weighbridge" } h1 { (title) } } },
        content: why.clone(),
        footer: html! { p { a href="/" { "All results" } } },
    };
    framed(status, &page, None, Width::Text, false)
}

/// A path as it stands in an address: names stay apart, everything else that is not plain is escaped.
pub(crate) fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_in_addresses() {
        assert_eq!(escaped("a b/c?d#e%f&g"), "a%20b/c%3Fd%23e%25f%26g");
        assert_eq!(escaped("<ü>\"'"), "%3C%C3%BC%3E%22%27");
    }
}
