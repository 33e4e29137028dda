//! Free disk space.

use std::path::Path;

/// Returns the free bytes of the disk of a folder that this user may use; none if the system does not say.
#[cfg(unix)]
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns `None`: the free space is only read on Unix.
#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Returns the free space of the disk of a folder as text; empty if it is unknown.
pub(crate) fn free_space(folder: &Path) -> String {
    free_bytes(folder).map_or(String::new(), |bytes| {
        format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
    })
}
