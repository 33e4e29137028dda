//! Health of a finished job: figures about its pages. Each figure opens the pages that it counts, either in the Pages
//! tab with a filter or sort order, or in another tab.

use leptos::prelude::*;

use crate::job_feed::JobFeed;
use crate::pages::job::page_columns::{Column, Sort};
use crate::pages::job::page_filter::{PageCounts, PageFilter};
use crate::pages::job::view_state::ViewState;
use crate::{display, text};

/// What a click on a figure shows.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// The Pages tab with a filter.
    Filter(PageFilter),
    /// The Pages tab with the greatest values of a column first.
    Greatest(Column),
    /// Another tab.
    Tab(&'static str),
}

impl Target {
    fn show(self, state: ViewState) {
        let (tab, filter, sort) = match self {
            Self::Filter(filter) => ("pages", filter, None),
            Self::Greatest(column) => ("pages", PageFilter::All, Some(Sort::greatest(column))),
            Self::Tab(tab) => return state.tab.set(tab),
        };
        state.search.set(String::new());
        state.depth.set(None);
        state.filter.set(filter);
        state.sort.set(sort);
        state.tab.set(tab);
    }

    fn is_shown(self, state: ViewState) -> bool {
        match self {
            Self::Filter(filter) => state.tab.get() == "pages" && state.filter.get() == filter,
            Self::Greatest(column) => {
                state.tab.get() == "pages"
                    && state.filter.get() == PageFilter::All
                    && state.sort.get() == Some(Sort::greatest(column))
            }
            Self::Tab(tab) => state.tab.get() == tab,
        }
    }
}

/// Returns whether the job has ended with at least one page, so that its figures are shown.
pub fn has_health(feed: JobFeed) -> bool {
    let has_ended = feed.progress.with(|progress| {
        progress
            .as_ref()
            .is_some_and(|progress| progress.status.is_final())
    });
    has_ended && !feed.rows.with(Vec::is_empty)
}

/// Renders the figures of an ended job.
#[component]
pub fn Health(feed: JobFeed, counts: Memo<PageCounts>, state: ViewState) -> impl IntoView {
    let number = |count: usize| (count > 0).then(|| display::count(count as u64));
    let of_filter = move |filter| move || number(counts.with(|counts| counts.of_filter(filter)));
    let failed = move || number(feed.errors.with(|errors| errors.errors.len()));
    let blocked = move || number(feed.errors.with(|errors| errors.robots_blocked.len()));
    let largest = move || {
        let bytes = counts.with(|counts| counts.largest);
        (bytes > 0).then(|| display::bytes(bytes))
    };
    let slowest = move || counts.with(|counts| counts.slowest_ms).map(display::duration_ms);
    let filter = move |label, filter: PageFilter| {
        figure(
            state,
            label,
            filter.help(),
            Target::Filter(filter),
            of_filter(filter),
        )
    };
    view! {
        <section class="figures" aria-label="Health">
            {figure(state, "Failed", None, Target::Tab("errors"), failed)}
            {filter("HTTP errors", PageFilter::HttpErrors)}
            {filter("Redirects", PageFilter::Redirects)}
            {filter("Thin pages", PageFilter::Thin)}
            {filter("Duplicates", PageFilter::Duplicates)}
            {filter("Missing titles", PageFilter::Untitled)}
            {figure(state, "Largest page", None, Target::Greatest(Column::Size), largest)}
            {figure(state, "Slowest page", None, Target::Greatest(Column::Time), slowest)}
            {figure(state, "Blocked", Some(text::BLOCKED_HELP.to_owned()), Target::Tab("blocked"), blocked)}
        </section>
    }
    .into_any()
}

/// Renders a figure; without a value, it shows 0 and is disabled.
fn figure(
    state: ViewState,
    label: &'static str,
    help: Option<String>,
    target: Target,
    value: impl Fn() -> Option<String> + Send + Sync + 'static,
) -> AnyView {
    let value = Memo::new(move |_| value());
    let is_problem = matches!(
        target,
        Target::Tab("errors") | Target::Filter(PageFilter::HttpErrors)
    );
    view! {
        <button
            type="button"
            class="figure"
            class:bad=move || is_problem && value.with(Option::is_some)
            title=help
            disabled=move || value.with(Option::is_none)
            aria-pressed=move || target.is_shown(state).to_string()
            on:click=move |_| target.show(state)
        >
            <b>{move || value.get().unwrap_or_else(|| "0".to_owned())}</b>
            <span>{label}</span>
        </button>
    }
    .into_any()
}
