//! The pages of a job as a virtualized grid: only visible rows are in the DOM. Arrow keys or a click open a page.

use std::sync::Arc;

use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::components::virtual_scroll::VirtualScroll;
use crate::display;
use crate::job_feed::PageRow;
use crate::limits::ROW_PX;
use crate::pages::job::page_filter::{Sort, SortColumn};

/// Renders the grid; `chosen` is the index of the open page in the job.
#[component]
pub fn PageList(
    rows: Memo<Vec<Arc<PageRow>>>,
    chosen: RwSignal<Option<u64>>,
    sort: RwSignal<Option<Sort>>,
) -> impl IntoView {
    let scroll = VirtualScroll::new(true);
    let range = scroll.range();
    let visible = move || rows.with(|rows| VirtualScroll::visible_items(range.get(), rows));
    let index_of = |rows: &[Arc<PageRow>], index| rows.iter().position(|row| Some(row.index) == index);
    let position = move || rows.with_untracked(|rows| index_of(rows, chosen.get_untracked()));
    // Scroll once to the page that was open at first, as soon as its row has arrived.
    let scroll_target = StoredValue::new(chosen.get_untracked());
    Effect::new(move |_| {
        let index = scroll_target.get_value();
        if index.is_none() || index != chosen.get_untracked() || scroll.node.get().is_none() {
            return;
        }
        if let Some(at) = rows.with(|rows| index_of(rows, index)) {
            scroll_target.set_value(None);
            request_animation_frame(move || scroll.reveal(at));
        }
    });
    let on_key = move |event: KeyboardEvent| {
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        let Some(next) = scroll.step(&event.key(), position(), last) else {
            return;
        };
        event.prevent_default();
        chosen.set(rows.with_untracked(|rows| rows.get(next).map(|row| row.index)));
        scroll.reveal(next);
    };
    view! {
        <div
            class="grid"
            role="grid"
            tabindex="0"
            aria-label="Pages"
            aria-rowcount=move || rows.with(|rows| rows.len() + 1).to_string()
            aria-activedescendant=move || chosen.get().map(|index| format!("page-{index}"))
            node_ref=scroll.node
            on:scroll=move |_| scroll.on_scroll()
            on:keydown=on_key
        >
            <div class="grid-row grid-head" role="row" aria-rowindex="1">
                {header(sort, SortColumn::Path, "Path", "")}
                {header(sort, SortColumn::Title, "Title", "opt")}
                {header(sort, SortColumn::Status, "Status", "num")}
                {header(sort, SortColumn::Size, "Size", "num")}
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

/// Renders the header of a column, which sorts by it.
fn header(
    sort: RwSignal<Option<Sort>>,
    column: SortColumn,
    label: &'static str,
    class: &'static str,
) -> AnyView {
    view! {
        <span role="columnheader" class=class aria-sort=move || Sort::aria(sort.get(), column)>
            <button type="button" class="sort" on:click=move |_| sort.update(|sort| *sort = Sort::after_click(*sort, column))>
                {label}
                {move || match Sort::aria(sort.get(), column) {
                    "ascending" => Some("\u{2191}"),
                    "descending" => Some("\u{2193}"),
                    _ => None,
                }}
            </button>
        </span>
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
            <span role="gridcell" class="mono">{display::url_path(&row.url).to_owned()}</span>
            <span role="gridcell" class="opt">{row.title.clone()}</span>
            <span role="gridcell" class=if is_bad { "num bad" } else { "num" }>{status}</span>
            <span role="gridcell" class="num">{display::bytes(row.size)}</span>
        </div>
    }
    .into_any()
}
