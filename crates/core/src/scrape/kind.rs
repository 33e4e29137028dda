//! Determines the kind of a response from its content type or, if that is generic, from the file name in its URL and
//! from its bytes.

use harvestman_content::files::FileType;

/// How a body is turned into a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// HTML: parsed and converted.
    Html,
    /// Markdown or plain text: used as is.
    Text,
    /// Text shown as a code block of this language.
    Code(&'static str),
    /// A file that must be parsed by a file reader first.
    File(FileType),
    /// Anything else.
    Binary,
}

/// Bytes inspected if the content type is generic.
const SNIFFED_BYTES: usize = 1024;

impl Kind {
    /// Returns the kind of a response.
    pub(super) fn of(content_type: Option<&str>, path: &str, body: &[u8]) -> Self {
        let essence = content_type
            .unwrap_or("")
            .split(';')
            .next()
            .unwrap_or("")
            .trim()
            .to_ascii_lowercase();
        match essence.as_str() {
            "text/html" | "application/xhtml+xml" | "text/plain" if let Some(kind) = mislabelled(body) => {
                Kind::File(kind)
            }
            "text/html" | "application/xhtml+xml" => Kind::Html,
            "application/json" | "text/json" | "application/x-ndjson" | "application/jsonl" => {
                Kind::Code("json")
            }
            "application/xml" | "text/xml" => Kind::Code("xml"),
            "application/javascript" | "text/javascript" | "application/x-javascript" => {
                Kind::Code("javascript")
            }
            "text/css" => Kind::Code("css"),
            "application/yaml" | "application/x-yaml" | "text/yaml" => Kind::Code("yaml"),
            "application/toml" => Kind::Code("toml"),
            ""
            | "application/octet-stream"
            | "binary/octet-stream"
            | "unknown/unknown"
            | "application/zip"
            | "application/x-zip-compressed"
            | "application/x-download"
            | "application/force-download" => unlabelled(path, body),
            other if let Some(kind) = FileType::of_content_type(other) => labelled(kind, body),
            other if other.ends_with("+json") => Kind::Code("json"),
            other if other.ends_with("+xml") => Kind::Code("xml"),
            other if other.starts_with("text/") => Kind::Text,
            other if !other.contains('/') => unlabelled(path, body),
            _ => Kind::Binary,
        }
    }
}

/// Returns the kind of a file whose type is given. Many sites export HTML and text as files of Excel or Word, which
/// open them, and some return a page such as a sign-in form in place of a PDF.
fn labelled(kind: FileType, body: &[u8]) -> Kind {
    use FileType::{Csv, Doc, Docx, Pdf, Xls, Xlsx};
    match (kind, sniff(body)) {
        (Xls | Xlsx | Doc | Docx, Kind::Html) => Kind::Html,
        // Other bytes may precede the signature of a PDF.
        (Pdf, Kind::Html) if FileType::of_bytes(body) != Some(Pdf) => Kind::Html,
        (Xls | Xlsx, Kind::Text) if !body.is_empty() => Kind::File(Csv),
        _ => Kind::File(kind),
    }
}

/// Returns the type of a file that a server calls a page or text.
fn mislabelled(body: &[u8]) -> Option<FileType> {
    // Text may quote the signature of a PDF, which other bytes may precede.
    FileType::of_bytes(body)
        .filter(|kind| *kind != FileType::Pdf || body.trim_ascii_start().starts_with(b"%PDF-"))
}

fn unlabelled(path: &str, body: &[u8]) -> Kind {
    match FileType::of_bytes(body) {
        Some(kind) => Kind::File(kind),
        None => match (sniff(body), FileType::of_name(path)) {
            // CSV looks like plain text.
            (Kind::Text, Some(kind @ (FileType::Csv | FileType::Tsv))) => Kind::File(kind),
            // For unknown bytes, trust the file extension.
            (Kind::Binary, Some(kind)) => Kind::File(kind),
            (kind, _) => kind,
        },
    }
}

