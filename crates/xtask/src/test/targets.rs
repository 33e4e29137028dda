//! Test programs of the workspace: selection by the name of a test, the variables that they read, and their build.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::CHROMIUM;
use crate::{fingerprint::files_under, project::Project, run};

/// The package of these tasks, which is built alone, as when cargo started it.
const TASKS: &str = env!("CARGO_PKG_NAME");
/// All other packages, which are built together.
const OTHERS: [&str; 3] = ["--workspace", "--exclude", TASKS];
/// Binary that tests of the whole product start.
const SERVER: &str = "harvestman";

/// Test program: the unit tests of a library or a binary, or a file of a package's `tests` folder.
pub(super) struct Target {
    package: String,
    name: String,
    kind: Kind,
    /// Root source file of the program.
    root: PathBuf,
    /// Folder of the package, which is the working folder of the program.
    folder: PathBuf,
    sources: Sources,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Unit tests of a library.
    Library,
    /// Unit tests of a binary.
    Binary,
    /// A file of the package's `tests` folder.
    Integration,
}

/// Built test program.
pub(super) struct Program {
    pub(super) target: Target,
    pub(super) file: PathBuf,
}

impl Target {
    /// Finds the test programs that may contain a test whose name contains `filter`.
    pub(super) fn find(project: &Project, filter: Option<&str>) -> Result<Vec<Target>> {
        let metadata = run::output(
            project
                .cargo()
                .args(["metadata", "--format-version=1", "--no-deps"]),
        )?;
        let metadata: Value =
            serde_json::from_str(&metadata).context("cargo metadata printed invalid JSON")?;
        let mut found = Vec::new();
        for package in items(&metadata["packages"]) {
            for target in items(&package["targets"]).filter(|target| target["test"] == true) {
                let target = Target::read(package, target)?;
                if filter.is_none_or(|filter| target.sources.can_hold(filter)) {
                    found.push(target);
                }
            }
        }
        Ok(found)
    }

    fn read(package: &Value, target: &Value) -> Result<Target> {
        let root = PathBuf::from(text(&target["src_path"]));
        let folder = Path::new(text(&package["manifest_path"])).parent();
        let is = |wanted: &str| items(&target["kind"]).any(|kind| kind == wanted);
        let kind = match (is("test"), is("bin")) {
            (true, _) => Kind::Integration,
            (_, true) => Kind::Binary,
            _ => Kind::Library,
        };
        Ok(Target {
            package: text(&package["name"]).to_owned(),
            name: text(&target["name"]).to_owned(),
            kind,
            folder: folder.context("a manifest is in a folder")?.to_path_buf(),
            sources: Sources::of(&root, kind)?,
            root,
        })
    }

    /// Returns the folder of the package.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether the program reads the environment variable. This package mentions all of them but reads none
    /// in its tests.
    pub(super) fn reads(&self, variable: &str) -> bool {
        self.package != TASKS && self.sources.mention(variable)
    }

    /// Returns whether the program uses the crate that starts the server.
    pub(super) fn starts_server(&self) -> bool {
        self.reads("harvestman_tests")
    }

    /// Returns whether the program uses the browser that the tests are given.
    pub(super) fn uses_browser(&self) -> bool {
        [CHROMIUM, "tools::chromium()"]
            .iter()
            .any(|text| self.reads(text))
    }

    /// Returns whether this is an integration test with one of these names.
    pub(super) fn is_one_of(&self, names: &[&str]) -> bool {
        self.kind == Kind::Integration && names.contains(&self.name.as_str())
    }

    /// Returns the argument that makes cargo build the program; unit tests are selected for all packages at once.
    fn selection(&self) -> String {
        match self.kind {
            Kind::Library => "--lib".to_owned(),
            Kind::Binary => "--bins".to_owned(),
            Kind::Integration => format!("--test={}", self.name),
        }
    }

    /// Returns package and target for output.
    pub(super) fn title(&self) -> String {
        match self.kind {
            Kind::Integration => format!("{} --test {}", self.package, self.name),
            Kind::Library | Kind::Binary => format!("{}, unit tests of {}", self.package, self.name),
        }
    }
}

