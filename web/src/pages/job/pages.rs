//! Pages tab: the pages of a job as a list with a filter, and the open page next to it.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::components::filter_input::FilterInput;
use crate::components::inline_code::inline_code;
use crate::pages::job::page_list::PageList;
use crate::components::viewer::{SharedDocument, Viewer};
use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::text;

/// Renders the list, filtered by `search`.
#[component]
pub fn Pages(feed: JobFeed, search: RwSignal<String>, open: RwSignal<Option<u64>>) -> impl IntoView {
    let rows = Memo::new(move |_| {
        let filter = search.with(|search| search.trim().to_lowercase());
        feed.rows.with(|rows| match filter.is_empty() {
            true => rows.clone(),
            false => rows.iter().filter(|row| row.matches(&filter)).cloned().collect(),
        })
    });
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
        </div>
        <Show when=move || !is_empty() fallback=move || view! { <p class="empty">{empty_text}</p> }>
            <PageList rows chosen=open/>
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
