//! Writes compressed copies (`.br`, `.gz`) of the files of a web build, so that the server need not compress them.

use std::{fs, io::Write, path::Path};

use anyhow::{Context, Result};

use crate::fingerprint::files_under;

/// Size below which files are not compressed: they would gain nothing.
const MIN_BYTES: usize = 256;
const KINDS: &[&str] = &[
    "css",
    "html",
    "js",
    "json",
    "mjs",
    "svg",
    "txt",
    "wasm",
    "webmanifest",
];

/// Writes compressed copies of all files under `folder` whose type compresses well.
pub(crate) fn compress_tree(folder: &Path) -> Result<()> {
    for file in files_under(folder)? {
        let kind = file
            .extension()
            .and_then(|kind| kind.to_str())
            .unwrap_or_default();
        let bytes = fs::read(&file)?;
        if !KINDS.contains(&kind) || bytes.len() < MIN_BYTES {
            continue;
        }
        let copy_path = |suffix: &str| file.with_file_name(format!("{}.{suffix}", name_of(&file)));
        fs::write(copy_path("br"), brotli(&bytes)?)?;
        fs::write(copy_path("gz"), gzip(&bytes)?)?;
    }
    Ok(())
}

/// Compresses with Brotli at its highest level.
pub(crate) fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        ..Default::default()
    };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut out, &parameters).context("Brotli compression failed")?;
    Ok(out)
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
