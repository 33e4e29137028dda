//! Conversion of a file in memory to Markdown.

use expect_test::Expect;
use harvestman_content::files::{FileDocument, FileError, FileRequest, FileType, ScanRequest, read};
use harvestman_content::{HtmlPage, Selection};
use url::Url;

/// Reads all pages of a file, without text recognition.
pub(crate) fn read_as(file_type: FileType, body: &[u8]) -> Result<FileDocument, FileError> {
    let request = FileRequest {
        file_type,
        max_pages: None,
        scans: ScanRequest::None,
    };
    read(&request, body)
}

/// Returns the Markdown of a whole document.
pub(crate) fn markdown(document: &FileDocument) -> String {
    let url = Url::parse("https://a.test/file").unwrap();
    let selection = Selection {
        only_main_content: false,
        ..Selection::default()
    };
    HtmlPage::parse(&document.html(), &url)
        .convert(&selection)
        .markdown()
}

/// Asserts the Markdown of a whole file.
#[track_caller]
#[allow(dead_code, reason = "other tests have their own assertions")]
pub(crate) fn check(file_type: FileType, body: &[u8], expected: Expect) {
    expected.assert_eq(&markdown(&read_as(file_type, body).unwrap()));
}
