//! Filters of the Pages tab: which pages are shown, how many pages each filter matches, and the chips that choose one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use leptos::prelude::*;

use crate::display;
use crate::limits::{DEPTH_CHIPS, THIN_PAGE_BYTES};
use crate::page_row::PageRow;

/// Which pages are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum PageFilter {
    /// Every page.
    #[default]
    All,
    /// Pages with an HTTP status of 400 or more.
    HttpErrors,
    /// Pages with this HTTP status.
    Status(u16),
    /// Pages that redirected to another URL.
    Redirects,
    /// Pages without a title.
    Untitled,
    /// Pages with little content.
    Thin,
    /// Pages with the same content as another page.
    Duplicates,
}

/// Contents that more than one page has, by hash.
pub type SharedContents = Arc<HashSet<u64>>;

impl PageFilter {
    /// Parses the name of a filter in a URL; `All` if it is not one.
    pub fn parse(name: Option<&str>) -> Self {
        match name {
            Some("errors") => Self::HttpErrors,
            Some("redirects") => Self::Redirects,
            Some("untitled") => Self::Untitled,
            Some("thin") => Self::Thin,
            Some("duplicates") => Self::Duplicates,
            _ => name
                .and_then(|name| name.parse().ok())
                .map_or(Self::All, Self::Status),
        }
    }

    /// Returns whether a page is shown.
    pub fn includes(self, row: &PageRow, shared: &HashSet<u64>) -> bool {
        let page = &row.page;
        match self {
            Self::All => true,
            Self::HttpErrors => row.is_http_error(),
            Self::Status(status) => page.status == Some(status),
            Self::Redirects => page.requested.is_some(),
            Self::Untitled => page.title.is_empty() && !row.is_http_error(),
            Self::Thin => page.size < THIN_PAGE_BYTES && !row.is_http_error(),
            Self::Duplicates => {
                !row.is_http_error() && page.content.is_some_and(|content| shared.contains(&content))
            }
        }
    }

    /// Returns whether only pages with an HTTP error are shown.
    pub fn is_error(self) -> bool {
        matches!(self, Self::HttpErrors | Self::Status(400..))
    }

    fn label(self) -> String {
        match self {
            Self::All => "All".to_owned(),
            Self::HttpErrors => "HTTP errors".to_owned(),
            Self::Status(status) => status.to_string(),
            Self::Redirects => "Redirects".to_owned(),
            Self::Untitled => "No title".to_owned(),
            Self::Thin => "Thin".to_owned(),
            Self::Duplicates => "Duplicates".to_owned(),
        }
    }

    /// Returns what a filter shows, if its label does not say it.
    pub fn help(self) -> Option<String> {
        match self {
            Self::HttpErrors => Some("Pages with an HTTP status of 400 or more".to_owned()),
            Self::Redirects => Some("Pages that redirected to another URL".to_owned()),
            Self::Thin => Some(format!(
                "Pages with fewer than {THIN_PAGE_BYTES} bytes of content"
            )),
            Self::Duplicates => Some("Pages with the same content as another page".to_owned()),
            _ => None,
        }
    }
}

/// The name in a URL; empty for [`PageFilter::All`].
impl fmt::Display for PageFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::HttpErrors => f.write_str("errors"),
            Self::Status(status) => status.fmt(f),
            Self::Redirects => f.write_str("redirects"),
            Self::Untitled => f.write_str("untitled"),
            Self::Thin => f.write_str("thin"),
            Self::Duplicates => f.write_str("duplicates"),
        }
    }
}

/// How many pages each filter matches, and the extremes of their sizes and durations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PageCounts {
    filters: BTreeMap<PageFilter, usize>,
    depths: BTreeMap<u32, usize>,
    /// Contents that more than one page has.
    pub shared: SharedContents,
    /// Size of the largest page, bytes.
    pub largest: usize,
    /// Duration of the slowest page, ms.
    pub slowest_ms: Option<u64>,
}

impl PageCounts {
    /// Counts the pages.
    pub fn of(rows: &[Arc<PageRow>]) -> Self {
        let mut contents = HashMap::with_capacity(rows.len());
        for row in rows.iter().filter(|row| !row.is_http_error()) {
            if let Some(content) = row.page.content {
                *contents.entry(content).or_insert(0_usize) += 1;
            }
        }
        let shared = contents.into_iter().filter(|(_, pages)| *pages > 1);
        let mut counts = Self {
            shared: Arc::new(shared.map(|(content, _)| content).collect()),
            ..Self::default()
        };
        let kinds = [
            PageFilter::HttpErrors,
            PageFilter::Redirects,
            PageFilter::Untitled,
            PageFilter::Thin,
            PageFilter::Duplicates,
        ];
        for row in rows {
            let kinds = kinds
                .into_iter()
                .filter(|filter| filter.includes(row, &counts.shared));
            for filter in kinds.chain(row.page.status.map(PageFilter::Status)) {
                *counts.filters.entry(filter).or_insert(0) += 1;
            }
            if let Some(depth) = row.page.depth {
                *counts.depths.entry(depth).or_insert(0) += 1;
            }
            counts.largest = counts.largest.max(row.page.size);
            counts.slowest_ms = counts.slowest_ms.max(row.page.took_ms);
        }
        counts.filters.insert(PageFilter::All, rows.len());
        counts
    }

    /// Returns the number of pages that a filter matches.
    pub fn of_filter(&self, filter: PageFilter) -> usize {
        self.filters.get(&filter).copied().unwrap_or(0)
    }

