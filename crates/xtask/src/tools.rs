//! The tools that the tasks need, kept in one folder of the user's cache and fetched when missing.
//!
//! Every tool answers one question first: is it there? Only then is something downloaded, installed or built, and
//! that is said in a line. Nothing in the clone is touched, and nothing that is there is replaced by another version.

mod apt;
mod bubblewrap;
mod chromium;
mod download;
mod javascript;
mod node;
mod python;
mod trunk;
mod wasm_bindgen;
mod wasm_opt;
mod wasm_target;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

pub(crate) use self::{node::Node, wasm_opt::WasmOpt, wasm_target::WasmTarget};

use crate::project::Project;

/// Settings of cargo for a release build that is over soon.
const SHORT_BUILD: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
];

/// The folder of tools; holds a lock, so that two tasks never install into it at once.
pub(crate) struct Tools {
    dir: PathBuf,
    lock: File,
}

impl Tools {
    /// `$HARVESTMAN_TOOLS`, or `harvestman/tools` in the user's cache folder; made if missing.
    pub(crate) fn open() -> Result<Tools> {
        let dir = place(|name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        })
        .context("neither HARVESTMAN_TOOLS nor HOME is set: where may tools be kept?")?;
        fs::create_dir_all(dir.join("bin")).with_context(|| dir.display().to_string())?;
        fs::create_dir_all(dir.join("state"))?;
        let lock = File::create(dir.join(".lock"))?;
        Ok(Tools { dir, lock })
    }

    /// Keeps other tasks from fetching, from the first tool that is asked for until [`Tools::release`]: a task that needs
    /// none never waits. Taking it again is nothing new.
    fn hold(&self) -> Result<()> {
        if self.lock.try_lock().is_err() {
            crate::run::say("waiting for another task that is fetching tools");
            self.lock.lock()?;
        }
        Ok(())
    }

    /// Lets other tasks at the tools; for when this one is done fetching and goes on for long.
    pub(crate) fn release(&self) -> Result<()> {
        Ok(self.lock.unlock()?)
    }

    /// Executables: trunk, wasm-bindgen.
    pub(crate) fn bin(&self) -> PathBuf {
        self.dir.join("bin")
    }

    /// What tasks remember between runs, such as the development key.
    pub(crate) fn state(&self) -> PathBuf {
        self.dir.join("state")
    }

    /// A compiler for wasm32.
    pub(crate) fn wasm_target(&self) -> Result<WasmTarget> {
        self.hold()?;
        wasm_target::ensure()
    }

    /// trunk, in [`Tools::bin`].
    pub(crate) fn trunk(&self) -> Result<PathBuf> {
        self.hold()?;
        trunk::ensure(self)
    }

    /// wasm-bindgen of exactly the version that the clone's Cargo.lock holds, in [`Tools::bin`].
    pub(crate) fn wasm_bindgen(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        wasm_bindgen::ensure(self, &project.locked_version("wasm-bindgen")?)
    }

    /// wasm-opt.
    pub(crate) fn wasm_opt(&self) -> Result<WasmOpt> {
        wasm_opt::ensure(self)
    }

    /// Node.js for tests and wasm-opt.
    pub(crate) fn node(&self) -> Result<Node> {
        self.hold()?;
        node::ensure(self)
    }

    /// The npm packages that tests use: the folder that holds `node_modules`.
    pub(crate) fn javascript(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        javascript::ensure(self, project, "javascript", "tests/clients")
    }

    /// The folder whose `node_modules` has Lighthouse.
    pub(crate) fn lighthouse(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        javascript::ensure(self, project, "lighthouse", "tests/lighthouse")
    }

    /// A Python with the packages that tests use.
    pub(crate) fn python(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        python::ensure(self, project, "python", "tests/clients/requirements.txt")
    }

    /// A Python with what the scorer of page corpora imports.
    pub(crate) fn scorer(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        python::ensure(self, project, "scorer", "crates/content/score/requirements.txt")
    }

    /// A Chromium, for the server and for page tests.
    pub(crate) fn chromium(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        chromium::ensure(self, project)
    }

    /// Every Chromium of this machine, for tests; at least one.
    pub(crate) fn chromiums(&self, project: &Project) -> Result<Vec<PathBuf>> {
        self.hold()?;
        chromium::all(self, project)
    }

    /// Each Chromium that the distribution has.
    pub(crate) fn install_chromiums(&self) -> Result<()> {
        self.hold()?;
        chromium::install_all();
        Ok(())
    }

    /// bubblewrap, which keeps browser sessions apart.
    pub(crate) fn bubblewrap(&self) -> Result<()> {
        self.hold()?;
        bubblewrap::ensure()
    }

    /// Everything of the above.
    pub(crate) fn ensure_all(&self, project: &Project) -> Result<()> {
        self.wasm_target()?;
        self.trunk()?;
        self.wasm_bindgen(project)?;
        self.wasm_opt()?;
        self.javascript(project)?;
        self.python(project)?;
        self.scorer(project)?;
        self.chromium(project)?;
        self.bubblewrap()?;
        crate::run::say(&format!("all tools are in {}", self.dir.display()));
        Ok(())
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.join(relative)
    }

    /// Whether step `name` was finished before with the same `value`.
    fn stamped(&self, name: &str, value: &str) -> bool {
        fs::read_to_string(self.stamp_file(name)).is_ok_and(|text| text == value)
    }

    fn stamp(&self, name: &str, value: &str) -> Result<()> {
        fs::write(self.stamp_file(name), value).with_context(|| format!("stamp of {name}"))
    }

    fn stamp_file(&self, name: &str) -> PathBuf {
        self.state().join(format!("{name}.stamp"))
    }

    /// Makes sure that `bin/<name>` has `version`: the one there, one in PATH, a prebuilt one, or built from source.
    fn executable(&self, wanted: &Executable<'_>) -> Result<PathBuf> {
        let Executable { name, version, .. } = wanted;
        let file = self.bin().join(name);
        if file.is_file() && self.stamped(name, version) {
            return Ok(file);
        }
        let has_version = |file: &Path| crate::run::version_of(file).as_deref() == Some(version);
        let in_path = crate::run::find_in_path(name).filter(|found| *found != file && has_version(found));
        if !has_version(&file) {
            if let Some(found) = in_path {
                fs::remove_file(&file).ok();
                std::os::unix::fs::symlink(&found, &file)?;
            } else if let Err(error) = download::program(wanted.urls, name, version, &file) {
                crate::run::say(&format!("no prebuilt {name} ({error:#})"));
                (wanted.from_source)(self)?;
            }
        }
        anyhow::ensure!(has_version(&file), "{} is not {name} {version}", file.display());
        self.stamp(name, version)?;
        Ok(file)
    }

    /// `cargo install` into this folder, with build files that are removed afterwards. The program is compiled for a
    /// short build: it runs for seconds.
    fn cargo_install(&self, package: &str, version: &str, flags: &[&str]) -> Result<()> {
        let build = self.path(&format!("build-{package}"));
        let mut command: Command = crate::run::command("cargo");
        command
            .args(["install", "--quiet", package, "--version", version, "--force"])
            .args(flags);
        command
            .arg("--root")
            .arg(&self.dir)
            .arg("--target-dir")
            .arg(&build);
        // A caller's flags and wrappers are for the project's own builds.
        command.env_remove("RUSTFLAGS").env_remove("CARGO_BUILD_TARGET");
        command.envs(SHORT_BUILD);
        crate::run::run(&mut command)?;
        fs::remove_dir_all(&build).ok();
        Ok(())
    }
}

/// A program that exists prebuilt and as a crate.
struct Executable<'a> {
    name: &'a str,
    version: &'a str,
    /// Archives (`.tar.gz`) that may hold it, best first.
    urls: &'a [String],
    from_source: &'a dyn Fn(&Tools) -> Result<()>,
}

fn place(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("HARVESTMAN_TOOLS").or_else(|| {
        let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
        Some(cache.join("harvestman/tools"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let found = place(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| PathBuf::from(value))
        });
        assert_eq!(found, expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_tools_folder_follows_the_most_special_variable() {
        check(
            &[
                ("HARVESTMAN_TOOLS", "/t"),
                ("XDG_CACHE_HOME", "/c"),
                ("HOME", "/h"),
            ],
            Some("/t"),
        );
        check(
            &[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")],
            Some("/c/harvestman/tools"),
        );
        check(&[("HOME", "/h")], Some("/h/.cache/harvestman/tools"));
        check(&[], None);
    }
}
