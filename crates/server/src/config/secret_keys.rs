//! Settings of the keys that encrypt secrets in the database.

use std::path::PathBuf;

use harvestman_core::cluster::ClusterSecret;
use harvestman_store::{KEY_FILE, SecretKey};

use super::{Config, ConfigError, Values};

/// What to do when the key of a database is not there.
pub(crate) const MISSING_KEY: &str = "the key of this database is missing: a server that finds secrets encrypted with another key does not \
     start. Put the database's harvestman.key into the data folder, or set HARVESTMAN_SECRET_KEY";

impl Config {
    /// Returns the path of the key file, if it exists and the settings name no other key.
    pub(crate) fn used_key_file(&self) -> Option<PathBuf> {
        let path = self.data_dir.join(KEY_FILE);
        (self.secret_keys.current.is_none() && path.exists()).then_some(path)
    }

    /// Returns whether the secret of the cluster takes the place of a key.
    pub(crate) fn shares_key(&self) -> bool {
        self.database_url.is_some() && self.cluster_secret.is_some()
    }
}

/// The keys in the settings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SecretKeys {
    /// The one that encrypts; `None` for the default.
    pub current: Option<SecretKey>,
    /// Those before it.
    pub earlier: Vec<SecretKey>,
}

impl SecretKeys {
    pub(super) fn parse(values: &Values) -> Result<Self, ConfigError> {
        // The previous value may be that of `secret_key`, or that of `cluster_secret` without it.
        let earlier = values.optional("previous_secret_key", |text| {
            let of_cluster = ClusterSecret::parse(text).as_ref().and_then(of_cluster);
            Ok([Some(key(text)?), of_cluster].into_iter().flatten().collect())
        })?;
        Ok(Self {
            current: values.optional("secret_key", key)?,
            earlier: earlier.unwrap_or_default(),
        })
    }
}

/// Parses a key. The message never contains it.
fn key(text: &str) -> Result<SecretKey, String> {
    let least = SecretKey::MIN_CHARS;
    SecretKey::parse(text)
        .ok_or_else(|| format!("shorter than {least} characters; create one with `openssl rand -hex 32`"))
}

/// Derives the key of all nodes from the secret that they share.
pub(super) fn of_cluster(secret: &ClusterSecret) -> Option<SecretKey> {
    SecretKey::parse(&secret.sign("secret key", &[]))
}
