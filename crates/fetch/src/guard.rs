//! Which addresses may be contacted: global unicast, and those that the operator allows.
//!
//! The guard checks parsed hosts and resolved addresses, never the text of a URL. It checks every resolved
//! address, and one rejected address rejects the host, so that a name cannot combine a private address with a
//! public one. It never opens a connection.

mod allow;
mod ranges;

use std::net::{IpAddr, SocketAddr, UdpSocket};

pub use allow::AllowList;

use ranges::{embedded_v4, is_metadata, special_range};

/// The rules of one server: the operator's allow list and the server's own address.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allow: AllowList,
    listen: Option<SocketAddr>,
}

impl Guard {
    /// Creates rules with an allow list. `listen` is the address of this server, which is rejected unless an entry
    /// other than `*` covers it.
    pub fn new(allow: AllowList, listen: Option<SocketAddr>) -> Guard {
        Guard { allow, listen }
    }

    /// Returns the addresses that may be dialed for `host`, in the given order, or `None` if the target is rejected.
    ///
    /// All loopback addresses are the same machine. If one of them is allowed, those that are not allowed are
    /// dropped, so that allowing 127.0.0.1 suffices for a name that also resolves to `::1`.
    pub fn permitted_addresses(&self, host: &str, port: u16, answers: &[IpAddr]) -> Option<Vec<SocketAddr>> {
        let (good, bad): (Vec<IpAddr>, Vec<IpAddr>) = answers
            .iter()
            .copied()
            .partition(|address| self.permits(host, port, *address));
        let only_siblings = bad.iter().all(IpAddr::is_loopback) && good.iter().any(IpAddr::is_loopback);
        if good.is_empty() || !(bad.is_empty() || only_siblings) {
            return None;
        }
        Some(
            good.into_iter()
                .map(|address| SocketAddr::new(address, port))
                .collect(),
        )
    }

    fn permits(&self, host: &str, port: u16, address: IpAddr) -> bool {
        let inner = embedded_v4(address).map(IpAddr::V4);
        if is_metadata(address) || inner.is_some_and(is_metadata) {
            return self.allow.names_address(address, port);
        }
        let own = self.is_own(address, port) || inner.is_some_and(|inner| self.is_own(inner, port));
        if own {
            return self.allow.names(host, address, port);
        }
        special_range(address).is_none() || self.allow.covers(host, address, port)
    }

    fn is_own(&self, address: IpAddr, port: u16) -> bool {
        let Some(listen) = self.listen else { return false };
        if listen.port() != port {
            return false;
        }
        if listen.ip().to_canonical() == address.to_canonical() {
            return true;
        }
        let reaches_us = address.is_unspecified() || is_local(address);
        listen.ip().is_unspecified() && reaches_us
    }
}

/// Returns whether the address is not on the public internet.
pub(crate) fn is_private(address: IpAddr) -> bool {
    special_range(address).is_some()
}

