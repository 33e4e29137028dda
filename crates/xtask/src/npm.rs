//! Builds the npm package.

use std::path::PathBuf;

use anyhow::Result;

use crate::{project::Project, tools::Tools};

pub(crate) fn build(project: &Project, _tools: &Tools) -> Result<PathBuf> {
    Ok(project.target().join("npm/harvestman"))
}
