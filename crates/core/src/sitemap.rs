//! Sitemaps (sitemaps.org): XML, sitemap indexes and plain text. The parser makes one pass, resolves only
//! the five XML entities and character references, ignores DTDs and namespaces, and keeps what it
//! read of a broken file. Fetching and decompressing are up to the caller.

mod queue;

pub use queue::{SitemapFile, SitemapQueue};

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::Event;
use url::Url;

use crate::crawl::limits::{SITEMAP_MAX_BYTES, SITEMAP_MAX_ENTRIES, URL_MAX_BYTES};
use crate::url_key::resolve_link;

/// One parsed sitemap file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Page URLs in file order.
    pub pages: Vec<Url>,
    /// URLs of further sitemaps, from an index.
    pub children: Vec<Url>,
}

impl Sitemap {
    /// Parses the decompressed file fetched from `url`. Resolves relative URLs against `url` and drops
    /// those that are not http or https. Reads at most 50 MiB and 50,000 entries. Returns `None` if the
    /// file is not a sitemap, for example an HTML page.
    pub fn parse(body: &[u8], url: &Url) -> Option<Sitemap> {
        let text = decode(&body[..body.len().min(SITEMAP_MAX_BYTES)]);
        let text = text.trim_start();
        if text.starts_with('<') {
            parse_xml(text, url)
        } else {
            parse_text(text)
        }
    }
}

/// Decodes UTF-8, or UTF-16 with a byte order mark.
fn decode(body: &[u8]) -> Cow<'_, str> {
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let units = body[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        Cow::Owned(
            char::decode_utf16(units)
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
        )
    };
    match body {
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes),
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        _ => String::from_utf8_lossy(body),
    }
}

/// Reads one URL per line and ignores other lines; returns `None` if there is no URL.
fn parse_text(text: &str) -> Option<Sitemap> {
    let pages: Vec<Url> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("http://") || line.starts_with("https://"))
        .filter(|line| line.len() <= URL_MAX_BYTES)
        .filter_map(|line| resolve_link(&Url::parse(line).ok()?, ""))
        .take(SITEMAP_MAX_ENTRIES)
        .collect();
    (!pages.is_empty()).then_some(Sitemap {
        pages,
        children: Vec::new(),
    })
}

/// State of the XML parser.
#[derive(Default)]
struct ParserState {
    /// Number of open elements.
    depth: u32,
    /// Whether `urlset` or `sitemapindex` was seen.
    known: bool,
    /// Depth and kind of the open entry.
    entry: Option<(u32, Entry)>,
    /// Text of the entry's own `loc` while it is open.
    loc: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Entry {
    Page,
    Child,
}

fn parse_xml(text: &str, url: &Url) -> Option<Sitemap> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut state = ParserState::default();
    let mut sitemap = Sitemap::default();
    // On an error, parsing stops and the entries so far count.
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Eof => break,
            Event::Start(tag) => state.open(tag.local_name().as_ref()),
            Event::End(_) => state.close(url, &mut sitemap),
            Event::Text(text) => state.text(&text.into_inner()),
            Event::CData(text) => state.text(&text.into_inner()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(c)) => state.text(c.encode_utf8(&mut [0; 4])),
                _ => state.text(entity(&reference.into_inner())),
            },
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if sitemap.pages.len() + sitemap.children.len() >= SITEMAP_MAX_ENTRIES {
            break;
        }
    }
    state.known.then_some(sitemap)
}

impl ParserState {
    fn open(&mut self, name: &str) {
        self.depth += 1;
        match (name, self.entry) {
            ("urlset" | "sitemapindex", None) => self.known = true,
            ("url", None) if self.known => self.entry = Some((self.depth, Entry::Page)),
            ("sitemap", None) if self.known => self.entry = Some((self.depth, Entry::Child)),
            // Only the entry's own URL: `image:loc` is nested deeper.
            ("loc", Some((depth, _))) if self.depth == depth + 1 => self.loc = Some(String::new()),
            _ => {}
        }
    }

