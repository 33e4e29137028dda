//! Settings of a cluster node: the URL at which other nodes reach it, the shared secret, and the settings that must be
//! the same on every node.

use harvestman_core::cluster::ClusterSecret;
use harvestman_store::{DatabaseUrl, NodeReport};

use super::{Config, ConfigError, Values};

impl Config {
    /// Returns what this server reports to the other nodes of its database: its URL, and the settings that must be the
    /// same everywhere.
    pub fn node_report(&self) -> NodeReport {
        let limits = self.limits;
        let text = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
        let settings = [
            (
                "cluster_secret",
                self.cluster_secret
                    .as_ref()
                    .map_or_else(|| "none".to_owned(), ClusterSecret::fingerprint),
            ),
            ("max_concurrency", limits.max_concurrency.to_string()),
            (
                "key_max_concurrency",
                text(limits.key_max_concurrency.map(|limit| limit as u64)),
            ),
            ("max_sessions", limits.max_sessions.to_string()),
            ("rate_limit", text(limits.rate_limit.map(u64::from))),
            ("key_rate_limit", text(limits.key_rate_limit.map(u64::from))),
            ("credit_budget", text(limits.credit_budget)),
            ("plans", format!("{:?}", self.plans)),
        ];
        NodeReport {
            url: self.node_url.clone(),
            settings: settings
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
        }
    }
}

/// Parses the secret of a cluster. The message never contains it.
pub(super) fn secret(text: &str) -> Result<ClusterSecret, String> {
    let least = ClusterSecret::MIN_CHARS;
    ClusterSecret::parse(text).ok_or_else(|| format!("shorter than {least} characters"))
}

/// Checks that a node with a URL also has a cluster secret and a PostgreSQL database.
pub(super) fn check(values: &Values) -> Result<(), ConfigError> {
    let database = values.of("database_url").map_or("", |(url, _)| url);
    let [url, secret] = ["node_url", "cluster_secret"].map(|key| values.of(key).is_some());
    match (url, secret) {
        (true, false) => Err(ConfigError(
            "`node_url` needs `cluster_secret`, the same on every server of the database".to_owned(),
        )),
        (true, true) if DatabaseUrl::parse(database).is_none() => Err(ConfigError(
            "`node_url` is for servers that share a PostgreSQL database; set `database_url`, or remove it"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}
