//! playwright-core, which the server embeds, from npm in the version that the tests lock.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Tools;
use crate::project::Project;

const PACKAGE: &str = "playwright-core";
const MANIFEST: &str = "tests/clients/package.json";

/// Returns the folder of the package.
pub(super) fn ensure(tools: &Tools, project: &Project) -> Result<PathBuf> {
    let manifest: Value = serde_json::from_str(&fs::read_to_string(project.path(MANIFEST))?)?;
    let version = manifest["dependencies"][PACKAGE]
        .as_str()
        .with_context(|| format!("{MANIFEST} does not name {PACKAGE}"))?;
    let folder = tools.path("driver");
    let package = folder.join("node_modules").join(PACKAGE);
    if !(package.is_dir() && tools.stamped("driver", version)) {
        tools.node()?.install(&folder, &format!("{PACKAGE}@{version}"))?;
        tools.stamp("driver", version)?;
    }
    Ok(package)
}
