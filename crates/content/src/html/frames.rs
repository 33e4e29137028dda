//! Replaces each `iframe` or `frame` in the page's source with its document. Works on text, so that the rest
//! of the page stays as it was received.

use std::ops::Range;

use url::Url;

use super::links::resolve;

/// One `iframe` or `frame` of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameTag {
    /// URL of its document.
    pub url: Url,
    /// Its range in the source, including its content and end tag.
    range: Range<usize>,
}

/// Elements whose content is not markup of the page.
const OPAQUE: &[&str] = &[
    "script", "style", "noscript", "template", "textarea", "title", "xmp", "noembed", "svg",
];

/// Returns the frames of a page with an http(s) URL, in document order, at most `max`. Frames with a width or
/// height of 0 or 1 are skipped.
pub fn frame_tags(html: &str, base: &Url, max: usize) -> Vec<FrameTag> {
    let mut frames = Vec::new();
    let mut scanner = Scanner { html, at: 0 };
    while frames.len() < max
        && let Some(tag) = scanner.next_tag()
    {
        if !matches!(tag.name.as_str(), "iframe" | "frame") {
            continue;
        }
        let start = tag.range.start;
        let end = match tag.name.as_str() {
            "iframe" => scanner.skip_to_end_of("iframe"),
            _ => tag.range.end,
        };
        let url = attribute(&html[tag.range.clone()], "src").and_then(|src| resolve(base, &src));
        let hidden = ["width", "height"].iter().any(|name| {
            attribute(&html[tag.range.clone()], name)
                .is_some_and(|value| matches!(value.trim(), "0" | "1" | "0px" | "1px"))
        });
        if let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https") && !hidden) {
            frames.push(FrameTag {
                url,
                range: start..end,
            });
        }
    }
    frames
}

/// Returns the page with the frames replaced by their documents. A frameset becomes a block.
pub fn inline_frames(html: &str, documents: &[(FrameTag, String)]) -> String {
    let mut out =
        String::with_capacity(html.len() + documents.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut at = 0;
    for (frame, text) in documents {
        push_without_framesets(&mut out, &html[at..frame.range.start]);
        out.push_str("<div>");
        out.push_str(text);
        out.push_str("</div>");
        at = frame.range.end;
    }
    push_without_framesets(&mut out, &html[at..]);
    out
}

/// Copies source; a frameset becomes a block, and `noframes` is dropped.
fn push_without_framesets(out: &mut String, html: &str) {
    let mut scanner = Scanner { html, at: 0 };
    let mut at = 0;
    while let Some(tag) = scanner.next_tag() {
        let (replacement, end) = match tag.name.as_str() {
            "frameset" => ("<div>", tag.range.end),
            "/frameset" => ("</div>", tag.range.end),
            "noframes" => ("", scanner.skip_to_end_of("noframes")),
            _ => continue,
        };
        out.push_str(&html[at..tag.range.start]);
        out.push_str(replacement);
        at = end;
    }
    out.push_str(&html[at..]);
}

struct Tag {
    /// In lower case, with a leading slash for an end tag.
    name: String,
    range: Range<usize>,
}

/// Iterates over tags; skips comments and text that is not markup.
struct Scanner<'h> {
    html: &'h str,
    at: usize,
}

impl Scanner<'_> {
    fn next_tag(&mut self) -> Option<Tag> {
        loop {
            let start = self.at + memchr::memchr(b'<', self.html.as_bytes().get(self.at..)?)?;
            let rest = &self.html[start..];
            if rest.starts_with("<!--") {
                self.at = start + rest.find("-->").map_or(rest.len(), |end| end + 3);
                continue;
            }
            let name_end = rest[1..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '-')))
                .map_or(rest.len(), |end| end + 1);
            let name = rest[1..name_end].trim_end_matches('/').to_ascii_lowercase();
            if !name
                .trim_start_matches('/')
                .starts_with(|c: char| c.is_ascii_alphabetic())
            {
                self.at = start + 1;
                continue;
            }
            let end = start + tag_length(rest);
            self.at = end;
            if OPAQUE.contains(&name.as_str()) {
                self.skip_to_end_of(&name);
                continue;
            }
            return Some(Tag {
                name,
                range: start..end,
            });
        }
    }

    /// Moves past the end tag of an element, or to the end of the page if there is none.
    fn skip_to_end_of(&mut self, name: &str) -> usize {
        let mut at = self.at;
        self.at = loop {
            let Some(found) = memchr::memmem::find(&self.html.as_bytes()[at..], b"</") else {
                break self.html.len();
            };
            at += found + 2;
            let is_end = self.html.as_bytes().get(at..at + name.len());
            if is_end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes())) {
                break at + tag_length(&self.html[at..]);
            }
        };
        self.at
    }
}

/// Returns the length of a tag including its `>`; a `>` inside quotes does not count.
fn tag_length(tag: &str) -> usize {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') if tag.as_bytes()[..at].trim_ascii_end().ends_with(b"=") => {
                quote = Some(byte)
            }
            (Some(open), _) if byte == open => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// Returns the value of an attribute of a start tag, with `&amp;` resolved.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    loop {
        let at = from + lower[from..].find(name)?;
        from = at + name.len();
        let starts =
            lower[..at].ends_with(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '/'));
        let Some(value) = tag[from..].trim_start().strip_prefix('=') else {
            continue;
        };
        if !starts {
            continue;
        }
        let value = value.trim_start();
        let value = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split(quote).next()?,
            _ => value
                .split(|c: char| c.is_ascii_whitespace() || c == '>')
                .next()?,
        };
        return Some(value.replace("&amp;", "&"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expected: &str) {
        let base = Url::parse("https://a.example/docs/").unwrap();
        let frames = frame_tags(html, &base, 3);
        let documents: Vec<_> = frames
            .into_iter()
            .map(|frame| (frame.clone(), format!("[{}]", frame.url.path())))
            .collect();
        assert_eq!(inline_frames(html, &documents), expected);
    }

    #[test]
    fn frames_are_replaced_by_their_documents() {
        check(
            "<p>a</p><IFRAME title='x > y' src=\"b.html?c&amp;d\">no frames</IFRAME><p>e",
            "<p>a</p><div>[/docs/b.html]</div><p>e",
        );
        check(
            "<html><frameset cols='20%,80%'><frame src=nav.html><frame name=m src='/main.html' />\
             <noframes><body>Get a browser</body></noframes></frameset></html>",
            "<html><div><div>[/docs/nav.html]</div><div>[/main.html]</div></div></html>",
        );
    }

    #[test]
    fn other_markup_is_unchanged() {
        for html in [
            "<!-- <iframe src=a></iframe> --><script>'<iframe src=a>'</script>",
            "<iframe></iframe><iframe src='data:text/html,x'></iframe><iframe src=a width=1 height=1></iframe>",
            "<noscript><iframe src=a></iframe></noscript><p>a < b <iframes src=a>",
            "<iframe data-src=a></iframe>",
            "<",
            "<iframe src",
        ] {
            check(html, html);
        }
    }

    #[test]
    fn frames_beyond_the_limit_are_unchanged() {
        let html = "<frame src=a>".repeat(4);
        let replaced = "<div>[/docs/a]</div>".repeat(3);
        check(&html, &format!("{replaced}<frame src=a>"));
    }

    #[test]
    fn unclosed_markup_is_scanned_in_linear_time() {
        for piece in ["<", "<iframe ", "<!--", "<a b='", "</", "<svg>", "='", "<a ="] {
            frame_tags(
                &piece.repeat(200_000),
                &Url::parse("https://a.example/").unwrap(),
                8,
            );
        }
    }
}
