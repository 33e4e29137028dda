//! The special-purpose ranges of IPv4 and IPv6: the IANA special-purpose address registries, multicast and deprecated
//! assignments, and the forms in which an IPv6 address embeds an IPv4 address.
//!
//! All of them are rejected, including those that the registries call globally reachable, because they host no web
//! sites. IPv6 outside `2000::/3` is rejected as a whole.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use ipnet::IpNet;

/// Parses `address/bits`. Returns `None` if that is invalid or has host bits set.
pub(super) fn network(text: &str) -> Option<IpNet> {
    // `IpNet` accepts octets with leading zeros, which other parsers read as octal.
    text.split_once('/')?.0.parse::<IpAddr>().ok()?;
    text.parse()
        .ok()
        .filter(|network: &IpNet| *network == network.trunc())
}

macro_rules! special_ranges {
    ($($name:ident: $network:literal, $why:literal;)*) => {
        const SPECIAL: &[(&str, &str)] = &[$(($network, $why)),*];

        #[cfg(test)]
        mod rows {
            $(#[test] fn $name() { super::tests::check_row($network); })*
        }
    };
}

special_ranges! {
    // IPv4, IANA special-purpose registry
    v4_this_network: "0.0.0.0/8", "this network (RFC 791)";
    v4_private_10: "10.0.0.0/8", "private use (RFC 1918)";
    v4_shared: "100.64.0.0/10", "shared address space (RFC 6598)";
    v4_loopback: "127.0.0.0/8", "loopback (RFC 1122)";
    v4_link_local: "169.254.0.0/16", "link local (RFC 3927)";
    v4_private_172: "172.16.0.0/12", "private use (RFC 1918)";
    v4_protocol_assignments: "192.0.0.0/24", "IETF protocol assignments (RFC 6890)";
    v4_documentation_1: "192.0.2.0/24", "documentation (RFC 5737)";
    v4_as112: "192.31.196.0/24", "AS112 (RFC 7535)";
    v4_amt: "192.52.193.0/24", "AMT (RFC 7450)";
    v4_6to4_relay: "192.88.99.0/24", "6to4 relay anycast (RFC 7526)";
    v4_private_192: "192.168.0.0/16", "private use (RFC 1918)";
    v4_as112_delegation: "192.175.48.0/24", "direct delegation AS112 (RFC 7534)";
    v4_benchmarking: "198.18.0.0/15", "benchmarking (RFC 2544)";
    v4_documentation_2: "198.51.100.0/24", "documentation (RFC 5737)";
    v4_documentation_3: "203.0.113.0/24", "documentation (RFC 5737)";
    v4_multicast: "224.0.0.0/4", "multicast (RFC 5771)";
    v4_reserved: "240.0.0.0/4", "reserved (RFC 1112)";
    v4_broadcast: "255.255.255.255/32", "limited broadcast (RFC 8190)";
    // IPv6, IANA special-purpose registry
    v6_unspecified: "::/128", "unspecified (RFC 4291)";
    v6_loopback: "::1/128", "loopback (RFC 4291)";
    v6_compatible: "::/96", "IPv4-compatible (RFC 4291)";
    v6_mapped: "::ffff:0:0/96", "IPv4-mapped (RFC 4291)";
    v6_translated: "::ffff:0:0:0/96", "IPv4-translated (RFC 2765)";
    v6_nat64: "64:ff9b::/96", "NAT64 (RFC 6052)";
    v6_nat64_local: "64:ff9b:1::/48", "local-use NAT64 (RFC 8215)";
    v6_discard: "100::/64", "discard only (RFC 6666)";
    v6_dummy: "100:0:0:1::/64", "dummy prefix (RFC 9780)";
    v6_teredo: "2001::/32", "Teredo (RFC 4380)";
    v6_protocol_assignments: "2001::/23", "IETF protocol assignments (RFC 2928)";
    v6_benchmarking: "2001:2::/48", "benchmarking (RFC 5180)";
    v6_amt: "2001:3::/32", "AMT (RFC 7450)";
    v6_as112: "2001:4:112::/48", "AS112 (RFC 7535)";
    v6_orchid: "2001:10::/28", "ORCHID (RFC 4843)";
    v6_orchid_2: "2001:20::/28", "ORCHIDv2 (RFC 7343)";
    v6_drone_id: "2001:30::/28", "drone remote id (RFC 9374)";
    v6_documentation_1: "2001:db8::/32", "documentation (RFC 3849)";
    v6_6to4: "2002::/16", "6to4 (RFC 3056)";
    v6_as112_delegation: "2620:4f:8000::/48", "direct delegation AS112 (RFC 7534)";
    v6_documentation_2: "3fff::/20", "documentation (RFC 9637)";
    v6_segment_routing: "5f00::/16", "segment routing (RFC 9602)";
    v6_unique_local: "fc00::/7", "unique local (RFC 4193)";
    v6_link_local: "fe80::/10", "link local (RFC 4291)";
    v6_site_local: "fec0::/10", "site local (RFC 3879)";
    v6_multicast: "ff00::/8", "multicast (RFC 4291)";
}

static TABLE: LazyLock<Vec<(IpNet, &'static str)>> = LazyLock::new(|| {
    SPECIAL
        .iter()
        .map(|(text, why)| {
            (
                network(text).expect("every row of the table has a test that parses it"),
                *why,
            )
        })
        .collect()
});