    fn close(&mut self, url: &Url, sitemap: &mut Sitemap) {
        if let (Some((depth, kind)), Some(loc)) = (self.entry, &self.loc)
            && self.depth == depth + 1
        {
            if let (Some(resolved), false) = (resolve_link(url, loc.trim()), loc.trim().is_empty()) {
                match kind {
                    Entry::Page => sitemap.pages.push(resolved),
                    Entry::Child => sitemap.children.push(resolved),
                }
            }
            self.loc = None;
        }
        self.depth = self.depth.saturating_sub(1);
        if let Some((depth, _)) = self.entry
            && self.depth < depth
        {
            self.entry = None;
        }
    }

    /// Keeps text up to the longest URL, and just enough beyond it to make the URL invalid.
    fn text(&mut self, text: &str) {
        if let Some(loc) = &mut self.loc
            && loc.len() <= URL_MAX_BYTES
        {
            loc.push_str(text);
        }
    }
}

fn entity(name: &str) -> &'static str {
    match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<(Vec<String>, Vec<String>)> {
        let url = Url::parse("http://site.test/maps/sitemap.xml").unwrap();
        let texts = |urls: Vec<Url>| urls.into_iter().map(String::from).collect();
        Sitemap::parse(body.as_bytes(), &url).map(|map| (texts(map.pages), texts(map.children)))
    }

    fn pages(body: &str) -> Vec<String> {
        read(body).expect("a sitemap").0
    }

    #[test]
    fn urlset_with_namespaces_entities_and_cdata() {
        let body = r#"<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY x "http://evil.test/">]>
            <s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i">
            <s:url><s:loc> http://site.test/a?x=1&amp;y=2 </s:loc><lastmod>2026-01-01</lastmod>
              <image:image><image:loc>http://site.test/p.png</image:loc></image:image></s:url>
            <s:url><s:loc><![CDATA[http://site.test/b&c]]></s:loc></s:url>
            <s:url><s:loc>/rel&#x2f;d</s:loc></s:url>
            <s:url><s:loc>http://site.test/e&x;</s:loc></s:url>
            <s:url><s:loc>ftp://site.test/f</s:loc></s:url><s:url><s:loc/></s:url><s:url><s:loc></s:loc></s:url>
            </s:urlset>"#;
        assert_eq!(
            pages(body),
            [
                "http://site.test/a?x=1&y=2", "http://site.test/b&c", "http://site.test/rel/d",
                "http://site.test/e"
            ]
        );
    }

    #[test]
    fn an_index_lists_child_sitemaps() {
        let body = "<sitemapindex><sitemap><loc>a.xml</loc></sitemap><sitemap><loc>/b.xml.gz</loc></sitemap></sitemapindex>";
        let (pages, children) = read(body).unwrap();
        assert!(pages.is_empty());
        assert_eq!(
            children,
            ["http://site.test/maps/a.xml", "http://site.test/b.xml.gz"]
        );
    }

    #[test]
    fn a_broken_file_yields_the_entries_before_the_error() {
        let body =
            "<urlset><url><loc>/a</loc></url><url><loc>/b&</loc></url><url><loc>/c</loc></url><url><lo";
        let expected = ["http://site.test/a", "http://site.test/b&", "http://site.test/c"];
        assert_eq!(pages(body), expected);
    }

    #[test]
    fn plain_text_is_parsed_and_other_files_are_not() {
        let body = "\u{feff}http://site.test/a\r\n\r\n  https://site.test/b#x  \r\nnot a URL\n";
        assert_eq!(pages(body), ["http://site.test/a", "https://site.test/b"]);
        assert_eq!(read("<html><body><url><loc>/x</loc></url></body></html>"), None);
        assert_eq!(read("nothing here"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn the_number_of_entries_is_limited() {
        let body = format!("<urlset>{}</urlset>", "<url><loc>/a</loc></url>".repeat(50_010));
        assert_eq!(pages(&body).len(), 50_000);
    }

    #[test]
    fn utf16_is_decoded() {
        let mut body = vec![0xff, 0xfe];
        body.extend(
            "<urlset><url><loc>http://site.test/\u{e9}</loc></url></urlset>"
                .encode_utf16()
                .flat_map(u16::to_le_bytes),
        );
        let url = Url::parse("http://site.test/").unwrap();
        let map = Sitemap::parse(&body, &url).unwrap();
        assert_eq!(map.pages[0].as_str(), "http://site.test/%C3%A9");
    }
}
