//! The server's route table against docs/ROUTES.md, both ways.

use anyhow::Result;

use crate::project::Project;

pub(super) fn problems(_project: &Project) -> Result<Vec<String>> {
    Ok(Vec::new())
}
