//! Parsed files as callers receive them; uploads and their content types.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use harvestman_core::api::{ErrorCode, ScrapeOptions};
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{
    FileDocument, FileError, FilePage, FileType, RawPage, RenderedPage, Upload, file_request, parse_formats,
    render_file,
};
use serde_json::{Value, json};
use url::Url;

fn options(options: &Value) -> ScrapeOptions {
    ScrapeOptions::from_json(options.to_string().as_bytes()).unwrap()
}

fn with_page<T>(status: u16, content_type: &str, body: &[u8], act: impl FnOnce(&RawPage<'_>) -> T) -> T {
    let url = Url::parse("https://a.test/birds/heron.pdf").unwrap();
    act(&RawPage {
        requested: &url,
        url: &url,
        status,
        content_type: Some(content_type),
        body,
    })
}

fn two_pages() -> FileDocument {
    let page = |number: u32, html: &str, continues| FilePage {
        number,
        html: html.to_owned(),
        continues,
    };
    FileDocument {
        pages: vec![
            page(1, "<h1>Herons</h1>\n<p>They wade in</p>\n", false),
            page(
                2,
                "<p>shallow <a href=\"https://b.test/water\">water</a>.</p>\n",
                true,
            ),
        ],
        total_pages: Some(5),
        properties: vec![
            ("title".to_owned(), "Of herons".to_owned()),
            ("author".to_owned(), "A. Wader".to_owned()),
        ],
        warnings: vec!["Something was left out.".to_owned()],
        ..FileDocument::default()
    }
}

fn rendered(
    given: Value,
    content_type: &str,
    file: Result<FileDocument, FileError>,
) -> Result<RenderedPage, ErrorCode> {
    let options = options(&given);
    let id: ScrapeId = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
    with_page(200, content_type, b"its bytes", |page| {
        let request = file_request(page, &options).unwrap();
        render_file(page, &options, id, &request, file).map_err(|error| error.code)
    })
}

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

#[test]
fn a_pdf_is_converted_with_its_pages_counted_and_charged() {
    let rendered = rendered(
        json!({"formats": ["markdown", "links"]}),
        "application/pdf",
        Ok(two_pages()),
    )
    .unwrap();
    let document = serde_json::to_value(&rendered.document).unwrap();
    let water = "[water](https://b.test/water)";
    assert_eq!(
        document["markdown"],
        format!("# Herons\n\nThey wade in shallow {water}.")
    );
    assert_eq!(document["links"], json!(["https://b.test/water"]));
    assert_eq!(rendered.links.len(), 1);
    assert_eq!(document["warning"], "Something was left out.");
    assert_eq!(document.get("pages"), None);
    assert_eq!(
        document["metadata"],
        json!({
            "title": "Of herons", "articleTitle": "Herons", "author": "A. Wader", "numPages": 2, "totalPages": 5,
            "sourceURL": "https://a.test/birds/heron.pdf", "url": "https://a.test/birds/heron.pdf",
            "statusCode": 200, "scrapeId": "018f2f9e-0000-7000-8000-000000000001",
            "contentType": "application/pdf", "creditsUsed": 2, "proxyUsed": "basic"
        })
    );
    assert_eq!(rendered.credits, 2);
    assert_eq!(rendered.browser_reason(200), None, "a file needs no browser");
}

#[test]
fn pages_and_page_markers_are_included_on_request() {
    let parser = json!({"type": "pdf", "pages": true, "pageMarkers": true, "blocks": true, "mode": "ocr"});
    let rendered = rendered(json!({"parsers": [parser]}), "application/pdf", Ok(two_pages())).unwrap();
    let document = serde_json::to_value(&rendered.document).unwrap();
    let (first, second) = (
        "# Herons\n\nThey wade in",
        "shallow [water](https://b.test/water).",
    );
    assert_eq!(
        document["markdown"],
        format!("<!-- page 1 -->\n\n{first}\n\n---\n\n<!-- page 2 -->\n\n{second}")
    );
    assert_eq!(
        document["pages"],
        json!([{"pageNumber": 1, "markdown": first}, {"pageNumber": 2, "markdown": second}])
    );
    assert_eq!(document["blocks"], json!([]));
    assert!(document["warning"].as_str().unwrap().contains("`blocks`"));
}

#[test]
fn other_files_cost_one_credit_regardless_of_pages() {
    let rendered = rendered(json!({}), DOCX, Ok(two_pages())).unwrap();
    assert_eq!(rendered.credits, 1);
    assert_eq!(rendered.document.metadata.content_type.as_deref(), Some(DOCX));
}

#[test]
fn the_error_for_an_unreadable_file_depends_on_its_type() {
    for error in [
        FileError::Encrypted,
        FileError::Damaged("x".to_owned()),
        FileError::TooLarge("x".to_owned()),
    ] {
        let code = |kind| rendered(json!({}), kind, Err(error.clone())).unwrap_err();
        assert_eq!(code("application/pdf"), ErrorCode::PdfError);
        assert_eq!(code(DOCX), ErrorCode::UnsupportedFile);
    }
}

#[test]
fn file_requests_depend_on_the_response_and_the_parsers() {
    let request = |status, kind: &str, body: &[u8], parsers: Value| {
        let options = options(&json!({ "parsers": parsers }));
        with_page(status, kind, body, |page| file_request(page, &options))
    };
    let pdf = json!([{"type": "pdf", "maxPages": 3}]);
    let wanted = request(200, "application/pdf", b"its bytes", pdf.clone()).unwrap();
    assert_eq!((wanted.file_type, wanted.max_pages), (FileType::Pdf, Some(3)));
    // A PDF without a parser is not read, nor is the body of an error response.
    assert_eq!(request(200, "application/pdf", b"its bytes", json!([])), None);
    assert_eq!(request(404, "application/pdf", b"its bytes", pdf.clone()), None);
    assert_eq!(request(200, "text/html", b"<p>%PDF-", pdf.clone()), None);
    // A generic or wrong content type.
    for kind in ["application/octet-stream", "text/html"] {
        let by_bytes = request(200, kind, b"%PDF-1.7", pdf.clone()).unwrap();
        assert_eq!(by_bytes.file_type, FileType::Pdf);
    }
    // Only the reader can say that an empty file is damaged; an empty page or text is no error.
    for (kind, is_file) in [
        ("application/pdf", true),
        (DOCX, true),
        ("text/html", false),
        ("text/plain", false),
    ] {
        assert_eq!(request(200, kind, b"", pdf.clone()).is_some(), is_file, "{kind}");
    }
    // Office files do not need to be listed in `parsers`.
    assert_eq!(
        request(200, DOCX, b"its bytes", json!([])).unwrap().file_type,
        FileType::Docx
    );
}

#[test]
fn the_type_of_an_upload_follows_from_name_then_content_type_then_bytes() {
    let check = |name: &str, content_type: &str, body: &[u8], expected: Option<&str>| {
        let upload = Upload {
            name,
            content_type: Some(content_type),
            body,
        };
        assert_eq!(upload.kind().ok(), expected, "{name} {content_type}");
    };
    check("a.pdf", "text/plain", b"", Some("application/pdf"));
    check("A.HTM", "", b"", Some("text/html"));
    check(
        "notes.md",
        "application/octet-stream",
        b"# a",
        Some("text/markdown"),
    );
    check("report", "application/pdf; x=y", b"", Some("application/pdf"));
    check("report.xyz", "text/csv", b"a,b", Some("text/csv"));
    check("page", "", b"<!doctype html><p>a", Some("text/html"));
    check("page", "", b"just text", Some("text/plain"));
    // RTF that claims to be Word.
    check(
        "letter.doc",
        "application/msword",
        b"{\\rtf1 a}",
        Some("application/rtf"),
    );
    check("song.mp3", "audio/mpeg", b"ID3\x03\0", None);
    check(
        "picture.png",
        "image/png",
        b"\x89PNG\r\n\x1a\n\0",
        Some("image/png"),
    );
}

#[test]
fn upload_formats_are_listed() {
    let formats = serde_json::to_value(parse_formats(false)).unwrap();
    assert_eq!(formats["success"], true);
    let formats = formats["data"]["formats"].as_array().unwrap();
    let named = |name| formats.iter().find(|format| format["format"] == name).unwrap();
    assert_eq!(named("pdf")["extensions"], json!([".pdf"]));
    assert_eq!(named("pdf")["mimeTypes"][0], "application/pdf");
    for name in [
        "html", "pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp", "rtf", "epub", "csv", "txt", "md",
    ] {
        assert_eq!(named(name)["kind"], "document");
    }
    assert_eq!(named("html")["available"], true);
    assert_eq!(named("pdf")["available"], cfg!(feature = "files"));
    assert_eq!(named("png")["kind"], "image");
    assert_eq!(named("png")["available"], false);
}
