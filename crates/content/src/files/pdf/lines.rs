//! The lines of each page with their positions, and the markers of list items in front of them: `unpdf` reports
//! neither with its blocks, and loses markers that are glyphs of a symbol font or drawn.

use unpdf::Page;
use unpdf::parser::backend::{ObjectId, PageBox, PdfBackend, RawBackend};
use unpdf::parser::{LayoutAnalyzer, TextLine, TextSpan};

use super::complex_pages::{self, Layout};
use super::contents::entry;
use super::drawn_bullets::DrawnBullet;
use super::letters::{is_bullet, is_check_mark, is_dash, letters};
use super::line_backend::{LineBackend, UNKNOWN_GLYPH};
use super::page_numbers::{self, DroppedNumbers};

/// Words in the names of fonts whose characters are pictures.
const SYMBOL_FONTS: &[&str] = &["symbol", "dingbats", "wingdings", "webdings"];
/// Largest distance from a marker to its text, in font sizes.
const MARKER_DISTANCE: f32 = 4.0;
/// Smallest distance from a number to its text, in font sizes.
const NUMBER_DISTANCE: f32 = 0.4;
/// Share of a page at its top and bottom where running lines are.
const MARGIN: f32 = 0.1;
/// Smallest distance of running lines from the text, in font sizes.
const MARGIN_GAP: f32 = 1.6;
/// Letters of a page beyond the place where a text is expected that are searched for it.
const FIND_BYTES: usize = 32 * 1024;
/// Lines among which the next line of a text is found that is not one after the other.
const APART_LINES: usize = 200;
/// Longest number before a list item.
const NUMBER_BYTES: usize = 6;
/// Lines at the height of a marker among which its own is found.
const MARKER_LINES: usize = 64;

/// The lines of a page in reading order.
#[derive(Debug, Default)]
pub(super) struct PageLines {
    /// The characters of all lines that count; see [`letters`].
    pub(super) letters: String,
    pub(super) lines: Vec<Line>,
}

/// A line of text, in points from the lower left corner of its page.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Where its letters begin in those of the page.
    pub(super) start: usize,
    pub(super) text: String,
    pub(super) marker: Option<Marker>,
    /// Left edge of the marker, or of the text.
    pub(super) left: f32,
    pub(super) text_left: f32,
    pub(super) right: f32,
    pub(super) baseline: f32,
    pub(super) size: f32,
    /// Whether it is in the outer tenth of the page, apart from the text.
    pub(super) is_in_margin: bool,
}

/// What comes before the text of a list item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Marker {
    pub(super) text: String,
    pub(super) number: Option<u32>,
}

/// What is read of a page before `unpdf` divides it into blocks.
#[derive(Debug, Default)]
pub(super) struct PageContent {
    pub(super) lines: PageLines,
    pub(super) layout: Layout,
    /// The whole page, if `unpdf` would take too long for it.
    pub(super) page: Option<Page>,
    /// The forms that draw lines on it.
    pub(super) forms: Vec<ObjectId>,
    /// The numbers that `unpdf` takes for page numbers.
    pub(super) dropped: DroppedNumbers,
    pub(super) page_box: Option<PageBox>,
    /// Whether parts of the page were not read.
    pub(super) is_cut: bool,
}

/// Reads the lines of the pages with these numbers.
pub(super) fn read(document: RawBackend, pages: impl Iterator<Item = u32>) -> Vec<PageContent> {
    let ids = document.pages();
    let backend = LineBackend::new(document);
    let mut pairs = 0;
    let mut read = |number: u32| {
        let id = *ids.get(&number)?;
        backend.select(number, id);
        let page_box = backend.crop_box(id);
        let mut analyzer = LayoutAnalyzer::new(&backend);
        let mut spans = analyzer.extract_page_spans(number).ok()?;
        let drawing = backend.take_drawing();
        let layout = Layout::new(&spans, &drawing, &mut pairs);
        let mut dropped = DroppedNumbers::default();
        if layout != Layout::TextOrder {
            let mut kept = spans.clone();
            analyzer.filter_spans_for_page(&mut kept, number);
            dropped = page_numbers::remove(&mut spans, &kept);
        }
        let page = match layout {
            Layout::Whole | Layout::WithoutLines => None,
            _ => Some(complex_pages::read(
                number,
                &page_box,
                &mut analyzer,
                spans.clone(),
                layout,
            )),
        };
        let (glyphs, spans): (Vec<_>, _) = spans.into_iter().partition(is_marker);
        let lines = match layout {
            Layout::TextOrder => complex_pages::lines(spans),
            _ => analyzer.group_spans_into_lines_pub(spans),
        };
        let markers = glyphs.into_iter().map(Mark::from);
        let markers: Vec<_> = markers
            .chain(drawing.bullets.into_iter().map(Mark::from))
            .collect();
        Some(PageContent {
            lines: PageLines::new(&lines, &markers, &page_box),
            layout,
            page,
            forms: drawing.forms,
            dropped,
            page_box: Some(page_box),
            is_cut: drawing.is_cut,
        })
    };
    pages.map(|page| read(page).unwrap_or_default()).collect()
}

