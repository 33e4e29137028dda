//! Base of the absolute URLs in responses: the configured public URL, else the one that the client used. Forwarded
//! headers are used only when the operator trusts the proxy. The scheme is never fixed to `https`.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::app::App;
use crate::cluster::ForwardedRequest;

/// `{base}` of docs/API.md: scheme, host and an optional path, without a trailing slash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Base(pub String);

impl FromRequestParts<App> for Base {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        if let Some(forwarded) = parts.extensions.get::<ForwardedRequest>() {
            return Ok(Base(forwarded.base.clone()));
        }
        let request_authority = parts.uri.authority().map(|authority| authority.as_str());
        Ok(match &app.config().public_url {
            Some(address) => Base(address.clone()),
            None => base(
                &parts.headers,
                request_authority,
                app.config().trust_proxy,
                &app.listening_on(),
            ),
        })
    }
}

fn base(headers: &HeaderMap, request_authority: Option<&str>, trust_proxy: bool, otherwise: &str) -> Base {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // Each proxy appends an entry: the first one is what the client used.
    let forwarded = |name: &str| {
        header(name)
            .filter(|_| trust_proxy)
            .and_then(|list| list.split(',').next())
            .map(str::trim)
    };
    let scheme = match forwarded("x-forwarded-proto") {
        Some(proto) if proto.eq_ignore_ascii_case("https") => "https",
        _ => "http",
    };
    let host = forwarded("x-forwarded-host")
        .into_iter()
        .chain(request_authority)
        .chain(header(header::HOST.as_str()))
        .find(|host| is_host(host))
        .unwrap_or(otherwise);
    Base(format!("{scheme}://{host}"))
}

/// Returns whether the text has only characters of a host and port, which cannot break out of a link.
fn is_host(text: &str) -> bool {
    (1..=255).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&'static str, &'static str)], trust_proxy: bool, expected: &str) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        assert_eq!(base(&map, None, trust_proxy, "127.0.0.1:3002").0, expected);
    }

    #[test]
    fn links_use_the_request_host_and_trusted_forwarded_headers() {
        let forwarded = [
            ("host", "inner:1"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "hm.example, x"),
        ];
        check(&[("host", "localhost:3002")], false, "http://localhost:3002");
        check(&[("host", "[::1]:3002")], false, "http://[::1]:3002");
        check(&forwarded, false, "http://inner:1");
        check(&forwarded, true, "https://hm.example");
        check(&[("host", "inner:1")], true, "http://inner:1");
        check(&[("host", "evil/\"><script>")], false, "http://127.0.0.1:3002");
        check(&[], true, "http://127.0.0.1:3002");
    }
}
