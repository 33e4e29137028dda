//! The pages of a job as files, in folders like those of the site: `example.com/docs/index.md` for
//! `https://example.com/docs/`. The path follows from the URL alone, so that a resumed job continues in the same files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

/// Formats with a file of their own, and its extension. The other formats share a JSON file.
const TEXT_FORMATS: [(&str, &str); 4] = [
    ("markdown", "md"),
    ("html", "html"),
    ("rawHtml", "raw.html"),
    ("summary", "txt"),
];
const JSON_ENDING: &str = "json";
/// Characters that a part of a URL can have and a file name cannot.
const FORBIDDEN: &str = "/\\:*?|";
/// Longest file name without its mark and its extension, in bytes; file systems allow 255.
const NAME_BYTES: usize = 200;
/// Longest path below the folder without its extension, in bytes; systems allow 4096 for a whole path, some only 1024.
const PATH_BYTES: usize = 1000;

/// A folder of pages.
pub(super) struct PageFiles {
    folder: PathBuf,
}

impl PageFiles {
    /// Creates the folder if it does not exist.
    pub(super) fn create(folder: &Path) -> anyhow::Result<PageFiles> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(PageFiles {
            folder: folder.to_owned(),
        })
    }

    /// Writes the files of a document. Formats without text go to a JSON file, with the metadata.
    pub(super) fn write(&self, document: &Value) -> anyhow::Result<()> {
        let metadata = &document["metadata"];
        let url = ["url", "sourceURL"]
            .iter()
            .find_map(|name| metadata[*name].as_str());
        let url = url.context("a document has no URL")?;
        let path = self.folder.join(path(&Url::parse(url)?));
        let parent = path.parent().context("a page has no folder")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let write = |ending: &str, text: &str| {
            let mut file = path.clone().into_os_string();
            file.push(format!(".{ending}"));
            fs::write(&file, text).with_context(|| format!("cannot write {}", Path::new(&file).display()))
        };
        let mut rest = document.clone();
        for (format, ending) in TEXT_FORMATS {
            if let Some(text) = document[format].as_str() {
                write(ending, text)?;
                rest[format].take();
            }
        }
        if let Value::Object(fields) = &mut rest {
            fields.retain(|_, value| !value.is_null());
            if fields.keys().any(|name| name != "metadata") {
                write(JSON_ENDING, &serde_json::to_string_pretty(&rest)?)?;
            }
        }
        Ok(())
    }
}

/// Returns the path of a page's files, without their extensions. The paths of different URLs of a site differ in more
/// than the case of letters, except for their fragments and schemes, and for the case of letters in escapes.
fn path(url: &Url) -> PathBuf {
    let host = name(url.host_str().unwrap_or_default());
    let host = PathBuf::from(match url.port() {
        Some(port) => format!("{host}+{port}"),
        None => host,
    });
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let (last, folders) = segments.split_last().unwrap_or((&"", &[]));
    let folders: PathBuf = folders.iter().map(|folder| folder_name(folder)).collect();
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let escaped = name(&format!("{last}{query}"));
    let last = match *last {
        "" => format!("index{escaped}"),
        // Only the page of a folder itself has the plain name.
        "index" => escaped.replacen('i', "%69", 1),
        _ => escaped,
    };
    let path = host.join(&folders).join(&last);
    if path.as_os_str().len() <= PATH_BYTES {
        return path;
    }
    let folders = format!("~{}", short_hash(folders.as_os_str().as_encoded_bytes()));
    host.join(folders).join(last)
}

/// Returns the name of a folder. It never has the extension of a page's file, so that the two cannot collide.
fn folder_name(segment: &str) -> String {
    let name = name(segment);
    let endings = TEXT_FORMATS.iter().map(|(_, ending)| *ending);
    match endings
        .chain([JSON_ENDING])
        .find(|ending| name.ends_with(&format!(".{ending}")))
    {
        Some(ending) => format!("{}%2E{ending}", &name[..name.len() - ending.len() - 1]),
        None if name.is_empty() => "%".to_owned(),
        None => name,
    }
}

/// Escapes the characters of a part of a URL that are not allowed in file names, and shortens a name that is too long.
/// A mark at the end distinguishes names that many disks take for one, because they differ only in case.
fn name(part: &str) -> String {
    let mut name = String::new();
    for c in part.chars() {
        match FORBIDDEN.contains(c) {
            true => name.push_str(&format!("%{:02X}", u32::from(c))),
            false => name.push(c),
        }
    }
    match capitals(part) {
        Some(0) if name.len() <= NAME_BYTES => name,
        Some(capitals) if name.len() <= NAME_BYTES => format!("{name}~{capitals:x}"),
        _ => {
            name.truncate(NAME_BYTES);
            format!("{name}~{}", short_hash(part.as_bytes()))
        }
    }
}

/// Returns which letters of a part of a URL are capitals, a bit for each position. `None` if this does not distinguish
/// its name from others: it is too long, or has an escape or a mark as a name can have it.
fn capitals(part: &str) -> Option<u64> {
    let mut pieces = part.split('%');
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let escaped = u8::from_str_radix(piece.get(..2)?, 16).ok()?;
        if FORBIDDEN.contains(char::from(escaped)) || b".i".contains(&escaped) {
            return None;
        }
        text.push_str(&piece[2..]);
    }
    let is_hex = |mark: &str| !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    if text.rsplit_once('~').is_some_and(|(_, mark)| is_hex(mark)) {
        return None;
    }
    let mut capitals = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_uppercase());
    capitals.try_fold(0, |bits, (at, _)| {
        Some(bits | 1_u64.checked_shl(at.try_into().ok()?)?)
    })
}

