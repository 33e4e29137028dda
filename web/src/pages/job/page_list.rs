//! The pages of a job as a virtualized grid: only visible rows are in the DOM. Arrow keys or a click open a page; the
//! space bar or a check box selects it.

use std::collections::HashSet;
use std::sync::Arc;

use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::components::virtual_scroll::VirtualScroll;
use crate::display;
use crate::limits::ROW_PX;
use crate::page_row::PageRow;
use crate::pages::job::page_columns::{Column, Sort, grid_templates};

/// Indexes of the selected pages.
pub type Selection = RwSignal<HashSet<u64>>;

/// Renders the grid; `chosen` is the index of the open page in the job.
#[component]
pub fn PageList(
    rows: Memo<Vec<Arc<PageRow>>>,
    chosen: RwSignal<Option<u64>>,
    selected: Selection,
    sort: RwSignal<Option<Sort>>,
    columns: RwSignal<Vec<Column>>,
) -> impl IntoView {
    let scroll = VirtualScroll::new(true);
    let range = scroll.range();
    let visible = move || rows.with(|rows| VirtualScroll::visible_items(range.get(), rows));
    reveal_once(scroll, rows, chosen);
    let on_key = move |event: KeyboardEvent| {
        if event.key() == " " {
            event.prevent_default();
            if let Some(index) = chosen.get_untracked() {
                toggle(selected, index);
            }
            return;
        }
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        let position = rows.with_untracked(|rows| position(rows, chosen.get_untracked()));
        let Some(next) = scroll.step(&event.key(), position, last) else {
            return;
        };
        event.prevent_default();
        chosen.set(rows.with_untracked(|rows| rows.get(next).map(|row| row.index)));
        scroll.reveal(next);
    };
    let templates = Memo::new(move |_| columns.with(|columns| grid_templates(columns)));
    view! {
        <div
            class="grid"
            role="grid"
            tabindex="0"
            aria-label="Pages"
            aria-rowcount=move || rows.with(|rows| rows.len() + 1).to_string()
            aria-activedescendant=move || chosen.get().map(|index| format!("page-{index}"))
            style=("--columns", move || templates.get().0)
            style=("--columns-narrow", move || templates.get().1)
            node_ref=scroll.node
            on:scroll=move |_| scroll.on_scroll()
            on:keydown=on_key
        >
            <div class="grid-row grid-head" role="row" aria-rowindex="1">
                <span role="columnheader" class="pick">{select_all(rows, selected)}</span>
                {move || columns.get().into_iter().map(|column| header(sort, column)).collect_view()}
            </div>
            <div
                class="grid-space"
                role="rowgroup"
                style:height=move || format!("{}px", rows.with(Vec::len) as f64 * ROW_PX)
            >
                <For each=visible key=|(at, row)| (*at, row.index, row.page.stored_at) let:item>
                    <Row at=item.0 row=item.1 chosen selected columns/>
                </For>
            </div>
        </div>
    }
    .into_any()
}

/// Returns the position of the row of a page.
fn position(rows: &[Arc<PageRow>], index: Option<u64>) -> Option<usize> {
    rows.iter().position(|row| Some(row.index) == index)
}

/// Scrolls once to the page that is open at first, as soon as its row has arrived.
fn reveal_once(scroll: VirtualScroll, rows: Memo<Vec<Arc<PageRow>>>, chosen: RwSignal<Option<u64>>) {
    let target = StoredValue::new(chosen.get_untracked());
    Effect::new(move |_| {
        let index = target.get_value();
        if index.is_none() || index != chosen.get_untracked() || scroll.node.get().is_none() {
            return;
        }
        if let Some(at) = rows.with(|rows| position(rows, index)) {
            target.set_value(None);
            request_animation_frame(move || scroll.reveal(at));
        }
    });
}

/// Renders the check box that selects all shown pages, or none of them.
fn select_all(rows: Memo<Vec<Arc<PageRow>>>, selected: Selection) -> impl IntoView {
    let all_selected = move || {
        let count = selected.with(HashSet::len);
        rows.with(|rows| {
            let is_selected = |row: &Arc<PageRow>| selected.with(|selected| selected.contains(&row.index));
            !rows.is_empty() && rows.len() <= count && rows.iter().all(is_selected)
        })
    };
    let toggle_all = move |_| {
        let all = untrack(all_selected);
        selected.update(|selected| {
            rows.with_untracked(|rows| match all {
                true => rows.iter().for_each(|row| _ = selected.remove(&row.index)),
                false => selected.extend(rows.iter().map(|row| row.index)),
            });
        });
    };
    view! {
        <input
            type="checkbox"
            aria-label="Select all shown pages"
            prop:checked=all_selected
            on:change=toggle_all
            on:keydown=|event| event.stop_propagation()
        />
    }
}

fn toggle(selected: Selection, index: u64) {
    selected.update(|selected| {
        if !selected.remove(&index) {
            selected.insert(index);
        }
    });
}

/// Renders the header of a column, which sorts by it.
fn header(sort: RwSignal<Option<Sort>>, column: Column) -> AnyView {
    view! {
        <span role="columnheader" class=column.class() aria-sort=move || Sort::aria(sort.get(), column)>
            <button
                type="button"
                class="sort"
                on:click=move |_| sort.update(|sort| *sort = Sort::after_click(*sort, column))
                on:keydown=|event| event.stop_propagation()
            >
                {column.label()}
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
fn Row(
    at: usize,
    row: Arc<PageRow>,
    chosen: RwSignal<Option<u64>>,
    selected: Selection,
    columns: RwSignal<Vec<Column>>,
) -> impl IntoView {
    let index = row.index;
    let title = match &row.page.requested {
        Some(requested) => format!("{}\nredirected from {requested}", row.page.url),
        None => row.page.url.clone(),
    };
    let label = format!("Select {}", display::url_path(&row.page.url));
    let cells = move || {
        let cell = |column: Column| {
            let is_bad = column == Column::Status && row.page.status.is_none_or(|status| status >= 400);
            let class = match column {
                Column::Path => "mono",
                _ => column.class(),
            };
            // Titles have the direction of their script, so that long ones are cut at their end.
            let direction = (column == Column::Title).then_some("auto");
            view! {
                <span role="gridcell" class=class class:bad=is_bad dir=direction>
                    {column.text(&row)}
                </span>
            }
        };
        columns.get().into_iter().map(cell).collect_view()
    };
    view! {
        <div
            class="grid-row"
            role="row"
            id=format!("page-{index}")
            aria-rowindex=(at + 2).to_string()
            aria-selected=move || (chosen.get() == Some(index)).to_string()
            title=title
            style:top=format!("{}px", at as f64 * ROW_PX)
            on:click=move |_| chosen.set(Some(index))
        >
            <span role="gridcell" class="pick" on:click=|event| event.stop_propagation()>
                <input
                    type="checkbox"
                    tabindex="-1"
                    aria-label=label
                    prop:checked=move || selected.with(|selected| selected.contains(&index))
                    on:change=move |_| toggle(selected, index)
                />
            </span>
            {cells}
        </div>
    }
    .into_any()
}
