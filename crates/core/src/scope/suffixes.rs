//! Registrable domains by the public suffix list; in wasm, where that list is too large, by a compact table: the
//! default rule (the last label is the public suffix) plus common multi-label suffixes of registries and hosting
//! services. If the table lacks a suffix, two of its sites count as one.

/// Returns the registrable domain of a host name: its public suffix plus one label. Returns `None` for a
/// single label and for a public suffix itself. `host` must be lower case and not an IP address.
pub fn registrable_domain(host: &str) -> Option<&str> {
    #[cfg(not(target_family = "wasm"))]
    return psl::domain_str(host);
    #[cfg(target_family = "wasm")]
    return table::registrable_domain(host);
}

#[cfg(any(target_family = "wasm", test))]
mod table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_and_table_agree_on_common_suffixes() {
        for (host, expected) in [
            ("site.test", Some("site.test")),
            ("a.b.site.test", Some("site.test")),
            ("example.co.uk", Some("example.co.uk")),
            ("www.example.co.uk", Some("example.co.uk")),
            ("co.uk", None),
            ("uk", None),
            ("localhost", None),
            ("me.github.io", Some("me.github.io")),
            ("deep.me.github.io", Some("me.github.io")),
            ("bucket.s3.amazonaws.com", Some("bucket.s3.amazonaws.com")),
            ("x.bucket.s3.amazonaws.com", Some("bucket.s3.amazonaws.com")),
            ("s3.amazonaws.com", None),
            ("www.amazonaws.com", Some("amazonaws.com")),
        ] {
            assert_eq!(registrable_domain(host), expected, "{host}");
            assert_eq!(table::registrable_domain(host), expected, "{host}");
        }
    }

    #[test]
    fn the_list_has_wildcards_exceptions_and_private_suffixes() {
        for (host, expected) in [
            ("a.b.kobe.jp", Some("a.b.kobe.jp")),
            ("b.kobe.jp", None),
            ("x.city.kobe.jp", Some("city.kobe.jp")),
            ("x.www.ck", Some("www.ck")),
            ("x.y.ck", Some("x.y.ck")),
            ("a.b.compute.amazonaws.com", Some("a.b.compute.amazonaws.com")),
            ("a.pvt.k12.ma.us", Some("a.pvt.k12.ma.us")),
        ] {
            assert_eq!(registrable_domain(host), expected, "{host}");
        }
    }
}
