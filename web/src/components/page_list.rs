//! The pages of a job: a grid of which only the visible rows exist. Arrow keys move, Enter or a click
//! opens.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::figures;
use crate::job_feed::PageRow;
use crate::limits::{OVERSCAN_ROWS, ROW_PX};

/// Rows in sight before the size of the list is known.
const FIRST_ROWS: f64 = 20.0;

/// Shows rows; `chosen` is the offset of the open page.
#[component]
pub fn PageList(rows: Memo<Vec<Arc<PageRow>>>, chosen: RwSignal<Option<u64>>) -> impl IntoView {
    let scroller: NodeRef<html::Div> = NodeRef::new();
    let top = RwSignal::new(0.0_f64);
    let height = RwSignal::new(FIRST_ROWS * ROW_PX);
    let on_scroll = move |_| {
        if let Some(element) = scroller.get_untracked() {
            top.set(f64::from(element.scroll_top()));
            height.set(f64::from(element.client_height()).max(FIRST_ROWS * ROW_PX));
        }
    };
    let range = Memo::new(move |_| {
        let first = ((top.get() / ROW_PX) as usize).saturating_sub(OVERSCAN_ROWS);
        let visible = (height.get() / ROW_PX).ceil() as usize + 2 * OVERSCAN_ROWS;
        first..first + visible
    });
    let visible = move || {
        let range = range.get();
        rows.with(|rows| {
            let end = range.end.min(rows.len());
            let start = range.start.min(end);
            rows[start..end]
                .iter()
                .cloned()
                .enumerate()
                .map(|(at, row)| (start + at, row))
                .collect::<Vec<_>>()
        })
    };
    let position = move || {
        let chosen = chosen.get_untracked();
        rows.with_untracked(|rows| rows.iter().position(|row| Some(row.index) == chosen))
    };
    let on_key = move |event: KeyboardEvent| {
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        let step = (height.get_untracked() / ROW_PX) as usize;
        let at = position();
        let next = match event.key().as_str() {
            "ArrowDown" => at.map_or(0, |at| (at + 1).min(last)),
            "ArrowUp" => at.map_or(0, |at| at.saturating_sub(1)),
            "PageDown" => at.map_or(0, |at| (at + step).min(last)),
            "PageUp" => at.map_or(0, |at| at.saturating_sub(step)),
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        event.prevent_default();
        chosen.set(rows.with_untracked(|rows| rows.get(next).map(|row| row.index)));
        if let Some(element) = scroller.get_untracked() {
            let (row_top, view_top) = (next as f64 * ROW_PX, f64::from(element.scroll_top()));
            // The head of the list stands above the rows.
            let view_height = f64::from(element.client_height()) - ROW_PX;
            if row_top < view_top {
                element.set_scroll_top(row_top as i32);
            } else if row_top + ROW_PX > view_top + view_height {
                element.set_scroll_top((row_top + ROW_PX - view_height) as i32);
            }
        }
    };
    view! {
        <div
            class="grid"
            role="grid"
            tabindex="0"
            aria-label="Pages"
            aria-rowcount=move || rows.with(|rows| rows.len() + 1).to_string()
            aria-activedescendant=move || chosen.get().map(|index| format!("page-{index}"))
            node_ref=scroller
            on:scroll=on_scroll
            on:keydown=on_key
        >
            <div class="grid-row grid-head" role="row" aria-rowindex="1">
                <span role="columnheader">"Path"</span>
                <span role="columnheader" class="opt">"Title"</span>
                <span role="columnheader" class="num">"Status"</span>
                <span role="columnheader" class="num">"Size"</span>
            </div>
            <div
                class="grid-space"
                role="rowgroup"
                style:height=move || format!("{}px", rows.with(Vec::len) as f64 * ROW_PX)
            >
                <For each=visible key=|(at, row)| (*at, row.index) let:item>
                    <Row at=item.0 row=item.1 chosen/>
                </For>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn Row(at: usize, row: Arc<PageRow>, chosen: RwSignal<Option<u64>>) -> impl IntoView {
    let index = row.index;
    let is_bad = row.status.is_none_or(|status| status >= 400);
    let status = row
        .status
        .map_or_else(|| "-".to_owned(), |status| status.to_string());
    view! {
        <div
            class="grid-row"
            role="row"
            id=format!("page-{index}")
            aria-rowindex=(at + 2).to_string()
            aria-selected=move || (chosen.get() == Some(index)).to_string()
            title=row.url.clone()
            style:top=format!("{}px", at as f64 * ROW_PX)
            on:click=move |_| chosen.set(Some(index))
        >
            <span role="gridcell" class="mono">{figures::path_of(&row.url).to_owned()}</span>
            <span role="gridcell" class="opt">{row.title.clone()}</span>
            <span role="gridcell" class=if is_bad { "num bad" } else { "num" }>{status}</span>
            <span role="gridcell" class="num">{figures::bytes(row.size)}</span>
        </div>
    }
    .into_any()
}
