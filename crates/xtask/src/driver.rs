//! The driver of browsers for code in Node.js (playwright-core), compressed for the server to embed. Repeated only when
//! its version has changed.

use std::fs;

use anyhow::{Context, Result};

use crate::{
    compress::brotli,
    fingerprint::{Fingerprint, files_under},
    project::Project,
    run,
    tools::Tools,
};

/// Folder of the compressed files, which the server embeds.
const FOLDER: &str = "crates/server/driver";
/// Files that a program needs to connect to a running browser, and the licence.
const FILES: [&str; 11] = [
    "package.json",
    "index.js",
    "browsers.json",
    "LICENSE",
    "NOTICE",
    "ThirdPartyNotices.txt",
    "lib/bootstrap.js",
    "lib/coreBundle.js",
    "lib/package.js",
    "lib/serverRegistry.js",
    "lib/utilsBundle.js",
];

/// Brings the driver up to date.
pub(crate) fn build(project: &Project, tools: &Tools) -> Result<()> {
    let package = tools.driver(project)?;
    let (folder, stamp) = (project.path(FOLDER), project.target().join("xtask-driver.stamp"));
    let mut sources = Fingerprint::default();
    for file in FILES {
        sources = sources.word(file).tree(&package.join(file))?;
    }
    let sources = sources.finish();
    let output = || Ok::<_, anyhow::Error>(Fingerprint::default().word(&sources).tree(&folder)?.finish());
    if fs::read_to_string(&stamp).is_ok_and(|text| output().is_ok_and(|now| now == text)) {
        return Ok(());
    }
    run::print_step("compressing the driver for Node.js");
    for old in files_under(&folder)? {
        fs::remove_file(old)?;
    }
    for file in FILES {
        let bytes = fs::read(package.join(file)).with_context(|| format!("playwright-core has no {file}"))?;
        let to = folder.join(format!("{file}.br"));
        fs::create_dir_all(to.parent().unwrap_or(&folder))?;
        fs::write(&to, brotli(&bytes)?).with_context(|| to.display().to_string())?;
    }
    fs::write(&stamp, output()?).with_context(|| stamp.display().to_string())
}
