//! A Rust compiler for wasm32: rustup's target where its server can be reached, else Debian's rustc with std built
//! from source.

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
/// Time limit for `rustup target add`, which takes seconds if it works.
const RUSTUP_LIMIT: Duration = Duration::from_secs(60);
/// Folder of Debian's cargo and rustc, which are used from here even if PATH has others.
const DEBIAN_BIN: &str = "/usr/bin";
const DEBIAN_STD_SOURCE: &str = "/usr/lib/rustlib/src/rust/library/std";
const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-22"];

/// Compiler for wasm32 on this machine.
#[derive(Debug)]
pub(crate) enum WasmTarget {
    /// The compiler in PATH has the target.
    Installed,
    /// Debian's compiler, which builds std from source and uses this linker.
    Debian { linker: PathBuf },
}

impl WasmTarget {
    /// Sets the environment of `command`, which runs cargo or a program that runs it, such as trunk.
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

    /// Returns the configured command `cargo <action> --target wasm32-unknown-unknown`.
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
        run::print_step(&format!("rustup target add {TARGET}"));
        let added = run::run_within(
            run::command("rustup").args(["target", "add", TARGET]),
            RUSTUP_LIMIT,
        );
        match added {
            Ok(()) if has_target() => return Ok(WasmTarget::Installed),
            Ok(()) => {
                run::print_step("the rustc in PATH does not belong to the toolchain that rustup changed")
            }
            Err(error) => run::print_step(&format!("rustup cannot add the target ({error:#})")),
        }
    }
    apt::install(DEBIAN_PACKAGES, "compile for wasm32")?;
    find().with_context(|| {
        format!(
            "no compiler for wasm32: run `rustup target add {TARGET}` or install Debian's {}",
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

/// Returns the newest `wasm-ld-<version>` in `bin`.
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
    fn the_newest_linker_is_used() {
        let folder = std::env::temp_dir().join(format!("harvestman-linker-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["wasm-ld-9", "wasm-ld-22", "wasm-ld-x", "ld-99"] {
            fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(linker(&folder), Some(folder.join("wasm-ld-22")));
        fs::remove_dir_all(&folder).unwrap();
    }
}
