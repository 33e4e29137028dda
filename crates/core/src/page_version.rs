//! The last version of a page, which `changeTracking` compares with (contract section 4.2): kept per team, URL and tag,
//! without expiry.

use serde_json::Value;
use url::Url;

use crate::api::format::ChangeTracking;
use crate::time::Timestamp;
use crate::url_key::{Identity, UrlKey};

/// Which versions of which page are compared, within a team.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VersionKey {
    /// Identity of the address that was asked for.
    pub url: UrlKey,
    /// Name of the history; empty: the one without a name.
    pub tag: String,
}

/// The last version of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageVersion {
    /// When it was stored.
    pub at: Timestamp,
    /// HTTP status.
    pub status_code: u16,
    /// What is compared.
    pub markdown: String,
    /// The data that the mode `json` compares, where it was asked for.
    pub data: Option<Value>,
}

impl VersionKey {
    /// The history that a request is about.
    pub fn of(url: &Url, tracking: &ChangeTracking) -> Self {
        Self {
            url: UrlKey::of(url, Identity::default()),
            tag: tracking.tag.clone().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_a_history_of_its_own_and_spellings_of_an_address_have_one() {
        let key = |url: &str, tag: Option<&str>| {
            let tracking = ChangeTracking {
                tag: tag.map(str::to_owned),
                ..ChangeTracking::default()
            };
            VersionKey::of(&Url::parse(url).unwrap(), &tracking)
        };
        assert_eq!(key("http://www.a.test/x/", None), key("https://a.test/x", None));
        assert_ne!(key("https://a.test/x", None), key("https://a.test/x?y", None));
        assert_ne!(key("https://a.test/x", None), key("https://a.test/x", Some("t")));
    }
}
