//! Finds the programs that run code on this machine, and what a worker of each needs to see.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use crate::error::BrowserError;
use crate::limits;
use crate::program::{first_line_of, in_path, program_version};

const NODE_WORKER: &str = include_str!("node.cjs");
const PYTHON_WORKER: &str = include_str!("python.py");

/// Oldest major version of Node.js that playwright-core supports.
const OLDEST_NODE: u32 = 20;

/// Folder of Node.js packages in a sandbox.
const PACKAGES: &str = "/run/node_modules";

/// How to start a worker of one language.
#[derive(Clone, Debug)]
pub(crate) struct Runtime {
    pub(crate) program: PathBuf,
    /// Path of the program inside a sandbox.
    pub(crate) inside: PathBuf,
    /// Files and folders that a sandbox has to show in addition to the system's programs.
    pub(crate) visible: Vec<(PathBuf, PathBuf)>,
    pub(crate) arguments: Vec<String>,
    /// Arguments without a sandbox.
    pub(crate) arguments_outside: Vec<String>,
}

/// Finds Node.js on this machine.
pub fn find_node() -> Option<PathBuf> {
    in_path("node")
}

/// Finds Python on this machine.
pub fn find_python() -> Option<PathBuf> {
    in_path("python3")
}

/// Returns whether playwright-core supports the version that Node.js prints, such as `v22.1.0`. Versions in another
/// form are not refused.
pub fn is_supported_node(version: &str) -> bool {
    let number = version.strip_prefix('v').and_then(|rest| rest.split('.').next());
    number
        .and_then(|number| number.parse::<u32>().ok())
        .is_none_or(|major| major >= OLDEST_NODE)
}

impl Runtime {
    /// Node.js with playwright-core from one of `folders`, or from Node.js's own package folders.
    pub(crate) async fn node(program: Option<&Path>, folders: &[PathBuf]) -> Result<Runtime, BrowserError> {
        let program = program.ok_or_else(|| no_program("node", "Node.js", "HARVESTMAN_NODE"))?;
        let version = program_version(program).await;
        let version = version.map_err(|reason| not_configured("node", &reason))?;
        if !is_supported_node(&version) {
            let reason = format!(
                "{} is Node.js {version}; run `harvestman setup`, or name Node.js {OLDEST_NODE} or newer with \
                 HARVESTMAN_NODE",
                program.display()
            );
            return Err(not_configured("node", &reason));
        }
        // The program itself, not a script or link of a version manager, which needs more of the machine than a
        // sandbox shows.
        let own = first_line_of(program, &["-p", "process.execPath"]).await;
        let own = own.map(PathBuf::from).ok().filter(|path| path.is_file());
        let program = own.unwrap_or_else(|| program.to_owned());
        let program = program.canonicalize().unwrap_or(program);
        let folders: Vec<PathBuf> = folders.iter().map(|folder| absolute(folder)).collect();
        let package = node_modules(&program, &folders)
            .map(|folder| folder.join("playwright-core"))
            .find(|package| package.join("package.json").is_file())
            .ok_or_else(|| {
                let first = folders.first().and_then(|folder| folder.parent());
                let first = first.map(|folder| format!(" --prefix {}", folder.display()));
                let install = format!("npm install{} playwright-core", first.unwrap_or_default());
                not_configured(
                    "node",
                    &format!("playwright-core is not installed; run `{install}`"),
                )
            })?;
        let inside = path_in_sandbox(&program, "/run/node");
        let arguments = |base: PathBuf| {
            let base = base.join("worker.cjs").display().to_string();
            ["-e", NODE_WORKER, "--", &base].map(str::to_owned).to_vec()
        };
        Ok(Runtime {
            visible: vec![
                (program.clone(), inside.clone()),
                (package.clone(), Path::new(PACKAGES).join("playwright-core")),
            ],
            inside,
            arguments: arguments(PathBuf::from(PACKAGES)),
            arguments_outside: arguments(package),
            program,
        })
    }

    /// Returns Python with its own playwright.
    pub(crate) async fn python(program: Option<&Path>) -> Result<Runtime, BrowserError> {
        const QUERY_SCRIPT: &str = "import json, os, sys, playwright.async_api\n\
            packages = os.path.dirname(os.path.dirname(playwright.__file__))\n\
            folders = [packages, sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable))]\n\
            print(json.dumps([sys.executable, folders]))";
        let program = program.ok_or_else(|| no_program("python", "Python", "HARVESTMAN_PYTHON"))?;
        let mut command = Command::new(program);
        command
            .args(["-c", QUERY_SCRIPT])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let response = timeout(limits::WORKER_START_TIMEOUT, command.output()).await;
        let response: Option<(PathBuf, Vec<PathBuf>)> = match response {
            Ok(Ok(output)) => serde_json::from_slice(&output.stdout).ok(),
            _ => None,
        };
        let program = absolute(program);
        let (own, folders) = response.ok_or_else(|| {
            let install = format!("{} -m pip install playwright", program.display());
            not_configured(
                "python",
                &format!("playwright is not installed; run `harvestman setup`, or `{install}`"),
            )
        })?;
        // As for Node.js; not canonical, because the path is what makes it the Python of a virtual environment.
        let program = if own.is_file() { own } else { program };
        let packages = folders.first().map(|folder| folder.display().to_string());
        let arguments = ["-c", PYTHON_WORKER, &packages.unwrap_or_default()]
            .map(str::to_owned)
            .to_vec();
        let mut visible: Vec<(PathBuf, PathBuf)> = vec![];
        let own = program.parent().map(Path::to_owned);
        for folder in folders
            .into_iter()
            .skip(1)
            .chain(own)
            .chain([PathBuf::from(&arguments[2])])
        {
            let is_covered = |(from, _): &(PathBuf, PathBuf)| folder.starts_with(from);
            if !folder.starts_with("/usr") && !visible.iter().any(is_covered) {
                visible.push((folder.clone(), folder));
            }
        }
        Ok(Runtime {
            inside: program.clone(),
            program,
            visible,
            arguments_outside: arguments.clone(),
            arguments,
        })
    }
}

