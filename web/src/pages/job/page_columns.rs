//! Columns of the Pages tab: which ones are shown, and which one sorts the list.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::components::menu::Menu;
use crate::page_row::PageRow;
use crate::{display, storage};

const STORED: &str = "page-columns";

/// A column of the list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Column {
    /// Path and query of the URL.
    Path,
    /// The title.
    Title,
    /// The HTTP status.
    Status,
    /// Number of links from the start page.
    Depth,
    /// The size of the content.
    Size,
    /// The time that the page took.
    Time,
}

const COLUMNS: [Column; 6] = [
    Column::Path,
    Column::Title,
    Column::Status,
    Column::Depth,
    Column::Size,
    Column::Time,
];

impl Column {
    /// Returns the heading.
    pub fn label(self) -> &'static str {
        match self {
            Self::Path => "Path",
            Self::Title => "Title",
            Self::Status => "Status",
            Self::Depth => "Depth",
            Self::Size => "Size",
            Self::Time => "Time",
        }
    }

    /// Returns the classes of its cells; `opt` hides a column in a narrow window.
    pub fn class(self) -> &'static str {
        match self {
            Self::Path => "",
            Self::Title => "opt",
            Self::Status | Self::Size => "num",
            Self::Depth | Self::Time => "num opt",
        }
    }

    fn width(self) -> &'static str {
        match self {
            Self::Path => "minmax(0, 1.2fr)",
            Self::Title => "minmax(0, 1fr)",
            Self::Status | Self::Depth => "58px",
            Self::Size | Self::Time => "66px",
        }
    }

    fn is_natural_descending(self) -> bool {
        matches!(self, Self::Status | Self::Size | Self::Time)
    }

    /// Returns the text of a page's cell.
    pub fn text(self, row: &PageRow) -> String {
        let page = &row.page;
        let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        match self {
            Self::Path => display::url_path(&page.url).to_owned(),
            Self::Title => page.title.clone(),
            Self::Status => number(page.status.map(u64::from)),
            Self::Depth => number(page.depth.map(u64::from)),
            Self::Size => display::bytes(page.size),
            Self::Time => page.took_ms.map_or_else(|| "-".to_owned(), display::duration_ms),
        }
    }

    fn compare(self, one: &PageRow, other: &PageRow) -> Ordering {
        let (one, other) = (&one.page, &other.page);
        match self {
            Self::Path => one.url.cmp(&other.url),
            Self::Title => one.title.cmp(&other.title),
            Self::Status => one.status.cmp(&other.status),
            Self::Depth => one.depth.cmp(&other.depth),
            Self::Size => one.size.cmp(&other.size),
            Self::Time => one.took_ms.cmp(&other.took_ms),
        }
    }
}

/// Returns the columns to show: as the user chose them, else the most useful ones.
pub fn stored_columns() -> Vec<Column> {
    let stored: Option<Vec<Column>> = storage::read(STORED);
    stored.unwrap_or_else(|| vec![Column::Path, Column::Title, Column::Status, Column::Size])
}

/// Returns the widths of columns as a CSS grid template, of all and of those shown in a narrow window. The first
/// width belongs to the check boxes.
pub fn grid_templates(columns: &[Column]) -> (String, String) {
    let template = |narrow: bool| {
        let shown = columns
            .iter()
            .filter(|column| !narrow || !column.class().ends_with("opt"));
        let widths: Vec<_> = shown.map(|column| column.width()).collect();
        format!("36px {}", widths.join(" "))
    };
    (template(false), template(true))
}

