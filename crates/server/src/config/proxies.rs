//! The proxies in the settings: `[CLASS][@COUNTRY]=URL` or a URL alone, separated by `;` or `,`.

use harvestman_core::api::country;
use harvestman_engine::{PooledProxy, ProxyClass};
use harvestman_fetch::Proxy;

/// Parses all proxies. `remote_dns` allows proxies that resolve the names of targets.
///
/// # Errors
/// The number of the wrong entry and what is wrong with it. The text itself may contain a password.
pub(super) fn parse(text: &str, remote_dns: bool) -> Result<Vec<PooledProxy>, String> {
    let entries = text.split([';', ',']).map(str::trim).enumerate();
    entries
        .filter(|(_, entry)| !entry.is_empty())
        .map(|(index, entry)| {
            entry_of(entry, remote_dns).map_err(|problem| format!("entry {}: {problem}", index + 1))
        })
        .collect()
}

fn entry_of(entry: &str, remote_dns: bool) -> Result<PooledProxy, String> {
    // A URL alone may have `=` in its credentials, but only after its scheme.
    let (pool, url) = match entry.split_once('=') {
        Some((pool, url)) if !pool.contains(':') => (pool.trim(), url.trim()),
        _ => ("", entry),
    };
    let (class, country) = match pool.split_once('@') {
        Some((class, country)) => (class.trim(), Some(country.trim().to_ascii_uppercase())),
        None => (pool, None),
    };
    let class = match class {
        "" => None,
        "basic" => Some(ProxyClass::Basic),
        "enhanced" | "stealth" => Some(ProxyClass::Enhanced),
        _ => {
            return Err(format!(
                "`{class}` is not a class of proxies; write basic=URL, enhanced=URL, or a class and a country as in \
                 enhanced@DE=URL"
            ));
        }
    };
    if let Some(country) = country
        .as_deref()
        .filter(|code| country::language(code).is_none())
    {
        return Err(format!(
            "`{country}` is not an ISO 3166-1 country code, for example DE"
        ));
    }
    Ok(PooledProxy {
        class,
        country,
        proxy: Proxy::parse(url, remote_dns)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_have_a_class_and_a_country() {
        let pools = parse(
            "http://a:1; basic=http://u:p@b:2,enhanced@de=socks5://u:p%3D@c:3;@FR=https://d;http://u:p=@e",
            false,
        )
        .unwrap();
        let shown: Vec<_> = pools
            .iter()
            .map(|pool| (pool.class, pool.country.as_deref(), pool.proxy.to_string()))
            .collect();
        let (basic, enhanced) = (Some(ProxyClass::Basic), Some(ProxyClass::Enhanced));
        let expected = [
            (None, None, "http://a:1"),
            (basic, None, "http://b:2"),
            (enhanced, Some("DE"), "socks5://c:3"),
            (None, Some("FR"), "https://d:443"),
            (None, None, "http://e:80"),
        ];
        assert_eq!(
            shown,
            expected.map(|(class, country, url)| (class, country, url.to_owned()))
        );
    }

    #[test]
    fn the_wrong_entry_is_named_without_its_credentials() {
        for (text, expected) in [
            (
                "http://a:1;cheap=http://u:secret@b",
                "entry 2: `cheap` is not a class",
            ),
            (
                "basic@XX=http://u:secret@b",
                "entry 1: `XX` is not an ISO 3166-1 country",
            ),
            ("basic=u:secret@b", "entry 1: `u` is not a proxy protocol"),
            ("basic=http://u:secret@:1", "entry 1: "),
            ("basic=", "entry 1: the proxy URL is invalid"),
            ("socks5h://u:secret@a", "proxy_remote_dns"),
        ] {
            let error = parse(text, false).unwrap_err();
            assert!(
                error.contains(expected) && !error.contains("secret"),
                "{text}: {error}"
            );
        }
        assert!(parse("socks5h://a", true).unwrap()[0].proxy.resolves_names());
    }
}