/// Returns the folders that may contain Node.js packages, in search order.
fn node_modules(program: &Path, folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let prefix = program.parent().and_then(Path::parent).map(Path::to_owned);
    let global = prefix.map(|prefix| prefix.join("lib/node_modules"));
    let known = [
        "/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs",
    ];
    let named = std::env::var_os("NODE_PATH").unwrap_or_default();
    let named: Vec<PathBuf> = std::env::split_paths(&named).collect();
    folders
        .iter()
        .cloned()
        .chain(named)
        .chain(global)
        .chain(known.map(PathBuf::from))
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| [folder.join("playwright/node_modules"), folder].into_iter().rev())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the path of a program inside a sandbox: its own path if it is below `/usr`, else `own`.
fn path_in_sandbox(program: &Path, own: &str) -> PathBuf {
    match program.starts_with("/usr") {
        true => program.to_owned(),
        false => PathBuf::from(own),
    }
}

fn no_program(language: &str, program: &str, setting: &str) -> BrowserError {
    let reason = format!("{program} was not found; run `harvestman setup`, or set its path in {setting}");
    not_configured(language, &reason)
}

fn not_configured(language: &str, reason: &str) -> BrowserError {
    BrowserError::NotConfigured(format!(
        "code in {language} is not configured on this server: {reason}"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use super::{Runtime, find_node, find_python, is_supported_node};

    #[test]
    fn old_versions_of_node_are_not_supported() {
        for version in ["v18.20.4", "v8.0.0", "v19.9.0"] {
            assert!(!is_supported_node(version), "{version}");
        }
        for version in ["v20.0.0", "v24.1.0", "v100.0.0", "22-custom"] {
            assert!(is_supported_node(version), "{version}");
        }
    }

    /// A folder with packages that look like those of Playwright. Deleted when dropped.
    struct Packages(PathBuf);

    impl Packages {
        fn create(name: &str) -> Packages {
            let folder =
                std::env::temp_dir().join(format!("harvestman-runtime-{name}-{}", std::process::id()));
            for (package, file) in [
                ("playwright-core", "package.json"),
                ("playwright", "__init__.py"),
                ("playwright", "async_api.py"),
            ] {
                fs::create_dir_all(folder.join(package)).unwrap();
                fs::write(folder.join(package).join(file), "").unwrap();
            }
            Packages(folder)
        }

        /// Writes a script that starts `program`, as version managers do.
        fn shim(&self, program: &Path) -> PathBuf {
            let shim = self.0.join("shim");
            let (packages, program) = (self.0.display(), program.display());
            let script = format!("#!/bin/sh\nPYTHONPATH='{packages}' exec '{program}' \"$@\"\n");
            fs::write(&shim, script).unwrap();
            fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
            shim
        }
    }

    impl Drop for Packages {
        fn drop(&mut self) {
            let _deleted = fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn the_program_behind_the_script_of_a_version_manager_is_used() {
        let packages = Packages::create("shim");
        let shim = packages.shim(&find_node().expect("Node.js"));
        let node = Runtime::node(Some(&shim), std::slice::from_ref(&packages.0))
            .await
            .unwrap();
        let shim = packages.shim(&find_python().expect("Python"));
        let python = Runtime::python(Some(&shim)).await.unwrap();
        for runtime in [node, python] {
            let start = fs::read(&runtime.program).unwrap();
            assert!(start.starts_with(b"\x7fELF"), "{}", runtime.program.display());
            assert!(runtime.program.is_absolute());
        }
    }

    #[tokio::test]
    async fn packages_in_a_relative_data_folder_are_found() {
        let packages = Packages::create("relative");
        let up = std::env::current_dir()
            .unwrap()
            .components()
            .skip(1)
            .map(|_| "..")
            .collect::<PathBuf>();
        let relative = up.join(packages.0.strip_prefix("/").unwrap());
        let node = Runtime::node(find_node().as_deref(), &[relative]).await.unwrap();
        let (package, _) = node.visible.last().unwrap();
        assert!(
            package.is_absolute() && package.join("package.json").is_file(),
            "{}",
            package.display()
        );
    }
}
