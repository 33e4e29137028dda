//! The keys that a store may use: from the settings, and from the key file in the data folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};

use crate::cipher::Cipher;
use crate::config::{KEY_FILE, SecretKey, StoreConfig};
use crate::error::StoreError;
use crate::sqlite::folder::create_private;

/// Length of a created key in bytes.
const KEY_BYTES: usize = 32;

/// Name of the setting in the reports of nodes; its value is the id of the key, or [`NO_KEY`].
pub(crate) const SECRET_KEY: &str = "secret_key";
pub(crate) const NO_KEY: &str = "none";

/// The keys of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyRing {
    /// The key that encrypts; `None` if values are stored as they are.
    pub(crate) current: Option<Cipher>,
    /// Further keys whose values can be decrypted.
    pub(crate) earlier: Vec<Cipher>,
}

impl KeyRing {
    /// Collects the keys: the one of the settings encrypts, else that of the file. Servers on one PostgreSQL database have
    /// no folder in common, so there the secret of the cluster takes precedence over a file. Without any key, `current`
    /// is `None`.
    pub(crate) fn collect(config: &StoreConfig) -> Result<Self, StoreError> {
        let file = read_file(&key_file(config))?;
        let shared = match &config.database_url {
            Some(_) => config.cluster_key.clone(),
            None => None,
        };
        let keys = [config.secret_key.clone(), shared, file];
        let mut keys = keys.into_iter().flatten();
        let current = keys.next();
        Ok(Self {
            current: current.as_ref().map(Cipher::new).transpose()?,
            earlier: keys
                .chain(config.earlier_keys.iter().cloned())
                .map(|key| Cipher::new(&key))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns these keys with this one as the current one.
    pub(crate) fn with_current(self, key: &SecretKey) -> Result<Self, StoreError> {
        Ok(Self {
            current: Some(Cipher::new(key)?),
            ..self
        })
    }

    /// Returns the name of the key that encrypts, for the comparison with other servers.
    pub(crate) fn name(&self) -> &str {
        self.current.as_ref().map_or(NO_KEY, Cipher::id)
    }
}

/// Returns the path of the key file.
pub(crate) fn key_file(config: &StoreConfig) -> PathBuf {
    config.data_dir.join(KEY_FILE)
}

/// Creates a key file with a random key, complete or not at all, readable by its owner only.
pub(crate) fn create_file(path: &Path) -> Result<SecretKey, StoreError> {
    let failed = |error: io::Error| {
        StoreError::Setup(format!(
            "cannot create the key file {}: {error}; set `secret_key` (HARVESTMAN_SECRET_KEY) instead",
            path.display()
        ))
    };
    let mut bytes = [0; KEY_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| failed(io::Error::other("no random bytes")))?;
    let text = hex::encode(bytes);
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    create_private(&part)
        .and_then(|mut file| {
            writeln!(file, "{text}")?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&part, path))
        .and_then(|()| sync_folder(path))
        .map_err(failed)?;
    tracing::info!(path = %path.display(), "created the key that encrypts stored secrets");
    SecretKey::parse(&text).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))
}

/// Makes a new file of a folder durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|_| cfg!(unix)) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Reads a key file; `None` if there is none. Other users lose their access to it.
fn read_file(path: &Path) -> Result<Option<SecretKey>, StoreError> {
    let failed =
        |why: String| StoreError::Setup(format!("cannot use the key file {}: {why}", path.display()));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path)
            .map_err(|error| failed(error.to_string()))?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(path, PermissionsExt::from_mode(0o600)).map_err(|error| {
                failed(format!(
                    "other users can read it, and its mode cannot be changed: {error}"
                ))
            })?;
            tracing::warn!(path = %path.display(), "other users could read the key file; its mode is now 600");
        }
    }
    match SecretKey::parse(text.trim_end_matches(['\r', '\n'])) {
        Some(key) => Ok(Some(key)),
        None => Err(failed(format!(
            "it has fewer than {} characters: restore it from a copy",
            SecretKey::MIN_CHARS
        ))),
    }
}
