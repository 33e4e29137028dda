//! Document parsers of contract section 4.3.

use crate::api::body::{Body, Node, ToNode};
use crate::api::fields::{Fields, Slot, Wire, wire};
use crate::api::wire_enum::wire_enum;
use crate::limits::MAX_DOCUMENT_PAGES;

wire_enum! {
    /// How a PDF is read.
    PdfMode {
        /// Embedded text only.
        Fast = "fast",
        /// Embedded text, and recognition where there is none.
        Auto = "auto",
        /// Recognition of every page.
        Ocr = "ocr",
    }
}

wire_enum! {
    /// Name of a parser.
    ParserKind {
        /// PDF documents.
        Pdf = "pdf",
        /// Pictures (text recognition).
        Image = "image",
    }
}

/// One wanted parser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parser {
    /// `pdf`
    Pdf(PdfParser),
    /// `image`
    Image,
}

/// Options of the PDF parser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PdfParser {
    /// How the text is read.
    pub mode: PdfMode,
    /// Pages to convert, at most.
    pub max_pages: Option<u32>,
    /// Give the pages one by one too.
    pub pages: bool,
    /// Give the blocks of each page.
    pub blocks: bool,
    /// Mark where pages begin in the Markdown.
    pub page_markers: bool,
}

impl Default for PdfParser {
    fn default() -> Self {
        Self {
            mode: PdfMode::Auto,
            max_pages: None,
            pages: false,
            blocks: false,
            page_markers: false,
        }
    }
}

impl Parser {
    /// Its name.
    pub fn kind(&self) -> ParserKind {
        match self {
            Parser::Pdf(_) => ParserKind::Pdf,
            Parser::Image => ParserKind::Image,
        }
    }

    /// The parsers used when none are named.
    pub fn defaults() -> Vec<Parser> {
        vec![Parser::Pdf(PdfParser::default())]
    }

    /// Reads one element of `parsers`: a name, or an object with `type`.
    pub(crate) fn from_slot(slot: Slot<'_>) -> Option<Self> {
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

impl Wire for PdfParser {
    fn read(f: &mut Fields) -> Self {
        let max_pages = f.opt_integer("maxPages", 1..=MAX_DOCUMENT_PAGES);
        let old_pages = f.bool("pageMarkdown", false);
        Self {
            mode: f.word("mode", PdfMode::Auto),
            max_pages: max_pages.and_then(|n| u32::try_from(n).ok()),
            pages: f.bool("pages", old_pages),
            blocks: f.bool("blocks", false),
            page_markers: f.bool("pageMarkers", false),
        }
    }

    fn write(&self, body: &mut Body) {
        body.differs("mode", &self.mode, &PdfMode::Auto);
        body.some("maxPages", &self.max_pages);
        body.differs("pages", &self.pages, &false);
        body.differs("blocks", &self.blocks, &false);
        body.differs("pageMarkers", &self.page_markers, &false);
    }
}

wire!(PdfParser);
