//! Divides the blocks of `unpdf` further, by the positions of their lines: into paragraphs that a small gap or an
//! indent separates, and into list items, nested by their indent. Removes running lines.

use std::collections::{HashMap, HashSet};

use super::block::{Block, PdfPage, Role, Text};
use super::contents::is_page_number;
use super::letters::letters;
use super::lines::{Line, PageLines};

/// Gap between paragraphs, as a multiple of the usual gap between lines.
const PARAGRAPH_GAP: f32 = 1.2;
/// Usual gap between lines where none is known, in font sizes.
const USUAL_GAP: f32 = 1.5;
/// Largest gap between lines of a paragraph, in font sizes.
const LARGEST_GAP: f32 = 2.5;
/// Smallest indent of the first line of a paragraph, in font sizes.
const INDENT: f32 = 0.7;
/// Largest indent, in font sizes. A larger one is another column.
const MAX_INDENT: f32 = 6.0;
/// Share of a line that is empty if its author ended it.
const SHORT_ROOM: f32 = 0.2;
/// Lines before and after a block that show how far its column reaches.
const COLUMN_LINES: usize = 8;
/// Blocks after a heading among which the text below it is found.
const COLUMN_BLOCKS: usize = 200;
/// Largest difference between the left edges of items of the same list, in points.
const SAME_LEFT: f32 = 3.0;

/// Divides the blocks of all pages.
pub(super) fn divide(pages: &mut [PdfPage], lines: &[PageLines]) {
    let running = running_lines(lines);
    let gaps = LineGaps::new(lines);
    for (page, lines) in pages.iter_mut().zip(lines) {
        let mut from = 0;
        let mut divided = Vec::with_capacity(page.blocks.len());
        // Parts of a text that are below the table after it.
        let mut below: Vec<Block> = Vec::new();
        for block in std::mem::take(&mut page.blocks) {
            let Block::Text(text) = block else {
                divided.push(block);
                divided.append(&mut below);
                continue;
            };
            divided.append(&mut below);
            let key: String = text.runs.iter().flat_map(|run| letters(&run.text)).collect();
            let Some((found, before)) = lines.find(&key, from) else {
                if !is_bullets(&text) {
                    divided.push(Block::Text(text));
                }
                continue;
            };
            from = found
                .last()
                .map_or(0, |last| lines.lines[*last].start + lines.letters_of(*last).len());
            let part = Part {
                page: lines,
                lines: found.iter().map(|at| &lines.lines[*at]).collect(),
                found: &found,
                before,
                gaps: &gaps,
                running: &running,
            };
            for (is_below, part) in part.divide(text) {
                if is_below { &mut below } else { &mut divided }.push(Block::Text(part));
            }
        }
        divided.append(&mut below);
        nest(&mut divided);
        lower_headings(&mut divided);
        page.blocks = divided;
    }
}

/// Returns whether a text consists of bullets that were separated from their items.
fn is_bullets(text: &Text) -> bool {
    let bullets = [' ', '•', '◦', '▪', '‣', '·'];
    text.plain().chars().all(|c| bullets.contains(&c))
}

/// Moves headings that end a column to the text below, which they begin: `unpdf` takes a heading below two columns for
/// the end of the first one.
fn lower_headings(blocks: &mut [Block]) {
    for at in 0..blocks.len() {
        let (before, after) = blocks[at..].split_at(1);
        let (Some(heading), Some(next)) = (before[0].as_text(), after.first().and_then(Block::as_text))
        else {
            continue;
        };
        let (Some(left), Some(next_left)) = (heading.left, next.left) else {
            continue;
        };
        if !heading.is_heading() || next.baseline < heading.baseline {
            continue;
        }
        let column = left - SAME_LEFT..next_left - MAX_INDENT * next.size;
        let is_below = |text: &Text| {
            text.baseline < heading.baseline && text.left.is_some_and(|left| column.contains(&left))
        };
        let mut near = after.iter().take(COLUMN_BLOCKS);
        let count = near.position(|block| block.as_text().is_some_and(is_below));
        blocks[at..=at + count.unwrap_or(0)].rotate_left(1);
    }
}

