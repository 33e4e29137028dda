//! Renders the pages of a crawl without a server.

use harvestman_content::Facts;
use harvestman_core::api::ApiError;
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::extract::fill::PageInfo;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{Capabilities, Fill, RawPage, RenderedPage, check_supported, prepare_with};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;
use wasm_bindgen::prelude::*;

use crate::boundary::{bad_input, failure};

#[wasm_bindgen]
extern "C" {
    /// An object with the function `fillSchema` of the module that can check JSON Schemas.
    pub type Extractor;

    #[wasm_bindgen(method, js_name = fillSchema)]
    fn fill_schema(this: &Extractor, input: &str) -> String;
}

/// Renders pages with the scrape options of one crawl.
#[wasm_bindgen]
pub struct PageRenderer {
    options: ScrapeOptions,
    fill: Box<Fill<'static>>,
}

/// A response, without its body.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageResponse {
    id: ScrapeId,
    requested: Url,
    url: Url,
    status: u16,
    content_type: Option<String>,
}

/// Other forms of the fetched body, in UTF-8.
#[derive(Default)]
struct OtherBodies {
    /// The body, with a BOM, if this module cannot decode its charset.
    converted: Option<Vec<u8>>,
    /// The body with the documents of its frames.
    framed: Option<Vec<u8>>,
}

#[wasm_bindgen]
impl PageRenderer {
    /// Creates a renderer from the JSON text of scrape options.
    ///
    /// # Errors
    /// 400 for invalid options, 503 for those that need a server.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str, extractor: Extractor) -> Result<PageRenderer, String> {
        let fill = move |schema: &Map<String, Value>, facts: &Facts, about: PageInfo<'_>| {
            let input = fill_input(schema, facts, about);
            serde_json::from_str(&extractor.fill_schema(&input)).unwrap_or_default()
        };
        Self::create(options, Box::new(fill)).map_err(|error| failure(&error))
    }

    /// Renders the response to a page; `response` is JSON text. Returns the JSON text `{ redirect }` if the page
    /// immediately redirects by markup, else `{ links, credits }` and the JSON text of the document.
    pub fn page(
        &self,
        response: &str,
        body: &[u8],
        converted: Option<Vec<u8>>,
        framed: Option<Vec<u8>>,
    ) -> Result<Vec<String>, String> {
        self.render_texts(response, body, &OtherBodies { converted, framed })
            .map_err(|error| failure(&error))
    }
}

/// Returns whether the body of a response must be converted to UTF-8 by charsets.wasm first.
#[wasm_bindgen(js_name = responseNeedsCharsets)]
pub fn response_needs_charsets(url: &str, content_type: Option<String>, body: &[u8]) -> bool {
    Url::parse(url).is_ok_and(|url| {
        let page = RawPage {
            requested: &url,
            url: &url,
            status: 200,
            content_type: content_type.as_deref(),
            body,
        };
        page.needs_charsets()
    })
}

fn fill_input(schema: &Map<String, Value>, facts: &Facts, about: PageInfo<'_>) -> String {
    let input = json!({
        "schema": schema,
        "facts": facts,
        "url": about.url,
        "title": about.title,
        "description": about.description,
        "language": about.language,
    });
    input.to_string()
}

impl PageRenderer {
    fn create(options: &str, fill: Box<Fill<'static>>) -> Result<PageRenderer, ApiError> {
        let options = ScrapeOptions::from_json(options.as_bytes())?;
        check_supported(&options, &Capabilities::default())?;
        Ok(PageRenderer { options, fill })
    }

    fn render_texts(
        &self,
        response: &str,
        body: &[u8],
        other: &OtherBodies,
    ) -> Result<Vec<String>, ApiError> {
        let invalid = |error: serde_json::Error| bad_input(error.to_string());
        let response: PageResponse = serde_json::from_str(response).map_err(invalid)?;
        let fetched = RawPage {
            requested: &response.requested,
            url: &response.url,
            status: response.status,
            content_type: response.content_type.as_deref(),
            body,
        };
        let raw = RawPage {
            body: other.converted.as_deref().unwrap_or(body),
            ..fetched
        };
        let mut page = self.render(&raw, response.id)?;
        if let Some(target) = &page.redirect
            && response.status < 400
        {
            return Ok(vec![json!({ "redirect": target }).to_string()]);
        }
        if let Some(body) = &other.framed {
            let framed = RawPage {
                content_type: Some("text/html; charset=utf-8"),
                body,
                ..raw
            };
            // The page's own links come first, including those to its frames.
            let links = std::mem::take(&mut page.links);
            page = self.render(&framed, response.id)?;
            let more = std::mem::replace(&mut page.links, links);
            page.add_links(more);
        }
        if other.converted.is_some() && self.options.wants(FormatKind::RawBase64) {
            page.document.raw_base64 = self.render(&fetched, response.id)?.document.raw_base64;
        }
        page.document.metadata.scrape_engine = Some("http".to_owned());
        let report = json!({ "links": page.links, "credits": page.credits });
        let document = serde_json::to_string(&page.document).map_err(invalid)?;
        Ok(vec![report.to_string(), document])
    }

