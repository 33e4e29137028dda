//! The npm packages that the server embeds, compressed: the driver of browsers for code in Node.js (playwright-core)
//! and the script that answers consent banners (autoconsent). Compresses them again only when a version has changed.

use std::fs;

use anyhow::{Context, Result};

use crate::{
    compress::brotli,
    embedded::{EMBEDDED, EmbeddedPackage},
    fingerprint::{Stamp, files_under},
    project::Project,
    run,
    tools::Tools,
};

/// Brings the embedded packages up to date.
pub(crate) fn build(project: &Project, tools: &Tools) -> Result<()> {
    EMBEDDED
        .iter()
        .try_for_each(|embedded| compress(embedded, project, tools))
}

fn compress(embedded: &EmbeddedPackage, project: &Project, tools: &Tools) -> Result<()> {
    let name = embedded.folder;
    let package = tools.embedded(project, embedded)?;
    let folder = project.path("crates/server").join(name);
    let stamp = Stamp {
        file: project.target().join(format!("xtask-{name}.stamp")),
        output: folder.clone(),
        inputs: embedded.files,
        base: &package,
    };
    if stamp.is_current() {
        return Ok(());
    }
    run::print_step(&format!("compressing {}", embedded.package));
    for old in files_under(&folder)? {
        fs::remove_file(old)?;
    }
    let mut copies = Vec::new();
    for file in embedded.files {
        let to = folder.join(format!("{file}.br"));
        fs::create_dir_all(to.parent().unwrap_or(&folder))?;
        copies.push((package.join(file), to));
    }
    brotli(&tools.node()?, &copies)
        .with_context(|| format!("cannot compress the files of {}", embedded.package))?;
    stamp.record()
}