fn short_hash(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_site_and_never_clash() {
        let long = "x".repeat(300);
        let of = |url: &str| path(&Url::parse(url).unwrap()).to_str().unwrap().to_owned();
        for (url, expected) in [
            ("https://example.com", "example.com/index"),
            ("https://example.com/docs/", "example.com/docs/index"),
            ("https://example.com/docs/index", "example.com/docs/%69ndex"),
            ("https://example.com/docs", "example.com/docs"),
            ("http://127.0.0.1:8080/a.html", "127.0.0.1+8080/a.html"),
            ("https://example.com/a?b=c/d", "example.com/a%3Fb=c%2Fd"),
            ("https://example.com/~ann/caf%C3%A9", "example.com/~ann/caf%C3%A9"),
            ("https://example.com/a.md/b", "example.com/a%2Emd/b"),
            ("https://example.com//b", "example.com/%/b"),
            ("https://example.com/../../etc/passwd", "example.com/etc/passwd"),
            ("https://example.com/%2e%2e/x", "example.com/x"),
        ] {
            assert_eq!(of(url), expected);
        }
        let (one, other) = (
            of(&format!("https://a.example/{long}1")),
            of(&format!("https://a.example/{long}2")),
        );
        assert!(one != other && one.len() < 255, "{one}");
    }

    #[test]
    fn names_differ_in_more_than_case() {
        let urls = [
            "https://a.example/q?x", "https://a.example/q%3Fx", "https://a.example/q%3fx",
            "https://a.example/index", "https://a.example/%69ndex", "https://a.example/Index",
            "https://a.example/", "https://a.example/?Q=1", "https://a.example/?q=1",
            "https://a.example/About", "https://a.example/about", "https://a.example/about~1",
            "https://a.example/ABOUT", "https://a.example/About/x", "https://a.example/about/x",
            "https://a.example/a.MD/x", "https://a.example/a.md/x", "https://a.example/a%2Emd/x",
            "https://a.example/%zz", "https://a.example/%ZZ",
        ];
        let long = "a".repeat(64);
        let long = ["x", "X"].map(|end| format!("https://a.example/{long}{end}"));
        let path = |url: &str| path(&Url::parse(url).unwrap());
        let mut paths: Vec<String> = urls
            .into_iter()
            .chain(long.iter().map(String::as_str))
            .map(|url| path(url).to_str().unwrap().to_lowercase())
            .collect();
        paths.sort();
        let count = paths.len();
        paths.dedup();
        assert_eq!(paths.len(), count, "{paths:?}");
        assert_eq!(
            path("https://a.example/Main_Page?Q").to_str().unwrap(),
            "a.example/Main_Page%3FQ~421"
        );
        assert_eq!(
            path("https://a.example/caf%C3%A9").to_str().unwrap(),
            "a.example/caf%C3%A9"
        );
    }

    #[test]
    fn deep_folders_are_shortened() {
        let of = |depth, end| format!("https://a.example/{}{end}", "a/".repeat(depth));
        let path = |url: &str| path(&Url::parse(url).unwrap());
        assert_eq!(path(&of(490, "b")).components().count(), 492);
        let deep = path(&of(2500, "b"));
        let names: Vec<&str> = deep.iter().map(|name| name.to_str().unwrap()).collect();
        assert_eq!((names.len(), names[0], names[2]), (3, "a.example", "b"));
        assert!(names[1].starts_with('~') && names[1].len() == 17, "{}", names[1]);
        assert_ne!(deep, path(&of(2501, "b")));
        assert_eq!(deep.parent(), path(&of(2500, "")).parent());

        let folder = std::env::temp_dir().join(format!("harvestman-pages-{}", uuid::Uuid::now_v7()));
        PageFiles::create(&folder)
            .unwrap()
            .write(&serde_json::json!({"markdown": "x", "metadata": {"sourceURL": of(2500, "b")}}))
            .unwrap();
        assert!(folder.join(deep.with_extension("md")).exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn each_text_has_its_file_and_the_rest_is_json() {
        let folder = std::env::temp_dir().join(format!("harvestman-pages-{}", uuid::Uuid::now_v7()));
        let files = PageFiles::create(&folder).unwrap();
        let document = serde_json::json!({
            "markdown": "# A", "html": "<h1>A</h1>", "links": ["b"], "metadata": {"sourceURL": "https://a.example/b"}
        });
        files.write(&document).unwrap();
        let read = |name: &str| fs::read_to_string(folder.join("a.example").join(name));
        assert_eq!(read("b.md").unwrap(), "# A");
        assert_eq!(read("b.html").unwrap(), "<h1>A</h1>");
        let rest: Value = serde_json::from_str(&read("b.json").unwrap()).unwrap();
        assert_eq!(
            (&rest["links"][0], &rest["markdown"]),
            (&"b".into(), &Value::Null)
        );
        files
            .write(&serde_json::json!({"markdown": "x", "metadata": {"sourceURL": "https://a.example/c"}}))
            .unwrap();
        assert!(read("c.md").is_ok() && read("c.json").is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
