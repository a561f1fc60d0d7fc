//! Who may ask, and by which name: the names of the server, the token, and where a change comes from.
//!
//! A page of somebody else may have a browser on this machine send requests here. It can't read the answers, unless a
//! name of its own leads to this address: therefore a request must name this server as one of its own names. It can't
//! change anything either: a browser tells where a change comes from, and it must come from here.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};
use subtle::ConstantTimeEq;

/// The shortest token, characters.
pub const MIN_TOKEN_CHARS: usize = 16;

/// A secret that whoever asks must show.
#[derive(Clone)]
pub struct Token(String);

/// Why a text is refused as a [`Token`]; the message does not show the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is easy to guess.
    #[error("a token needs at least {MIN_TOKEN_CHARS} characters")]
    Short,
    /// It has characters that an address or a cookie can not hold.
    #[error("a token is made of letters, digits, -, ., _ and ~")]
    Characters,
}

impl Token {
    /// Takes a token of at least [`MIN_TOKEN_CHARS`] characters that an address and a cookie can hold.
    ///
    /// # Errors
    /// If it is shorter, or has other characters.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.len() < MIN_TOKEN_CHARS {
            Err(TokenError::Short)
        } else if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)) {
            Ok(Token(text.to_owned()))
        } else {
            Err(TokenError::Characters)
        }
    }

    /// Whether this is the token; the comparison takes as long whichever characters are right.
    fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// What a request must show.
pub(crate) struct Guard {
    address: SocketAddr,
    names: Vec<String>,
    token: Option<Token>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It asks for a server of another name.
    Name,
    /// It shows no token, or a wrong one.
    Token,
    /// It would change something, and comes from elsewhere.
    Origin,
}

impl Guard {
    /// For a server at an address that is also reached by these names.
    pub(crate) fn new(address: SocketAddr, names: Vec<String>, token: Option<Token>) -> Self {
        let names = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        Guard { address, names, token }
    }

    /// Whether a request names this server.
    pub(crate) fn knows(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).ok_or(Refusal::Name)?;
        let named = |host: &str| self.is_mine(name_of(host));
        // An absolute address in the request's line counts as much as the header.
        let absolute = uri.authority().is_none_or(|authority| named(authority.as_str()));
        if hosts.next().is_none() && named(host) && absolute { Ok(()) } else { Err(Refusal::Name) }
    }

    /// Whether a name, without its port, is one of this server. A tunnel may end at another port, so that does not count.
    fn is_mine(&self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&name);
        match bare.parse::<IpAddr>() {
            // Nobody's name can lead to a bare address, so any will do where all were asked for.
            Ok(ip) => ip.is_loopback() || ip == self.address.ip() || self.address.ip().is_unspecified(),
            Err(_) => name == "localhost" || self.names.contains(&name),
        }
    }

    /// Whether a request shows the token, where one is needed.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|shown| token.is(shown.trim()));
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mine = self.cookie_name();
        let cookie = cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, shown)| name == mine && token.is(shown));
        if bearer || cookie { Ok(()) } else { Err(Refusal::Token) }
    }

    /// The cookie that keeps a token which was shown in an address; `None` if it is not the token.
    pub(crate) fn cookie(&self, shown: &str) -> Option<String> {
        let token = self.token.as_ref().filter(|token| token.is(shown))?;
        // Not sent along with changes from elsewhere, but with links from elsewhere, which may be shared.
        Some(format!("{}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000", self.cookie_name(), token.0))
    }

    /// Cookies know no ports, and there may be another server on this machine.
    fn cookie_name(&self) -> String {
        format!("weighbridge-{}", self.address.port())
    }

    /// Whether a request that would change something comes from a page of this server.
    pub(crate) fn comes_from_here(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let of = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let (Some(origin), Some(host)) = (of(ORIGIN), of(HOST)) else { return Err(Refusal::Origin) };
        let origin = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host)) { Ok(()) } else { Err(Refusal::Origin) }
    }
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "correct-horse-battery";

    fn guard(address: &str, token: Option<&str>) -> Guard {
        let token = token.map(|token| Token::new(token).unwrap());
        Guard::new(address.parse().unwrap(), vec!["Bench.example.org".to_owned()], token)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_the_servers_own_names_are_answered() {
        let knows =
            |guard: &Guard, host: &str| guard.knows(&headers(&[("host", host)]), &Uri::from_static("/")).is_ok();
        let local = guard("127.0.0.1:8080", None);
        let mine = ["localhost:8080", "127.0.0.1:8080", "127.0.0.1", "LOCALHOST.", "[::1]:9000", "bench.example.org"];
        for mine in mine {
            assert!(knows(&local, mine), "{mine}");
        }
        for other in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080", "10.0.0.1:8080", ""] {
            assert!(!knows(&local, other), "{other}");
        }
        let everywhere = guard("0.0.0.0:8080", Some(SECRET));
        assert!(knows(&everywhere, "10.0.0.1:8080") && !knows(&everywhere, "evil.example:8080"));
        let twice = headers(&[("host", "localhost"), ("host", "localhost")]);
        assert!(local.knows(&twice, &Uri::from_static("/")).is_err());
        let absolute = Uri::from_static("http://evil.example/");
        assert!(local.knows(&headers(&[("host", "localhost")]), &absolute).is_err());
        assert!(local.knows(&HeaderMap::new(), &Uri::from_static("/")).is_err());
    }

    #[test]
    fn a_token_is_shown_as_a_cookie_or_as_bearer() {
        let guard = guard("10.0.0.1:8080", Some(SECRET));
        let admits = |name, value: &str| guard.admits(&headers(&[(name, value)])).is_ok();
        assert!(admits("authorization", &format!("Bearer {SECRET}")));
        assert!(admits("cookie", &format!("a=b; weighbridge-8080={SECRET}")));
        for wrong in ["", "correct-horse-batterx", "correct-horse-battery2", "Bearer"] {
            assert!(!admits("authorization", &format!("Bearer {wrong}")), "{wrong}");
            assert!(!admits("cookie", &format!("weighbridge-8080={wrong}")), "{wrong}");
        }
        assert!(!admits("cookie", &format!("weighbridge-8081={SECRET}")));
        assert!(guard.cookie(SECRET).is_some_and(|cookie| cookie.contains("HttpOnly")) && guard.cookie("x").is_none());
        assert_eq!(format!("{:?}", guard.token), "Some(Token)");
    }

    #[test]
    fn a_token_is_long_and_plain() {
        for bad in ["", "short", "0123456789abcde", "a token with blanks", "semicolon;semicolon;"] {
            assert!(Token::new(bad).is_err(), "{bad}");
        }
        assert!(Token::new("0123456789abcdef\n").is_ok());
    }

    #[test]
    fn a_change_comes_from_a_page_of_this_server() {
        let guard = guard("127.0.0.1:8080", None);
        let comes = |pairs: &[(&'static str, &str)]| guard.comes_from_here(&headers(pairs)).is_ok();
        let host = ("host", "localhost:8080");
        assert!(comes(&[host, ("origin", "http://localhost:8080")]));
        for origin in ["http://evil.example", "null", "http://localhost:8081", "localhost:8080", "file://"] {
            assert!(!comes(&[host, ("origin", origin)]), "{origin}");
        }
        assert!(!comes(&[host]), "without an origin");
    }
}
