//! The packages that the server embeds, from npm in the versions that the tests lock.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Tools;
use crate::{embedded::EmbeddedPackage, project::Project};

const MANIFEST: &str = "tests/clients/package.json";

/// Returns the folder of the package.
pub(super) fn ensure(tools: &Tools, project: &Project, embedded: &EmbeddedPackage) -> Result<PathBuf> {
    let EmbeddedPackage {
        package: name,
        folder,
        ..
    } = *embedded;
    let manifest: Value = serde_json::from_str(&fs::read_to_string(project.path(MANIFEST))?)?;
    let version = manifest["dependencies"][name]
        .as_str()
        .with_context(|| format!("{MANIFEST} does not name {name}"))?;
    let package = tools.path(folder).join("node_modules").join(name);
    if !(package.is_dir() && tools.stamped(folder, version)) {
        tools
            .node()?
            .install(&tools.path(folder), &format!("{name}@{version}"))?;
        tools.stamp(folder, version)?;
    }
    Ok(package)
}
