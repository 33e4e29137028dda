//! A working Chromium: set in `HARVESTMAN_CHROMIUM`, in PATH, from Debian, or from Playwright.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};

use super::{Tools, apt};
use crate::{fingerprint::files_under, project::Project, run};

const NAMES: &[&str] = &[
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome",
];
/// Time limit for the download of about 100 MB.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// Packages of distributions, best first: the small one renders pages and has no desktop dependencies.
const PACKAGES: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Returns the Chromium for rendering pages, and installs one if none is found.
pub(super) fn ensure(tools: &Tools, project: &Project) -> Result<PathBuf> {
    if let Some(configured) = configured() {
        return Ok(configured);
    }
    if let Some(found) = in_path().next().or_else(|| find_downloaded(tools)) {
        return Ok(found);
    }
    let mut by_apt = Ok(());
    for package in PACKAGES {
        by_apt = apt::install(&[package], "render pages");
        if let Some(found) = in_path().next() {
            return Ok(found);
        }
    }
    download(tools, project).with_context(|| match by_apt {
        Ok(()) => "no working Chromium: set HARVESTMAN_CHROMIUM".to_owned(),
        Err(error) => format!("no Chromium ({error:#}): set HARVESTMAN_CHROMIUM"),
    })
}

/// Returns each Chromium for tests: the one in `HARVESTMAN_CHROMIUM`, or all that are installed.
pub(super) fn all(tools: &Tools, project: &Project) -> Result<Vec<PathBuf>> {
    let first = ensure(tools, project)?;
    let others = match configured() {
        Some(_) => Vec::new(),
        None => in_path().filter(|other| *other != first).collect(),
    };
    Ok([vec![first], others].concat())
}

/// Installs each Chromium package of the distribution.
pub(super) fn install_all() {
    for package in PACKAGES
        .iter()
        .filter(|package| run::find_in_path(package).is_none())
    {
        if let Err(error) = apt::install(&[package], "test with this Chromium") {
            run::print_step(&format!("no {package}: {error:#}"));
        }
    }
}

fn configured() -> Option<PathBuf> {
    std::env::var_os("HARVESTMAN_CHROMIUM").map(PathBuf::from)
}

/// Returns each working Chromium in PATH once: a package may be a stub for another installer, or one name a link to
/// another.
fn in_path() -> impl Iterator<Item = PathBuf> {
    let mut seen = Vec::new();
    NAMES
        .iter()
        .filter_map(|name| run::find_in_path(name))
        .filter(|file| run::version_of(file).is_some())
        .filter(move |file| {
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            let new = !seen.contains(&real);
            seen.push(real);
            new
        })
}

fn download(tools: &Tools, project: &Project) -> Result<PathBuf> {
    run::print_step("downloading Chromium with Playwright");
    let cli = tools
        .javascript(project)?
        .join("node_modules/playwright-core/cli.js");
    let mut install = tools.node()?.command();
    install.arg(cli).args(["install", "chromium-headless-shell"]);
    install.env("PLAYWRIGHT_BROWSERS_PATH", tools.path("chromium"));
    run::run_within(&mut install, DOWNLOAD_LIMIT)?;
    find_downloaded(tools).context("the downloaded Chromium does not start")
}

fn find_downloaded(tools: &Tools) -> Option<PathBuf> {
    let files = files_under(&tools.path("chromium")).ok()?;
    files
        .into_iter()
        .filter(|file| {
            let name = file.file_name().unwrap_or_default();
            name == "headless_shell" || name == "chrome-headless-shell"
        })
        .find(|file| run::version_of(file).is_some())
}
