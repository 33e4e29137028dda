//! Links to files that are never fetched, by extension (docs/API.md section 5 rule 10): images, fonts,
//! styles, scripts, archives, executables, audio and video. PDF and office documents count as pages.

use url::Url;

/// Lower case, sorted.
const EXTENSIONS: &[&str] = &[
    "3g2", "3gp", "7z", "aac", "ai", "aif", "aiff", "amr", "apk", "appimage", "arj", "asf", "avi", "avif",
    "bat", "bin", "bmp", "bz2", "cab", "cjs", "cmd", "com", "css", "cur", "deb", "dll", "dmg", "dylib",
    "eot", "eps", "exe", "flac", "flatpak", "flv", "gif", "gz", "heic", "heif", "ico", "img", "ipa", "iso",
    "jar", "jfif", "jpe", "jpeg", "jpg", "js", "jxl", "less", "lz", "lzh", "lzma", "m3u", "m3u8", "m4a",
    "m4v", "map", "mid", "midi", "mjs", "mkv", "mov", "mp3", "mp4", "mpe", "mpeg", "mpg", "msi", "msix",
    "oga", "ogg", "ogv", "opus", "otf", "pkg", "pls", "png", "psd", "rar", "raw", "rm", "rpm", "run", "scss",
    "snap", "so", "svg", "svgz", "swf", "tar", "tbz2", "tgz", "tif", "tiff", "ts", "ttf", "txz", "vob",
    "war", "wasm", "wav", "webm", "webp", "wma", "wmv", "woff", "woff2", "xz", "z", "zip", "zst",
];
/// Length of the longest extension in the table.
const MAX_LEN: usize = 8;

/// Returns whether the last path segment ends in one of these extensions.
pub(super) fn is_file(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, extension)) if extension.len() <= MAX_LEN => EXTENSIONS
            .binary_search(&extension.to_ascii_lowercase().as_str())
            .is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_tell_files_from_pages() {
        assert!(EXTENSIONS.is_sorted_by(|a, b| a < b));
        assert_eq!(
            EXTENSIONS.iter().map(|extension| extension.len()).max(),
            Some(MAX_LEN)
        );
        for (path, expected) in [
            ("/a.PNG", true),
            ("/a/b.tar.gz?x=1", true),
            ("/a.js", true),
            ("/a.pdf", false),
            ("/a.docx", false),
            ("/a.html", false),
            ("/a.json", false),
            ("/png", false),
            ("/a.png/", false),
            ("/?f=a.png", false),
        ] {
            let url = Url::parse("http://site.test").unwrap().join(path).unwrap();
            assert_eq!(is_file(&url), expected, "{path}");
        }
    }
}
