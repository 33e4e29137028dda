//! esbuild, the bundler of the npm package, from npm. It runs wherever Node.js does.

use std::{path::Path, process::Command};

use anyhow::Result;

use super::Tools;

const VERSION: &str = "0.25.12";

/// Returns a command that runs esbuild in `folder`.
pub(super) fn command(tools: &Tools, folder: &Path) -> Result<Command> {
    let node = tools.node()?;
    let dir = tools.path("esbuild");
    let script = dir.join("node_modules/esbuild/bin/esbuild");
    if !(script.is_file() && tools.stamped("esbuild", VERSION)) {
        node.install(&dir, &format!("esbuild@{VERSION}"))?;
        tools.stamp("esbuild", VERSION)?;
    }
    let mut command = node.command();
    command.current_dir(folder).arg(script);
    Ok(command)
}
