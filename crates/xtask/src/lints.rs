//! Formatting and clippy, for `test` and `check`. Installs the components of the toolchain that they need.

use std::{io::Read, process::Stdio};

use anyhow::{Context, Result, bail};

use crate::{
    process_groups::{self, Group},
    project::Project,
    run,
};

/// Arguments of cargo for clippy on everything. Warnings are errors.
const CLIPPY: [&str; 7] = [
    "clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings",
];

/// Checks that the code is formatted.
pub(crate) fn format(project: &Project) -> Result<()> {
    component(project, "rustfmt", "fmt")?;
    run::run(project.cargo().args(["fmt", "--all", "--check"]))
}

/// Runs clippy on everything. Warnings are errors.
pub(crate) fn clippy(project: &Project) -> Result<()> {
    component(project, "clippy", "clippy")?;
    run::run(project.cargo().args(CLIPPY))
}

/// [`clippy`] in the background, in the time that tests spend waiting. Dropping the value stops clippy.
pub(crate) struct BackgroundClippy(Group);

impl BackgroundClippy {
    pub(crate) fn start(project: &Project) -> Result<BackgroundClippy> {
        component(project, "clippy", "clippy")?;
        let mut cargo = project.background_cargo();
        cargo.args(CLIPPY).stderr(Stdio::piped());
        let clippy = process_groups::spawn(&mut cargo).context("cannot start clippy")?;
        Ok(BackgroundClippy(clippy))
    }

    /// Waits for the end of clippy and prints what it found.
    ///
    /// # Errors
    /// A warning.
    pub(crate) fn finish(mut self) -> Result<()> {
        run::print_step("clippy");
        let mut found = String::new();
        if let Some(mut stderr) = self.0.stderr.take() {
            stderr.read_to_string(&mut found)?;
        }
        let status = self.0.wait()?;
        if !status.success() {
            bail!("clippy failed ({status})\n{found}");
        }
        Ok(())
    }
}

impl Drop for BackgroundClippy {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Installs a component of the toolchain unless its cargo command works.
fn component(project: &Project, name: &str, command: &str) -> Result<()> {
    if run::output(project.cargo().args([command, "--version"])).is_ok() {
        return Ok(());
    }
    run::print_step(&format!("rustup component add {name}"));
    run::run(run::command("rustup").args(["component", "add", name]))
}
