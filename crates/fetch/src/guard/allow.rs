//! The operator's allow list: private targets that may be reached.

use std::net::IpAddr;

use ipnet::IpNet;
use url::Host;

use super::ranges::network;

/// Exceptions to the address rules, in the syntax of `HARVESTMAN_ALLOW_PRIVATE_HOSTS`.
///
/// An IP address or network matches the dialed address, a name matches the requested name; with a port, only that
/// port. `*` covers every target except cloud metadata services and the server's own address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    target: Target,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Any,
    Name(String),
    Network(IpNet),
}

impl AllowList {
    /// Parses a comma-separated list of `host`, `host:port`, `IP`, `IP:port`, `[IPv6]:port`, `network/bits`,
    /// `network/bits:port` and `*`. Ignores empty entries.
    ///
    /// # Errors
    /// A message that names the invalid entry.
    pub fn parse(text: &str) -> Result<AllowList, String> {
        let entries = text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                Entry::parse(entry).ok_or_else(|| {
                    format!(
                        "`{entry}` is not a host, host:port, IP address, network such as 10.0.0.0/8, or `*`"
                    )
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(AllowList { entries })
    }

    /// Adds the entries of another list.
    pub fn extend(&mut self, other: AllowList) {
        self.entries.extend(other.entries);
    }

    /// Returns whether any entry covers the target.
    pub(super) fn covers(&self, host: &str, address: IpAddr, port: u16) -> bool {
        self.entries.iter().any(|entry| entry.covers(host, address, port))
    }

    /// Returns whether an entry other than `*` covers the target.
    pub(super) fn names(&self, host: &str, address: IpAddr, port: u16) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.target != Target::Any && entry.covers(host, address, port))
    }

    /// Returns whether an entry is exactly this address.
    pub(super) fn names_address(&self, address: IpAddr, port: u16) -> bool {
        self.entries.iter().any(|entry| {
            entry.allows_port(port)
                && matches!(entry.target, Target::Network(network) if network == IpNet::from(address))
        })
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Entry> {
        if text == "*" {
            return Some(Entry {
                target: Target::Any,
                port: None,
            });
        }
        if let Some(target) = parse_address(text) {
            return Some(Entry { target, port: None });
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (inside, port) = rest.split_once(']')?;
            let target = parse_address(inside)?;
            let port = if port.is_empty() {
                None
            } else {
                Some(parse_port(port.strip_prefix(':')?)?)
            };
            return Some(Entry { target, port });
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, Some(parse_port(port)?)),
            None => (text, None),
        };
        // For example `10.0.0.0/8:80`.
        let target = match parse_address(host) {
            Some(target) => target,
            None => parse_name(host)?,
        };
        Some(Entry { target, port })
    }

    fn covers(&self, host: &str, address: IpAddr, port: u16) -> bool {
        self.allows_port(port)
            && match &self.target {
                Target::Any => true,
                Target::Name(name) => name.eq_ignore_ascii_case(host.trim_end_matches('.')),
                Target::Network(network) => {
                    network.contains(&address) || network.contains(&address.to_canonical())
                }
            }
    }

    fn allows_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

fn parse_address(text: &str) -> Option<Target> {
    let network = match text.parse::<IpAddr>() {
        Ok(address) => address.into(),
        Err(_) => network(text)?,
    };
    Some(Target::Network(network))
}

fn parse_port(text: &str) -> Option<u16> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .then(|| text.parse().ok())
        .flatten()
        .filter(|port| *port != 0)
}

fn parse_name(text: &str) -> Option<Target> {
    // The host parser also accepts `127.1` and similar forms, as in a URL.
    match Host::parse(text).ok()? {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            (!name.is_empty() && name.bytes().all(plain)).then(|| Target::Name(name.to_owned()))
        }
        Host::Ipv4(address) => Some(Target::Network(IpAddr::from(address).into())),
        Host::Ipv6(address) => Some(Target::Network(IpAddr::from(address).into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(list: &str, host: &str, address: &str, port: u16) -> bool {
        AllowList::parse(list)
            .unwrap()
            .covers(host, address.parse().unwrap(), port)
    }

    #[test]
    fn every_form_is_parsed() {
        assert!(covers("*", "x", "10.0.0.1", 1));
        assert!(covers("localhost", "LOCALHOST.", "127.0.0.1", 1));
        assert!(covers("db.intra:8080", "db.intra", "10.0.0.1", 8080));
        assert!(!covers("db.intra:8080", "db.intra", "10.0.0.1", 8081));
        assert!(covers("127.0.0.1", "x", "127.0.0.1", 1));
        assert!(covers("127.0.0.1", "x", "::ffff:127.0.0.1", 1));
        assert!(!covers("127.0.0.1", "127.0.0.1", "127.0.0.2", 1));
        assert!(covers("127.0.0.1:9000", "x", "127.0.0.1", 9000));
        assert!(!covers("127.0.0.1:9000", "x", "127.0.0.1", 9001));
        assert!(covers("10.0.0.0/8", "x", "10.9.8.7", 1));
        assert!(covers("10.0.0.0/8:80", "x", "10.9.8.7", 80));
        assert!(!covers("10.0.0.0/8:80", "x", "10.9.8.7", 81));
        assert!(covers("::1", "x", "::1", 1));
        assert!(covers("[::1]", "x", "::1", 1));
        assert!(covers("[::1]:80", "x", "::1", 80));
        assert!(!covers("[::1]:80", "x", "::1", 81));
        assert!(covers("fd00::/8", "x", "fd12::1", 1));
        assert!(covers("[fd00::/8]:80", "x", "fd12::1", 80));
        assert!(covers(" a.example ,, b.example ", "b.example", "10.0.0.1", 1));
        assert!(covers("bücher.example", "xn--bcher-kva.example", "10.0.0.1", 1));
        assert!(!covers("", "x", "10.0.0.1", 1));
        assert!(!covers("0.0.0.0/0", "x", "fd12::1", 1));
    }

    #[test]
    fn anything_else_is_rejected() {
        for text in [
            "http://a.example", "a.example:", "a.example:0", "a.example:99999", "a.example:http",
            "10.0.0.1/8", "10.0.0.0/40", "[::1", "[::1]80", "[a.example]:80", "*.example", "a b",
            "user@a.example", "a.example/x", "*:80",
        ] {
            let message = AllowList::parse(text).unwrap_err();
            assert!(message.contains(text), "{message}");
        }
    }
}
