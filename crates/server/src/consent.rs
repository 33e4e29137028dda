//! The script that answers the banners of consent tools in the browser: autoconsent, which the binary contains,
//! compressed.

use std::io;

use rust_embed::RustEmbed;

use crate::driver;

/// The script and its licence; empty in a build without them.
#[derive(RustEmbed)]
#[folder = "consent"]
struct Files;

/// Returns the script; none in a build without it.
pub(crate) fn script() -> io::Result<Option<String>> {
    let Some(file) = Files::get("dist/autoconsent.standalone.js.br") else {
        return Ok(None);
    };
    String::from_utf8(driver::decompress(&file.data)?)
        .map(Some)
        .map_err(io::Error::other)
}