/// Builds the programs of `targets` and, with `server`, the server; returns the file of each program. Always builds
/// with the features of all packages except [`TASKS`], so that no dependency is compiled again for a single package.
pub(super) fn build(project: &Project, targets: &[Target], server: bool) -> Result<Vec<PathBuf>> {
    if server {
        // Also selects the integration tests, whose dependencies enable further features, for the same reason.
        let tests = targets.iter().filter(|target| target.kind == Kind::Integration);
        let mut cargo = project.cargo();
        cargo.arg("build").args(OTHERS).args(["--bin", SERVER]);
        run::run(cargo.args(tests.map(Target::selection)))?;
    }
    let mut built = Vec::new();
    for packages in [&OTHERS[..], &["--package", TASKS]] {
        let is_here = |target: &&Target| (target.package == TASKS) == (packages != OTHERS);
        let wanted: BTreeSet<String> = targets.iter().filter(is_here).map(Target::selection).collect();
        if wanted.is_empty() {
            continue;
        }
        let mut cargo = project.cargo();
        cargo.args(["test", "--no-run"]).args(packages).args(wanted);
        cargo.arg("--message-format=json-render-diagnostics");
        built.extend(artifacts(&mut cargo)?);
    }
    let file = |target: &Target| {
        let file = built.iter().find(|(root, _)| *root == target.root);
        let (_, file) = file.with_context(|| format!("cargo built no {}", target.title()))?;
        Ok(file.clone())
    };
    targets.iter().map(file).collect()
}

/// Runs a build and returns the root source file and the executable of each test program.
fn artifacts(cargo: &mut Command) -> Result<Vec<(PathBuf, PathBuf)>> {
    let messages = run::output_of_build(cargo)?;
    let artifact = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message["profile"]["test"] == true;
        let program = message["executable"].as_str().filter(|_| is_test)?;
        Some((text(&message["target"]["src_path"]).into(), program.into()))
    };
    Ok(messages.lines().filter_map(artifact).collect())
}

/// Contents of source files.
pub(super) struct Sources(Vec<(PathBuf, String)>);

impl Sources {
    /// Reads the sources of the test program with the root file `root`: its folder for a `lib.rs` or `main.rs`, else
    /// the file, the folder of the same name, and for integration tests the files that `#[path]` attributes name.
    fn of(root: &Path, kind: Kind) -> Result<Sources> {
        let folder = root.parent().context("a source file is in a folder")?;
        let stem = root.file_stem().unwrap_or_default();
        if stem == "lib" || stem == "main" {
            return Sources::read(files_under(folder)?);
        }
        let mut files = vec![root.to_path_buf()];
        files.extend(files_under(&folder.join(stem))?);
        if kind == Kind::Integration {
            let text = fs::read_to_string(root).with_context(|| root.display().to_string())?;
            let paths = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
            files.extend(paths.map(|path| folder.join(path)));
        }
        Sources::read(files)
    }

    /// Reads `files`.
    pub(super) fn read(files: Vec<PathBuf>) -> Result<Sources> {
        let read = |file: PathBuf| {
            let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
            Ok((file, String::from_utf8_lossy(&bytes).into_owned()))
        };
        Ok(Sources(files.into_iter().map(read).collect::<Result<_>>()?))
    }

    /// Returns whether a file contains `word`.
    pub(super) fn mention(&self, word: &str) -> bool {
        self.0.iter().any(|(_, text)| text.contains(word))
    }

    /// Returns whether a test whose path contains `filter` may be in these files: each part of the filter is in the
    /// text or the name of a file.
    pub(super) fn can_hold(&self, filter: &str) -> bool {
        filter.split("::").all(|part| {
            let mut files = self.0.iter();
            files.any(|(file, text)| {
                let name = file.file_stem().unwrap_or_default();
                text.contains(part) || name.to_string_lossy().contains(part)
            })
        })
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Sources;

    #[test]
    fn a_program_may_contain_a_test_whose_path_is_in_its_sources_and_file_names() {
        let file = |name: &str, text: &str| (name.into(), text.to_owned());
        let sources = Sources(vec![
            file("src/lib.rs", "mod politeness;"),
            file("src/crawl/hosts.rs", "fn a_host_is_asked_once() {}"),
        ]);
        for filter in ["a_host_is", "hosts", "hosts::a_host_is_asked_once", "polite"] {
            assert!(sources.can_hold(filter), "{filter}");
        }
        for filter in ["two_hosts", "hosts::another", "src"] {
            assert!(!sources.can_hold(filter), "{filter}");
        }
    }
}
