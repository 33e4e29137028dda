//! Pages tab: the pages of a job as a list with a filter, and the open page next to it.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::components::filter_input::FilterInput;
use crate::components::inline_code::inline_code;
use crate::components::viewer::{SharedDocument, Viewer};
use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::pages::job::page_filter::{FilterChips, PageFilter, Sort};
use crate::pages::job::page_list::PageList;
use crate::pages::job::retry::Retry;
use crate::{display, text};

/// Renders the list, filtered by `search` and `filter`.
#[component]
pub fn Pages(
    feed: JobFeed,
    search: RwSignal<String>,
    filter: RwSignal<PageFilter>,
    open: RwSignal<Option<u64>>,
    retry: Retry,
) -> impl IntoView {
    let sort = RwSignal::new(None::<Sort>);
    let rows = Memo::new(move |_| {
        let words = search.with(|search| search.trim().to_lowercase());
        let filter = filter.get();
        let mut rows = feed
            .rows
            .with(|rows| match words.is_empty() && filter == PageFilter::All {
                true => rows.clone(),
                false => {
                    let shown = rows
                        .iter()
                        .filter(|row| filter.includes(row) && row.matches(&words));
                    shown.cloned().collect()
                }
            });
        if let Some(sort) = sort.get() {
            sort.apply(&mut rows);
        }
        rows
    });
    let shows_errors = move || filter.get().is_error() && !rows.with(Vec::is_empty);
    let retry_label = move || {
        let count = rows.with(|rows| display::plural(rows.len() as u64, "page", "pages"));
        format!("Retry {count}")
    };
    let shown_urls = move || rows.with_untracked(|rows| rows.iter().map(|row| row.url.clone()).collect());
    let is_empty = move || rows.with(Vec::is_empty);
    let empty_text = move || match (
        feed.rows.with(Vec::is_empty),
        feed.progress.with(Option::is_none) || feed.is_running(),
    ) {
        (false, _) => text::NO_FILTER_MATCH,
        (true, true) => text::PAGES_PENDING,
        (true, false) => text::NO_PAGES,
    };
    view! {
        <div class="filter">
            <FilterInput words=search label="Filter pages" placeholder="Filter by path, title, status or error"/>
            <FilterChips feed chosen=filter/>
        </div>
        <Show when=move || !is_empty() fallback=move || view! { <p class="empty">{empty_text}</p> }>
            <PageList rows chosen=open sort/>
        </Show>
        <Show when=shows_errors>
            <div class="card-foot">{retry.button(retry_label, shown_urls)}</div>
        </Show>
    }
    .into_any()
}

/// Renders the open page after fetching its document.
#[component]
pub fn OpenPage(feed: JobFeed, open: RwSignal<Option<u64>>) -> impl IntoView {
    let console = Console::get();
    let document = RwSignal::new(None::<SharedDocument>);
    let problem = RwSignal::new(None::<String>);
    let is_known = Memo::new(move |_| feed.job.with(Option::is_some));
    Effect::new(move |_| {
        let Some(index) = open.get().filter(|_| is_known.get()) else {
            return;
        };
        spawn_local(async move {
            let answer = feed.document(console, index).await;
            // The user may have opened another page meanwhile.
            if open.try_get_untracked().flatten() != Some(index) {
                return;
            }
            match answer {
                Ok(Some(found)) => {
                    problem.try_set(None);
                    document.try_set(Some(Arc::new(found)));
                    browser::reveal_soon("#open-page");
                }
                Ok(None) => _ = problem.try_set(Some(text::NO_SUCH_PAGE.to_owned())),
                Err(error) => {
                    console.handle_error(&error);
                    problem.try_set(Some(error.to_string()));
                }
            }
        });
    });
    let shown = Memo::new(move |_| document.get());
    // Keep the viewer when switching pages, so that its tab and the search term stay.
    let state = Memo::new(move |_| (open.with(Option::is_some), shown.with(Option::is_some)));
    view! {
        {move || problem.get().map(|text| view! { <div class="pad"><div class="notice bad" role="alert">{inline_code(&text)}</div></div> })}
        {move || match state.get() {
            (false, _) => view! { <p class="empty">{text::NO_PAGE_SELECTED}</p> }.into_any(),
            (true, false) if problem.with(Option::is_some) => ().into_any(),
            (true, false) => view! { <div class="skeleton"><i></i><i></i><i></i></div> }.into_any(),
            (true, true) => view! { <Viewer document=shown/> }.into_any(),
        }}
    }
    .into_any()
}
