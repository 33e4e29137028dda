//! Python virtual environments, each with exactly the packages of one requirements file, or with one package.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Result;

use super::{Tools, apt};
use crate::{fingerprint::Fingerprint, project::Project, run};

/// Returns the Python of the environment `name`, with the packages of `requirements` (a file of the clone).
pub(super) fn ensure(tools: &Tools, project: &Project, name: &str, requirements: &str) -> Result<PathBuf> {
    let requirements = project.path(requirements);
    let wanted = Fingerprint::default().tree(&requirements)?.finish();
    environment(tools, name, &wanted, |pip| pip.arg("-r").arg(&requirements))
}

/// Returns the Python of the environment `name`, with one package.
pub(super) fn with_package(tools: &Tools, name: &str, package: &str) -> Result<PathBuf> {
    environment(tools, name, package, |pip| pip.arg(package))
}

/// Creates the environment `name` unless that was done before for the same `wanted`; `select` names its packages.
fn environment(
    tools: &Tools,
    name: &str,
    wanted: &str,
    select: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<PathBuf> {
    let folder = tools.path(name);
    let python = folder.join("bin/python");
    if python.exists() && tools.stamped(name, wanted) {
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
        "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
    ]);
    run::run(select(&mut pip))?;
    tools.stamp(name, wanted)?;
    Ok(python)
}
