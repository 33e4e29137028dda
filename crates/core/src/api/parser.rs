//! Document parsers of docs/API.md section 4.3.

use harvestman_derive::{Request, TaggedUnion};

use crate::api::fields::Fields;
use crate::api::wire_enum::wire_enum;
use crate::limits::MAX_DOCUMENT_PAGES;

wire_enum! {
    /// Method of reading a PDF.
    PdfMode {
        /// Embedded text only.
        Fast = "fast",
        /// Embedded text, and text recognition where there is none.
        Auto = "auto",
        /// Text recognition of every page.
        Ocr = "ocr",
    }
}

/// Requested parser.
#[derive(Clone, PartialEq, Eq, Debug, TaggedUnion)]
#[tagged(kind = ParserKind, hint = "`pdf` or `image`", by_name)]
pub enum Parser {
    /// PDF documents.
    Pdf(PdfParser),
    /// Images (text recognition).
    Image,
}

/// Options of the PDF parser.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
#[request(check = Self::read_page_markdown)]
pub struct PdfParser {
    /// How the text is read.
    #[field(default = PdfMode::Auto)]
    pub mode: PdfMode,
    /// Maximum number of pages to convert. Default: all.
    #[field(bounds = 1..=MAX_DOCUMENT_PAGES, unit = "pages", example = "10")]
    pub max_pages: Option<u32>,
    /// Return each page separately too.
    pub pages: bool,
    /// Return the blocks of each page.
    pub blocks: bool,
    /// Mark the beginning of each page in the Markdown.
    pub page_markers: bool,
}

impl PdfParser {
    /// Reads the old name of `pages`.
    fn read_page_markdown(&mut self, fields: &mut Fields) {
        let older = fields.value("pageMarkdown", ()).unwrap_or(false);
        if !fields.has_read("pages") {
            self.pages = older;
        }
    }
}

impl Parser {
    /// Returns the parsers that are used when the request names none.
    pub fn defaults() -> Vec<Parser> {
        vec![Parser::Pdf(PdfParser::default())]
    }
}
