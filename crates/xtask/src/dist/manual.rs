//! Shell completions and man pages, which the program itself writes.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use super::archive::Entry;
use crate::{compress::name_of, fingerprint::files_under, run};

/// Shells, with the file name of their completions in the archive.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "completions/harvestman.bash"),
    ("zsh", "completions/_harvestman"),
    ("fish", "completions/harvestman.fish"),
    ("powershell", "completions/_harvestman.ps1"),
];

/// Returns the completions below `completions/` and the man pages below `man/`.
pub(super) fn write(program: &Path, work: &Path) -> Result<Vec<Entry<'static>>> {
    let mut entries = Vec::new();
    for (shell, path) in SHELLS {
        let script = run::output(run::command(program).args(["completions", shell]))?;
        entries.push(Entry::text(path, script));
    }
    let folder = work.join("man");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    run::output(run::command(program).arg("man").arg(&folder))?;
    for page in files_under(&folder)? {
        entries.push(Entry::file(format!("man/{}", name_of(&page)), &page)?);
    }
    Ok(entries)
}
