//! Running headers and footers: what stands at the top or bottom of page after page is no text of the document.

use std::collections::HashMap;

use super::block::{Block, Page};
use super::contents::is_page_number;
use super::headings::PART_WORDS;
use crate::limits::PDF_MARGIN_BLOCKS;

/// Pages that must show the same line for it to be a running one.
const PAGES_TO_RUN: usize = 3;
/// Characters of a running line, at most.
const RUNNING_CHARS: usize = 160;
/// The line of a page's number.
const NUMBER: &str = "#";

/// Removes running headers, footers and the numbers of pages.
pub(super) fn remove(pages: &mut [Page]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        let mut here: Vec<String> = margin(page).filter_map(|at| line(&page.blocks[at])).collect();
        here.sort_unstable();
        here.dedup();
        for line in here {
            *seen.entry(line).or_default() += 1;
        }
    }
    let runs = |line: &str| seen.get(line).copied().unwrap_or(0) >= PAGES_TO_RUN;
    for page in pages {
        // A number may come before or after the line that it stands beside; other lines run from the edge on, so that
        // what many pages say under their titles stays.
        let numbers: Vec<usize> = margin(page)
            .filter(|&at| runs(NUMBER) && line(&page.blocks[at]).is_some_and(|line| line == NUMBER))
            .collect();
        let mut at = 0;
        page.blocks.retain(|_| {
            at += 1;
            !numbers.contains(&(at - 1))
        });
        let is_running = |block: &&Block| line(block).is_some_and(|line| line == NUMBER || runs(&line));
        let bottom = page
            .blocks
            .iter()
            .rev()
            .take(PDF_MARGIN_BLOCKS)
            .take_while(is_running)
            .count();
        page.blocks.truncate(page.blocks.len() - bottom);
        let top = page
            .blocks
            .iter()
            .take(PDF_MARGIN_BLOCKS)
            .take_while(is_running)
            .count();
        page.blocks.drain(..top);
    }
}

/// Places of the blocks at the top and at the bottom.
fn margin(page: &Page) -> impl Iterator<Item = usize> {
    let count = page.blocks.len();
    (0..count).filter(move |&at| at < PDF_MARGIN_BLOCKS || at + PDF_MARGIN_BLOCKS >= count)
}

/// A line as it is on every page: numbers count as alike.
fn line(block: &Block) -> Option<String> {
    let text = block.as_text()?.plain();
    // `CHAPTER` above the titles of chapters belongs to them.
    if text.chars().count() > RUNNING_CHARS || PART_WORDS.contains(&text.to_lowercase().as_str()) {
        return None;
    }
    let words = text.split(' ').map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if is_page_number(bare) { NUMBER } else { word }
    });
    Some(words.collect::<Vec<_>>().join(" ").to_lowercase())
}
