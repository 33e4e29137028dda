//! Debian and Ubuntu packages, as the last resort for what no other registry has.

use std::{os::unix::fs::MetadataExt, process::Command};

use anyhow::{Context, Result, bail};

use crate::run;

/// Installs `packages`; `why` completes "... is needed to". Without apt or the right to use it, an error says what to do.
pub(super) fn install(packages: &[&str], why: &str) -> Result<()> {
    let by_hand = format!(
        "install by hand what is needed to {why} (Debian: apt-get install {})",
        packages.join(" ")
    );
    if run::find_in_path("apt-get").is_none() {
        bail!("no apt-get here: {by_hand}");
    }
    run::say(&format!("apt-get install {} (to {why})", packages.join(" ")));
    let install = || {
        run::run(
            apt_get()?
                .args(["install", "-y", "--no-install-recommends"])
                .args(packages),
        )
    };
    // Lists may be missing (fresh images) or old; a partly failed update is no reason to stop.
    install()
        .or_else(|_| {
            run::run(apt_get()?.arg("update")).ok();
            install()
        })
        .with_context(|| by_hand)
}

/// apt-get, as root by itself or by sudo; waits for another dpkg for a few minutes.
fn apt_get() -> Result<Command> {
    let root = std::fs::metadata("/proc/self")?.uid() == 0;
    let mut command = if root {
        run::command("env")
    } else {
        run::find_in_path("sudo").context("not root, and no sudo here")?;
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
