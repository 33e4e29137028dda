//! The npm packages that tests use, exactly as `tests/clients/package-lock.json` has them.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use super::Tools;
use crate::{fingerprint::Fingerprint, project::Project, run};

pub(super) fn ensure(tools: &Tools, project: &Project) -> Result<PathBuf> {
    let folder = tools.path("javascript");
    let sources = ["package.json", "package-lock.json"].map(|name| project.path("tests/clients").join(name));
    let mut wanted = Fingerprint::default();
    for source in &sources {
        wanted = wanted.tree(source)?;
    }
    let wanted = wanted.finish();
    if folder.join("node_modules").is_dir() && tools.stamped("javascript", &wanted) {
        return Ok(folder);
    }
    let node = tools.node()?;
    run::say("npm ci in a folder of its own: the JavaScript packages of the tests");
    fs::create_dir_all(&folder)?;
    for source in &sources {
        let name = source.file_name().unwrap_or_default();
        fs::copy(source, folder.join(name)).with_context(|| source.display().to_string())?;
    }
    node.npm(&folder, &["ci"])?;
    tools.stamp("javascript", &wanted)?;
    Ok(folder)
}
