//! Numbers near the top and bottom of pages. `unpdf` drops those that may be page numbers, also from the first and last
//! rows of tables.

use unpdf::parser::TextSpan;
use unpdf::parser::backend::PageBox;

/// Share of the height of a page that is added at its top and bottom so that `unpdf` keeps all numbers: it drops them
/// from 15 % of the height.
const ADDED: f32 = 0.25;
/// Largest distance between the baselines of texts of one row, and between the edges of those of one column, in font
/// sizes.
const ALIGNED: f32 = 0.5;
/// Largest distance to the next row, in font sizes.
const NEXT_ROW: f32 = 3.0;
/// Largest difference between the distances of rows, in font sizes.
const SAME_DISTANCE: f32 = 0.1;
/// Numbers that a page has at most if some may be page numbers, and texts of a row that are looked at.
const NUMBERS: usize = 200;
const BESIDE: usize = 100;

/// The numbers that `unpdf` drops from a page.
#[derive(Debug, Default)]
pub(super) struct DroppedNumbers {
    /// Whether rows of tables lose some of them, which can be kept.
    pub(super) has_cells: bool,
    /// The other ones, if rows of tables lose some.
    pub(super) page_numbers: Vec<String>,
}

/// Removes the page numbers from `spans`, given those that `unpdf` keeps.
pub(super) fn remove(spans: &mut Vec<TextSpan>, kept: &[TextSpan]) -> DroppedNumbers {
    let mut kept = kept.iter().peekable();
    let mut is_dropped = |span: &TextSpan| kept.next_if(|next| is_same(next, span)).is_none();
    let dropped: Vec<bool> = spans.iter().map(&mut is_dropped).collect();
    let may_be_page_numbers = dropped.iter().filter(|is_dropped| **is_dropped).count() <= NUMBERS;
    let is_page_number = |at: usize| dropped[at] && may_be_page_numbers && !is_cell(&spans[at], spans);
    let page_numbers: Vec<bool> = (0..spans.len()).map(is_page_number).collect();
    // `unpdf` finds no page number beside a text once it keeps the cells.
    let is_alone = |at: usize| !spans.iter().any(|other| is_beside(&spans[at], other));
    let has_cells = (0..spans.len())
        .any(|at| dropped[at] && !page_numbers[at] && !spans[at].text.trim().is_empty())
        && (0..spans.len()).all(|at| !page_numbers[at] || is_alone(at));
    let mut found = DroppedNumbers {
        has_cells,
        page_numbers: Vec::new(),
    };
    let mut at = 0;
    spans.retain(|span| {
        let is_removed = if has_cells { page_numbers[at] } else { dropped[at] };
        if is_removed && has_cells {
            found.page_numbers.push(span.text.trim().to_owned());
        }
        at += 1;
        !is_removed
    });
    found
}

fn is_same(a: &TextSpan, b: &TextSpan) -> bool {
    (a.x, a.y) == (b.x, b.y) && a.text == b.text
}

/// Returns whether another text has the same baseline.
fn is_beside(span: &TextSpan, other: &TextSpan) -> bool {
    (span.y - other.y).abs() <= span.font_size * ALIGNED
        && !is_same(span, other)
        && !other.text.trim().is_empty()
}

/// Returns whether a number is a cell of a table: the next row has a number of the same font in its column and another
/// text below one of its row, and the row after that is at the same distance.
fn is_cell(number: &TextSpan, spans: &[TextSpan]) -> bool {
    let size = number.font_size;
    let beside = spans.iter().filter(|span| is_beside(number, span));
    let beside: Vec<&TextSpan> = beside.take(BESIDE).collect();
    let is_in_column = |span: &TextSpan| {
        span.text.contains(|c: char| c.is_ascii_digit())
            && span.font_name == number.font_name
            && (span.font_size - size).abs() < 0.1
            && are_aligned(number, span)
    };
    [1.0, -1.0].into_iter().any(|side: f32| {
        // Distance of the nearest row that is further than this one.
        let next = |than: f32| {
            let distances = spans.iter().map(|span| (span.y - number.y) * side);
            distances
                .filter(|distance| *distance > than + size * ALIGNED)
                .fold(f32::MAX, f32::min)
        };
        let gap = next(0.0);
        if gap > size * NEXT_ROW || (next(gap) - 2.0 * gap).abs() > size * SAME_DISTANCE {
            return false;
        }
        let is_in_row = |span: &&TextSpan| ((span.y - number.y) * side - gap).abs() <= size * ALIGNED;
        let row: Vec<&TextSpan> = spans.iter().filter(is_in_row).take(BESIDE).collect();
        row.iter().any(|span| is_in_column(span))
            && row.iter().any(|span| {
                let mut others = beside.iter();
                !are_aligned(span, number) && others.any(|other| are_aligned(span, other))
            })
    })
}

/// Returns whether the left edges, middles or right edges of two texts are aligned.
fn are_aligned(a: &TextSpan, b: &TextSpan) -> bool {
    let most = a.font_size.min(b.font_size) * ALIGNED;
    [0.0, 0.5, 1.0]
        .into_iter()
        .any(|part| (a.x + a.width * part - b.x - b.width * part).abs() <= most)
}

/// Returns the box of a page with room for page numbers around what it shows.
pub(super) fn enlarged(page_box: &PageBox) -> PageBox {
    let added = page_box.height() * ADDED;
    PageBox {
        lly: page_box.lly - added,
        ury: page_box.ury + added,
        ..*page_box
    }
}
