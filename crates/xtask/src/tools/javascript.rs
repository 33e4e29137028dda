//! npm packages of the tests, in the exact versions of a `package-lock.json` in the clone.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use super::Tools;
use crate::{fingerprint::Fingerprint, project::Project, run};

/// Returns the folder `name` with the packages of the lock file in `source` (a folder of the clone).
pub(super) fn ensure(tools: &Tools, project: &Project, name: &str, source: &str) -> Result<PathBuf> {
    let folder = tools.path(name);
    let sources = ["package.json", "package-lock.json"].map(|file| project.path(source).join(file));
    let mut wanted = Fingerprint::default();
    for source in &sources {
        wanted = wanted.tree(source)?;
    }
    let wanted = wanted.finish();
    if folder.join("node_modules").is_dir() && tools.stamped(name, &wanted) {
        return Ok(folder);
    }
    let node = tools.node()?;
    run::print_step(&format!("npm ci: packages of {source}"));
    fs::create_dir_all(&folder)?;
    for source in &sources {
        let file = source.file_name().unwrap_or_default();
        fs::copy(source, folder.join(file)).with_context(|| source.display().to_string())?;
    }
    node.npm(&folder, &["ci"])?;
    tools.stamp(name, &wanted)?;
    Ok(folder)
}
