//! The Python wheel: a zip file with the program as a script, which `pip install` puts into PATH.

use std::{
    io::{Cursor, Write},
    path::{Path, PathBuf},
};

use anyhow::Result;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{Effort, PROGRAM, Release, SUMMARY, archive::Entry};

/// Writes the wheel.
pub(super) fn write(release: &Release<'_>, folder: &Path) -> Result<PathBuf> {
    let name = format!("{PROGRAM}-{}", release.version);
    let tag = format!("py3-none-{}", release.platform.wheel_tag());
    let info = format!("{name}.dist-info");
    let mut entries = vec![Entry::program(
        format!("{name}.data/scripts/{PROGRAM}"),
        &release.binary,
    )];
    entries.push(Entry::text(format!("{info}/METADATA"), metadata(release)));
    entries.push(Entry::text(
        format!("{info}/WHEEL"),
        format!("Wheel-Version: 1.0\nGenerator: {PROGRAM} xtask\nRoot-Is-Purelib: false\nTag: {tag}\n"),
    ));
    entries.extend(release.texts.iter().filter_map(|text| {
        let folder = match &*text.path {
            "README.md" => return None,
            "sbom.cdx.json" => "sboms",
            _ => "licenses",
        };
        Some(text.at(format!("{info}/{folder}/{}", text.path)))
    }));
    let record = format!("{info}/RECORD");
    let mut lines: String = entries.iter().map(line).collect();
    lines.push_str(&format!("{record},,\n"));
    entries.push(Entry::text(record, lines));
    release.write(
        &folder.join(format!("{name}-{tag}.whl")),
        &zip(&entries, release.effort)?,
    )
}

/// Returns the line of RECORD about a file.
fn line(entry: &Entry<'_>) -> String {
    let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
    format!("{},sha256={digest},{}\n", entry.path, entry.bytes.len())
}

fn metadata(release: &Release<'_>) -> String {
    let readme = release.texts.iter().find(|text| text.path == "README.md");
    let readme = readme.map_or(String::new(), |text| {
        String::from_utf8_lossy(&text.bytes).into_owned()
    });
    let licences: String = release
        .texts
        .iter()
        .filter(|text| text.path.contains("LICENSE"))
        .map(|text| format!("License-File: {}\n", text.path))
        .collect();
    let (version, repository) = (release.version, env!("CARGO_PKG_REPOSITORY"));
    format!(
        "Metadata-Version: 2.4\nName: {PROGRAM}\nVersion: {version}\nSummary: {SUMMARY}\n\
         License-Expression: MIT OR Apache-2.0\n{licences}Requires-Python: >=3.8\n\
         Project-URL: Repository, {repository}\nDescription-Content-Type: text/markdown\n\n{readme}"
    )
}

fn zip(entries: &[Entry<'_>], effort: Effort) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(effort.gzip().level().into()))
            .unix_permissions(entry.mode());
        archive.start_file(&*entry.path, options)?;
        archive.write_all(&entry.bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}
