//! The wasm-bindgen program, in the exact version of the wasm-bindgen crate.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Executable, Tools};
use crate::run;

pub(super) fn ensure(tools: &Tools, version: &str) -> Result<PathBuf> {
    tools.executable(&Executable {
        name: "wasm-bindgen",
        version,
        urls: &urls(std::env::consts::OS, std::env::consts::ARCH, version),
        from_source: &|tools| from_source(tools, version),
    })
}

fn urls(os: &str, arch: &str, version: &str) -> Vec<String> {
    let base = format!("https://github.com/wasm-bindgen/wasm-bindgen/releases/download/{version}");
    let archive = |system: &str| format!("{base}/wasm-bindgen-{version}-{arch}-{system}.tar.gz");
    match os {
        "linux" => vec![archive("unknown-linux-musl"), archive("unknown-linux-gnu")],
        "macos" => vec![archive("apple-darwin")],
        _ => Vec::new(),
    }
}

fn from_source(tools: &Tools, version: &str) -> Result<()> {
    run::print_step(&format!(
        "building wasm-bindgen {version} from source (once; about 3 minutes on two cores)"
    ));
    // Its lock file may contain a crate version that the registry in use does not have.
    tools
        .cargo_install("wasm-bindgen-cli", version, "1", &["--locked"])
        .or_else(|error| {
            run::print_step(&format!("{error:#}; retrying without its lock file"));
            tools.cargo_install("wasm-bindgen-cli", version, "1", &[])
        })
        .with_context(|| format!("cannot build wasm-bindgen-cli {version}; alternatively, add it to PATH"))
}