/// Sets the depth of adjacent list items by their left edges.
fn nest(blocks: &mut [Block]) {
    let mut open: Vec<f32> = Vec::new();
    for block in blocks {
        let Block::Text(text) = block else {
            open.clear();
            continue;
        };
        let (Role::Item(_, number), Some(left)) = (text.role, text.left) else {
            open.clear();
            continue;
        };
        while open.last().is_some_and(|last| *last > left + SAME_LEFT) {
            open.pop();
        }
        match open.last() {
            Some(last) if left <= last + SAME_LEFT => {}
            Some(last) if left > last + MAX_INDENT * text.size => open = vec![left],
            _ => open.push(left),
        }
        let depth = u8::try_from(open.len() - 1).unwrap_or(u8::MAX);
        text.role = Role::Item(depth, number);
    }
}

/// What a line in the margin is compared by: its text without numbers, and its height.
type MarginKey = (String, i32);

/// Returns the lines that repeat at the same place of several pages.
fn running_lines(pages: &[PageLines]) -> HashSet<MarginKey> {
    let mut seen: HashMap<MarginKey, usize> = HashMap::new();
    for page in pages {
        let keys: HashSet<MarginKey> = page.lines.iter().filter_map(margin_key).collect();
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    let enough = pages.len().clamp(2, 3);
    seen.retain(|_, count| *count >= enough);
    seen.into_keys().collect()
}

fn margin_key(line: &Line) -> Option<MarginKey> {
    if !line.is_in_margin {
        return None;
    }
    let words = line.text.split_whitespace().map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if is_page_number(bare) { "#" } else { word }
    });
    Some((words.collect::<Vec<_>>().join(" "), line.baseline.round() as i32))
}

/// The usual distances between lines, by their font size in half points.
struct LineGaps(HashMap<i32, f32>);

impl LineGaps {
    fn new(pages: &[PageLines]) -> Self {
        let mut found: HashMap<i32, Vec<f32>> = HashMap::new();
        for pair in pages.iter().flat_map(|page| page.lines.windows(2)) {
            let gap = pair[0].baseline - pair[1].baseline;
            let is_same_size = size_key(&pair[0]) == size_key(&pair[1]);
            if is_same_size && (0.5..LARGEST_GAP).contains(&(gap / pair[1].size)) {
                found.entry(size_key(&pair[1])).or_default().push(gap);
            }
        }
        let usual = found.into_iter().map(|(size, mut gaps)| {
            gaps.sort_by(f32::total_cmp);
            // The lower ones are within paragraphs.
            (size, gaps[gaps.len() / 4])
        });
        LineGaps(usual.collect())
    }

    /// Returns the distance from a line to the next in the same paragraph.
    fn of(&self, line: &Line) -> f32 {
        let usual = self.0.get(&size_key(line)).copied();
        usual.unwrap_or(line.size * USUAL_GAP)
    }
}

fn size_key(line: &Line) -> i32 {
    (line.size * 2.0).round() as i32
}

/// The lines of one block.
struct Part<'a> {
    page: &'a PageLines,
    lines: Vec<&'a Line>,
    /// Where they are in the page.
    found: &'a [usize],
    /// Letters of the first line that come before the block.
    before: usize,
    gaps: &'a LineGaps,
    running: &'a HashSet<MarginKey>,
}

