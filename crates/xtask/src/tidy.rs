//! `tidy`: structure rules that the compiler does not check: dependencies between crates and between files, the
//! APIs that a crate may use, names of files, documented routes.

mod circles;
mod direction;
mod language;
mod names;
mod proxies;
mod reach;
mod routes;

use anyhow::{Result, bail};

use crate::{project::Project, source};

/// Checks all rules.
///
/// # Errors
/// Lists every violation with its file.
pub(crate) fn tidy(project: &Project) -> Result<()> {
    let files = source::files(project)?;
    let sources = source::rust(project)?;
    let mut problems = direction::problems(&project.metadata()?)?;
    problems.extend(direction::impurities(project)?);
    problems.extend(reach::problems(&sources));
    problems.extend(circles::problems(&sources));
    problems.extend(names::problems(&files, &sources));
    problems.extend(language::problems(project)?);
    problems.extend(routes::problems(project)?);
    problems.extend(proxies::problems(project)?);
    if !problems.is_empty() {
        bail!(
            "{} violations of structure rules:\n  {}",
            problems.len(),
            problems.join("\n  ")
        );
    }
    println!(
        "tidy: {} files, {} of them Rust, no violations",
        files.len(),
        sources.len()
    );
    Ok(())
}
