//! Result of a map: the URLs as a filterable list and as a tree, both with selection, and the actions for selected
//! URLs.

use std::collections::HashSet;
use std::sync::Arc;

use harvestman_core::api::TargetUrl;
use harvestman_core::api::batch::BatchScrapeRequest;
use harvestman_core::api::job::StatusPath;
use harvestman_core::api::map::MapLink;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::components::code::copy;
use crate::components::filter_input::FilterInput;
use crate::components::panes::Expand;
use crate::components::tabs::{Tab, Tabs, tab};
use crate::components::tree::Tree;
use crate::components::virtual_scroll::VirtualScroll;
use crate::console::Console;
use crate::csv::csv_line;
use crate::follow_up::{FollowUp, start_job};
use crate::limits::ROW_PX;
use crate::path_tree::PathTree;
use crate::route::Screen;
use crate::{browser, display, text};

/// The URLs, those that match the filter, and those that are selected, as indexes.
#[derive(Clone, Copy)]
struct UrlSelection {
    links: StoredValue<Arc<Vec<MapLink>>>,
    rows: Memo<Vec<usize>>,
    selected: RwSignal<HashSet<usize>>,
}

impl UrlSelection {
    fn is_all_selected(self) -> bool {
        let Self { rows, selected, .. } = self;
        rows.with(|rows| {
            !rows.is_empty() && selected.with(|selected| rows.iter().all(|at| selected.contains(at)))
        })
    }

    /// Selects all URLs that match the filter, or none of them if all are selected.
    fn toggle_all(self) {
        let all = untrack(|| self.is_all_selected());
        self.selected.update(|selected| {
            self.rows.with_untracked(|rows| match all {
                true => rows.iter().for_each(|at| _ = selected.remove(at)),
                false => selected.extend(rows.iter().copied()),
            });
        });
    }

    fn toggle(self, at: usize) {
        self.selected.update(|selected| {
            if !selected.remove(&at) {
                selected.insert(at);
            }
        });
    }

    /// Returns the selected URLs in order.
    fn selected_links(self) -> Vec<MapLink> {
        let mut indexes: Vec<usize> = self.selected.with(|selected| selected.iter().copied().collect());
        indexes.sort_unstable();
        self.links_at(&indexes)
    }

    /// Returns the selected URLs, or all that match the filter if none is selected.
    fn export_links(self) -> Vec<MapLink> {
        match self.selected.with(HashSet::is_empty) {
            true => self.rows.with(|rows| self.links_at(rows)),
            false => self.selected_links(),
        }
    }

    fn links_at(self, indexes: &[usize]) -> Vec<MapLink> {
        self.links
            .with_value(|links| indexes.iter().map(|at| links[*at].clone()).collect())
    }
}

/// Renders the result.
#[component]
pub fn MapResult(
    links: Arc<Vec<MapLink>>,
    /// Duration of the request; `None` for an earlier one.
    took_ms: Option<u64>,
    /// Whether the result is kept in this browser.
    is_kept: bool,
) -> impl IntoView {
    let console = Console::get();
    let links = StoredValue::new(links);
    let total = links.with_value(|links| links.len());
    let filter = RwSignal::new(String::new());
    let rows = Memo::new(move |_| {
        let filter = filter.with(|filter| filter.trim().to_lowercase());
        links.with_value(|links| {
            let all = links.iter().enumerate();
            let matching = all.filter(|(_, link)| filter.is_empty() || matches(link, &filter));
            matching.map(|(at, _)| at).collect::<Vec<_>>()
        })
    });
    let selection = UrlSelection {
        links,
        rows,
        selected: RwSignal::new(HashSet::new()),
    };
    let tree = Memo::new(move |_| {
        links.with_value(|links| {
            let shown = |at: &usize| (*at, links[*at].url.as_str());
            rows.with(|rows| Arc::new(PathTree::of_items(rows.iter().map(shown))))
        })
    });
    // A click in this tree ticks a URL and opens none.
    let opened = RwSignal::new(None::<u64>);
    let chosen = RwSignal::new("table");
    let tabs = Signal::derive(move || {
        vec![
            Tab {
                id: "table",
                label: "URLs",
                count: Some(display::count(rows.with(Vec::len) as u64)),
            },
            tab("tree", "Tree"),
        ]
    });
    let copy_all = move |_| {
        let links = untrack(|| selection.export_links());
        let urls: Vec<String> = links.into_iter().map(|link| link.url).collect();
        copy(console, urls.join("\n"));
    };
    let save = move |_| {
        let table = csv_of(untrack(|| selection.export_links()));
        if browser::download("map.csv", "text/csv", &table).is_none() {
            console.notify(text::NOT_SAVED);
        }
    };
    view! {
        <div class="card-head">
            <h2>"Site map"</h2>
            <span class="grow"></span>
            <span class="hint nowrap">
                {display::plural(total as u64, "URL", "URLs")} {took_ms.map(|took_ms| format!(" in {}", display::duration_ms(took_ms)))}
            </span>
            <Expand/>
        </div>
        <Tabs name="found" label="Result view" tabs chosen/>
        <div class="filter send">
            <label class="tick">
                <input
                    type="checkbox"
                    aria-label="Select all shown URLs"
                    disabled=move || rows.with(Vec::is_empty)
                    prop:checked=move || selection.is_all_selected()
                    on:change=move |_| selection.toggle_all()
                />
            </label>
            <FilterInput words=filter label="Filter URLs" placeholder="Filter by URL or title"/>
        </div>
        <div role="tabpanel" id="found-panel" aria-labelledby=move || format!("found-{}", chosen.get())>
            {move || match (rows.with(Vec::is_empty), chosen.get()) {
                (true, _) => view! { <p class="empty">{if total == 0 { text::MAP_NO_URLS } else { text::NO_FILTER_MATCH }}</p> }.into_any(),
                (false, "tree") => view! { <Tree tree chosen=opened label="URLs by path; press Space to select" ticked=selection.selected/> }.into_any(),
                (false, _) => view! { <UrlList selection/> }.into_any(),
            }}
        </div>
        <div class="card-foot found-foot stay">
            <SelectionActions selection/>
            <span class="hint top-opt">{is_kept.then_some(text::RESULT_KEPT)}</span>
            <span class="grow"></span>
            <button class="btn small quiet" on:click=copy_all>
                "Copy"
            </button>
            <button class="btn small quiet" on:click=save>
                "CSV"
            </button>
        </div>
    }
    .into_any()
}