impl Part<'_> {
    /// Divides the text of the block. Returns the parts, and whether other lines come before them.
    fn divide(&self, text: Text) -> Vec<(bool, Text)> {
        let (role, is_heading) = (text.role, text.is_heading());
        let is_running =
            |line: &Line| !is_heading && margin_key(line).is_some_and(|key| self.running.contains(&key));
        let column_right = self.right();
        let own_right = self.lines.iter().map(|line| line.right).fold(0.0, f32::max);
        let mut firsts = vec![0];
        let mut cuts = Vec::new();
        let mut letters = 0;
        for at in 1..self.lines.len() {
            letters += self.page.letters_of(self.found[at - 1]).len();
            let begins = self.is_apart(at)
                || is_running(self.lines[at - 1])
                || is_running(self.lines[at])
                || !is_heading && self.begins(at, *firsts.last().unwrap_or(&0), column_right, own_right);
            // A line without letters has no place in the text.
            if begins && letters > self.before && cuts.last() != Some(&(letters - self.before)) {
                firsts.push(at);
                cuts.push(letters - self.before);
            }
        }
        let mut is_below = false;
        let mut parts = Vec::with_capacity(firsts.len());
        for (index, (mut part, at)) in text.split(&cuts).into_iter().zip(&firsts).enumerate() {
            let line = self.lines[*at];
            is_below |= index > 0 && self.is_apart(*at);
            if is_running(line) {
                continue;
            }
            part.role = match (&line.marker, role) {
                (_, Role::Heading(_) | Role::Entry) => role,
                (_, Role::Item(..)) if index == 0 => role,
                (Some(marker), _) => {
                    part.strip_marker(&marker.text);
                    Role::Item(0, marker.number)
                }
                (None, _) => Role::Paragraph,
            };
            (part.left, part.baseline, part.size) = (Some(line.left), line.baseline, line.size);
            parts.push((is_below, part));
        }
        parts
    }

    /// Returns whether there are other lines before a line.
    fn is_apart(&self, at: usize) -> bool {
        self.found[at] > self.found[at - 1] + 1
    }

    /// Returns whether a paragraph or item begins with a line, after the one that begins with the line `first`. The
    /// column and the lines of the block reach to `column_right` and `own_right`.
    fn begins(&self, at: usize, first: usize, column_right: f32, own_right: f32) -> bool {
        let (above, line, next) = (self.lines[at - 1], self.lines[at], self.lines.get(at + 1));
        if line.marker.is_some() {
            return true;
        }
        let gap = above.baseline - line.baseline;
        if gap > line.size * LARGEST_GAP {
            return true;
        }
        if gap <= 0.0 || !ends(above, line, column_right) {
            return false;
        }
        let is_indented = |line: &Line, from: f32| {
            let indent = (line.text_left - from) / line.size;
            (INDENT..MAX_INDENT).contains(&indent)
        };
        let middle = |line: &Line| line.text_left + line.right;
        let is_centered = (middle(above) - middle(line)).abs() < line.size;
        let first_line = self.lines[first];
        gap > self.gaps.of(line) * PARAGRAPH_GAP
            || is_lettered(&line.text)
            // Below the text of an item.
            || first_line.marker.is_some() && is_indented(first_line, line.text_left)
            // The first line of a paragraph is indented, or all others are.
            || !is_centered && is_indented(line, next.unwrap_or(&above).text_left)
            || first + 1 < at
                && is_indented(self.lines[first + 1], first_line.text_left)
                && is_indented(above, line.text_left)
            || !is_centered && self.lines.len() > 2 && is_short(above, line, own_right)
    }

    /// Returns how far the column of the block reaches.
    fn right(&self) -> f32 {
        let lines = &self.page.lines;
        let (first, last) = (self.found[0], self.found[self.found.len() - 1]);
        let near = &lines[first.saturating_sub(COLUMN_LINES)..lines.len().min(last + 1 + COLUMN_LINES)];
        let first = self.lines[0];
        let is_near = |line: &&Line| (line.left - first.left).abs() < MAX_INDENT * first.size;
        let rights = near.iter().filter(is_near).map(|line| line.right);
        rights.fold(first.right, f32::max)
    }
}

/// Returns whether a line begins with a letter as in `a)`, `(b)` or `c.`.
fn is_lettered(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches('(').as_bytes();
    matches!(text, [b'a'..=b'z', b')' | b'.', b' ', ..])
}

/// Returns whether a line may be the last one of its paragraph: it ends a sentence, or leaves room for the first word
/// of the next line.
fn ends(line: &Line, next: &Line, right: f32) -> bool {
    let text = line
        .text
        .trim_end_matches([' ', '"', '\'', ')', ']', '\u{201D}', '\u{2019}', '\u{BB}']);
    text.ends_with(['.', '!', '?', ':', ';', '\u{2026}', '\u{3002}']) || leaves_room(line, next, right)
}

/// Returns whether a line ends so early that its author ended it, as in an address.
fn is_short(line: &Line, next: &Line, right: f32) -> bool {
    let room = (right - line.right) / (right - line.text_left);
    room > SHORT_ROOM && leaves_room(line, next, right)
}

/// Returns whether the first word of the next line fits on a line.
fn leaves_room(line: &Line, next: &Line, right: f32) -> bool {
    let word = next
        .text
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .chars()
        .count();
    let letter_width = (next.right - next.text_left) / next.text.chars().count().max(1) as f32;
    right - line.right > (word + 2) as f32 * letter_width
}
