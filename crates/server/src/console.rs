//! Serves the console's files, which are usually embedded in the binary. Files are sent pre-compressed where the build
//! has compressed them. Names with a hash are cached for a year; everything else is revalidated by its ETag. The only
//! page that this module contains itself explains how to build the console.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::error::Failure;

mod accept;
mod policy;

use accept::Coding;

/// Looks up a file of the web build in `dist/`; there is none when the console was not built.
#[cfg(feature = "embedded-console")]
fn built_file(path: &str) -> Option<Cow<'static, [u8]>> {
    #[derive(rust_embed::RustEmbed)]
    #[folder = "../../dist"]
    struct Dist;

    <Dist as rust_embed::RustEmbed>::get(path).map(|file| file.data)
}

/// Reads a file of the web build in `dist/`, which may be rebuilt while the server runs.
#[cfg(not(feature = "embedded-console"))]
fn built_file(path: &str) -> Option<Cow<'static, [u8]>> {
    read_below(concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist"), path).map(Cow::Owned)
}

#[cfg(any(test, not(feature = "embedded-console")))]
fn read_below(folder: &str, path: &str) -> Option<Vec<u8>> {
    use std::path::{Component, Path};

    let is_below = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    is_below.then(|| std::fs::read(Path::new(folder).join(path)).ok())?
}

const INDEX: &str = "index.html";

/// Page that is served when the console was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Harvestman</title>\
<h1>The console has not been built</h1>\
<p>The API under <code>/v2</code> works. To build and serve the console, run <code>cargo xtask serve</code>.</p></html>";

/// Source of the console's files.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    file: fn(&str) -> Option<Cow<'static, [u8]>>,
}

impl Console {
    /// Returns the console of this build.
    pub fn built() -> Console {
        Console { file: built_file }
    }

    /// Returns a console with other files: `file` looks up the bytes of a path below the console's folder.
    pub fn of(file: fn(&str) -> Option<Cow<'static, [u8]>>) -> Console {
        Console { file }
    }

    /// Returns the response for a path below `/console/`. A path without a file extension is a screen of the console.
    pub(crate) fn response(&self, path: &str, headers: &HeaderMap) -> Response {
        let names_file = path.rsplit('/').next().is_some_and(|last| last.contains('.'));
        if path.starts_with("api/") || path == "api" || path.split('/').any(|part| part == "..") {
            return no_file();
        }
        if names_file && path != INDEX {
            return self.send(path, headers).unwrap_or_else(no_file);
        }
        self.send(INDEX, headers).unwrap_or_else(not_built)
    }

    fn send(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let plain = (self.file)(path)?;
        let found = accept::codings(headers.get(header::ACCEPT_ENCODING))
            .into_iter()
            .find_map(|coding| {
                let bytes = (self.file)(&format!("{path}.{}", coding.extension()))?;
                Some((bytes, coding))
            });
        let (bytes, coding) = match found {
            Some((bytes, coding)) => (bytes, Some(coding)),
            None => (plain.clone(), None),
        };
        let is_page = path.ends_with(".html");
        let tag = entity_tag(&bytes, coding);
        let mut response = if headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|known| matches(known, &tag))
        {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let mut response = Body::from(bytes).into_response();
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(path)));
            if let Some(coding) = coding {
                response
                    .headers_mut()
                    .insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
            }
            response
        };
        let fresh = if is_hashed(path) && !is_page {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        let out = response.headers_mut();
        out.insert(header::ETAG, tag);
        out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        out.insert(header::CACHE_CONTROL, HeaderValue::from_static(fresh));
        if is_page {
            policy::protect(out, &plain);
        }
        Some(response)
    }
}

fn no_file() -> Response {
    Failure::not_found("no such file in the console").into_response()
}

fn not_built() -> Response {
    let mut response = NOT_BUILT.into_response();
    let out = response.headers_mut();
    out.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    policy::protect(out, NOT_BUILT.as_bytes());
    response
}

/// Builds the ETag. Each content coding has its own. All are weak: the response may still be compressed later.
fn entity_tag(bytes: &[u8], coding: Option<Coding>) -> HeaderValue {
    let digest = Sha256::digest(bytes);
    let mut tag = String::from("W/\"");
    tag.push_str(&hex::encode(&digest[..12]));
    if let Some(coding) = coding {
        tag.push('-');
        tag.push_str(coding.name());
    }
    tag.push('"');
    HeaderValue::from_str(&tag).expect("hexadecimal digits in quotes are a header value")
}

fn matches(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(known), Ok(tag)) = (known.to_str(), tag.to_str()) else {
        return false;
    };
    known
        .split(',')
        .map(str::trim)
        .any(|one| one == "*" || opaque(one) == opaque(tag))
}

/// Returns the tag without the `W/` of a weak one.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// Returns whether the name contains a content hash of the web build: at least 12 hexadecimal digits after a dash.
fn is_hashed(path: &str) -> bool {
    path.split('-')
        .skip(1)
        .any(|part| part.bytes().take_while(u8::is_ascii_hexdigit).count() >= 12)
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_hash_are_recognised() {
        for hashed in [
            "web-1f2e3d4c5b6a7988.js",
            "web-1f2e3d4c5b6a7988_bg.wasm",
            "snippets/web-1f2e3d4c5b6a7988/inline0.js",
        ] {
            assert!(is_hashed(hashed), "{hashed}");
        }
        for plain in ["index.html", "favicon.svg", "dark-mode.css", "web-cafe.js"] {
            assert!(!is_hashed(plain), "{plain}");
        }
    }

    #[test]
    fn only_files_below_the_folder_are_read() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        assert!(read_below(source, "console/accept.rs").is_some());
        for outside in [
            "../Cargo.toml", "console/../../Cargo.toml", "/etc/hostname", ".", "",
        ] {
            assert!(read_below(source, outside).is_none(), "{outside}");
        }
    }

    #[test]
    fn if_none_match_accepts_a_single_tag_a_list_and_weak_tags() {
        let tag = HeaderValue::from_static("W/\"a\"");
        for known in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*"] {
            assert!(matches(&HeaderValue::from_static(known), &tag), "{known}");
        }
        assert!(!matches(&HeaderValue::from_static("\"ab\""), &tag));
    }
}
