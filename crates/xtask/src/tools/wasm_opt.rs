//! wasm-opt from the npm package `binaryen`, which runs wherever Node.js does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Node, Tools};
use crate::run;

const VERSION: &str = "132.0.0";
/// Enabled wasm features; with all features enabled the result does not load in Chromium.
const FEATURES: &[&str] = &[
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-reference-types",
    "--enable-mutable-globals",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-multivalue",
];

/// wasm-opt, with the Node.js that runs it.
pub(crate) struct WasmOpt {
    node: Node,
    script: PathBuf,
}

impl WasmOpt {
    /// Optimises `wasm` for size, in place.
    pub(crate) fn shrink(&self, wasm: &Path) -> Result<()> {
        let out = wasm.with_extension("wasm.opt");
        let mut command = self.node.command();
        command
            .arg(&self.script)
            .arg("-Oz")
            .args(FEATURES)
            .arg(wasm)
            .arg("-o")
            .arg(&out);
        run::run(&mut command)?;
        std::fs::rename(&out, wasm).with_context(|| wasm.display().to_string())
    }

    /// Returns the version of the binaryen package.
    pub(crate) fn version(&self) -> &'static str {
        VERSION
    }
}

pub(super) fn ensure(tools: &Tools) -> Result<WasmOpt> {
    let node = tools.node()?;
    let folder = tools.path("wasm-opt");
    let script = folder.join("node_modules/binaryen/bin/wasm-opt");
    if !(script.is_file() && tools.stamped("wasm-opt", VERSION)) {
        node.install(&folder, &format!("binaryen@{VERSION}"))?;
        tools.stamp("wasm-opt", VERSION)?;
    }
    Ok(WasmOpt { node, script })
}
