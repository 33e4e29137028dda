//! Pages that consist of frames: inserts the documents of the frames into the page.

use harvestman_core::scrape::{FramedPage, RawPage};
use url::Url;
use wasm_bindgen::prelude::*;

/// A page with frames. Add or skip the document of each URL in order, then compose the page.
#[wasm_bindgen]
pub struct Frames {
    /// `None` once it is composed.
    page: Option<FramedPage>,
    documents: Vec<Option<FrameDocument>>,
}

struct FrameDocument {
    url: Url,
    content_type: Option<String>,
    body: Vec<u8>,
}

#[wasm_bindgen]
impl Frames {
    /// Finds the frames of a page; `undefined` if it has none to insert.
    pub fn of(url: &str, content_type: Option<String>, body: &[u8]) -> Option<Frames> {
        let url = Url::parse(url).ok()?;
        let page = FramedPage::read(&raw(&url, content_type.as_deref(), body))?;
        Some(Frames {
            page: Some(page),
            documents: Vec::new(),
        })
    }

    /// Returns the URLs of the documents.
    pub fn urls(&self) -> Vec<String> {
        let urls = self.page.as_ref().map(FramedPage::urls).unwrap_or_default();
        urls.into_iter().map(String::from).collect()
    }

    /// Adds the document of the next frame. One without a valid URL is skipped.
    pub fn add(&mut self, url: &str, content_type: Option<String>, body: Vec<u8>) {
        let document = Url::parse(url).ok().map(|url| FrameDocument {
            url,
            content_type,
            body,
        });
        self.documents.push(document);
    }

    /// Leaves the next frame unchanged.
    pub fn skip(&mut self) {
        self.documents.push(None);
    }

    /// Returns the page with its documents in UTF-8; `undefined` if every frame was skipped, and on a
    /// second call.
    pub fn compose(&mut self) -> Option<Vec<u8>> {
        let page = self
            .page
            .take()
            .filter(|_| self.documents.iter().any(Option::is_some))?;
        let documents: Vec<_> = self
            .documents
            .iter()
            .map(|document| {
                let FrameDocument {
                    url,
                    content_type,
                    body,
                } = document.as_ref()?;
                Some(raw(url, content_type.as_deref(), body))
            })
            .collect();
        Some(page.with(&documents).into_bytes())
    }
}

fn raw<'a>(url: &'a Url, content_type: Option<&'a str>, body: &'a [u8]) -> RawPage<'a> {
    RawPage {
        requested: url,
        url,
        status: 200,
        content_type,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "text/html";

    #[test]
    fn the_documents_of_frames_are_inserted() {
        let page = b"<frameset><frame src=/left><frame src=/right></frameset>";
        let mut frames = Frames::of("https://a.test/", Some(HTML.to_owned()), page).unwrap();
        assert_eq!(frames.urls(), ["https://a.test/left", "https://a.test/right"]);
        let body = b"<html><body><p>Right words</p></body></html>";
        frames.skip();
        frames.add("https://a.test/right", Some(HTML.to_owned()), body.to_vec());
        let text = String::from_utf8(frames.compose().unwrap()).unwrap();
        assert!(text.contains("Right words"), "{text}");
        assert_eq!(frames.compose(), None);
        assert!(Frames::of("https://a.test/", Some(HTML.to_owned()), b"<p>No frames").is_none());
    }
}
