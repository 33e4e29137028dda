//! What kind of thing a response is: by its content type, and by its first bytes where the type
//! says nothing.

/// How a body is turned into a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Parsed and converted.
    Html,
    /// Markdown or plain text: taken as it is.
    Text,
    /// Text that is shown as code of a language.
    Code(&'static str),
    /// PDF.
    Pdf,
    /// Anything else.
    Binary,
}

/// Bytes looked at when the content type says nothing.
const SNIFFED_BYTES: usize = 1024;

impl Kind {
    /// The kind of a response.
    pub(super) fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        let essence = content_type
            .unwrap_or("")
            .split(';')
            .next()
            .unwrap_or("")
            .trim()
            .to_ascii_lowercase();
        match essence.as_str() {
            "text/html" | "application/xhtml+xml" => Kind::Html,
            "application/pdf" | "application/x-pdf" => Kind::Pdf,
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
            "text/rtf" => Kind::Binary,
            "" | "application/octet-stream" | "binary/octet-stream" | "unknown/unknown" => sniff(body),
            other if other.ends_with("+json") => Kind::Code("json"),
            other if other.ends_with("+xml") => Kind::Code("xml"),
            other if other.starts_with("text/") => Kind::Text,
            other if !other.contains('/') => sniff(body),
            _ => Kind::Binary,
        }
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
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<body",
        b"<script",
        b"<title",
        b"<h1",
        b"<div",
        b"<p>",
        b"<!--",
    ];
    match () {
        () if begins(b"%PDF-") => Kind::Pdf,
        () if html.iter().any(|tag| begins(tag)) => Kind::Html,
        () if begins(b"<?xml") => Kind::Code("xml"),
        () if head.iter().any(|byte| is_binary(*byte)) => Kind::Binary,
        () => Kind::Text,
    }
}

/// Bytes that no text contains (WHATWG MIME sniffing section 3).
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_type_decides_and_bytes_fill_in() {
        let check = |content_type: Option<&str>, body: &str, expected| {
            assert_eq!(
                Kind::of(content_type, body.as_bytes()),
                expected,
                "{content_type:?}"
            );
        };
        check(Some("text/html; charset=utf-8"), "", Kind::Html);
        check(Some("TEXT/HTML"), "", Kind::Html);
        check(Some("text/plain"), "<html>", Kind::Text);
        check(Some("text/markdown"), "# a", Kind::Text);
        check(Some("text/csv"), "a,b", Kind::Text);
        check(Some("application/ld+json"), "{}", Kind::Code("json"));
        check(Some("application/rss+xml"), "<rss/>", Kind::Code("xml"));
        check(Some("image/png"), "", Kind::Binary);
        check(Some("application/pdf"), "", Kind::Pdf);
        check(
            Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            "",
            Kind::Binary,
        );
        check(None, " \n<!DOCTYPE html><p>", Kind::Html);
        check(None, "just text", Kind::Text);
        check(Some("application/octet-stream"), "%PDF-1.7", Kind::Pdf);
        check(None, "PK\u{3}\u{4}", Kind::Binary);
        check(Some("garbage"), "text", Kind::Text);
    }
}
