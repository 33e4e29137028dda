//! Removes running headers and footers: text repeated at the top or bottom of pages is not part of the
//! document.

use std::collections::HashMap;

use super::block::{Block, PdfPage, Text};
use super::contents::is_page_number;
use super::headings::PART_WORDS;
use crate::limits::PDF_MARGIN_BLOCKS;

/// Number of pages that must repeat a line for it to be a running line.
const MIN_REPEATS: usize = 3;
/// Maximum number of characters of a running line.
const MAX_LINE_CHARS: usize = 160;
/// Placeholder for a page number.
const NUMBER_PLACEHOLDER: &str = "#";

/// Removes running headers, footers and page numbers.
pub(super) fn remove(pages: &mut [PdfPage]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        let mut here: Vec<String> = margin(page).filter_map(|at| line(&page.blocks[at])).collect();
        here.sort_unstable();
        here.dedup();
        for line in here {
            *seen.entry(line).or_default() += 1;
        }
    }
    let runs = |line: &str| seen.get(line).copied().unwrap_or(0) >= MIN_REPEATS;
    for page in pages {
        // Remove page numbers first, because one may be on either side of a running line. Remove other
        // running lines only from the edge inwards, so that text repeated below titles stays.
        let numbers: Vec<usize> = margin(page)
            .filter(|&at| {
                runs(NUMBER_PLACEHOLDER)
                    && line(&page.blocks[at]).is_some_and(|line| line == NUMBER_PLACEHOLDER)
            })
            .collect();
        let mut at = 0;
        page.blocks.retain(|_| {
            at += 1;
            !numbers.contains(&(at - 1))
        });
        let is_running =
            |block: &&Block| line(block).is_some_and(|line| line == NUMBER_PLACEHOLDER || runs(&line));
        let count = page.blocks.len();
        let edge = |blocks: &mut dyn Iterator<Item = &Block>| {
            blocks.take(PDF_MARGIN_BLOCKS).take_while(is_running).count()
        };
        let top = edge(&mut page.blocks.iter());
        let bottom = edge(&mut page.blocks.iter().rev());
        // If a page has nothing else except a title, this text is not its margin.
        let has_content = page.blocks[..count - bottom]
            .iter()
            .skip(top)
            .any(|block| !block.as_text().is_some_and(Text::is_heading));
        if has_content {
            page.blocks.truncate(count - bottom);
            page.blocks.drain(..top);
        }
    }
}

/// Returns the positions of the blocks at the top and at the bottom.
fn margin(page: &PdfPage) -> impl Iterator<Item = usize> {
    let count = page.blocks.len();
    (0..count).filter(move |&at| at < PDF_MARGIN_BLOCKS || at + PDF_MARGIN_BLOCKS >= count)
}

/// Returns a line in a form that is equal on all pages: numbers are replaced by a placeholder, except in
/// headings.
fn line(block: &Block) -> Option<String> {
    let block = block.as_text()?;
    let text = block.plain();
    // `CHAPTER` above a title belongs to the title.
    if text.chars().count() > MAX_LINE_CHARS || PART_WORDS.contains(&text.to_lowercase().as_str()) {
        return None;
    }
    let words = text.split(' ').map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_number = is_page_number(bare) && !block.is_heading();
        if is_number { NUMBER_PLACEHOLDER } else { word }
    });
    Some(words.collect::<Vec<_>>().join(" ").to_lowercase())
}
