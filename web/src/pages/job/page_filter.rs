//! Filter and order of the Pages tab: chips for HTTP errors, pages without a title and thin pages, each with its
//! number of pages, and the column that sorts the list.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use leptos::prelude::*;

use crate::display;
use crate::job_feed::{JobFeed, PageRow};
use crate::limits::THIN_PAGE_BYTES;

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
    /// Pages without a title.
    Untitled,
    /// Pages with little content.
    Thin,
}

impl PageFilter {
    /// Parses a name in a URL; `All` if it is none.
    pub fn parse(name: Option<&str>) -> Self {
        match name {
            Some("errors") => Self::HttpErrors,
            Some("untitled") => Self::Untitled,
            Some("thin") => Self::Thin,
            _ => name
                .and_then(|name| name.parse().ok())
                .map_or(Self::All, Self::Status),
        }
    }

    /// Returns whether a page is shown.
    pub fn includes(self, row: &PageRow) -> bool {
        match self {
            Self::All => true,
            Self::HttpErrors => row.is_http_error(),
            Self::Status(status) => row.status == Some(status),
            Self::Untitled => row.title.is_empty() && !row.is_http_error(),
            Self::Thin => row.size < THIN_PAGE_BYTES && !row.is_http_error(),
        }
    }

    /// Returns whether only pages with an HTTP error are shown.
    pub fn is_error(self) -> bool {
        matches!(self, Self::HttpErrors | Self::Status(_))
    }

    fn label(self) -> String {
        match self {
            Self::All => "All".to_owned(),
            Self::HttpErrors => "HTTP errors".to_owned(),
            Self::Status(status) => status.to_string(),
            Self::Untitled => "No title".to_owned(),
            Self::Thin => "Thin".to_owned(),
        }
    }

    fn help(self) -> Option<String> {
        match self {
            Self::HttpErrors => Some("Pages with an HTTP status of 400 or more".to_owned()),
            Self::Thin => Some(format!("Pages with less than {THIN_PAGE_BYTES} bytes of content")),
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
            Self::Untitled => f.write_str("untitled"),
            Self::Thin => f.write_str("thin"),
        }
    }
}

/// Returns the filters that match a page, each with its number of pages. `All` comes first.
fn counts(rows: &[Arc<PageRow>]) -> Vec<(PageFilter, usize)> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let kinds = [PageFilter::HttpErrors, PageFilter::Untitled, PageFilter::Thin];
        let kinds = kinds.into_iter().filter(|filter| filter.includes(row));
        let status = row.status.filter(|_| row.is_http_error()).map(PageFilter::Status);
        for filter in kinds.chain(status) {
            *counts.entry(filter).or_insert(0) += 1;
        }
    }
    // One status needs no sum.
    if counts
        .keys()
        .filter(|filter| matches!(filter, PageFilter::Status(_)))
        .count()
        == 1
    {
        counts.remove(&PageFilter::HttpErrors);
    }
    std::iter::once((PageFilter::All, rows.len()))
        .chain(counts)
        .collect()
}

/// Renders the chips; nothing while all pages are alike.
#[component]
pub fn FilterChips(feed: JobFeed, chosen: RwSignal<PageFilter>) -> impl IntoView {
    let counts = Memo::new(move |_| feed.rows.with(|rows| counts(rows)));
    let is_useful = move || counts.with(|counts| counts.len() > 1) || chosen.get() != PageFilter::All;
    let chip = move |(filter, count): (PageFilter, usize)| {
        view! {
            <button
                type="button"
                class=if filter.is_error() { "chip bad" } else { "chip" }
                title=filter.help()
                aria-pressed=move || (chosen.get() == filter).to_string()
                on:click=move |_| chosen.set(filter)
            >
                {filter.label()} " " {display::count(count as u64)}
            </button>
        }
    };
    view! {
        <Show when=is_useful>
            <div class="chips" role="group" aria-label="Page filter">
                <For each=move || counts.get() key=|one| *one children=chip/>
            </div>
        </Show>
    }
    .into_any()
}

/// A column that sorts the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortColumn {
    /// The URL.
    Path,
    /// The title.
    Title,
    /// The HTTP status.
    Status,
    /// The size of the content.
    Size,
}

/// The order of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sort {
    /// The column that decides.
    pub column: SortColumn,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

impl Sort {
    /// Returns the order after a click on the header of a column: the natural direction first, then the other, then
    /// none, which is the order of completion.
    pub fn after_click(sort: Option<Self>, column: SortColumn) -> Option<Self> {
        let natural = matches!(column, SortColumn::Status | SortColumn::Size);
        match sort.filter(|sort| sort.column == column) {
            None => Some(Self {
                column,
                descending: natural,
            }),
            Some(sort) if sort.descending == natural => Some(Self {
                column,
                descending: !natural,
            }),
            Some(_) => None,
        }
    }

    /// Returns the value of `aria-sort`.
    pub fn aria(sort: Option<Self>, column: SortColumn) -> &'static str {
        match sort.filter(|sort| sort.column == column) {
            None => "none",
            Some(Self { descending: true, .. }) => "descending",
            Some(_) => "ascending",
        }
    }

    /// Sorts rows; equal ones keep their order.
    pub fn apply(self, rows: &mut [Arc<PageRow>]) {
        let compare = |one: &Arc<PageRow>, other: &Arc<PageRow>| -> Ordering {
            match self.column {
                SortColumn::Path => one.url.cmp(&other.url),
                SortColumn::Title => one.title.cmp(&other.title),
                SortColumn::Status => one.status.cmp(&other.status),
                SortColumn::Size => one.size.cmp(&other.size),
            }
        };
        rows.sort_by(|one, other| match self.descending {
            true => compare(other, one),
            false => compare(one, other),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(index: u64, status: u16, title: &str, size: usize) -> Arc<PageRow> {
        Arc::new(PageRow {
            index,
            url: format!("https://e.com/{index}"),
            title: title.to_owned(),
            status: Some(status),
            error: None,
            size,
        })
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
        let counts = counts(&rows);
        let expected = [
            (PageFilter::All, 6),
            (PageFilter::HttpErrors, 3),
            (PageFilter::Status(404), 2),
            (PageFilter::Status(500), 1),
            (PageFilter::Untitled, 1),
            (PageFilter::Thin, 1),
        ];
        assert_eq!(counts, expected);
        for (filter, count) in counts {
            assert_eq!(
                rows.iter().filter(|row| filter.includes(row)).count(),
                count,
                "{filter}"
            );
            assert_eq!(PageFilter::parse(Some(&filter.to_string())), filter);
        }
        assert_eq!(super::counts(&rows[..1]), [(PageFilter::All, 1)]);
        assert_eq!(super::counts(&rows[..2])[1], (PageFilter::Status(404), 1));
    }

    #[test]
    fn a_column_sorts_both_ways_and_then_not_at_all() {
        let mut rows = [row(0, 200, "b", 5), row(1, 404, "a", 7), row(2, 200, "c", 6)];
        let sort = Sort::after_click(None, SortColumn::Size).unwrap();
        sort.apply(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.index), [1, 2, 0]);
        let sort = Sort::after_click(Some(sort), SortColumn::Size).unwrap();
        assert!(!sort.descending);
        assert_eq!(Sort::after_click(Some(sort), SortColumn::Size), None);
        let by_title = Sort::after_click(Some(sort), SortColumn::Title).unwrap();
        assert_eq!(Sort::aria(Some(by_title), SortColumn::Title), "ascending");
        by_title.apply(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.index), [1, 0, 2]);
    }
}
