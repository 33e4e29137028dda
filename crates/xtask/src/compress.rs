//! Compressed twins (`.br`, `.gz`) beside the files of a web build, so that the server never compresses them itself.

use std::{fs, io::Write, path::Path};

use anyhow::{Context, Result};

use crate::fingerprint::files_under;

/// Smaller files gain nothing.
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

/// Writes the twins of every file under `folder` that compresses well.
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
        let twin = |suffix: &str| file.with_file_name(format!("{}.{suffix}", name_of(&file)));
        fs::write(twin("br"), brotli(&bytes)?)?;
        fs::write(twin("gz"), gzip(&bytes)?)?;
    }
    Ok(())
}

/// Brotli at its best level.
pub(crate) fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        ..Default::default()
    };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut out, &parameters).context("brotli")?;
    Ok(out)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// The last part of a path.
pub(crate) fn name_of(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
