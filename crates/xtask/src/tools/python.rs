//! Python virtual environments, each with exactly the packages of one requirements file.

use std::{fs, path::PathBuf};

use anyhow::Result;

use super::{Tools, apt};
use crate::{fingerprint::Fingerprint, project::Project, run};

/// Returns the Python of the environment `name`, with the packages of `requirements` (a file of the clone).
pub(super) fn ensure(tools: &Tools, project: &Project, name: &str, requirements: &str) -> Result<PathBuf> {
    let folder = tools.path(name);
    let python = folder.join("bin/python");
    let requirements = project.path(requirements);
    let wanted = Fingerprint::default().tree(&requirements)?.finish();
    if python.exists() && tools.stamped(name, &wanted) {
        return Ok(python);
    }
    run::print_step(&format!("creating the Python environment {name}"));
    let make = || {
        fs::remove_dir_all(&folder).ok();
        run::run(run::command("python3").args(["-m", "venv"]).arg(&folder))
    };
    make().or_else(|_| {
        apt::install(&["python3", "python3-venv"], "run Python")?;
        make()
    })?;
    // All versions are pinned, so pip need not resolve dependencies.
    let mut pip = run::command(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "-r",
    ])
    .arg(&requirements);
    run::run(&mut pip)?;
    tools.stamp(name, &wanted)?;
    Ok(python)
}
