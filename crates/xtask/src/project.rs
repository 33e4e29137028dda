//! Where this clone is and what it says about itself.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run;

/// The clone that the task works on.
pub(crate) struct Project {
    root: PathBuf,
    target: PathBuf,
}

impl Project {
    /// The clone whose `cargo xtask` is running.
    pub(crate) fn find() -> Result<Project> {
        // Asked at run time: with a shared target folder, the path at compile time may be another clone's.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .ancestors()
            .nth(2)
            .context("the xtask crate must be in crates/xtask")?
            .to_path_buf();
        // Cargo put this program into <target>/<profile>/, whatever decided the target folder.
        let program = std::env::current_exe()?;
        let target = program
            .ancestors()
            .nth(2)
            .context("no target folder above this program")?
            .to_path_buf();
        Ok(Project { root, target })
    }

    /// Absolute path of something in the clone.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Cargo's output folder for this machine's own target.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Cargo's output folder for wasm32: apart, since another compiler may do these builds.
    pub(crate) fn wasm_target(&self) -> PathBuf {
        self.target.join("wasm")
    }

    /// `cargo` with the target folder of this run.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = run::command("cargo");
        command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// `cargo metadata` of the workspace, all dependencies included.
    pub(crate) fn metadata(&self) -> Result<Value> {
        let text = run::output(
            self.cargo()
                .args(["metadata", "--format-version=1", "--all-features"]),
        )?;
        serde_json::from_str(&text).context("cargo metadata is not JSON")
    }

    /// The version that Cargo.lock holds for `package`.
    pub(crate) fn locked_version(&self, package: &str) -> Result<String> {
        let lock = std::fs::read_to_string(self.path("Cargo.lock")).context("Cargo.lock")?;
        version_in_lock(&lock, package).with_context(|| format!("Cargo.lock holds no `{package}`"))
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
    fn a_locked_version_is_that_of_the_exact_name() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(version_in_lock(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(version_in_lock(lock, "bindgen"), None);
    }
}
