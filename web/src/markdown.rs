//! Renders the Markdown of fetched pages as safe HTML: raw HTML becomes text, only http, https and mailto links stay
//! links, and images become links, so that viewing a page sends no request to another host.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::highlight::escape;
use crate::limits::RENDER_CHARS;

/// A rendered text.
pub struct RenderedMarkdown {
    /// Safe HTML.
    pub html: String,
    /// Whether the text was longer than [`RENDER_CHARS`] and was cut.
    pub cut: bool,
}

/// Renders Markdown as safe HTML.
pub fn render(markdown: &str) -> RenderedMarkdown {
    let (text, cut) = match markdown.char_indices().nth(RENDER_CHARS) {
        Some((end, _)) => (&markdown[..end], true),
        None => (markdown, false),
    };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut sanitizer = Sanitizer {
        alt: None,
        open_links: Vec::new(),
    };
    let events = Parser::new_ext(text, options).flat_map(|event| sanitizer.event(event));
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, events);
    RenderedMarkdown { html: out, cut }
}

struct Sanitizer {
    /// URL and alternative text of the current image, and the depth of images nested in it.
    alt: Option<(String, String, usize)>,
    /// For each open link, whether it is written as a link.
    open_links: Vec<bool>,
}

impl Sanitizer {
    fn event<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        if let Some((url, mut alt, depth)) = self.alt.take() {
            let depth = match &event {
                Event::Start(Tag::Image { .. }) => depth + 1,
                Event::End(TagEnd::Image) if depth == 0 => return Some(self.image_link(&url, &alt)),
                Event::End(TagEnd::Image) => depth - 1,
                Event::Text(text) | Event::Code(text) => {
                    alt.push_str(text);
                    depth
                }
                _ => depth,
            };
            self.alt = Some((url, alt, depth));
            return None;
        }
        match event {
            // Table cells use `<br>` for line breaks.
            Event::InlineHtml(tag) if is_break(&tag) => Some(Event::HardBreak),
            Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
            Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let is_safe = is_safe_link(&dest_url);
                self.open_links.push(is_safe);
                is_safe.then(|| raw(format!("<a {}>", link(&dest_url))))
            }
            Event::End(TagEnd::Link) => self
                .open_links
                .pop()
                .unwrap_or(false)
                .then(|| raw("</a>".to_owned())),
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.alt = Some((dest_url.to_string(), String::new(), 0));
                None
            }
            // The console has its own `h1`, and an id from the page must not enter this document.
            Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
                level: demote(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            })),
            Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(demote(level)))),
            other => Some(other),
        }
    }

    /// Returns the replacement of an image: a link to it, or only text inside another link.
    fn image_link<'a>(&self, url: &str, alt: &str) -> Event<'a> {
        let name = match alt {
            "" => "image".to_owned(),
            alt => format!("image: {}", escape(alt)),
        };
        raw(match is_web_url(url) && !self.open_links.contains(&true) {
            true => format!("<a class=\"no-image\" {}>{name}</a>", link(url)),
            false => format!("<span class=\"no-image\">{name}</span>"),
        })
    }
}

/// Returns whether a tag is a `<br>` without attributes.
fn is_break(tag: &str) -> bool {
    let name = tag.trim_start_matches('<').trim_end_matches(['/', '>', ' ']);
    name.eq_ignore_ascii_case("br")
}

fn demote(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        HeadingLevel::H3 => HeadingLevel::H4,
        HeadingLevel::H4 => HeadingLevel::H5,
        HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

fn link(url: &str) -> String {
    format!(
        "href=\"{}\" target=\"_blank\" rel=\"noopener noreferrer nofollow\"",
        escape(url)
    )
}

fn raw<'a>(html: String) -> Event<'a> {
    Event::InlineHtml(CowStr::from(html))
}

/// Returns whether a URL is safe as a link.
pub fn is_safe_link(url: &str) -> bool {
    is_web_url(url) || has_scheme(url, "mailto:")
}

fn is_web_url(url: &str) -> bool {
    has_scheme(url, "http://") || has_scheme(url, "https://")
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(markdown: &str) -> String {
        render(markdown).html
    }

    #[test]
    fn raw_html_becomes_text() {
        for markdown in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div onclick=x>\n\n**b**\n\n</div>",
            "<!-- --><style>*{}</style>",
        ] {
            let html = html(markdown);
            for tag in ["<script", "<img", "<div", "<style", "<!--"] {
                assert!(!html.contains(tag), "{markdown}: {html}");
            }
        }
    }

    #[test]
    fn only_http_and_mailto_links_stay_links() {
        let ok = html("[a](https://e.com/x) [m](mailto:a@e.com) <HTTP://E.COM>");
        assert_eq!(
            ok.matches("rel=\"noopener noreferrer nofollow\"").count(),
            3,
            "{ok}"
        );
        for bad in [
            "[a](javascript:alert(1))",
            "[a](JaVaScRiPt:alert(1))",
            "[a](data:text/html,x)",
            "[a](vbscript:x)",
            "[a](/console/)",
            "[a](//evil.test)",
            "[a](&#106;avascript:alert(1))",
        ] {
            assert!(!html(bad).contains("<a "), "{bad}: {}", html(bad));
        }
    }

    #[test]
    fn urls_cannot_break_out_of_their_attribute() {
        let html = html("[a](<https://e.com/\"onmouseover=alert(1)//>)");
        assert!(html.contains("&quot;onmouseover"), "{html}");
    }

    #[test]
    fn images_are_never_loaded() {
        let html = html(
            "![A *cat*](https://e.com/cat.png) ![](javascript:x) [![n](https://e.com/n.png)](https://e.com)",
        );
        assert!(!html.contains("<img") && !html.contains("javascript"), "{html}");
        assert!(
            html.contains(">image: A cat</a>") && html.contains("<span class=\"no-image\">image: n</span>"),
            "{html}"
        );
    }

    #[test]
    fn line_breaks_in_cells_are_kept() {
        let html = html("| a |\n|---|\n| 1<br>2<BR />3<br onclick=x> |");
        assert_eq!(html.matches("<br />").count(), 2, "{html}");
        assert!(html.contains("&lt;br onclick"), "{html}");
    }

    #[test]
    fn ordinary_markdown_is_rendered() {
        let html = html(
            "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn x() {}\n```\n\n- [x] done\n\n> [!NOTE]\n> n",
        );
        for part in [
            "<h2>T</h2>", "<table>", "<pre><code", "checkbox", "markdown-alert-note",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
