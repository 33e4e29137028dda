//! Conversion of files. The first byte selects the file type; the rest is the file, or the main part of an otherwise
//! complete package. Panics of third-party readers are caught, as in the product, and are not findings; panics of the
//! project's code are.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/content/tests/files/fixtures.rs"]
mod fixtures;

use std::panic;
use std::process;

use harvestman_content::files::{FileRequest, FileType, ScanRequest, read};
use harvestman_content::{HtmlPage, Selection};
use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(
    init: panic::set_hook(Box::new(|panic| {
        if panic.location().is_none_or(|place| !place.file().contains("/registry/src/")) {
            eprintln!("{panic}");
            process::abort();
        }
    })),
    |data: &[u8]| {
        let Some((choice, content)) = data.split_first() else {
            return;
        };
        let text = || String::from_utf8_lossy(content);
        let (file_type, body) = match choice % 14 {
            0 => (FileType::Docx, fixtures::docx(&text())),
            1 => (FileType::Xlsx, fixtures::xlsx(&[("a", "visible", &text())])),
            2 => (FileType::Pptx, fixtures::pptx(&[("a", &[&text()])])),
            3 => (FileType::Odt, fixtures::open_document("text", &text())),
            4 => (FileType::Ods, fixtures::open_document("spreadsheet", &text())),
            5 => (FileType::Odp, fixtures::open_document("presentation", &text())),
            6 => (FileType::Epub, fixtures::epub(&[&text()])),
            7 => (FileType::Rtf, [br"{\rtf1 ", content].concat()),
            8 => (FileType::Csv, content.to_vec()),
            9 => (FileType::Doc, content.to_vec()),
            10 => (FileType::Xls, content.to_vec()),
            11 => (FileType::Ppt, content.to_vec()),
            12 => (FileType::Docx, content.to_vec()),
            _ => (FileType::Pdf, content.to_vec()),
        };
        let request = FileRequest {
            file_type,
            max_pages: Some(10),
            scans: ScanRequest::None,
        };
        let Ok(document) = read(&request, &body) else {
            return;
        };
        assert!(document.pages.is_sorted_by(|before, after| before.number < after.number));
        let url = Url::parse("https://a.test/file").expect("it is a URL");
        HtmlPage::parse(&document.html(), &url)
            .convert(&Selection::default())
            .markdown();
    }
);