    /// Renders a page. `redactPII` needs a server, which keeps the search for personal data out of the wasm.
    fn render(&self, page: &RawPage<'_>, id: ScrapeId) -> Result<RenderedPage, ApiError> {
        let mut rendered = prepare_with(page, &self.options, id, &*self.fill)?;
        rendered.without_model(&self.options);
        Ok(rendered)
    }
}

#[cfg(test)]
mod tests {
    use harvestman_core::extract::FillResult;
    use serde_json::Value;

    use super::*;

    const RESPONSE: &str = r#"{"id":"018f0000-0000-7000-8000-000000000000","requested":"https://a.test/",
        "url":"https://a.test/","status":200,"contentType":"text/html"}"#;

    fn render(options: &str, body: &[u8], other: &OtherBodies) -> Vec<Value> {
        let fill = |schema: &Map<String, Value>, facts: &Facts, about: PageInfo<'_>| {
            // As through the other module.
            let input = fill_input(schema, facts, about);
            serde_json::from_str::<FillResult>(&crate::extract::fill(&input).unwrap()).unwrap()
        };
        let renderer = PageRenderer::create(options, Box::new(fill)).unwrap();
        let texts = renderer.render_texts(RESPONSE, body, other).unwrap();
        texts
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect()
    }

    #[test]
    fn a_page_becomes_a_document_and_links() {
        let page = b"<main><h1>Page</h1><p>Some words.</p><a href=/a>a</a></main>";
        let found = render("{}", page, &OtherBodies::default());
        assert_eq!(found[0], json!({ "links": ["https://a.test/a"], "credits": 1 }));
        assert!(found[1]["markdown"].as_str().unwrap().starts_with("# Page"));
        assert_eq!(found[1]["metadata"]["scrapeEngine"], "http");
        let refresh = b"<meta http-equiv=refresh content='0; url=/b'>";
        let found = render("{}", refresh, &OtherBodies::default());
        assert_eq!(found, [json!({ "redirect": "https://a.test/b" })]);
    }

    #[test]
    fn other_forms_of_the_body_are_rendered_and_raw_bytes_stay() {
        let other = OtherBodies {
            converted: Some("\u{FEFF}<a href=/left>left</a>".into()),
            framed: Some(b"<p>Left words</p>".into()),
        };
        let options = r#"{"formats":["markdown","rawBase64"]}"#;
        let found = render(options, b"<!-- \x82\xA0 -->", &other);
        assert!(found[1]["markdown"].as_str().unwrap().contains("Left words"));
        assert_eq!(found[1]["rawBase64"], "PCEtLSCCoCAtLT4=");
        assert_eq!(found[0]["links"], json!(["https://a.test/left"]));
    }

    #[test]
    fn stated_data_fills_a_schema() {
        let page = b"<title>Web</title><main><p>Some words.</p><dl><dt>Price<dd>12.50</dl></main>";
        let schema = r#"{"properties":{"price":{"type":"number"}}}"#;
        let options = format!(r#"{{"formats":[{{"type":"json","schema":{schema}}}]}}"#);
        let found = render(&options, page, &OtherBodies::default());
        assert_eq!(found[1]["json"], json!({ "price": 12.5 }));
    }

    #[test]
    fn options_that_need_a_server_are_rejected() {
        let unused = |_: &Map<String, Value>, _: &Facts, _: PageInfo<'_>| FillResult::default();
        let error = PageRenderer::create(r#"{"formats":["screenshot"]}"#, Box::new(unused))
            .err()
            .unwrap();
        assert!(error.message.contains("screenshot"), "{error}");
    }

    #[test]
    fn only_text_needs_charsets() {
        let needs = |content_type: &str| {
            response_needs_charsets("https://a.test/", Some(content_type.to_owned()), b"\xFC\xDF")
        };
        assert!(needs("text/html") && needs("text/plain; charset=koi8-r"));
        assert!(!needs("image/png") && !needs("text/html; charset=latin1"));
    }
}
