//! The encryption of a whole database. It records the id of its key: when a store is opened with another key, every value
//! is encrypted again ([`opening`](crate::opening)).

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use harvestman_core::time::Timestamp;

use crate::cipher::Cipher;
use crate::config::{DATABASE_FILE, StoreConfig};
use crate::error::StoreError;
use crate::secret_key::KeyRing;
use crate::secrets::Form;
use crate::{postgres, sqlite};

/// Values read at once while all are encrypted again.
pub(crate) const VALUES_PER_READ: u32 = 500;

/// Kind of an encrypted value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SecretKind {
    /// The webhook secret of a team.
    WebhookSecret,
    /// Headers, actions and webhook in the request of a job.
    JobRequest,
    /// The same of a monitor.
    MonitorRequest,
    /// The webhook that receives the events of a job.
    Receiver,
    /// The state of a browser profile.
    Profile,
}

impl SecretKind {
    pub(crate) fn form(self) -> Form {
        match self {
            Self::WebhookSecret => Form::WebhookSecret,
            Self::JobRequest | Self::MonitorRequest => Form::Request,
            Self::Receiver => Form::Receiver,
            Self::Profile => Form::Profile,
        }
    }

    /// Adds to the error of a damaged value which one it is.
    pub(crate) fn locate(self, error: StoreError, row: &dyn Display) -> StoreError {
        match error {
            StoreError::Unreadable(error) => StoreError::Unreadable(format!("{self} {row}: {error}")),
            error => error,
        }
    }
}

impl Display for SecretKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::WebhookSecret => "webhook secret of team",
            Self::JobRequest => "request of job",
            Self::MonitorRequest => "request of monitor",
            Self::Receiver => "webhook receiver of job",
            Self::Profile => "browser profile",
        })
    }
}

/// What was discarded because no key decrypts it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiscardedSecrets {
    /// Number of values of each kind.
    pub values: BTreeMap<SecretKind, u64>,
    /// Number of unfinished jobs, which failed because a part of their requests was discarded.
    pub failed_jobs: u64,
    /// Number of active monitors, which are paused for the same reason.
    pub paused_monitors: u64,
}

impl DiscardedSecrets {
    pub(crate) fn count(&mut self, kind: SecretKind) {
        *self.values.entry(kind).or_default() += 1;
    }
}

/// Why an unfinished job failed.
pub(crate) const LOST_REQUEST: &str =
    "a part of the request was encrypted with a key that is lost; send the request again";

/// What happens to a value that cannot be decrypted.
pub(crate) enum Lost {
    /// Encrypting the database fails.
    Keep,
    /// It is discarded, and counted.
    Discard {
        now: Timestamp,
        discarded: DiscardedSecrets,
    },
}

impl Lost {
    pub(crate) fn discard(now: Timestamp) -> Self {
        Self::Discard {
            now,
            discarded: DiscardedSecrets::default(),
        }
    }

    /// Returns what was discarded.
    pub(crate) fn discarded(self) -> DiscardedSecrets {
        match self {
            Self::Keep => DiscardedSecrets::default(),
            Self::Discard { discarded, .. } => discarded,
        }
    }
}

/// The key of a database compared with the keys of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyState {
    /// The configuration has the key, or the key of a new database.
    Known,
    /// There is no key yet: one is created when the store is opened.
    New,
    /// There is no key, and none is created: secrets are stored as they are.
    None,
    /// The secrets of the database, if it has any, are encrypted with a key that the configuration does not have.
    Missing,
}

impl KeyState {
    /// Compares the key of an existing database with those of the configuration. Changes nothing.
    ///
    /// # Errors
    /// If the database or the key file cannot be read.
    pub async fn of(config: &StoreConfig) -> Result<Self, StoreError> {
        let keys = KeyRing::collect(config)?;
        let recorded = match &config.database_url {
            None => sqlite::encryption::recorded_key(&config.data_dir.join(DATABASE_FILE)).await?,
            Some(url) => postgres::encryption::recorded_key(url.as_str()).await?,
        };
        let mut ids = keys.current.iter().chain(&keys.earlier).map(Cipher::id);
        Ok(match recorded {
            Some(recorded) if !ids.any(|id| id == recorded) => Self::Missing,
            _ if keys.current.is_some() => Self::Known,
            _ if config.database_url.is_some() => Self::None,
            _ => Self::New,
        })
    }
}

/// Encryption of a whole database.
pub(crate) trait Encryption {
    /// Encrypts every value with the current key, in one transaction, unless the database records this key already.
    /// Without a current key, checks that no value is encrypted.
    ///
    /// # Errors
    /// [`StoreError::UnknownKey`], with nothing changed, if a value was encrypted with a key that is not among `keys`.
    async fn adopt(&self, keys: Arc<KeyRing>) -> Result<(), StoreError>;

    /// Like [`Self::adopt`], but reads every value, and discards those that cannot be decrypted.
    async fn discard_lost(&self, keys: Arc<KeyRing>, now: Timestamp) -> Result<DiscardedSecrets, StoreError>;
}
