//! The last version of a page that `changeTracking` compares with (docs/API.md section 4.2), stored per team,
//! URL and tag without expiry.

use serde_json::Value;
use url::Url;

use crate::api::format::ChangeTracking;
use crate::ids::MonitorId;
use crate::time::Timestamp;
use crate::url_key::{Identity, UrlKey};

/// Identifies the version history of a page within a team.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VersionKey {
    /// Identity of the requested URL.
    pub url: UrlKey,
    /// Name of the history; empty for the default one.
    pub tag: String,
}

/// The last version of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageVersion {
    /// When it was stored.
    pub at: Timestamp,
    /// HTTP status.
    pub status_code: u16,
    /// The Markdown to compare.
    pub markdown: String,
    /// The data compared in `json` mode, if requested.
    pub data: Option<Value>,
}

impl VersionKey {
    /// Returns the key of the history that a request uses.
    pub fn of(url: &Url, tracking: &ChangeTracking) -> Self {
        Self {
            url: UrlKey::of(url, Identity::default()),
            tag: tracking.tag.clone().unwrap_or_default(),
        }
    }

    /// Returns whether the history is that of a monitor.
    pub fn is_of_monitor(&self) -> bool {
        let id = self.tag.strip_prefix(MONITOR_PREFIX);
        id.is_some_and(|id| id.parse::<MonitorId>().is_ok())
    }
}

/// Start of the tag of a monitor's history.
const MONITOR_PREFIX: &str = "monitor ";

/// Returns the tag of the version history of a monitor's pages.
pub fn monitor_tag(monitor: MonitorId) -> String {
    format!("{MONITOR_PREFIX}{monitor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_has_its_own_history_and_similar_urls_share_one() {
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

    #[test]
    fn histories_of_monitors_are_known_by_their_tags() {
        let is_of_monitor = |tag: &str| {
            let tracking = ChangeTracking {
                tag: Some(tag.to_owned()),
                ..ChangeTracking::default()
            };
            VersionKey::of(&Url::parse("https://a.test/").unwrap(), &tracking).is_of_monitor()
        };
        assert!(is_of_monitor(&monitor_tag(MonitorId(uuid::Uuid::from_u128(7)))));
        assert!(!is_of_monitor("monitor of prices"));
        assert!(!is_of_monitor(""));
    }
}