fn sniff(body: &[u8]) -> Kind {
    let head = &body[..body.len().min(SNIFFED_BYTES)];
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let start = head.trim_ascii_start();
    let begins = |tag: &[u8]| {
        start
            .get(..tag.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(tag))
    };
    let html: &[&[u8]] = &[
        b"<!doctype html", b"<html", b"<head", b"<body", b"<script", b"<title", b"<meta", b"<style",
        b"<table", b"<h1", b"<div", b"<p>", b"<!--",
    ];
    if html.iter().any(|tag| begins(tag)) {
        Kind::Html
    } else if begins(b"<?xml") {
        Kind::Code("xml")
    } else if head.iter().any(|byte| is_binary(*byte)) {
        Kind::Binary
    } else {
        Kind::Text
    }
}

/// Returns whether a byte never occurs in text (WHATWG MIME sniffing section 3).
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_type_takes_precedence_over_bytes() {
        let check = |content_type: Option<&str>, body: &str, expected| {
            assert_eq!(
                Kind::of(content_type, "/table.csv", body.as_bytes()),
                expected,
                "{content_type:?}"
            );
        };
        check(Some("text/html; charset=utf-8"), "", Kind::Html);
        check(Some("TEXT/HTML"), "", Kind::Html);
        check(Some("text/plain"), "<html>", Kind::Text);
        check(Some("text/html"), "\n%PDF-1.7", Kind::File(FileType::Pdf));
        check(Some("text/html"), "<p>%PDF-1.7", Kind::Html);
        check(
            Some("text/plain"),
            "PK\u{3}\u{4}word/document.xml",
            Kind::File(FileType::Docx),
        );
        check(Some("text/markdown"), "# a", Kind::Text);
        check(Some("text/csv"), "a,b", Kind::File(FileType::Csv));
        check(Some("application/ld+json"), "{}", Kind::Code("json"));
        check(Some("application/rss+xml"), "<rss/>", Kind::Code("xml"));
        check(Some("image/png"), "", Kind::File(FileType::Png));
        check(Some("image/x-icon"), "", Kind::Binary);
        check(Some("application/pdf"), "", Kind::File(FileType::Pdf));
        check(Some("application/pdf"), "damaged", Kind::File(FileType::Pdf));
        check(Some("application/pdf"), "<!DOCTYPE html><p>Sign in", Kind::Html);
        check(
            Some("application/pdf"),
            "<!-- x -->%PDF-1.7",
            Kind::File(FileType::Pdf),
        );
        check(
            Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            "",
            Kind::File(FileType::Docx),
        );
        let excel = Some("application/vnd.ms-excel");
        check(excel, "a,b\n1,2", Kind::File(FileType::Csv));
        check(excel, "\u{FEFF}<table><tr><td>a", Kind::Html);
        check(excel, "PK\u{3}\u{4}xl/workbook.xml", Kind::File(FileType::Xls));
        check(Some("application/msword"), "<html><p>a", Kind::Html);
        check(
            Some("application/msword"),
            "{\\rtf1 a}",
            Kind::File(FileType::Doc),
        );
        check(None, " \n<!DOCTYPE html><p>", Kind::Html);
        check(None, "just, text", Kind::File(FileType::Csv));
        check(
            Some("application/octet-stream"),
            "%PDF-1.7",
            Kind::File(FileType::Pdf),
        );
        check(
            Some("application/zip"),
            "PK\u{3}\u{4}ppt/presentation.xml",
            Kind::File(FileType::Pptx),
        );
        check(Some("garbage"), "a,b", Kind::File(FileType::Csv));
        assert_eq!(Kind::of(None, "/a", b"just text"), Kind::Text);
        assert_eq!(Kind::of(None, "/a.zip", b"PK\x03\x04"), Kind::Binary);
        assert_eq!(Kind::of(None, "/a.doc", b"\x00\x01"), Kind::File(FileType::Doc));
    }
}
