//! A Rust compiler that makes wasm32: rustup's target where its server can be reached, else Debian's rustc with std
//! built from source.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result};

use super::{Tools, apt};
use crate::{project::Project, run};

const TARGET: &str = "wasm32-unknown-unknown";
/// `rustup target add` needs seconds where it works at all.
const RUSTUP_LIMIT: Duration = Duration::from_secs(60);
/// Debian's folder of programs; its cargo and rustc must come from here, whatever PATH says.
const DEBIAN_BIN: &str = "/usr/bin";
const DEBIAN_STD_SOURCE: &str = "/usr/lib/rustlib/src/rust/library/std";
const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-22"];

/// How wasm32 is compiled on this machine.
#[derive(Debug)]
pub(crate) enum WasmTarget {
    /// The compiler in PATH has the target.
    Installed,
    /// Debian's compiler, building std itself; linked by this program.
    Debian { linker: PathBuf },
}

impl WasmTarget {
    /// The environment for `command`, which runs cargo or something that runs it, such as trunk.
    pub(crate) fn configure(&self, command: &mut Command, project: &Project, tools: &Tools) -> Result<()> {
        let bin = tools.bin();
        command
            .env("CARGO_TARGET_DIR", project.wasm_target())
            .env_remove("CARGO_BUILD_TARGET");
        match self {
            WasmTarget::Installed => command.env("PATH", run::path_with(&[&bin])?),
            WasmTarget::Debian { linker } => command
                .env("PATH", run::path_with(&[&bin, Path::new(DEBIAN_BIN)])?)
                .env("RUSTC", Path::new(DEBIAN_BIN).join("rustc"))
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                .env_remove("RUSTUP_TOOLCHAIN"),
        };
        Ok(())
    }

    /// `cargo <action> --target wasm32-unknown-unknown`, configured.
    pub(crate) fn cargo(&self, action: &str, project: &Project, tools: &Tools) -> Result<Command> {
        let program = match self {
            WasmTarget::Installed => PathBuf::from("cargo"),
            WasmTarget::Debian { .. } => Path::new(DEBIAN_BIN).join("cargo"),
        };
        let mut command = run::command(program);
        command
            .current_dir(project.root())
            .args([action, "--target", TARGET]);
        self.configure(&mut command, project, tools)?;
        Ok(command)
    }
}

pub(super) fn ensure() -> Result<WasmTarget> {
    if let Some(found) = find() {
        return Ok(found);
    }
    if run::find_in_path("rustup").is_some() {
        run::say(&format!("rustup target add {TARGET}"));
        let added = run::run_within(
            run::command("rustup").args(["target", "add", TARGET]),
            RUSTUP_LIMIT,
        );
        match added {
            Ok(()) if has_target() => return Ok(WasmTarget::Installed),
            Ok(()) => run::say("the rustc in PATH is not the one that rustup extended"),
            Err(error) => run::say(&format!("rustup cannot add the target here ({error:#})")),
        }
    }
    apt::install(DEBIAN_PACKAGES, "compile for wasm32")?;
    find().with_context(|| {
        format!(
            "no compiler for wasm32: `rustup target add {TARGET}` or Debian's {}",
            DEBIAN_PACKAGES.join(", ")
        )
    })
}

fn find() -> Option<WasmTarget> {
    if has_target() {
        return Some(WasmTarget::Installed);
    }
    let bin = Path::new(DEBIAN_BIN);
    let complete =
        bin.join("cargo").is_file() && bin.join("rustc").is_file() && Path::new(DEBIAN_STD_SOURCE).is_dir();
    Some(WasmTarget::Debian {
        linker: linker(bin).filter(|_| complete)?,
    })
}

fn has_target() -> bool {
    let folder = run::output(run::command("rustc").args(["--print", "target-libdir", "--target", TARGET]));
    folder.is_ok_and(|folder| fs::read_dir(folder.trim()).is_ok_and(|mut files| files.next().is_some()))
}

/// The newest `wasm-ld-<version>` in `bin`.
fn linker(bin: &Path) -> Option<PathBuf> {
    let newest = fs::read_dir(bin)
        .ok()?
        .filter_map(|entry| {
            entry
                .ok()?
                .file_name()
                .to_str()?
                .strip_prefix("wasm-ld-")?
                .parse::<u32>()
                .ok()
        })
        .max()?;
    Some(bin.join(format!("wasm-ld-{newest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_linker_is_taken() {
        let folder = std::env::temp_dir().join(format!("harvestman-linker-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["wasm-ld-9", "wasm-ld-22", "wasm-ld-x", "ld-99"] {
            fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(linker(&folder), Some(folder.join("wasm-ld-22")));
        fs::remove_dir_all(&folder).unwrap();
    }
}
