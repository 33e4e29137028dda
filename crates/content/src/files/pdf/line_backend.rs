//! The document as its lines are read from it: glyphs without a character stand for themselves, lines and areas are
//! counted instead of painted, and what a page repeats is bounded.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use unpdf::Result;
use unpdf::parser::backend::{
    BackendFontInfo, ContentOp, DecodedRun, DecodedText, GlyphAdvance, ObjectId, PageBox, PageContent,
    PageId, PaintedXObject, PdfBackend, PdfMetadataRaw, RawBackend, RawOutlineItem, RawXObject,
    ResourceScope,
};

use super::copies::paints_path;
use super::drawn_bullets::{self, DrawnBullet};
use crate::limits;

/// Stands for a glyph without a character.
pub(super) const UNKNOWN_GLYPH: char = '\u{F0B7}';

/// What a page draws besides text.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    pub(super) bullets: Vec<DrawnBullet>,
    /// Straight lines, including the sides of boxes.
    pub(super) lines: usize,
    /// The forms that draw some of these lines.
    pub(super) forms: Vec<ObjectId>,
    /// Whether forms were left out.
    pub(super) is_cut: bool,
}

pub(super) struct LineBackend {
    document: RawBackend,
    page: Mutex<PageState>,
    /// The page that is read. `unpdf` lists the pages several times for each, so one document with all of them would
    /// take time with the square of their number.
    selected: Mutex<Option<(u32, PageId)>>,
}

/// What is known of the page that is being read.
#[derive(Default)]
struct PageState {
    drawing: Drawing,
    /// The content that is decoded next.
    next: Content,
    /// Straight lines of each form.
    forms: HashMap<ObjectId, usize>,
    /// Bytes of all forms, each as often as it is painted.
    form_bytes: usize,
}

#[derive(Clone, Copy, Default)]
enum Content {
    Page,
    Form(ObjectId),
    #[default]
    Other,
}

impl LineBackend {
    pub(super) fn new(document: RawBackend) -> Self {
        Self {
            document,
            page: Mutex::default(),
            selected: Mutex::default(),
        }
    }

    /// Selects the page that is read next.
    pub(super) fn select(&self, number: u32, page: PageId) {
        *self.selected.lock().unwrap_or_else(PoisonError::into_inner) = Some((number, page));
    }

    /// Returns what the page that was read last draws.
    pub(super) fn take_drawing(&self) -> Drawing {
        std::mem::take(&mut self.page().drawing)
    }

    fn page(&self) -> MutexGuard<'_, PageState> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves out all lines and areas that these operators paint. Returns the number of straight lines.
fn remove_lines(operators: &mut [ContentOp]) -> usize {
    let (mut count, mut path) = (0, 0);
    for operator in operators {
        match operator.operator.as_str() {
            "l" | "h" => path += 1,
            "re" => path += 4,
            "n" => path = 0,
            name if paints_path(name.as_bytes()) => {
                count += std::mem::take(&mut path);
                operator.operator = "n".to_owned();
            }
            _ => {}
        }
    }
    count
}

impl PdfBackend for LineBackend {
    fn pages(&self) -> BTreeMap<u32, PageId> {
        let selected = self.selected.lock().unwrap_or_else(PoisonError::into_inner);
        selected.iter().copied().collect()
    }

    fn page_fonts(&self, scope: ResourceScope) -> Result<Vec<BackendFontInfo>> {
        self.document.page_fonts(scope)
    }

    fn page_content(&self, page: PageId) -> Result<Vec<u8>> {
        self.document.page_content(page)
    }

    fn page_content_with_losses(&self, page: PageId) -> Result<PageContent> {
        *self.page() = PageState {
            next: Content::Page,
            ..PageState::default()
        };
        self.document.page_content_with_losses(page)
    }

    fn decode_content(&self, data: &[u8]) -> Result<Vec<ContentOp>> {
        let mut operators = self.document.decode_content(data)?;
        let mut page = self.page();
        let content = std::mem::take(&mut page.next);
        if let Content::Page = content {
            page.drawing.bullets = drawn_bullets::find(&operators);
        }
        let lines = remove_lines(&mut operators);
        page.drawing.lines += lines;
        if let Content::Form(id) = content {
            page.forms.insert(id, lines);
            page.drawing.forms.extend((lines > 0).then_some(id));
        }
        Ok(operators)
    }

    fn decode_text(&self, scope: ResourceScope, font: &[u8], bytes: &[u8]) -> DecodedText {
        let mut decoded = self.document.decode_text(scope, font, bytes);
        // A code has one or two bytes.
        if decoded.text.is_empty() && matches!(bytes.len(), 1 | 2) {
            decoded.text.push(UNKNOWN_GLYPH);
        }
        decoded
    }

    fn decode_run(&self, scope: ResourceScope, font: &[u8], bytes: &[u8]) -> DecodedRun {
        DecodedRun {
            decoded: self.decode_text(scope, font, bytes),
            ..self.document.decode_run(scope, font, bytes)
        }
    }

    fn glyph_advances(&self, scope: ResourceScope, font: &[u8], bytes: &[u8]) -> Option<Vec<GlyphAdvance>> {
        self.document.glyph_advances(scope, font, bytes)
    }

    fn is_vertical_font(&self, scope: ResourceScope, font: &[u8]) -> bool {
        self.document.is_vertical_font(scope, font)
    }

    fn metadata(&self) -> PdfMetadataRaw {
        self.document.metadata()
    }

    fn page_box(&self, page: PageId) -> PageBox {
        self.document.page_box(page)
    }

    fn crop_box(&self, page: PageId) -> PageBox {
        self.document.crop_box(page)
    }

    fn page_rotation(&self, page: PageId) -> u16 {
        self.document.page_rotation(page)
    }

    fn outline(&self) -> Result<Vec<RawOutlineItem>> {
        self.document.outline()
    }

    fn page_xobjects(&self, page: PageId) -> Result<Vec<RawXObject>> {
        self.document.page_xobjects(page)
    }

    /// Returns no more forms once a page has painted too many: forms that paint each other grow without end.
    fn xobject(&self, scope: ResourceScope, name: &[u8]) -> Option<PaintedXObject> {
        if self.page().drawing.is_cut {
            return None;
        }
        let found = self.document.xobject(scope, name)?;
        if let PaintedXObject::Form(form) = &found {
            let mut page = self.page();
            page.form_bytes += limits::PDF_FORM_COST + form.content.as_ref().map_or(0, Vec::len);
            page.drawing.lines += page.forms.get(&form.id).copied().unwrap_or(0);
            page.next = Content::Form(form.id);
            page.drawing.is_cut = page.form_bytes > limits::PDF_FORM_BYTES;
        }
        Some(found)
    }
}
