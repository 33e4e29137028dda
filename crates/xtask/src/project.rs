//! The clone of the project: its paths, cargo commands and metadata.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run;

/// Clone that the task works on.
pub(crate) struct Project {
    root: PathBuf,
    target: PathBuf,
}

impl Project {
    /// Finds the clone whose `cargo xtask` is running.
    pub(crate) fn find() -> Result<Project> {
        // Read at run time: with a shared target folder, the compile-time path may be that of another clone.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .ancestors()
            .nth(2)
            .context("the xtask crate must be in crates/xtask")?
            .to_path_buf();
        // Cargo puts this program into <target>/<profile>/, however the target folder was set.
        let program = std::env::current_exe()?;
        let target = program
            .ancestors()
            .nth(2)
            .context("no target folder above this program")?
            .to_path_buf();
        Ok(Project { root, target })
    }

    /// Returns the absolute path of a file or folder in the clone.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns cargo's output folder for the host target.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Returns cargo's output folder for wasm32. It is separate because these builds may use another compiler.
    pub(crate) fn wasm_target(&self) -> PathBuf {
        self.target.join("wasm")
    }

    /// Returns a `cargo` command with the target folder of this run.
    pub(crate) fn cargo(&self) -> Command {
        self.here(run::command("cargo"))
    }

    /// Returns a `cargo` command like [`Self::cargo`] that uses only CPU time that nothing else needs.
    pub(crate) fn background_cargo(&self) -> Command {
        let mut nice = run::command("nice");
        nice.args(["-n", "19", "cargo"]);
        self.here(nice)
    }

    fn here(&self, mut command: Command) -> Command {
        command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// Returns the command that builds the release server.
    pub(crate) fn release(&self) -> Command {
        let mut cargo = self.cargo();
        cargo.args(["build", "--release", "--package", "harvestman-server"]);
        cargo
    }

    /// Returns `cargo metadata` of the workspace, including all dependencies.
    pub(crate) fn metadata(&self) -> Result<Value> {
        let text = run::output(
            self.cargo()
                .args(["metadata", "--format-version=1", "--all-features"]),
        )?;
        serde_json::from_str(&text).context("cargo metadata printed invalid JSON")
    }

    /// Returns the version of `package` in Cargo.lock.
    pub(crate) fn locked_version(&self, package: &str) -> Result<String> {
        let lock = std::fs::read_to_string(self.path("Cargo.lock")).context("cannot read Cargo.lock")?;
        version_in_lock(&lock, package).with_context(|| format!("Cargo.lock has no package `{package}`"))
    }
}

fn version_in_lock(lock: &str, package: &str) -> Option<String> {
    let entry = lock.split_once(&format!("\nname = \"{package}\"\n"))?.1;
    let version = entry
        .lines()
        .next()?
        .strip_prefix("version = \"")?
        .strip_suffix('"')?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_in_lock;

    #[test]
    fn the_locked_version_is_that_of_the_exact_package_name() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(version_in_lock(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(version_in_lock(lock, "bindgen"), None);
    }
}
