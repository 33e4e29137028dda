//! A Python of its own with the packages that tests use, exactly as `tests/clients/requirements.txt` has them.

use std::{fs, path::PathBuf};

use anyhow::Result;

use super::{Tools, apt};
use crate::{fingerprint::Fingerprint, project::Project, run};

pub(super) fn ensure(tools: &Tools, project: &Project) -> Result<PathBuf> {
    let folder = tools.path("python");
    let python = folder.join("bin/python");
    let requirements = project.path("tests/clients/requirements.txt");
    let wanted = Fingerprint::default().tree(&requirements)?.finish();
    if python.exists() && tools.stamped("python", &wanted) {
        return Ok(python);
    }
    run::say("a Python environment with the packages of the tests");
    let make = || {
        fs::remove_dir_all(&folder).ok();
        run::run(run::command("python3").args(["-m", "venv"]).arg(&folder))
    };
    make().or_else(|_| {
        apt::install(&["python3", "python3-venv"], "run the Python tests")?;
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
    tools.stamp("python", &wanted)?;
    Ok(python)
}