    /// Returns the chips: `All`, then every filter that matches some pages. A status below 400 that all pages share has
    /// no chip.
    fn chips(&self) -> Vec<(PageFilter, usize)> {
        let statuses = |filter: &PageFilter| matches!(filter, PageFilter::Status(_));
        let single_status = self.filters.keys().filter(|filter| statuses(filter)).count() == 1;
        let single_error = self
            .filters
            .keys()
            .filter(|filter| statuses(filter) && filter.is_error())
            .count()
            == 1;
        let is_useful = |filter: &PageFilter| match filter {
            // If all errors have the same status, the chip of that status is enough.
            PageFilter::HttpErrors => !single_error,
            PageFilter::Status(..400) => !single_status,
            _ => true,
        };
        let chips = self.filters.iter().filter(|(filter, _)| is_useful(filter));
        chips.map(|(filter, count)| (*filter, *count)).collect()
    }

    /// Returns the chips of depths; none while all pages are equally deep.
    fn depth_chips(&self) -> Vec<(u32, usize)> {
        let chips = self
            .depths
            .iter()
            .filter(|_| self.depths.len() > 1)
            .take(DEPTH_CHIPS);
        chips.map(|(depth, count)| (*depth, *count)).collect()
    }
}

/// Renders the chips of filters and depths; nothing while all pages are the same.
#[component]
pub fn FilterChips(
    counts: Memo<PageCounts>,
    chosen: RwSignal<PageFilter>,
    depth: RwSignal<Option<u32>>,
) -> impl IntoView {
    let chips = Memo::new(move |_| counts.with(PageCounts::chips));
    let depths = Memo::new(move |_| counts.with(PageCounts::depth_chips));
    let is_useful = move || chips.with(|chips| chips.len() > 1) || chosen.get() != PageFilter::All;
    let chip = move |(filter, _): (PageFilter, usize)| {
        let count = move || counts.with(|counts| counts.of_filter(filter));
        view! {
            <button
                type="button"
                class=if filter.is_error() { "chip bad" } else { "chip" }
                title=filter.help()
                aria-pressed=move || (chosen.get() == filter).to_string()
                on:click=move |_| chosen.set(filter)
            >
                {filter.label()} " " {count_of(count)}
            </button>
        }
    };
    let depth_chip = move |(at, _): (u32, usize)| {
        let count = move || counts.with(|counts| counts.depths.get(&at).copied().unwrap_or(0));
        let is_chosen = move || depth.get() == Some(at);
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || is_chosen().to_string()
                on:click=move |_| depth.set((!untrack(is_chosen)).then_some(at))
            >
                {format!("Depth {at}")} " " {count_of(count)}
            </button>
        }
    };
    view! {
        <Show when=is_useful>
            <div class="chips" role="group" aria-label="Page filter">
                <For each=move || chips.get() key=|(filter, _)| *filter children=chip/>
            </div>
        </Show>
        <Show when=move || !depths.with(Vec::is_empty) || depth.get().is_some()>
            <div class="chips" role="group" aria-label="Depth">
                <For each=move || depths.get() key=|(at, _)| *at children=depth_chip/>
            </div>
        </Show>
    }
    .into_any()
}

/// Shows the number of pages of a chip, apart from its label.
fn count_of(count: impl Fn() -> usize + Send + 'static) -> impl IntoView {
    view! { <span class="chip-count">{move || display::count(count() as u64)}</span> }
}

#[cfg(test)]
mod tests {
    use harvestman_core::api::console::PageSummary;

    use super::*;

    fn row(index: u64, status: u16, title: &str, size: usize) -> Arc<PageRow> {
        let page = PageSummary {
            url: format!("https://e.com/{index}"),
            title: title.to_owned(),
            status: Some(status),
            size,
            content: Some(size as u64),
            depth: Some(u32::from(index > 0)),
            ..PageSummary::default()
        };
        Arc::new(PageRow { index, page })
    }

    #[test]
    fn chips_count_what_their_filter_shows() {
        let rows = [
            row(0, 200, "Home", 9_000),
            row(1, 404, "", 10),
            row(2, 404, "Not found", 10),
            row(3, 500, "", 0),
            row(4, 200, "", 9_000),
            row(5, 200, "Stub", 12),
        ];
        let counts = PageCounts::of(&rows);
        let expected = [
            (PageFilter::All, 6),
            (PageFilter::HttpErrors, 3),
            (PageFilter::Status(200), 3),
            (PageFilter::Status(404), 2),
            (PageFilter::Status(500), 1),
            (PageFilter::Untitled, 1),
            (PageFilter::Thin, 1),
            (PageFilter::Duplicates, 2),
        ];
        assert_eq!(counts.chips(), expected);
        assert_eq!(
            (counts.largest, counts.depth_chips()),
            (9_000, vec![(0, 1), (1, 5)])
        );
        for (filter, count) in expected {
            let shown = rows.iter().filter(|row| filter.includes(row, &counts.shared));
            assert_eq!(shown.count(), count, "{filter}");
            assert_eq!(counts.of_filter(filter), count);
            assert_eq!(PageFilter::parse(Some(&filter.to_string())), filter);
        }
        let alike = PageCounts::of(&rows[..1]);
        assert_eq!(
            (alike.chips(), alike.depth_chips()),
            (vec![(PageFilter::All, 1)], vec![])
        );
        let one_error = PageCounts::of(&rows[..2]);
        assert!(!one_error.chips().contains(&(PageFilter::HttpErrors, 1)));
    }
}
