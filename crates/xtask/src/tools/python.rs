//! Pythons of their own, each with exactly the packages that one file of requirements has.

use std::{fs, path::PathBuf};

use anyhow::Result;

use super::{Tools, apt};
use crate::{fingerprint::Fingerprint, project::Project, run};

/// The environment in the folder `name`, with what `requirements` (a file of the clone) lists.
pub(super) fn ensure(tools: &Tools, project: &Project, name: &str, requirements: &str) -> Result<PathBuf> {
    let folder = tools.path(name);
    let python = folder.join("bin/python");
    let requirements = project.path(requirements);
    let wanted = Fingerprint::default().tree(&requirements)?.finish();
    if python.exists() && tools.stamped(name, &wanted) {
        return Ok(python);
    }
    run::say(&format!("a Python environment: {name}"));
    let make = || {
        fs::remove_dir_all(&folder).ok();
        run::run(run::command("python3").args(["-m", "venv"]).arg(&folder))
    };
    make().or_else(|_| {
        apt::install(&["python3", "python3-venv"], "run Python")?;
        make()
    })?;
    // Everything is pinned, so nothing is to be resolved.
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
