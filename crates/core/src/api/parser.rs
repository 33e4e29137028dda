//! Document parsers of docs/API.md section 4.3.

use harvestman_derive::Request;

use crate::api::body::{Body, Node, ToNode};
use crate::api::fields::{FieldType, Fields, Schema, Slot, Wire};
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

wire_enum! {
    /// Name of a parser.
    ParserKind {
        /// PDF documents.
        Pdf = "pdf",
        /// Images (text recognition).
        Image = "image",
    }
}

/// Requested parser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parser {
    /// `pdf`
    Pdf(PdfParser),
    /// `image`
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
    fn read_page_markdown(&mut self, f: &mut Fields) {
        let older = f.bool("pageMarkdown", false);
        if !f.has_read("pages") {
            self.pages = older;
        }
    }
}

impl Parser {
    /// Returns the name of the parser.
    pub fn kind(&self) -> ParserKind {
        match self {
            Parser::Pdf(_) => ParserKind::Pdf,
            Parser::Image => ParserKind::Image,
        }
    }

    /// Returns the parsers that are used when the request names none.
    pub fn defaults() -> Vec<Parser> {
        vec![Parser::Pdf(PdfParser::default())]
    }
}

impl ToNode for Parser {
    fn to_node(&self) -> Node {
        let mut body = Body::default();
        body.put("type", &self.kind());
        if let Parser::Pdf(pdf) = self {
            pdf.write(&mut body);
        }
        match body.fields().len() {
            1 => self.kind().to_node(),
            _ => Node::Object(body),
        }
    }
}

/// A name, or an object with `type`.
impl FieldType for Parser {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        Schema::OneOf(vec![
            ParserKind::schema(()),
            Schema::tagged("PdfParser", "pdf", PdfParser::fields()),
            Schema::tagged("ImageParser", "image", Vec::new()),
        ])
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let read = |f: &mut Fields| {
            let Some(slot) = f.slot("type") else {
                f.fail("type", "is required: give `pdf` or `image`");
                return None;
            };
            match slot.word::<ParserKind>() {
                Some(ParserKind::Pdf) => Some(Parser::Pdf(PdfParser::read(f))),
                Some(ParserKind::Image) => Some(Parser::Image),
                None => {
                    f.ignore_rest();
                    None
                }
            }
        };
        slot.object_or("type", read).flatten()
    }

    fn placeholder() -> Self {
        Parser::Image
    }
}
