//! Pages that consist of frames: selects the frames to load and inserts their documents into the page.

use harvestman_content::{ENOUGH_TEXT, FrameTag, HtmlPage, Selection, frame_tags, inline_frames};
use url::Url;

use super::kind::Kind;
use super::render::RawPage;
use crate::scope::site_of;

/// Weight of a page's own main text at which its frames are ignored: a crawl fetches them as separate pages.
const OWN_TEXT: usize = 40;
/// Maximum bytes of a page whose frames are considered; pages of frames are short.
const PAGE_BYTES: usize = 256 * 1024;
/// Maximum number of frames per page.
const FRAMES: usize = 16;

/// A page with little text of its own and frames of the same site.
#[derive(Clone, Debug)]
pub struct FramedPage {
    html: String,
    frames: Vec<FrameTag>,
}

impl FramedPage {
    /// Finds the frames of a page; `None` if the page has enough text or no frame of its site.
    pub fn read(page: &RawPage<'_>) -> Option<FramedPage> {
        if page.body.len() > PAGE_BYTES || page.kind() != Kind::Html {
            return None;
        }
        let html = harvestman_content::decode(page.body, page.content_type)
            .text
            .into_owned();
        let parsed = HtmlPage::parse(&html, page.url);
        let signs = parsed.render_signals(ENOUGH_TEXT);
        if signs.frames == 0 || signs.main_text >= OWN_TEXT {
            return None;
        }
        let site = site_of(page.url);
        let mut frames = frame_tags(&html, parsed.base_url(), FRAMES);
        frames.retain(|frame| site_of(&frame.url) == site && frame.url != *page.url);
        (!frames.is_empty()).then_some(FramedPage { html, frames })
    }

    /// Returns the URLs of the frames' documents, in order.
    pub fn urls(&self) -> Vec<Url> {
        self.frames.iter().map(|frame| frame.url.clone()).collect()
    }

    /// Inserts the documents, given in order of the frames. A frame stays unchanged where the document is `None`.
    pub fn with(self, documents: &[Option<RawPage<'_>>]) -> String {
        let found = self.frames.into_iter().zip(documents);
        let documents: Vec<(FrameTag, String)> = found
            .filter_map(|(frame, document)| Some((frame, body_of(document.as_ref()?)?)))
            .collect();
        inline_frames(&self.html, &documents)
    }
}

/// Returns the body of an HTML document with absolute URLs.
fn body_of(document: &RawPage<'_>) -> Option<String> {
    if document.kind() != Kind::Html {
        return None;
    }
    let html = harvestman_content::decode(document.body, document.content_type).text;
    let page = HtmlPage::parse(&html, document.url);
    Some(page.convert(&Selection::default()).html())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw<'a>(url: &'a Url, body: &'a str) -> RawPage<'a> {
        RawPage {
            requested: url,
            url,
            status: 200,
            content_type: Some("text/html; charset=utf-8"),
            body: body.as_bytes(),
        }
    }

    #[test]
    fn documents_of_the_same_site_replace_their_frames() {
        let url = Url::parse("https://www.a.example/manual/").unwrap();
        let page = raw(
            &url,
            "<html><head><title>Manual</title></head><frameset><frame src=nav.html><frame src='https://text.a.example/1'>\
             <frame src='https://b.example/'></frameset></html>",
        );
        let framed = FramedPage::read(&page).unwrap();
        let urls = framed.urls();
        assert_eq!(
            urls.iter().map(Url::as_str).collect::<Vec<_>>(),
            [
                "https://www.a.example/manual/nav.html",
                "https://text.a.example/1"
            ]
        );
        let text = raw(
            &urls[1],
            "<title>One</title><p>Text with a <a href=two>link</a>.<script>x()</script>",
        );
        let html = framed.with(&[None, Some(text)]);
        assert!(html.contains("<frame src=nav.html>"), "{html}");
        assert!(
            html.contains("<a href=\"https://text.a.example/two\">link</a>"),
            "{html}"
        );
        assert!(!html.contains("x()") && !html.contains("frameset"), "{html}");
    }

    #[test]
    fn frames_of_a_page_with_text_are_ignored() {
        let url = Url::parse("https://a.example/").unwrap();
        let text = "Herons stand still in shallow water and wait for fish.";
        assert!(FramedPage::read(&raw(&url, &format!("<p>{text}</p><iframe src=/map></iframe>"))).is_none());
        assert!(
            FramedPage::read(&raw(&url, "<p>Map</p><iframe src=/></iframe>")).is_none(),
            "a frame of the page itself"
        );
        assert!(FramedPage::read(&raw(&url, "<p>Map</p><iframe src=/map></iframe>")).is_some());
        let other = "<p>Map</p><iframe src='https://maps.example/'></iframe>";
        assert!(FramedPage::read(&raw(&url, other)).is_none());
    }
}
