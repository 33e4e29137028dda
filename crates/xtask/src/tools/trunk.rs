//! trunk, the bundler of the console.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Executable, Tools};
use crate::run;

/// Version that Trunk.toml is written for.
pub(super) const VERSION: &str = "0.21.14";

pub(super) fn ensure(tools: &Tools) -> Result<PathBuf> {
    tools.executable(&Executable {
        name: "trunk",
        version: VERSION,
        urls: &urls(std::env::consts::OS, std::env::consts::ARCH),
        from_source: &from_source,
    })
}

fn urls(os: &str, arch: &str) -> Vec<String> {
    let base = format!("https://github.com/trunk-rs/trunk/releases/download/v{VERSION}/trunk-{arch}");
    match os {
        "linux" => ["gnu", "musl"]
            .map(|libc| format!("{base}-unknown-linux-{libc}.tar.gz"))
            .to_vec(),
        "macos" => vec![format!("{base}-apple-darwin.tar.gz")],
        _ => Vec::new(),
    }
}

fn from_source(tools: &Tools) -> Result<()> {
    run::print_step(&format!(
        "building trunk {VERSION} from source (once; about 5 minutes on two cores)"
    ));
    // --locked is required: trunk does not compile with newer versions of its dependencies.
    let flags = ["--locked", "--no-default-features", "--features", "rustls"];
    tools.cargo_install("trunk", VERSION, "0", &flags).with_context(|| {
        format!(
            "trunk {VERSION} builds only with the exact crates of its lock file; if the registry in use lacks one of \
            them, add trunk {VERSION} to PATH"
        )
    })
}