/// Addresses of cloud metadata services, which hand out credentials. `*` never covers them.
const METADATA: &[IpAddr] = &[
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// Returns why the address is not global unicast, or `None` if it is.
pub(super) fn special_range(address: IpAddr) -> Option<&'static str> {
    if let Some((_, why)) = TABLE.iter().find(|(network, _)| network.contains(&address)) {
        return Some(why);
    }
    match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => {
            (address.segments()[0] & 0xe000 != 0x2000).then_some("not global unicast (RFC 4291)")
        }
    }
}

/// Returns whether the address is a cloud metadata service.
pub(super) fn is_metadata(address: IpAddr) -> bool {
    METADATA.contains(&address)
}

/// Returns the IPv4 address embedded in an IPv6 address, in any form.
pub(super) fn embedded_v4(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let segments = address.segments();
    let pair = |at: usize| {
        let [a, b] = segments[at].to_be_bytes();
        let [c, d] = segments[at + 1].to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            Some(pair(6))
        }
        [0x64, 0xff9b, 1, ..] => Some(pair(6)),
        [0x2002, ..] => Some(pair(1)),
        // Teredo stores the client's address inverted.
        [0x2001, 0, ..] => Some(Ipv4Addr::from(!u32::from(pair(6)))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the first and last address of the row are rejected, by this row or a wider one.
    pub(super) fn check_row(text: &str) {
        let network = network(text).unwrap();
        for address in [network.network(), network.broadcast()] {
            assert!(special_range(address).is_some(), "{text} {address}");
        }
    }

    #[test]
    fn global_unicast_is_not_special() {
        for text in [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
            "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
            "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
            "223.255.255.255", "2606:4700::1111", "2001:200::1", "2001:4860:4860::8888", "2003::1",
            "2a00:1450::1", "3ffe::1",
        ] {
            assert_eq!(special_range(text.parse().unwrap()), None, "{text}");
        }
    }

    #[test]
    fn ipv6_outside_global_unicast_is_special() {
        for text in ["4000::1", "8000::1", "e000::1", "1::1", "200::1", "::2:0:0:1"] {
            assert!(special_range(text.parse().unwrap()).is_some(), "{text}");
        }
    }

    #[test]
    fn embedded_addresses_are_found() {
        for text in [
            "::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1",
            "64:ff9b:1::127.0.0.1", "2002:7f00:1::", "2001:0:1::80ff:fffe",
        ] {
            assert_eq!(
                embedded_v4(text.parse().unwrap()),
                Some(Ipv4Addr::LOCALHOST),
                "{text}"
            );
        }
        for text in ["::", "::1", "2606:4700::1111", "1.1.1.1"] {
            assert_eq!(embedded_v4(text.parse().unwrap()), None, "{text}");
        }
    }

    #[test]
    fn networks_parse_strictly() {
        for text in [
            "10.0.0.0", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "::/129", "x/8", "10.0/8",
            "010.0.0.0/8",
        ] {
            assert_eq!(network(text), None, "{text}");
        }
        let contains = |text, address: &str| {
            network(text)
                .unwrap()
                .contains(&address.parse::<IpAddr>().unwrap())
        };
        assert!(contains("0.0.0.0/0", "255.1.2.3"));
        assert!(contains("::/0", "ff::1"));
        assert!(!contains("::/0", "1.2.3.4"));
    }
}
