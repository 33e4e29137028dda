//! Formatting and clippy, for `test` and `check`. Installs the components of the toolchain that they need.

use anyhow::Result;

use crate::{project::Project, run};

/// Checks that the code is formatted.
pub(crate) fn format(project: &Project) -> Result<()> {
    component(project, "rustfmt", "fmt")?;
    run::run(project.cargo().args(["fmt", "--all", "--check"]))
}

/// Runs clippy on everything. Warnings are errors.
pub(crate) fn clippy(project: &Project) -> Result<()> {
    component(project, "clippy", "clippy")?;
    let mut cargo = project.cargo();
    cargo.args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    run::run(&mut cargo)
}

/// Installs a component of the toolchain unless its cargo command works.
fn component(project: &Project, name: &str, command: &str) -> Result<()> {
    let works = project.cargo().args([command, "--version"]).output();
    if works.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    run::print_step(&format!("rustup component add {name}"));
    run::run(run::command("rustup").args(["component", "add", name]))
}
