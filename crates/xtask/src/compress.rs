//! Writes compressed copies (`.br`, `.gz`) of the files of a web build, so that the server need not compress them.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::{fingerprint::files_under, run, tools::Node};

/// Takes source and target of each file as arguments.
const BROTLI: &str = include_str!("compress/brotli.cjs");

/// Size below which files are not compressed: they would gain nothing.
const MIN_BYTES: usize = 256;
const KINDS: &[&str] = &[
    "css", "html", "js", "json", "mjs", "svg", "txt", "wasm", "webmanifest",
];

/// Writes compressed copies of all files under `path`, or of the file `path`, whose type compresses well.
pub(crate) fn compress_tree(path: &Path, node: &Node) -> Result<()> {
    let mut copies = Vec::new();
    for file in files_under(path)? {
        let kind = file
            .extension()
            .and_then(|kind| kind.to_str())
            .unwrap_or_default();
        let bytes = fs::read(&file)?;
        if !KINDS.contains(&kind) || bytes.len() < MIN_BYTES {
            continue;
        }
        fs::write(compressed(&file, "gz"), gzip(&bytes)?)?;
        copies.push((file.clone(), compressed(&file, "br")));
    }
    brotli(node, &copies)
}

/// Returns the path of the compressed copy of a file.
pub(crate) fn compressed(file: &Path, suffix: &str) -> PathBuf {
    file.with_file_name(format!("{}.{suffix}", name_of(file)))
}

/// Compresses the first file of each pair into the second, with Brotli at its highest level. Node.js does it in
/// seconds; a build of these tasks, which is not optimised, would take minutes.
pub(crate) fn brotli(node: &Node, files: &[(PathBuf, PathBuf)]) -> Result<()> {
    let paths = files.iter().flat_map(|(from, to)| [from, to]);
    run::run(node.command().args(["--eval", BROTLI, "--"]).args(paths))
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Compresses with DEFLATE, without a header.
pub(crate) fn deflate(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Returns the last part of a path.
pub(crate) fn name_of(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
