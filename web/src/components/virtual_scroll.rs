//! Scroll state of a virtualized list: which rows must be in the DOM, keyboard steps, and scrolling to a row.

use std::ops::Range;

use leptos::html;
use leptos::prelude::*;

use crate::limits::{OVERSCAN_ROWS, ROW_PX};

/// Number of visible rows before the size of the list is known.
const FIRST_ROWS: f64 = 20.0;

/// The scroll state of a list whose rows are all [`ROW_PX`] high, with an optional header of one row.
#[derive(Clone, Copy)]
pub struct VirtualScroll {
    /// The element that scrolls.
    pub node: NodeRef<html::Div>,
    top: RwSignal<f64>,
    height: RwSignal<f64>,
    head_px: f64,
}

impl VirtualScroll {
    /// Creates the state of a list with or without a header row.
    pub fn new(with_head: bool) -> Self {
        Self {
            node: NodeRef::new(),
            top: RwSignal::new(0.0),
            height: RwSignal::new(FIRST_ROWS * ROW_PX),
            head_px: if with_head { ROW_PX } else { 0.0 },
        }
    }

    /// Handles a scroll event of the element.
    pub fn on_scroll(self) {
        if let Some(element) = self.node.get_untracked() {
            self.top.set(f64::from(element.scroll_top()));
            self.height
                .set(f64::from(element.client_height()).max(FIRST_ROWS * ROW_PX));
        }
    }

    /// Returns the rows that must be in the DOM; the range may extend beyond the last row.
    pub fn range(self) -> Memo<Range<usize>> {
        Memo::new(move |_| {
            let first = ((self.top.get() / ROW_PX) as usize).saturating_sub(OVERSCAN_ROWS);
            let visible = (self.height.get() / ROW_PX).ceil() as usize + 2 * OVERSCAN_ROWS;
            first..first + visible
        })
    }

    /// Returns the items in `range`, each with its index.
    pub fn visible_items<T: Clone>(range: Range<usize>, items: &[T]) -> Vec<(usize, T)> {
        let end = range.end.min(items.len());
        let start = range.start.min(end);
        items[start..end]
            .iter()
            .cloned()
            .enumerate()
            .map(|(at, item)| (start + at, item))
            .collect()
    }

    /// Returns the row that a key moves to from row `at`; `last` is the last row. `None` for keys that do not move.
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

    /// Scrolls until a row is in view.
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