/// A glyph or shape that may mark a list item, in points from the lower left corner of its page.
struct Mark {
    text: String,
    left: f32,
    baseline: f32,
    size: f32,
    /// Whether it is a shape, which stands only before text of about this size.
    is_drawn: bool,
}

impl From<TextSpan> for Mark {
    fn from(span: TextSpan) -> Self {
        Self {
            text: span.text,
            left: span.x,
            baseline: span.y,
            size: span.font_size,
            is_drawn: false,
        }
    }
}

impl From<DrawnBullet> for Mark {
    fn from(bullet: DrawnBullet) -> Self {
        Self {
            text: UNKNOWN_GLYPH.into(),
            left: bullet.left,
            baseline: bullet.baseline,
            size: bullet.text_size,
            is_drawn: true,
        }
    }
}

impl PageLines {
    fn new(found: &[TextLine], markers: &[Mark], page_box: &PageBox) -> Self {
        let mut by_height: Vec<usize> = (0..found.len()).collect();
        by_height.sort_by(|a, b| found[*a].y.total_cmp(&found[*b].y));
        let mut marked: Vec<Option<&Mark>> = vec![None; found.len()];
        for marker in markers {
            let reach = marker.size * 0.6;
            let from = by_height.partition_point(|at| found[*at].y < marker.baseline - reach);
            let at_height = by_height[from..].iter().take(MARKER_LINES);
            let beside: Vec<usize> = at_height
                .copied()
                .filter(|at| found[*at].y <= marker.baseline + reach)
                .collect();
            let is_in_text = beside
                .iter()
                .any(|at| found[*at].x <= marker.left && right(&found[*at]) > marker.left - marker.size);
            let follows = |at: &usize| {
                let (distance, size) = (found[*at].x - marker.left, found[*at].font_size);
                let fits = !marker.is_drawn || (size > marker.size / 2.0 && size < marker.size * 2.0);
                fits && distance > 0.0 && distance <= size.max(marker.size) * MARKER_DISTANCE
            };
            let after = beside.into_iter().filter(follows);
            let nearest = after.min_by(|a, b| found[*a].x.total_cmp(&found[*b].x));
            if let Some(at) = nearest.filter(|_| !is_in_text) {
                marked[at] = Some(marker);
            }
        }
        let margin = page_box.height() * MARGIN;
        let mut page = PageLines::default();
        for (line, marker) in found.iter().zip(marked) {
            let start = page.letters.len();
            page.letters
                .extend(marker.iter().flat_map(|mark| letters(&mark.text)));
            let text = line.text();
            page.letters.extend(letters(&text));
            let left = marker.map_or(line.x, |mark| mark.left);
            let second = line.spans.get(1).map(|span| span.x);
            let marker = match marker {
                Some(mark) => Some(Marker {
                    text: mark.text.trim().replace(UNKNOWN_GLYPH, ""),
                    number: None,
                }),
                None => marker_of(text.trim_start()),
            };
            let text_left = match (&marker, second) {
                (Some(_), Some(second)) if left == line.x => second,
                (Some(_), None) if left == line.x => left + line.font_size,
                _ => line.x,
            };
            page.lines.push(Line {
                start,
                text,
                marker,
                left,
                text_left,
                right: right(line),
                baseline: line.y,
                size: line.font_size,
                is_in_margin: false,
            });
        }
        page.mark_numbers(found);
        page.mark_margin(by_height.iter(), |height| height < page_box.lly + margin);
        page.mark_margin(by_height.iter().rev(), |height| height > page_box.ury - margin);
        page
    }

