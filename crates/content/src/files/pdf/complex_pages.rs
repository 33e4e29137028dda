//! Pages with so many lines, areas or texts that `unpdf`, which compares each with each, would take minutes for them.
//! The lines are left out, or the texts are read in the order of the file.

use unpdf::parser::backend::PageBox;
use unpdf::parser::{BlockType, LayoutAnalyzer, TextBlock, TextLine, TextSpan};
use unpdf::{Block, Page, Paragraph, model::ListInfo};

use super::line_backend::{Drawing, UNKNOWN_GLYPH};
use crate::limits;

/// Largest distance between the baselines of texts of one line, in font sizes.
const SAME_LINE: f32 = 0.3;

/// How much of the layout of a page is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Layout {
    #[default]
    Whole,
    /// All but lines, which bound tables.
    WithoutLines,
    /// No tables at all.
    WithoutTables,
    /// The texts in the order of the file.
    TextOrder,
}

impl Layout {
    /// Decides how a page with these texts is read. `pairs` counts the comparisons of lines in all larger pages so far.
    pub(super) fn new(spans: &[TextSpan], drawing: &Drawing, pairs: &mut u64) -> Self {
        let lines = drawing.lines as u64;
        let own = lines.saturating_mul(lines + spans.len() as u64);
        if spans.len() > limits::PDF_PAGE_TEXTS || longest_line(spans) > limits::PDF_LINE_TEXTS {
            Self::TextOrder
        } else if drawing.is_cut {
            // `unpdf` would read the rest of it.
            Self::WithoutTables
        } else if own <= limits::PDF_PAGE_PAIRS {
            Self::Whole
        } else if own <= limits::PDF_PAIRS - *pairs {
            *pairs += own;
            Self::Whole
        } else {
            Self::WithoutLines
        }
    }
}

/// Returns the largest number of texts with the same baseline.
fn longest_line(spans: &[TextSpan]) -> usize {
    let mut order: Vec<&TextSpan> = spans.iter().collect();
    order.sort_by(|a, b| b.y.total_cmp(&a.y));
    order
        .chunk_by(|a, b| is_same_line(a, b))
        .map(<[_]>::len)
        .max()
        .unwrap_or(0)
}

fn is_same_line(first: &TextSpan, second: &TextSpan) -> bool {
    (first.y - second.y).abs() <= first.font_size.min(second.font_size) * SAME_LINE
}

/// Returns the lines of a page in the order of the file.
pub(super) fn lines(spans: Vec<TextSpan>) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let mut rest = spans.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut line = vec![first];
        while let Some(next) = rest.next_if(|next| {
            line.len() < limits::PDF_LINE_TEXTS && line.last().is_some_and(|last| follows(last, next))
        }) {
            line.push(next);
        }
        lines.push(TextLine::from_spans(line));
    }
    lines
}

fn follows(last: &TextSpan, next: &TextSpan) -> bool {
    is_same_line(last, next) && next.x > last.x
}

/// Reads a page with these texts, without tables.
pub(super) fn read(
    number: u32,
    page_box: &PageBox,
    analyzer: &mut LayoutAnalyzer,
    spans: Vec<TextSpan>,
    layout: Layout,
) -> Page {
    let mut page = Page::new(number, page_box.width(), page_box.height());
    page.image_op_count = analyzer.page_op_counts().image;
    let facts = analyzer.page_facts();
    page.image_coverage = facts.image_coverage;
    page.painted_text_chars = facts.painted_text_chars;
    let statistics = analyzer.font_stats_mut();
    for span in &spans {
        statistics.add_text(span.font_size, &span.text);
    }
    statistics.analyze();
    let lines = match layout {
        Layout::TextOrder => lines(spans),
        _ => analyzer.group_spans_into_lines_pub(spans),
    };
    let lines = analyzer.detect_headings_pub(lines);
    for block in analyzer.group_lines_into_blocks_pub(lines) {
        page.add_block(Block::Paragraph(paragraph(&block)));
    }
    page
}

fn paragraph(block: &TextBlock) -> Paragraph {
    let is_item = block.block_type == BlockType::ListItem;
    let text = if is_item {
        block.list_item_text()
    } else {
        block.text()
    };
    let mut paragraph = Paragraph::with_text(text.replace(UNKNOWN_GLYPH, ""));
    match block.block_type {
        BlockType::Heading => paragraph.style.heading_level = Some(block.heading_level),
        BlockType::ListItem => {
            paragraph.style.list_info = Some(match block.list_item_number {
                Some(number) => ListInfo::numbered(0, number),
                None => ListInfo::bullet(0),
            });
        }
        BlockType::Paragraph | BlockType::Unknown => {}
    }
    paragraph
}