/// Returns whether the address belongs to this machine. Connecting a datagram socket sends nothing but makes
/// the system choose a source address, which equals the target address if that is local.
fn is_local(address: IpAddr) -> bool {
    if address.is_loopback() {
        return true;
    }
    let any: SocketAddr = match address {
        IpAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        IpAddr::V6(_) => ([0u16; 8], 0).into(),
    };
    UdpSocket::bind(any)
        .and_then(|socket| {
            socket.connect((address, 9))?;
            socket.local_addr()
        })
        .is_ok_and(|local| local.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn guard(allow: &str, listen: Option<&str>) -> Guard {
        Guard::new(
            AllowList::parse(allow).unwrap(),
            listen.map(|text| text.parse().unwrap()),
        )
    }

    fn permits(guard: &Guard, host: &str, port: u16, answers: &[&str]) -> bool {
        let answers: Vec<IpAddr> = answers.iter().map(|text| ip(text)).collect();
        guard.permitted_addresses(host, port, &answers).is_some()
    }

    #[test]
    fn public_addresses_are_permitted_and_private_ones_are_not() {
        let guard = guard("", None);
        assert!(permits(
            &guard,
            "a.example",
            80,
            &["93.184.215.14", "2606:2800:21f::1"]
        ));
        assert!(!permits(&guard, "a.example", 80, &["10.0.0.1"]));
        assert!(!permits(&guard, "a.example", 80, &[]));
    }

    #[test]
    fn one_rejected_address_rejects_the_host() {
        let guard = guard("", None);
        assert!(!permits(&guard, "a.example", 80, &["93.184.215.14", "127.0.0.1"]));
        assert!(!permits(
            &guard,
            "a.example",
            80,
            &["192.168.0.1", "93.184.215.14"]
        ));
    }

    #[test]
    fn allowing_one_loopback_address_suffices_for_a_name_with_several() {
        let guard = guard("127.0.0.1", None);
        let found = guard
            .permitted_addresses("localhost", 80, &[ip("::1"), ip("127.0.0.1")])
            .unwrap();
        assert_eq!(found, vec!["127.0.0.1:80".parse().unwrap()]);
        assert!(!permits(&guard, "x.example", 80, &["127.0.0.1", "10.0.0.1"]));
    }

    #[test]
    fn names_match_the_requested_name_and_addresses_the_dialed_address() {
        let guard = guard("intra.example:8080, 10.1.0.0/16", None);
        assert!(permits(&guard, "intra.example", 8080, &["192.168.7.7"]));
        assert!(!permits(&guard, "intra.example", 80, &["192.168.7.7"]));
        assert!(!permits(&guard, "other.example", 8080, &["192.168.7.7"]));
        assert!(permits(&guard, "other.example", 1, &["10.1.255.255"]));
        assert!(!permits(&guard, "other.example", 1, &["10.2.0.0"]));
    }

    #[test]
    fn metadata_addresses_need_their_own_entry() {
        let addresses = [
            "169.254.169.254", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ];
        for address in addresses {
            assert!(
                !permits(&guard("*", None), "m.example", 80, &[address]),
                "{address}"
            );
            assert!(!permits(
                &guard("169.254.0.0/16, m.example, fd00::/8", None),
                "m.example",
                80,
                &[address]
            ));
        }
        assert!(permits(
            &guard("169.254.169.254", None),
            "m.example",
            80,
            &["169.254.169.254"]
        ));
        assert!(permits(
            &guard("[fd00:ec2::254]:80", None),
            "m.example",
            80,
            &["fd00:ec2::254"]
        ));
        assert!(!permits(
            &guard("169.254.169.254:81", None),
            "m.example",
            80,
            &["169.254.169.254"]
        ));
        assert!(!permits(&guard("", None), "m.example", 80, &["168.63.129.16"]));
    }

    #[test]
    fn a_star_allows_private_targets() {
        let guard = guard("*", None);
        for address in [
            "127.0.0.1", "::1", "10.0.0.1", "fe80::1", "192.168.1.1", "::ffff:10.0.0.1",
        ] {
            assert!(permits(&guard, "h", 80, &[address]), "{address}");
        }
    }

    #[test]
    fn the_servers_own_address_is_rejected_unless_listed() {
        for listen in ["127.0.0.1:3002", "0.0.0.0:3002", "[::]:3002"] {
            let star = guard("*", Some(listen));
            assert!(!permits(&star, "h", 3002, &["127.0.0.1"]), "{listen}");
            assert!(permits(&star, "h", 3003, &["127.0.0.1"]), "{listen}");
            assert!(
                permits(&guard("127.0.0.1", Some(listen)), "h", 3002, &["127.0.0.1"]),
                "{listen}"
            );
            assert!(
                permits(&guard("127.0.0.1:3002", Some(listen)), "h", 3002, &["127.0.0.1"]),
                "{listen}"
            );
        }
        let star = guard("*", Some("0.0.0.0:3002"));
        assert!(!permits(&star, "h", 3002, &["127.0.0.9"]));
        assert!(!permits(&star, "h", 3002, &["::ffff:127.0.0.1"]));
        assert!(!permits(&star, "h", 3002, &["0.0.0.0"]));
        let public = guard("", Some("93.184.215.14:80"));
        assert!(!permits(&public, "h", 80, &["93.184.215.14"]));
        assert!(permits(&public, "h", 443, &["93.184.215.14"]));
    }
}
