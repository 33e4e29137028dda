//! A Chromium that starts: named by `HARVESTMAN_CHROMIUM`, in PATH, Debian's, or Playwright's.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};

use super::{Tools, apt};
use crate::{fingerprint::files_under, project::Project, run};

const NAMES: &[&str] = &[
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];
/// A browser archive of about 100 MB.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

pub(super) fn ensure(tools: &Tools, project: &Project) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("HARVESTMAN_CHROMIUM") {
        return Ok(PathBuf::from(named));
    }
    if let Some(found) = in_path().or_else(|| downloaded(tools)) {
        return Ok(found);
    }
    let by_apt = apt::install(&["chromium"], "render pages");
    if let Some(found) = in_path() {
        return Ok(found);
    }
    run::say("downloading Chromium by Playwright");
    let cli = tools
        .javascript(project)?
        .join("node_modules/playwright-core/cli.js");
    let mut install = tools.node()?.command();
    install.arg(cli).args(["install", "chromium-headless-shell"]);
    install.env("PLAYWRIGHT_BROWSERS_PATH", tools.path("chromium"));
    run::run_within(&mut install, DOWNLOAD_LIMIT)
        .and_then(|()| downloaded(tools).context("it does not start here"))
        .with_context(|| match by_apt {
            Ok(()) => "no Chromium that starts: set HARVESTMAN_CHROMIUM to one".to_owned(),
            Err(error) => format!("no Chromium ({error:#}): set HARVESTMAN_CHROMIUM to one"),
        })
}

/// Only what really starts: a package may be a stub that asks for another installer.
fn in_path() -> Option<PathBuf> {
    NAMES
        .iter()
        .filter_map(|name| run::find_in_path(name))
        .find(|file| run::version_of(file).is_some())
}

fn downloaded(tools: &Tools) -> Option<PathBuf> {
    let files = files_under(&tools.path("chromium")).ok()?;
    files
        .into_iter()
        .filter(|file| {
            let name = file.file_name().unwrap_or_default();
            name == "headless_shell" || name == "chrome-headless-shell"
        })
        .find(|file| run::version_of(file).is_some())
}
