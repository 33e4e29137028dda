//! Structure rules that no compiler checks: who depends on whom, what a crate may touch, how files are named.

mod direction;
mod names;
mod reach;
mod routes;

use anyhow::{Result, bail};

use crate::{project::Project, source};

/// An error that lists every broken rule, each with its place.
pub(crate) fn tidy(project: &Project) -> Result<()> {
    let files = source::files(project)?;
    let sources = source::rust(project)?;
    let mut problems = direction::problems(&project.metadata()?)?;
    problems.extend(direction::impurities(project)?);
    problems.extend(reach::problems(&sources));
    problems.extend(names::problems(&files, &sources));
    problems.extend(routes::problems(project)?);
    if !problems.is_empty() {
        bail!(
            "{} rules are broken:\n  {}",
            problems.len(),
            problems.join("\n  ")
        );
    }
    println!(
        "tidy: {} files, {} of Rust, all rules hold",
        files.len(),
        sources.len()
    );
    Ok(())
}
