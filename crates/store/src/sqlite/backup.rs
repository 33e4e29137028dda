//! Copies of the database: made while a server runs, checked, and put back into a data folder.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, query};

use crate::config::DATABASE_FILE;
use crate::error::StoreError;
use crate::limits;
use crate::sqlite::folder::{Folder, create_private};
use crate::sqlite::inspect::inspect;
use crate::sqlite::migrate::{self, MIGRATIONS};

/// Returns the schema version of the database in a data folder, without changing it; `None` if there is no database.
///
/// # Errors
/// [`StoreError::Damaged`], [`StoreError::NewerSchema`], [`StoreError::ForeignFile`].
pub async fn schema_version(data_dir: &Path) -> Result<Option<u32>, StoreError> {
    let path = data_dir.join(DATABASE_FILE);
    match path.exists() {
        true => usable_version(&path, false).await.map(Some),
        false => Ok(None),
    }
}

/// Copies the database of a data folder to a new file that only its owner can read, and checks the copy. A server may
/// use the folder meanwhile: the copy is its state at one moment.
///
/// # Errors
/// If the file exists, the database cannot be read, or the copy cannot be written or is damaged.
pub async fn backup(data_dir: &Path, to: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::Setup(format!("cannot write {}: {error}", to.display()));
    if to.exists() {
        let text = format!("{} exists: name a new file", to.display());
        return Err(StoreError::Setup(text));
    }
    let part = with_suffix(to, ".part");
    // SQLite writes into an empty file, which keeps its mode.
    create_private(&part).map_err(failed)?;
    let copied = copy(&data_dir.join(DATABASE_FILE), &part).await;
    let kept = copied.and_then(|()| {
        let kept = File::open(&part).and_then(|file| file.sync_all());
        kept.and_then(|()| std::fs::rename(&part, to)).map_err(failed)
    });
    if kept.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    kept
}

async fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let mut connection = SqliteConnectOptions::new()
        .filename(from)
        .read_only(true)
        .busy_timeout(limits::BUSY_TIMEOUT)
        .connect()
        .await?;
    let copied = query("VACUUM INTO ?1")
        .bind(to.display().to_string())
        .execute(&mut connection)
        .await;
    connection.close().await?;
    copied?;
    usable_version(to, true).await.map(drop)
}

/// Restores a copy into a data folder that no server uses. With `replace`, an existing database is renamed, and its
/// new path is returned.
///
/// # Errors
/// If the copy is damaged, newer than this program or of another program; if a server uses the folder; without
/// `replace` also if there is a database.
pub async fn restore(data_dir: &Path, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
    let failed = |error: io::Error| StoreError::Setup(format!("cannot restore {}: {error}", from.display()));
    if !from.is_file() {
        return Err(failed(io::ErrorKind::NotFound.into()));
    }
    usable_version(from, true).await?;
    let folder = Folder::lock(data_dir)?;
    let path = folder.database();
    if path.exists() && !replace {
        let text = format!("{} exists: add --replace, which renames it", path.display());
        return Err(StoreError::Setup(text));
    }
    let part = with_suffix(&path, ".part");
    create_private(&part).map_err(failed)?;
    std::fs::copy(from, &part)
        .and_then(|_| File::open(&part)?.sync_all())
        .map_err(failed)?;
    let replaced = path.exists().then(|| unused_name(&path));
    if let Some(replaced) = &replaced {
        // SQLite finds the log of a database by its name.
        for suffix in ["-wal", "-shm", ""] {
            let file = with_suffix(&path, suffix);
            if file.exists() {
                std::fs::rename(file, with_suffix(replaced, suffix)).map_err(failed)?;
            }
        }
    }
    std::fs::rename(&part, &path).map_err(failed)?;
    Ok(replaced)
}

/// Returns the schema version of a file that this program can open.
async fn usable_version(path: &Path, thorough: bool) -> Result<u32, StoreError> {
    let version = inspect(path, thorough).await?;
    migrate::check_version(path, version, MIGRATIONS)?;
    Ok(version)
}

/// Returns an unused name for a replaced database.
fn unused_name(path: &Path) -> PathBuf {
    let names = (1..).map(|number| with_suffix(path, &format!(".replaced-{number}")));
    let mut unused = names.filter(|name| !name.exists());
    unused.next().unwrap_or_else(|| path.to_owned())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
