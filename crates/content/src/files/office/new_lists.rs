//! Lists in documents of Word since 2007. A list may be nested through a level of its definition, or through another
//! definition with a larger indent.

use office_oxide::docx::numbering::NumberingLevel;
use office_oxide::docx::table::{MergeType, Table, TableCell};
use office_oxide::docx::{
    BlockElement, DocxDocument, NoteBody, NumberFormat, Paragraph, ParagraphContent, ParagraphProperties,
    RunContent, Style,
};

use super::lists::{Counter, DocumentPlaces, MAX_LEVEL, Place, Places};

/// Maximum number of ancestors of a style.
const PARENTS: usize = 16;

/// An item that other items may be nested in.
struct OpenItem {
    list: u32,
    level: u8,
    /// Distance from the margin, in twentieths of a point.
    indent: i32,
}

impl OpenItem {
    /// Returns whether this item is nested in another one.
    fn is_inside(&self, outer: &OpenItem) -> bool {
        match self.list == outer.list {
            true => self.level > outer.level,
            false => self.indent > outer.indent,
        }
    }

    fn format<'a>(&self, document: &'a DocxDocument) -> Option<&'a NumberingLevel> {
        document.numbering.as_ref()?.resolve_level(self.list, self.level)
    }

    fn number(&self, document: &DocxDocument, numbers: &mut Numbers) -> u32 {
        let numbering = document.numbering.as_ref();
        let start = numbering.and_then(|lists| lists.resolve_start(self.list, self.level));
        // Lists of the same definition count on, unless they say where they start.
        let instance = numbering.and_then(|lists| lists.instances.get(&self.list));
        let key = match instance.filter(|list| !list.start_overrides.contains_key(&self.level)) {
            Some(list) => (list.abstract_num_id, true),
            None => (self.list, false),
        };
        numbers.next(key, self.level, start.unwrap_or(1))
    }
}

/// Counts the items of lists that may continue each other.
type Numbers = Counter<(u32, bool)>;

/// Returns the places of all items.
pub(super) fn places(document: &DocxDocument) -> DocumentPlaces {
    let (mut text, mut boxes, mut notes) = Default::default();
    let reader = Reader(document);
    let mut of_notes = |bodies: &[NoteBody]| {
        let places = bodies.iter().map(|note| {
            let places = reader.places(&note.content, &mut notes, &mut Numbers::default());
            (note.id, places)
        });
        places.collect()
    };
    DocumentPlaces {
        footnotes: of_notes(&document.footnotes),
        endnotes: of_notes(&document.endnotes),
        text: reader.places(&document.body.elements, &mut text, &mut boxes),
    }
}

struct Reader<'a>(&'a DocxDocument);

impl Reader<'_> {
    /// Returns the places of the items among blocks. Those in text boxes have numbers of their own.
    fn places(&self, blocks: &[BlockElement], numbers: &mut Numbers, boxes: &mut Numbers) -> Places {
        let document = self.0;
        let mut open: Vec<OpenItem> = Vec::new();
        let mut places = Places::default();
        for element in blocks {
            let last_list = open.last().map(|item| item.list);
            let Some(item) = item(document, element, last_list) else {
                open.clear();
                match element {
                    BlockElement::Table(table) => {
                        let cells = cells(table).map(|cell| self.places(&cell.content, numbers, boxes));
                        places.inner.extend(cells);
                    }
                    BlockElement::Paragraph(paragraph) => {
                        let boxes = text_boxes(paragraph)
                            .map(|blocks| self.places(blocks, boxes, &mut Numbers::default()));
                        places.inner.extend(boxes);
                    }
                }
                continue;
            };
            while open.last().is_some_and(|outer| !item.is_inside(outer)) {
                open.pop();
            }
            let format = item.format(document);
            let is_numbered = format
                .is_some_and(|format| !matches!(format.format, NumberFormat::Bullet | NumberFormat::None));
            let has_marker = is_numbered || format.is_some_and(|format| !format.level_text.trim().is_empty());
            places.items.push(Place {
                list: item.list,
                level: u8::try_from(open.len()).map_or(MAX_LEVEL, |level| level.min(MAX_LEVEL)),
                is_numbered,
                number: has_marker.then(|| item.number(document, numbers)),
            });
            open.push(item);
        }
        places
    }
}

/// Returns the cells of a table that are neither covered nor deleted.
fn cells(table: &Table) -> impl Iterator<Item = &TableCell> {
    table.rows.iter().flat_map(|row| &row.cells).filter(|cell| {
        cell.properties.as_ref().is_none_or(|properties| {
            !properties.deleted && !matches!(properties.vertical_merge, Some(MergeType::Continue))
        })
    })
}

/// Returns the contents of the text boxes in a paragraph.
fn text_boxes(paragraph: &Paragraph) -> impl Iterator<Item = &[BlockElement]> {
    let runs = paragraph.content.iter().flat_map(|content| match content {
        ParagraphContent::Run(run) => std::slice::from_ref(run),
        ParagraphContent::Hyperlink(link) => &link.runs,
    });
    runs.flat_map(|run| &run.content)
        .filter_map(|content| match content {
            RunContent::TextBox(blocks) if !blocks.is_empty() => Some(blocks.as_slice()),
            _ => None,
        })
}

/// Returns the item that an element is. A heading is none, unless it goes on with the last list.
fn item(document: &DocxDocument, element: &BlockElement, last_list: Option<u32>) -> Option<OpenItem> {
    let BlockElement::Paragraph(paragraph) = element else {
        return None;
    };
    let own = paragraph.properties.as_ref()?;
    let styles = || styles(document, own.style_id.as_deref());
    let numbering = own.numbering_ref.as_ref();
    let inherited = || styles().find_map(|style| style.paragraph_properties.as_ref()?.numbering_ref.as_ref());
    let numbering = numbering
        .or_else(inherited)
        .filter(|numbering| numbering.num_id != 0)?;
    let is_heading = || {
        let is_named = |name: &str| {
            let number = name.trim().to_ascii_lowercase();
            number
                .strip_prefix("heading")
                .is_some_and(|number| number.trim().parse::<u8>().is_ok())
        };
        own.outline_level.is_some()
            || styles().any(|style| {
                style
                    .paragraph_properties
                    .as_ref()
                    .is_some_and(|own| own.outline_level.is_some())
            })
            || styles()
                .next()
                .is_some_and(|style| is_named(&style.style_id) || style.name.as_deref().is_some_and(is_named))
    };
    if last_list != Some(numbering.num_id) && is_heading() {
        return None;
    }
    let mut item = OpenItem {
        list: numbering.num_id,
        level: numbering.ilvl,
        indent: 0,
    };
    let indent_of = |own: &ParagraphProperties| own.indent.as_ref()?.left.map(|left| left.0);
    item.indent = indent_of(own)
        .or_else(|| item.format(document)?.indent.as_ref()?.left.map(|left| left.0))
        .or_else(|| styles().find_map(|style| indent_of(style.paragraph_properties.as_ref()?)))
        .unwrap_or(i32::from(item.level));
    Some(item)
}

/// Returns a style and its ancestors.
fn styles<'a>(document: &'a DocxDocument, id: Option<&'a str>) -> impl Iterator<Item = &'a Style> {
    let find = |id: &str| document.styles.as_ref()?.styles.get(id);
    let first = id.and_then(find);
    std::iter::successors(first, move |style| find(style.based_on.as_deref()?)).take(PARENTS)
}
