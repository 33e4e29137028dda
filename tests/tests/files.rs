//! Files with the real server: linked in a crawl, scraped, sent to `POST /v2/parse`; and hostile files, which stop
//! only their reader process.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::time::{Duration, Instant};

use harvestman_tests::files::{Pdf, docx, line, open_document, paragraph, scan};
use harvestman_tests::server::KEY;
use harvestman_tests::{HttpResponse, Page, Site, TestServer, assert_contains, assert_fields};
use http::Method;
use serde_json::{Value, json};

/// Time limit for waits.
const TIMEOUT: Duration = Duration::from_secs(30);

const PDF: &str = "application/pdf";
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

fn pdf() -> Vec<u8> {
    let page = |bird: &str| line(24, 700, bird) + &line(12, 660, &format!("{bird} wade in shallow water."));
    Pdf {
        pages: ["Herons", "Egrets", "Bitterns"].map(page).to_vec(),
        info: "/Title (Waders)",
        ..Pdf::default()
    }
    .bytes()
}

fn letter() -> Vec<u8> {
    docx(&(paragraph("Heading1", "A letter") + &paragraph("", "The herons are back.")))
}

async fn parse(server: &TestServer, name: &str, bytes: &[u8], options: Value) -> HttpResponse {
    let head = format!("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    let options =
        format!("\r\n--x\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n{options}\r\n--x--\r\n");
    let body = [head.as_bytes(), bytes, options.as_bytes()].concat();
    let headers = [
        ("authorization", format!("Bearer {KEY}")),
        ("content-type", "multipart/form-data; boundary=x".to_owned()),
    ];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    server.send(Method::POST, "/v2/parse", &headers, body).await
}

#[tokio::test]
async fn linked_pdf_and_word_files_of_a_crawl_become_documents() {
    let site = Site::new()
        .page(
            "/",
            Page::links("Birds", &["/waders.pdf", "/letter", "/broken.pdf"]),
        )
        .page("/waders.pdf", Page::new(PDF, pdf()))
        .page("/letter", Page::new(DOCX, letter()))
        .page("/broken.pdf", Page::new(PDF, "%PDF-1.7 and no more"))
        .serve()
        .await;
    let server = TestServer::start().await;
    let id = server.crawl(&json!({ "url": site.url("/") })).await;
    let status = server.wait(&id).await;
    assert_fields(&status, json!({ "status": "completed", "completed": 3 }));
    // The HTML page, the three pages of the PDF, the letter.
    assert_eq!(status["creditsUsed"], 5);
    let (documents, _) = server.documents(&id, 10).await;
    let at = |path: &str| {
        let url = site.url(path);
        documents
            .iter()
            .find(|document| document["metadata"]["url"] == url)
            .unwrap()
    };
    let waders = at("/waders.pdf");
    let pages =
        ["Herons", "Egrets", "Bitterns"].map(|bird| format!("# {bird}\n\n{bird} wade in shallow water."));
    assert_eq!(waders["markdown"], pages.join("\n\n"));
    let metadata = &waders["metadata"];
    assert_fields(metadata, json!({ "numPages": 3, "totalPages": 3 }));
    assert_fields(metadata, json!({ "title": "Waders", "contentType": PDF }));
    assert_eq!(at("/letter")["markdown"], "# A letter\n\nThe herons are back.");
    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    let errors = errors["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1);
    assert_fields(
        &errors[0],
        json!({ "url": site.url("/broken.pdf"), "code": "SCRAPE_PDF_ERROR" }),
    );
}

#[tokio::test]
async fn a_scraped_pdf_is_read_with_the_parser_options() {
    let site = Site::new()
        .page("/waders.pdf", Page::new(PDF, pdf()))
        .serve()
        .await;
    let server = TestServer::start().await;
    let scrape = async |parsers: Value| {
        let request = json!({ "url": site.url("/waders.pdf"), "parsers": parsers });
        server.post("/v2/scrape", &request).await.ok()["data"].clone()
    };
    let parser = json!([{ "type": "pdf", "maxPages": 2, "pages": true, "pageMarkers": true }]);
    let two = scrape(parser.clone()).await;
    let markdown = two["markdown"].as_str().unwrap();
    assert!(markdown.starts_with("<!-- page 1 -->\n\n# Herons"), "{markdown}");
    assert!(
        markdown.contains("\n\n---\n\n<!-- page 2 -->\n\n# Egrets"),
        "{markdown}"
    );
    assert_eq!(two["pages"][1]["pageNumber"], 2);
    assert_eq!(two["pages"].as_array().unwrap().len(), 2);
    let metadata = &two["metadata"];
    assert_fields(metadata, json!({ "numPages": 2, "totalPages": 3 }));
    assert_eq!(metadata["creditsUsed"], 2);
    let again = scrape(parser).await;
    assert_eq!(again["markdown"], two["markdown"]);
    assert_fields(
        &again["metadata"],
        json!({ "cacheState": "hit", "creditsUsed": 1 }),
    );

    let unread = scrape(json!([])).await;
    assert!(
        unread["markdown"].as_str().unwrap().starts_with("JVBERi0xLjQK"),
        "{unread}"
    );
    assert_eq!(unread["metadata"]["creditsUsed"], 1);
}

#[tokio::test]
async fn uploaded_files_are_parsed() {
    let server = TestServer::start().await;
    let check = async |name: &str, bytes: &[u8], markdown: &str, credits: u32| {
        let data = parse(&server, name, bytes, json!({})).await.ok()["data"].clone();
        let found = (
            data["markdown"].as_str(),
            data["metadata"]["creditsUsed"].as_u64(),
        );
        assert_eq!(found, (Some(markdown), Some(u64::from(credits))), "{data}");
        let metadata = &data["metadata"];
        assert_fields(metadata, json!({ "sourceFile": name, "sourceURL": name }));
    };
    check("letter.docx", &letter(), "# A letter\n\nThe herons are back.", 1).await;
    check(
        "a.odt",
        &open_document("text", "<text:p>They wade.</text:p>"),
        "They wade.",
        1,
    )
    .await;
    check("a.rtf", br"{\rtf1 They {\b wade}.\par}", "They **wade**.", 1).await;
    check(
        "a.csv",
        b"bird,height\nheron,98\n",
        "| bird | height |\n| --- | --- |\n| heron | 98 |",
        1,
    )
    .await;
    check("a.txt", b"They wade.", "They wade.", 1).await;
    // Office files are detected by their contents, not by their extension.
    check("letter.pptx", &letter(), "# A letter\n\nThe herons are back.", 1).await;

    let scanned = Pdf {
        pages: vec![scan(), scan()],
        ..Pdf::default()
    }
    .bytes();
    let data = parse(&server, "scan.pdf", &scanned, json!({})).await.ok()["data"].clone();
    assert!(
        data["warning"]
            .as_str()
            .unwrap()
            .starts_with("The PDF is scanned"),
        "{data}"
    );
}

#[tokio::test]
async fn an_unreadable_file_is_an_error_with_the_reason() {
    let server = TestServer::start().await;
    let check = async |name: &str, bytes: &[u8], status: u16, code: &str, words: &str| {
        let response = parse(&server, name, bytes, json!({})).await;
        response.is_error_for(name, status, code);
        assert!(response.error().contains(words), "{name}: {}", response.error());
    };
    let protected = Pdf {
        pages: vec![line(12, 700, "secret")],
        protected: true,
        ..Pdf::default()
    };
    check("a.pdf", &protected.bytes(), 500, "SCRAPE_PDF_ERROR", "password").await;
    check("a.pdf", b"no such thing", 500, "SCRAPE_PDF_ERROR", "damaged").await;
    check(
        "a.docx",
        b"no such thing",
        400,
        "SCRAPE_UNSUPPORTED_FILE_ERROR",
        "damaged",
    )
    .await;
    let bomb = open_document("text", &" ".repeat(300 << 20));
    check("a.odt", &bomb, 400, "SCRAPE_UNSUPPORTED_FILE_ERROR", "too large").await;
    check(
        "a.zip",
        b"PK\x03\x04\x14\0\0\0",
        400,
        "SCRAPE_UNSUPPORTED_FILE_ERROR",
        "formats",
    )
    .await;
}

/// The deadline of the request stops a file reader that takes too long.
#[tokio::test]
async fn a_slow_file_reader_is_killed_and_the_server_continues() {
    let server = TestServer::start().await;
    let slow = Pdf {
        pages: vec![line(12, 700, "They wade.").repeat(200_000)],
        ..Pdf::default()
    }
    .bytes();
    let response = parse(&server, "slow.pdf", &slow, json!({ "timeout": 1000 })).await;
    response.is_error(408, "SCRAPE_TIMEOUT");
    let data = parse(&server, "letter.docx", &letter(), json!({})).await.ok();
    assert_eq!(data["data"]["markdown"], "# A letter\n\nThe herons are back.");
    if Path::new("/proc/self").exists() {
        // The response may be sent before the reader process has ended.
        let since = Instant::now();
        while count_readers(server.pid()) > 0 {
            assert!(since.elapsed() < TIMEOUT, "a reader process is still running");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Returns the number of running child processes of the server.
fn count_readers(server: u32) -> usize {
    let is_child = |entry: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name in parentheses, which may contain anything: state, parent.
        let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, parent) = (rest.next()?, rest.next()?);
        (state != "Z" && parent == server.to_string()).then_some(())
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| is_child(entry.ok()?))
        .count()
}

/// Returns the share of the words of a text that were recognized, in order or not.
fn word_accuracy(markdown: &str, text: &str) -> f64 {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut recognized = words(markdown);
    let expected = words(text);
    let found = expected.iter().filter(|word| {
        let position = recognized.iter().position(|other| other == *word);
        position
            .map(|position| recognized.swap_remove(position))
            .is_some()
    });
    found.count() as f64 / expected.len() as f64
}

/// Scans at 200 dpi, made from the texts next to them.
#[tokio::test]
async fn the_text_of_scans_and_images_is_recognized() {
    let server = TestServer::start().await;
    let texts = [include_str!("scans/page1.txt"), include_str!("scans/page2.txt")];
    let (png, tiff) = (
        include_bytes!("scans/page1.png"),
        include_bytes!("scans/page1.tiff"),
    );
    let (webp, pdf) = (
        include_bytes!("scans/page2.webp"),
        include_bytes!("scans/scan.pdf"),
    );
    let formats = server.get("/v2/parse/formats").await.ok();
    let formats = formats["data"]["formats"].as_array().unwrap();
    let has_tesseract = formats
        .iter()
        .any(|format| format["format"] == "png" && format["available"] == true);
    let image = json!({"parsers": ["image"]});
    for (name, bytes, options, text, pages) in [
        ("page1.png", &png[..], &image, texts[0].to_owned(), 1),
        ("page1.tiff", &tiff[..], &image, texts[0].to_owned(), 1),
        ("page2.webp", &webp[..], &image, texts[1].to_owned(), 1),
        ("scan.pdf", &pdf[..], &json!({}), texts.concat(), 2),
    ] {
        let data = parse(&server, name, bytes, options.clone()).await.ok()["data"].clone();
        let markdown = data["markdown"].as_str().unwrap();
        if has_tesseract {
            let accuracy = word_accuracy(markdown, &text);
            assert!(accuracy >= 0.95, "{name}: {accuracy}: {markdown}");
            assert_eq!(data["metadata"]["ocrPages"], pages, "{name}");
            assert_eq!(data.get("warning"), None, "{name}");
        } else {
            assert_contains(&data, "/warning", "tesseract-ocr");
        }
    }
    let fast = json!({"parsers": [{"type": "pdf", "mode": "fast"}]});
    let data = parse(&server, "scan.pdf", pdf, fast).await.ok()["data"].clone();
    assert_eq!(data["markdown"], "");
    assert!(
        data["warning"]
            .as_str()
            .unwrap()
            .starts_with("The PDF is scanned")
    );

    let refused = parse(&server, "page1.png", png, json!({})).await;
    assert!(refused.error().contains("`image`"), "{}", refused.error());
    let bomb = [&png[..16], &[0, 1, 0, 0, 0, 1, 0, 0], &png[24..]].concat();
    let refused = parse(&server, "bomb.png", &bomb, image.clone()).await;
    refused.is_error(400, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    assert!(refused.error().contains("65536 x 65536"), "{}", refused.error());
    let damaged = [&png[..60], &[7; 500][..]].concat();
    let refused = parse(&server, "damaged.png", &damaged, image).await;
    assert!(
        !has_tesseract || refused.error().contains("damaged"),
        "{}",
        refused.error()
    );
}

/// Twenty pages at 200 dpi in three typefaces, made from the text next to them.
#[tokio::test]
async fn of_a_clean_scan_at_least_95_of_100_words_are_recognized() {
    let server = TestServer::start().await;
    let formats = server.get("/v2/parse/formats").await.ok();
    let formats = formats["data"]["formats"].as_array().unwrap();
    if !formats
        .iter()
        .any(|format| format["format"] == "png" && format["available"] == true)
    {
        return;
    }
    let (pdf, text) = (
        include_bytes!("scans/twenty.pdf"),
        include_str!("scans/twenty.txt"),
    );
    let options = json!({"timeout": 300_000, "parsers": [{"type": "pdf", "mode": "ocr"}]});
    let data = parse(&server, "twenty.pdf", pdf, options).await.ok()["data"].clone();
    assert_eq!(data["metadata"]["ocrPages"], 20, "{data}");
    let accuracy = word_accuracy(data["markdown"].as_str().unwrap(), text);
    println!("{:.2} % of the words are recognized", accuracy * 100.0);
    assert!(accuracy >= 0.95, "{accuracy}: {data}");
}

#[tokio::test]
async fn a_scan_of_ten_thousand_pages_ends_in_time_and_is_read_in_part() {
    let server = TestServer::start().await;
    let scanned = Pdf {
        pages: vec![scan(); 10_001],
        ..Pdf::default()
    };
    let bytes = scanned.bytes();
    let parse_pages = async |timeout: u64, max_pages: Value| {
        let parser = json!({"type": "pdf", "mode": "ocr", "maxPages": max_pages});
        let options = json!({"timeout": timeout, "parsers": [parser]});
        parse(&server, "long.pdf", &bytes, options).await
    };
    let whole = parse_pages(2_000, Value::Null).await;
    assert_eq!(whole.status, 408, "{}", whole.text());
    assert!(whole.text().contains("SCRAPE_TIMEOUT"), "{}", whole.text());
    let data = parse_pages(60_000, json!(2)).await.ok()["data"].clone();
    assert_fields(&data["metadata"], json!({ "numPages": 2, "totalPages": 10_001 }));
    assert_contains(&data, "/warning", "scanned");
}
