//! Forward proxies that the operator has configured: how one is written, and how it is shown without its
//! credentials. Which request uses which proxy is decided elsewhere; `tunnel` opens connections through one.

pub(crate) mod tunnel;

use std::fmt;
use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// Maximum bytes of a SOCKS user name or password (RFC 1929, 2).
const MAX_SOCKS_CREDENTIAL_BYTES: usize = 255;

/// A forward proxy. `Display` and `Debug` never show its credentials.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Proxy {
    protocol: Protocol,
    host: String,
    port: u16,
    credentials: Option<Credentials>,
    resolves_names: bool,
}

/// How to talk to a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Protocol {
    /// `CONNECT` over TCP.
    Http,
    /// `CONNECT` over TLS.
    Https,
    /// SOCKS version 5 (RFC 1928).
    Socks5,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Credentials {
    user: String,
    password: String,
}

impl Proxy {
    /// Reads a proxy from `http://`, `https://`, `socks5://` or `socks5h://`, optionally with percent-encoded
    /// credentials. `remote_dns` allows proxies that resolve the names of targets: `socks5h`, and then also `http`
    /// and `https`.
    ///
    /// # Errors
    /// What is wrong, without the text, which may contain a password.
    pub fn parse(text: &str, remote_dns: bool) -> Result<Proxy, String> {
        let url = Url::parse(text).map_err(|error| format!("the proxy URL is invalid: {error}"))?;
        let (protocol, default_port, resolves_names) = match url.scheme() {
            "http" => (Protocol::Http, 80, remote_dns),
            "https" => (Protocol::Https, 443, remote_dns),
            "socks5" => (Protocol::Socks5, 1080, false),
            "socks5h" if remote_dns => (Protocol::Socks5, 1080, true),
            "socks5h" => {
                return Err(
                    "a `socks5h` proxy resolves the names of targets, so that this server cannot check their \
                     addresses; use `socks5`, or allow it with proxy_remote_dns"
                        .to_owned(),
                );
            }
            scheme => {
                return Err(format!(
                    "`{scheme}` is not a proxy protocol; use http, https, socks5 or socks5h"
                ));
            }
        };
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or("the proxy URL has no host")?;
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err("the proxy URL must end after the port".to_owned());
        }
        let port = url.port().unwrap_or(default_port);
        if port == 0 {
            return Err("port 0 is not valid".to_owned());
        }
        let credentials = credentials(&url)?;
        if let (Protocol::Socks5, Some(credentials)) = (protocol, &credentials) {
            let fits = |text: &str| (1..=MAX_SOCKS_CREDENTIAL_BYTES).contains(&text.len());
            if !fits(&credentials.user) || !fits(&credentials.password) {
                return Err(format!(
                    "user name and password of a SOCKS proxy must have 1 to {MAX_SOCKS_CREDENTIAL_BYTES} bytes"
                ));
            }
        }
        Ok(Proxy {
            protocol,
            host: host.to_owned(),
            port,
            credentials,
            resolves_names,
        })
    }

    /// Returns whether the proxy is given names of targets instead of addresses.
    pub fn resolves_names(&self) -> bool {
        self.resolves_names
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the proxy's own address if it is written as one.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        match Host::parse(&self.host).ok()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }

    /// Returns user name and password.
    pub(crate) fn credentials(&self) -> Option<(&str, &str)> {
        let Credentials { user, password } = self.credentials.as_ref()?;
        Some((user, password))
    }
}

fn credentials(url: &Url) -> Result<Option<Credentials>, String> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let decode = |text: &str| {
        let text = percent_decode_str(text).decode_utf8();
        let text = text.map_err(|_| "the credentials are not UTF-8".to_owned())?;
        match text.contains(|character: char| character.is_ascii_control()) {
            true => Err("the credentials contain control characters".to_owned()),
            false => Ok(text.into_owned()),
        }
    };
    Ok(Some(Credentials {
        user: decode(url.username())?,
        password: decode(url.password().unwrap_or_default())?,
    }))
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.protocol {
            Protocol::Http => "http",
            Protocol::Https => "https",
            Protocol::Socks5 if self.resolves_names => "socks5h",
            Protocol::Socks5 => "socks5",
        };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_shown_without_credentials() {
        for (text, shown) in [
            ("http://a.test:1", "http://a.test:1"),
            ("http://a.test", "http://a.test:80"),
            ("https://u:p@a.test/", "https://a.test:443"),
            ("socks5://u%40x:p%3A@[::1]:5", "socks5://[::1]:5"),
            ("socks5h://a.test", "socks5h://a.test:1080"),
        ] {
            let proxy = Proxy::parse(text, true).unwrap();
            assert_eq!(
                (proxy.to_string(), format!("{proxy:?}")),
                (shown.to_owned(), shown.to_owned())
            );
        }
        let proxy = Proxy::parse("socks5://u%40x:p%3A@[::1]:5", false).unwrap();
        assert_eq!(proxy.credentials(), Some(("u@x", "p:")));
        assert_eq!(proxy.address(), Some("::1".parse().unwrap()));
        assert!(!proxy.resolves_names());
    }

    #[test]
    fn bad_proxy_urls_are_rejected_without_their_credentials() {
        for (text, expected) in [
            ("a.test:1", "is not a proxy protocol"),
            ("ftp://u:secret@a.test", "`ftp` is not a proxy protocol"),
            ("http://u:secret@a.test:99999", "invalid port number"),
            ("http://u:secret@a.test/path", "must end after the port"),
            ("http://u:secret@a.test?x", "must end after the port"),
            ("socks5://u:secret@a.test:0", "port 0"),
            ("socks5://user-secret@a.test", "1 to 255 bytes"),
            ("http://u:secret%0a@a.test", "control characters"),
            ("socks5h://u:secret@a.test", "proxy_remote_dns"),
            ("socks5://", "no host"),
            ("", "invalid"),
        ] {
            let error = Proxy::parse(text, false).unwrap_err();
            assert!(
                error.contains(expected) && !error.contains("secret"),
                "{text}: {error}"
            );
        }
    }
}
