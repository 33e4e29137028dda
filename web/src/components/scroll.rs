//! A list of which only the rows in sight exist: where it is scrolled to, which rows those are, and how a row comes
//! into sight.

use std::ops::Range;

use leptos::html;
use leptos::prelude::*;

use crate::limits::{OVERSCAN_ROWS, ROW_PX};

/// Rows in sight before the size of the list is known.
const FIRST_ROWS: f64 = 20.0;

/// The place of a list. Its rows are as high as all rows; a head of one row may stand above them.
#[derive(Clone, Copy)]
pub struct Scroll {
    /// The element that scrolls.
    pub node: NodeRef<html::Div>,
    top: RwSignal<f64>,
    height: RwSignal<f64>,
    head_px: f64,
}

impl Scroll {
    /// Of a list with or without a head.
    pub fn new(with_head: bool) -> Self {
        Self {
            node: NodeRef::new(),
            top: RwSignal::new(0.0),
            height: RwSignal::new(FIRST_ROWS * ROW_PX),
            head_px: if with_head { ROW_PX } else { 0.0 },
        }
    }

    /// To be called when the element scrolls.
    pub fn moved(self) {
        if let Some(element) = self.node.get_untracked() {
            self.top.set(f64::from(element.scroll_top()));
            self.height
                .set(f64::from(element.client_height()).max(FIRST_ROWS * ROW_PX));
        }
    }

    /// The rows that have to exist; may reach beyond the last one.
    pub fn range(self) -> Memo<Range<usize>> {
        Memo::new(move |_| {
            let first = ((self.top.get() / ROW_PX) as usize).saturating_sub(OVERSCAN_ROWS);
            let visible = (self.height.get() / ROW_PX).ceil() as usize + 2 * OVERSCAN_ROWS;
            first..first + visible
        })
    }

    /// The part of `items` that has to exist, each with its place.
    pub fn visible<T: Clone>(range: Range<usize>, items: &[T]) -> Vec<(usize, T)> {
        let end = range.end.min(items.len());
        let start = range.start.min(end);
        items[start..end]
            .iter()
            .cloned()
            .enumerate()
            .map(|(at, item)| (start + at, item))
            .collect()
    }

    /// Where a key moves to from a row, of rows up to `last`; none for other keys.
    pub fn step(self, key: &str, at: Option<usize>, last: usize) -> Option<usize> {
        let page = (self.height.get_untracked() / ROW_PX) as usize;
        Some(match key {
            "ArrowDown" => at.map_or(0, |at| (at + 1).min(last)),
            "ArrowUp" => at.map_or(0, |at| at.saturating_sub(1)),
            "PageDown" => at.map_or(0, |at| (at + page).min(last)),
            "PageUp" => at.map_or(0, |at| at.saturating_sub(page)),
            "Home" => 0,
            "End" => last,
            _ => return None,
        })
    }

    /// Brings a row into sight.
    pub fn reveal(self, row: usize) {
        let Some(element) = self.node.get_untracked() else {
            return;
        };
        let (row_top, view_top) = (row as f64 * ROW_PX, f64::from(element.scroll_top()));
        let view_height = f64::from(element.client_height()) - self.head_px;
        if row_top < view_top {
            element.set_scroll_top(row_top as i32);
        } else if row_top + ROW_PX > view_top + view_height {
            element.set_scroll_top((row_top + ROW_PX - view_height) as i32);
        }
    }
}