fn matches(link: &MapLink, filter: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(filter);
    has(&link.url) || link.title.as_deref().is_some_and(has)
}

fn csv_of(links: Vec<MapLink>) -> String {
    let mut table = csv_line(["url", "title", "description"]);
    for link in links {
        let (title, description) = (
            link.title.unwrap_or_default(),
            link.description.unwrap_or_default(),
        );
        table.push_str(&csv_line([link.url.as_str(), &title, &description]));
    }
    table
}

#[component]
fn UrlList(selection: UrlSelection) -> impl IntoView {
    let UrlSelection {
        links,
        rows,
        selected,
    } = selection;
    let scroll = VirtualScroll::new(false);
    let range = scroll.range();
    let cursor = RwSignal::new(None::<usize>);
    let visible = move || rows.with(|rows| VirtualScroll::visible_items(range.get(), rows));
    let on_key = move |event: KeyboardEvent| {
        let position =
            rows.with_untracked(|rows| rows.iter().position(|at| Some(*at) == cursor.get_untracked()));
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        if event.key() == " " {
            event.prevent_default();
            if let Some(at) = cursor.get_untracked() {
                selection.toggle(at);
            }
        } else if let Some(next) = scroll.step(&event.key(), position, last) {
            event.prevent_default();
            cursor.set(rows.with_untracked(|rows| rows.get(next).copied()));
            scroll.reveal(next);
        }
    };
    let row = move |(row_index, at): (usize, usize)| {
        let link = links.with_value(|links| links[at].clone());
        let is_selected = move || selected.with(|selected| selected.contains(&at));
        view! {
            <div
                class="tree-row found-row"
                class:at=move || cursor.get() == Some(at)
                role="option"
                id=format!("found-{at}")
                aria-selected=move || is_selected().to_string()
                aria-posinset=(row_index + 1).to_string()
                aria-setsize=move || rows.with(Vec::len).to_string()
                title=link.url.clone()
                style:top=format!("{}px", row_index as f64 * ROW_PX)
                on:click=move |_| {
                    cursor.set(Some(at));
                    selection.toggle(at);
                }
            >
                <span class="box" class:on=is_selected aria-hidden="true"></span>
                <span class="cut mono">{display::url_path(&link.url).to_owned()}</span>
                <span class="cut quiet-text opt">{link.title}</span>
            </div>
        }
    };
    view! {
        <div
            class="tree"
            role="listbox"
            aria-multiselectable="true"
            tabindex="0"
            aria-label="URLs; press Space to select"
            aria-activedescendant=move || cursor.get().map(|at| format!("found-{at}"))
            node_ref=scroll.node
            on:scroll=move |_| scroll.on_scroll()
            on:keydown=on_key
        >
            <div
                class="grid-space"
                role="presentation"
                style:height=move || format!("{}px", rows.with(Vec::len) as f64 * ROW_PX)
            >
                <For each=visible key=|row| *row children=row/>
            </div>
        </div>
    }
    .into_any()
}

/// Renders the actions for the selected URLs.
#[component]
fn SelectionActions(selection: UrlSelection) -> impl IntoView {
    let console = Console::get();
    let follow_up = FollowUp::new();
    let start_batch = move |_| {
        let links = untrack(|| selection.selected_links());
        let urls = links.iter().filter_map(|link| TargetUrl::parse(&link.url).ok());
        let request = BatchScrapeRequest::new(urls.collect::<Vec<_>>());
        let body = serde_json::to_value(&request).unwrap_or_default();
        let start = async move { start_job(console, StatusPath::BatchScrape, &body).await };
        follow_up.run(start, "Batch started".to_owned());
    };
    let actions_for = move |link: MapLink| {
        view! {
            <a class="btn small" href=Screen::Scrape.href_with("url", &link.url)>"Scrape URL"</a>
            <a class="btn small" href=Screen::Crawl.href_with("url", &link.url)>"Crawl from URL"</a>
        }
    };
    move || {
        match selection.selected.with(HashSet::len) {
        0 => view! { <span>{text::MAP_SELECT}</span> }.into_any(),
        1 => selection.selected_links().pop().map(actions_for).into_any(),
        count => view! {
            <button class="btn small" aria-disabled=move || follow_up.busy.get().to_string() on:click=start_batch>
                {format!("Batch scrape {} URLs", display::count(count as u64))}
            </button>
        }
        .into_any(),
    }
    }
}
