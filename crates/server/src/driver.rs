//! The driver of browsers for code in Node.js: playwright-core, which the binary contains, compressed. The server
//! unpacks it into the data folder, where Node.js can load it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rust_embed::RustEmbed;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::limits;

/// Files of the package, each compressed with Brotli; empty in a build without the driver.
#[derive(RustEmbed)]
#[folder = "driver"]
struct Files;

const PACKAGE: &str = "playwright-core";
const COMPRESSED: &str = ".br";

/// Returns the version of the driver; none in a build without it.
pub(crate) fn version() -> Option<String> {
    let manifest: Value = serde_json::from_slice(&read("package.json.br").ok()?).ok()?;
    Some(manifest["version"].as_str()?.to_owned())
}

/// Unpacks the driver below the data folder unless it is there already. Returns the folder of Node.js packages that
/// contains it; none in a build without a driver. Drivers of other versions are removed.
pub(crate) fn unpack(data_dir: &Path) -> io::Result<Option<PathBuf>> {
    let mut hash = Sha256::new();
    for name in Files::iter() {
        hash.update(&*name);
        hash.update(
            Files::get(&name)
                .map(|file| file.metadata.sha256_hash())
                .unwrap_or_default(),
        );
    }
    if Files::iter().next().is_none() {
        return Ok(None);
    }
    let all = data_dir.join(limits::DRIVER_FOLDER);
    let folder = all.join(hex::encode(&hash.finalize()[..8]));
    let modules = folder.join("node_modules");
    if modules.is_dir() {
        return Ok(Some(modules));
    }
    match fs::remove_dir_all(&all) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // The folder gets its name only when it is complete.
    let part = all.join("part");
    for name in Files::iter() {
        let path = name.strip_suffix(COMPRESSED).unwrap_or(&name);
        let to = part.join("node_modules").join(PACKAGE).join(path);
        fs::create_dir_all(to.parent().unwrap_or(&part))?;
        fs::write(to, read(&name)?)?;
    }
    fs::rename(part, &folder)?;
    Ok(Some(modules))
}

/// Returns the contents of an embedded file.
fn read(name: &str) -> io::Result<Vec<u8>> {
    decompress(&Files::get(name).ok_or(ErrorKind::NotFound)?.data)
}

/// Decompresses an embedded file.
pub(crate) fn decompress(mut file: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    brotli::BrotliDecompress(&mut file, &mut bytes)?;
    Ok(bytes)
}