/// Renders the menu that chooses the columns.
#[component]
pub fn ColumnChooser(columns: RwSignal<Vec<Column>>) -> impl IntoView {
    let toggle = move |column: Column| {
        columns.update(|columns| {
            let is_shown = |one: &Column| match *one == column {
                true => !columns.contains(one),
                false => columns.contains(one),
            };
            *columns = COLUMNS.into_iter().filter(is_shown).collect();
        });
        columns.with_untracked(|columns| storage::write(STORED, columns));
    };
    // The path identifies the page.
    let choices = COLUMNS.into_iter().filter(|column| *column != Column::Path);
    let choices = choices.map(move |column| {
        view! {
            <label class="menu-item">
                <input
                    type="checkbox"
                    prop:checked=move || columns.with(|columns| columns.contains(&column))
                    on:change=move |_| toggle(column)
                />
                {column.label()}
            </label>
        }
    });
    view! { <Menu label="Columns">{choices.collect_view()}</Menu> }.into_any()
}

/// The order of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sort {
    /// The column that decides.
    pub column: Column,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

impl Sort {
    /// Returns the order with the greatest values of a column first.
    pub fn greatest(column: Column) -> Self {
        Self {
            column,
            descending: true,
        }
    }

    /// Parses an order in a URL, such as `size`, or `-size` with the greatest first.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        let text = text?;
        let name = text.trim_start_matches('-');
        let column = COLUMNS
            .into_iter()
            .find(|column| column.label().eq_ignore_ascii_case(name))?;
        Some(Self {
            column,
            descending: text.starts_with('-'),
        })
    }

    /// Returns the order after a click on the header of a column: the natural direction first, then the other, then
    /// none, which is the order of completion.
    pub fn after_click(sort: Option<Self>, column: Column) -> Option<Self> {
        let natural = column.is_natural_descending();
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
    pub fn aria(sort: Option<Self>, column: Column) -> &'static str {
        match sort.filter(|sort| sort.column == column) {
            None => "none",
            Some(Self { descending: true, .. }) => "descending",
            Some(_) => "ascending",
        }
    }

    /// Sorts rows; equal ones keep their order.
    pub fn apply(self, rows: &mut [Arc<PageRow>]) {
        rows.sort_by(|one, other| match self.descending {
            true => self.column.compare(other, one),
            false => self.column.compare(one, other),
        });
    }
}

/// The order in a URL.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.descending { "-" } else { "" };
        write!(f, "{direction}{}", self.column.label().to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use harvestman_core::api::console::PageSummary;

    use super::*;

    fn row(index: u64, title: &str, size: usize) -> Arc<PageRow> {
        let page = PageSummary {
            title: title.to_owned(),
            size,
            ..PageSummary::default()
        };
        Arc::new(PageRow { index, page })
    }

    #[test]
    fn a_column_sorts_both_ways_and_then_not_at_all() {
        let mut rows = [row(0, "b", 5), row(1, "a", 7), row(2, "c", 6)];
        let sort = Sort::after_click(None, Column::Size).unwrap();
        sort.apply(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.index), [1, 2, 0]);
        let sort = Sort::after_click(Some(sort), Column::Size).unwrap();
        assert!(!sort.descending);
        assert_eq!(Sort::after_click(Some(sort), Column::Size), None);
        let by_title = Sort::after_click(Some(sort), Column::Title).unwrap();
        assert_eq!(Sort::aria(Some(by_title), Column::Title), "ascending");
        by_title.apply(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.index), [1, 0, 2]);
    }

    #[test]
    fn orders_are_named_in_urls() {
        for sort in COLUMNS.into_iter().map(Sort::greatest) {
            assert_eq!(Sort::parse(Some(&sort.to_string())), Some(sort));
        }
        let ascending = Sort::after_click(None, Column::Depth).unwrap();
        assert_eq!(ascending.to_string(), "depth");
        assert_eq!(Sort::parse(Some("nonsense")), None);
    }

    #[test]
    fn narrow_windows_show_fewer_columns() {
        let (wide, narrow) = grid_templates(&[Column::Path, Column::Title, Column::Status, Column::Time]);
        assert_eq!(wide, "36px minmax(0, 1.2fr) minmax(0, 1fr) 58px 66px");
        assert_eq!(narrow, "36px minmax(0, 1.2fr) 58px");
    }
}