    /// Marks the lines outside of the text, given from an edge of the page inwards.
    fn mark_margin<'a>(&mut self, lines: impl Iterator<Item = &'a usize>, is_outside: impl Fn(f32) -> bool) {
        let mut adjacent: Vec<usize> = Vec::new();
        for at in lines {
            let (height, size) = (self.lines[*at].baseline, self.lines[*at].size);
            let distance = adjacent
                .last()
                .map(|last| (self.lines[*last].baseline - height).abs());
            if distance.is_some_and(|distance| distance > size * MARGIN_GAP) {
                for at in adjacent.drain(..) {
                    self.lines[at].is_in_margin = true;
                }
            }
            if !is_outside(height) {
                return;
            }
            adjacent.push(*at);
        }
    }

    /// Marks lines that begin with a number that stands apart, if the next or the last such number is its neighbour.
    fn mark_numbers(&mut self, found: &[TextLine]) {
        let numbers: Vec<(usize, u32)> = (0..)
            .zip(found)
            .filter_map(|(at, line)| Some((at, number(line)?)))
            .collect();
        for (index, (at, number)) in numbers.iter().enumerate() {
            let last = index.checked_sub(1).and_then(|before| numbers.get(before));
            let next = numbers.get(index + 1);
            let counts = last.is_some_and(|(_, last)| last + 1 == *number)
                || next.is_some_and(|(_, next)| number + 1 == *next);
            if counts {
                self.lines[*at].marker = Some(Marker {
                    text: number.to_string(),
                    number: Some(*number),
                });
                self.lines[*at].text_left = found[*at].spans[1].x;
            }
        }
    }

    /// Returns the lines that hold these letters, and how many letters of the first line come before, which are its
    /// marker. Looks from the letter `from` on, then from the start.
    pub(super) fn find(&self, letters: &str, from: usize) -> Option<(Vec<usize>, usize)> {
        if letters.is_empty() {
            return None;
        }
        let look = |from: usize| {
            let to = self.letters.len().min(from + letters.len() + FIND_BYTES);
            let part = self.letters.as_bytes().get(from..to)?;
            memchr::memmem::find_iter(part, letters).find_map(|at| self.lines_at(from + at, letters.len()))
        };
        look(from)
            .or_else(|| look(0))
            .or_else(|| self.find_apart(letters, from))
            .or_else(|| self.find_apart(letters, 0))
    }

    fn lines_at(&self, start: usize, length: usize) -> Option<(Vec<usize>, usize)> {
        let first = self
            .lines
            .partition_point(|line| line.start <= start)
            .checked_sub(1)?;
        let end = self.lines.partition_point(|line| line.start < start + length);
        let line = &self.lines[first];
        let before = &self.letters[line.start..start];
        let is_number = before.len() <= NUMBER_BYTES && !before.contains(char::is_alphabetic);
        let is_marker = line
            .marker
            .as_ref()
            .is_some_and(|marker| letters(&marker.text).eq(before.chars()));
        (is_number || is_marker).then(|| ((first..end).collect(), before.len()))
    }

    /// Finds whole lines with others between them, such as those of a table.
    fn find_apart(&self, letters: &str, from: usize) -> Option<(Vec<usize>, usize)> {
        let mut at = self.lines.partition_point(|line| line.start < from);
        let mut rest = letters;
        let mut found = Vec::new();
        while !rest.is_empty() {
            let mut near = at..self.lines.len().min(at + APART_LINES);
            let next = near.find(|at| {
                let line = self.letters_of(*at);
                !line.is_empty() && rest.starts_with(line)
            })?;
            rest = &rest[self.letters_of(next).len()..];
            found.push(next);
            at = next + 1;
        }
        Some((found, 0))
    }

    /// Returns the letters of a line.
    pub(super) fn letters_of(&self, at: usize) -> &str {
        let end = self
            .lines
            .get(at + 1)
            .map_or(self.letters.len(), |next| next.start);
        &self.letters[self.lines[at].start..end]
    }
}

fn right(line: &TextLine) -> f32 {
    let ends = line.spans.iter().map(|span| span.x + span.width);
    ends.fold(line.x, f32::max)
}

/// Returns whether a span is one glyph that marks a list item, or that has no character.
fn is_marker(span: &TextSpan) -> bool {
    let mut glyphs = span.text.trim().chars();
    let (Some(glyph), None) = (glyphs.next(), glyphs.next()) else {
        return false;
    };
    let font = span.font_name.to_ascii_lowercase();
    is_bullet(glyph)
        || is_dash(glyph)
        || (glyph == 'o' && font.contains("courier"))
        || !is_check_mark(glyph) && SYMBOL_FONTS.iter().any(|word| font.contains(word))
}

/// Returns the bullet or number that begins a text.
fn marker_of(text: &str) -> Option<Marker> {
    let first = text.chars().next()?;
    if is_bullet(first) {
        return Some(Marker {
            text: first.to_string(),
            number: None,
        });
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = &text[digits..];
    let is_number = (1..=3).contains(&digits) && (after.starts_with(". ") || after.starts_with(") "));
    is_number.then(|| Marker {
        text: text[..=digits].to_owned(),
        number: text[..digits].parse().ok(),
    })
}

/// Returns the number that begins a line, if it stands apart from the text after it.
fn number(line: &TextLine) -> Option<u32> {
    let [first, second, ..] = line.spans.as_slice() else {
        return None;
    };
    let digits = first.text.trim();
    let distance = second.x - first.x - first.width;
    let is_raised = first.font_size < line.font_size * 0.9;
    let is_entry = entry(&line.text()).is_some();
    (digits.len() <= 3 && distance >= line.font_size * NUMBER_DISTANCE && !is_raised && !is_entry)
        .then(|| digits.parse().ok())
        .flatten()
}
