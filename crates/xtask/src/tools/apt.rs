//! Debian and Ubuntu packages, the last resort for tools that no other registry has.

use std::{os::unix::fs::MetadataExt, process::Command};

use anyhow::{Context, Result, bail};

use crate::run;

/// Installs `packages`; `why` completes "... is needed to".
///
/// # Errors
/// The message says what to install by hand if apt is missing or may not be used.
pub(super) fn install(packages: &[&str], why: &str) -> Result<()> {
    let by_hand = format!(
        "install the packages that are needed to {why} (Debian: apt-get install {})",
        packages.join(" ")
    );
    if run::find_in_path("apt-get").is_none() {
        bail!("apt-get not found: {by_hand}");
    }
    run::print_step(&format!("apt-get install {} (to {why})", packages.join(" ")));
    let install = || {
        run::run_in_foreground(
            apt_get()?
                .args(["install", "-y", "--no-install-recommends"])
                .args(packages),
        )
    };
    // Package lists may be missing (fresh images) or old; a partly failed update may still be enough.
    install()
        .or_else(|_| {
            run::run_in_foreground(apt_get()?.arg("update")).ok();
            install()
        })
        .with_context(|| by_hand)
}

/// Returns an apt-get command, with sudo unless this is root. It waits a few minutes for another dpkg.
fn apt_get() -> Result<Command> {
    let root = std::fs::metadata("/proc/self")?.uid() == 0;
    let mut command = if root {
        run::command("env")
    } else {
        run::find_in_path("sudo").context("cannot install packages: not root, and sudo not found")?;
        let mut command = run::command("sudo");
        command.arg("env");
        command
    };
    command.args([
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-q",
        "-o",
        "DPkg::Lock::Timeout=400",
    ]);
    Ok(command)
}
