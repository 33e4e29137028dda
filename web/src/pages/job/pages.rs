//! Pages tab: the pages of a job as a list with a filter, actions for selected pages, and the open page next to it.

use std::collections::HashSet;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use crate::browser;
use crate::components::filter_input::FilterInput;
use crate::components::notice::{problem_in_card, skeleton};
use crate::components::removed_content::PageOptions;
use crate::components::viewer::{SharedDocument, Viewer};
use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::page_row::PageRow;
use crate::pages::job::page_columns::{ColumnChooser, stored_columns};
use crate::pages::job::page_filter::{FilterChips, PageCounts, PageFilter};
use crate::pages::job::page_list::{PageList, Selection};
use crate::pages::job::retry::{Retry, page_options};
use crate::pages::job::view_state::ViewState;
use crate::{display, text};

/// Renders the list as the view state filters and sorts it.
#[component]
pub fn Pages(
    feed: JobFeed,
    state: ViewState,
    counts: Memo<PageCounts>,
    selected: Selection,
    /// Whether the export dialog is open.
    export_open: RwSignal<bool>,
    retry: Retry,
) -> impl IntoView {
    let ViewState {
        search,
        filter,
        depth,
        sort,
        page: open,
        ..
    } = state;
    let columns = RwSignal::new(stored_columns());
    let shared = Memo::new(move |_| counts.with(|counts| counts.shared.clone()));
    let rows = Memo::new(move |_| {
        let words = search.with(|search| search.trim().to_lowercase());
        let (filter, depth, shared) = (filter.get(), depth.get(), shared.get());
        let includes = |row: &Arc<PageRow>| {
            filter.includes(row, &shared)
                && depth.is_none_or(|depth| row.page.depth == Some(depth))
                && row.matches(&words)
        };
        let all = words.is_empty() && filter == PageFilter::All && depth.is_none();
        let mut rows: Vec<_> = feed.rows.with(|rows| match all {
            true => rows.clone(),
            false => rows.iter().filter(|row| includes(row)).cloned().collect(),
        });
        match sort.get() {
            Some(sort) => sort.apply(&mut rows),
            // Pages with the same content follow each other.
            None if filter == PageFilter::Duplicates => rows.sort_by_key(|row| row.page.content),
            None => {}
        }
        rows
    });
    let shows_errors = move || filter.get().is_error() && !rows.with(Vec::is_empty);
    let retry_label = move || {
        let count = rows.with(|rows| display::plural(rows.len() as u64, "page", "pages"));
        format!("Retry {count}")
    };
    let shown_urls =
        move || rows.with_untracked(|rows| rows.iter().map(|row| row.page.url.clone()).collect());
    let selected_urls = move || {
        feed.rows.with_untracked(|rows| {
            let is_selected =
                |row: &&Arc<PageRow>| selected.with_untracked(|selected| selected.contains(&row.index));
            rows.iter()
                .filter(is_selected)
                .map(|row| row.page.url.clone())
                .collect()
        })
    };
    let is_empty = move || rows.with(Vec::is_empty);
    let empty_text = move || match (
        feed.rows.with(Vec::is_empty),
        feed.progress.with(Option::is_none) || feed.is_running(),
    ) {
        (false, _) => text::NO_FILTER_MATCH,
        (true, true) => text::PAGES_PENDING,
        (true, false) => text::NO_PAGES,
    };
    let selection_count = Memo::new(move |_| selected.with(HashSet::len));
    view! {
        <div class="filter">
            <div class="filter-line">
                <FilterInput words=search label="Filter pages" placeholder="Path, title, status or error"/>
                <ColumnChooser columns/>
            </div>
            <FilterChips counts chosen=filter depth/>
        </div>
        <Show when=move || !is_empty() fallback=move || view! { <p class="empty">{empty_text}</p> }>
            <PageList rows chosen=open selected sort columns/>
        </Show>
        <Show when=move || { selection_count.get() > 0 }>
            <div class="card-foot stay" role="group" aria-label="Selected pages">
                <b>{move || display::plural(selection_count.get() as u64, "page", "pages")} " selected"</b>
                <button type="button" class="btn small" on:click=move |_| export_open.set(true)>
                    "Export selection"
                </button>
                {retry.button(|| "Scrape again".to_owned(), selected_urls)}
                <span class="grow"></span>
                <button type="button" class="btn small quiet" on:click=move |_| selected.update(HashSet::clear)>
                    "Clear selection"
                </button>
            </div>
        </Show>
        <Show when=move || shows_errors() && selection_count.get() == 0>
            <div class="card-foot">{retry.button(retry_label, shown_urls)}</div>
        </Show>
    }
    .into_any()
}

/// Renders the open page after fetching its document.
#[component]
pub fn OpenPage(feed: JobFeed, request: Memo<Option<Value>>, open: RwSignal<Option<u64>>) -> impl IntoView {
    let console = Console::get();
    let options = PageOptions::new(move |()| {
        let kind = feed.job.with_untracked(|job| job.as_ref().map(|job| job.kind))?;
        request.with_untracked(|request| page_options(kind, request.as_ref()?).ok())
    });
    let document = RwSignal::new(None::<SharedDocument>);
    let problem = RwSignal::new(None::<String>);
    let is_known = Memo::new(move |_| feed.job.with(Option::is_some));
    Effect::new(move |_| {
        let Some(index) = open.get().filter(|_| is_known.get()) else {
            return;
        };
        spawn_local(async move {
            let response = feed.document(console, index).await;
            // The user may have opened another page meanwhile.
            if open.try_get_untracked().flatten() != Some(index) {
                return;
            }
            match response {
                Ok(Some(found)) => {
                    problem.try_set(None);
                    document.try_set(Some(Arc::new(found)));
                    browser::reveal_soon("#open-page");
                }
                Ok(None) => _ = problem.try_set(Some(text::NO_SUCH_PAGE.to_owned())),
                Err(error) => _ = problem.try_set(Some(console.report(&error))),
            }
        });
    });
    let shown = Memo::new(move |_| document.get());
    // Keep the viewer when switching pages, so that its tab and the search term stay.
    let state = Memo::new(move |_| (open.with(Option::is_some), shown.with(Option::is_some)));
    view! {
        {move || problem.get().as_deref().map(problem_in_card)}
        {move || match state.get() {
            (false, _) => view! { <p class="empty">{text::NO_PAGE_SELECTED}</p> }.into_any(),
            (true, false) if problem.with(Option::is_some) => ().into_any(),
            (true, false) => skeleton(3),
            (true, true) => view! { <Viewer document=shown options/> }.into_any(),
        }}
    }
    .into_any()
}
