//! Tools that the tasks need. They are kept in one folder of the user's cache and fetched when missing.
//!
//! A tool is downloaded, installed or built only if it is not found; each such step is printed. The clone is never
//! modified, and no installed tool is replaced by another version.

mod apt;
mod bubblewrap;
mod chromium;
mod download;
mod driver;
mod esbuild;
mod javascript;
mod node;
mod postgres;
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

pub(crate) use self::{node::Node, postgres::Cluster, wasm_opt::WasmOpt, wasm_target::WasmTarget};

use crate::{
    embedded::{EMBEDDED, EmbeddedPackage},
    project::Project,
};

/// Settings of cargo for a fast release build.
const SHORT_BUILD: [(&str, &str); 2] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
];

/// Folder of tools, with a lock so that two tasks never install into it at once.
pub(crate) struct Tools {
    dir: PathBuf,
    lock: File,
}

impl Tools {
    /// Opens `$HARVESTMAN_TOOLS`, or `harvestman/tools` in the user's cache folder, and creates it if it is missing.
    pub(crate) fn open() -> Result<Tools> {
        let dir = tools_folder(|name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        })
        .context("cannot choose a folder for tools: set HARVESTMAN_TOOLS or HOME")?;
        fs::create_dir_all(dir.join("bin")).with_context(|| dir.display().to_string())?;
        fs::create_dir_all(dir.join("state"))?;
        let lock = File::create(dir.join(".lock"))?;
        Ok(Tools { dir, lock })
    }

    /// Locks the folder, from the first tool that a task needs until [`Tools::release`]. A task that needs no tool
    /// never waits. Locking again has no effect.
    fn hold(&self) -> Result<()> {
        if self.lock.try_lock().is_err() {
            crate::run::print_step("waiting for another task that is fetching tools");
            self.lock.lock()?;
        }
        Ok(())
    }

    /// Unlocks the folder for other tasks, once this task needs no further tools.
    pub(crate) fn release(&self) -> Result<()> {
        Ok(self.lock.unlock()?)
    }

    /// Returns the folder of executables: trunk, wasm-bindgen.
    pub(crate) fn bin(&self) -> PathBuf {
        self.dir.join("bin")
    }

    /// Returns the folder of state that tasks keep between runs, such as the development key.
    pub(crate) fn state(&self) -> PathBuf {
        self.dir.join("state")
    }

    /// Returns a compiler for wasm32.
    pub(crate) fn wasm_target(&self) -> Result<WasmTarget> {
        self.hold()?;
        wasm_target::ensure()
    }

    /// Returns trunk, in [`Tools::bin`].
    pub(crate) fn trunk(&self) -> Result<PathBuf> {
        self.hold()?;
        trunk::ensure(self)
    }

    /// Returns wasm-bindgen of the exact version in Cargo.lock, in [`Tools::bin`].
    pub(crate) fn wasm_bindgen(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        wasm_bindgen::ensure(self, &project.locked_version("wasm-bindgen")?)
    }

    /// Returns wasm-opt.
    pub(crate) fn wasm_opt(&self) -> Result<WasmOpt> {
        wasm_opt::ensure(self)
    }

    /// Returns a command that runs esbuild in `folder`.
    pub(crate) fn esbuild(&self, folder: &Path) -> Result<Command> {
        self.hold()?;
        esbuild::command(self, folder)
    }

    /// Returns Node.js for tests and wasm-opt.
    pub(crate) fn node(&self) -> Result<Node> {
        self.hold()?;
        node::ensure(self)
    }

    /// Returns the folder whose `node_modules` has the npm packages of the tests.
    pub(crate) fn javascript(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        javascript::ensure(self, project, "javascript", "tests/clients")
    }

    /// Returns the folder of a package that the server embeds.
    pub(crate) fn embedded(&self, project: &Project, embedded: &EmbeddedPackage) -> Result<PathBuf> {
        self.hold()?;
        driver::ensure(self, project, embedded)
    }

    /// Returns the folder whose `node_modules` has Lighthouse.
    pub(crate) fn lighthouse(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        javascript::ensure(self, project, "lighthouse", "tests/lighthouse")
    }

    /// Returns a Python with the packages of the tests.
    pub(crate) fn python(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        python::ensure(self, project, "python", "tests/clients/requirements.txt")
    }

    /// Returns a Python with the packages of the corpus scorer.
    pub(crate) fn scorer(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        python::ensure(self, project, "scorer", "crates/content/score/requirements.txt")
    }

    /// Returns a Python with the extractors that the Markdown is compared with.
    pub(crate) fn peers_python(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        python::ensure(
            self,
            project,
            "peers-python",
            "crates/content/score/peers/requirements.txt",
        )
    }

    /// Returns the folder whose `node_modules` has the extractors that the Markdown is compared with.
    pub(crate) fn peers_javascript(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        javascript::ensure(self, project, "peers-javascript", "crates/content/score/peers")
    }

    /// Returns a Chromium for the server and for tests.
    pub(crate) fn chromium(&self, project: &Project) -> Result<PathBuf> {
        self.hold()?;
        chromium::ensure(self, project)
    }

    /// Returns every installed Chromium for tests, at least one.
    pub(crate) fn chromiums(&self, project: &Project) -> Result<Vec<PathBuf>> {
        self.hold()?;
        chromium::all(self, project)
    }

    /// Installs each Chromium of the distribution.
    pub(crate) fn install_chromiums(&self) -> Result<()> {
        self.hold()?;
        chromium::install_all();
        Ok(())
    }

    /// Starts a PostgreSQL server for tests.
    pub(crate) fn postgres(&self) -> Result<Cluster> {
        self.hold()?;
        Cluster::start("off")
    }

    /// Starts a PostgreSQL server for benchmarks, as durable as one in production.
    pub(crate) fn durable_postgres(&self) -> Result<Cluster> {
        self.hold()?;
        Cluster::start("on")
    }

    /// Installs libfaketime, which gives a process a wrong clock, and returns its library for programs with threads.
    pub(crate) fn faketime(&self) -> Result<PathBuf> {
        self.hold()?;
        let library = |files: &str| {
            files
                .lines()
                .find(|file| file.ends_with("libfaketimeMT.so.1"))
                .map(PathBuf::from)
        };
        let files = || crate::run::output(crate::run::command("dpkg").args(["-L", "libfaketime"]));
        if let Some(found) = files().ok().as_deref().and_then(library) {
            return Ok(found);
        }
        apt::install(&["libfaketime"], "give servers wrong clocks")?;
        library(&files()?).context("the package libfaketime has no library")
    }

    /// Installs bubblewrap, which sandboxes browser sessions.
    pub(crate) fn bubblewrap(&self) -> Result<()> {
        self.hold()?;
        bubblewrap::ensure()
    }

    /// Installs `make`, which builds the server's memory allocator.
    pub(crate) fn make(&self) -> Result<()> {
        self.hold()?;
        match crate::run::find_in_path("make") {
            Some(_) => Ok(()),
            None => apt::install(&["make"], "build the memory allocator"),
        }
    }

    /// Installs a proxy for tests: `tinyproxy` (HTTP), `microsocks` (SOCKS) or `pgbouncer` (PostgreSQL).
    pub(crate) fn proxy(&self, name: &str) -> Result<PathBuf> {
        self.hold()?;
        if crate::run::find_in_path(name).is_none() {
            apt::install(&[name], "test requests through proxies")?;
        }
        crate::run::find_in_path(name).with_context(|| format!("{name} is not in PATH"))
    }

    /// Fetches all tools.
    pub(crate) fn ensure_all(&self, project: &Project) -> Result<()> {
        self.make()?;
        self.wasm_target()?;
        self.trunk()?;
        self.wasm_bindgen(project)?;
        self.wasm_opt()?;
        for embedded in &EMBEDDED {
            self.embedded(project, embedded)?;
        }
        self.javascript(project)?;
        self.python(project)?;
        self.scorer(project)?;
        self.chromium(project)?;
        self.bubblewrap()?;
        self.proxy("tinyproxy")?;
        self.proxy("microsocks")?;
        crate::run::print_step(&format!("all tools are in {}", self.dir.display()));
        Ok(())
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.join(relative)
    }

    /// Returns whether step `name` was finished before with the same `value`.
    fn stamped(&self, name: &str, value: &str) -> bool {
        fs::read_to_string(self.stamp_file(name)).is_ok_and(|text| text == value)
    }

    fn stamp(&self, name: &str, value: &str) -> Result<()> {
        fs::write(self.stamp_file(name), value).with_context(|| format!("cannot write the stamp of {name}"))
    }

    fn stamp_file(&self, name: &str) -> PathBuf {
        self.state().join(format!("{name}.stamp"))
    }

    /// Ensures that `bin/<name>` has `version`: the existing one, one in PATH, a prebuilt one, or one built from
    /// source.
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
                crate::run::print_step(&format!("no prebuilt {name} ({error:#})"));
                (wanted.from_source)(self)?;
            }
        }
        anyhow::ensure!(has_version(&file), "{} is not {name} {version}", file.display());
        self.stamp(name, version)?;
        Ok(file)
    }

    /// Runs `cargo install` into this folder and removes the build files. The optimisation level is low: the programs
    /// run only for seconds.
    fn cargo_install(&self, package: &str, version: &str, opt_level: &str, flags: &[&str]) -> Result<()> {
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
        // The user's flags are meant for builds of the project.
        command.env_remove("RUSTFLAGS").env_remove("CARGO_BUILD_TARGET");
        command
            .envs(SHORT_BUILD)
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level);
        crate::run::run(&mut command)?;
        fs::remove_dir_all(&build).ok();
        Ok(())
    }
}

/// Program that is available prebuilt and as a crate.
struct Executable<'a> {
    name: &'a str,
    version: &'a str,
    /// URLs of archives (`.tar.gz`) that may contain it, best first.
    urls: &'a [String],
    from_source: &'a dyn Fn(&Tools) -> Result<()>,
}

fn tools_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("HARVESTMAN_TOOLS").or_else(|| {
        let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
        Some(cache.join("harvestman/tools"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let found = tools_folder(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| PathBuf::from(value))
        });
        assert_eq!(found, expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_tools_folder_is_set_by_the_most_specific_variable() {
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
