//! View state of the job screen (tab, filters, open page), kept in the URL so that it can be shared. Switching tabs
//! adds a step to the browser history; other changes do not.

use harvestman_core::ids::JobId;
use harvestman_core::webhook::DeliveryState;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use leptos_router::params::ParamsMap;

use crate::limits::URL_UPDATE_MS;
use crate::pages::job::page_columns::Sort;
use crate::pages::job::page_filter::PageFilter;
use crate::{browser, route};

/// The tabs; the first one is not written to the URL.
const TABS: [&str; 8] = [
    "pages", "tree", "graph", "errors", "blocked", "compare", "request", "webhooks",
];

/// The view state as signals.
#[derive(Clone, Copy)]
pub struct ViewState {
    /// One of [`TABS`].
    pub tab: RwSignal<&'static str>,
    /// Words that the pages contain.
    pub search: RwSignal<String>,
    /// Kind of the pages.
    pub filter: RwSignal<PageFilter>,
    /// Depth of the pages; `None` for every depth.
    pub depth: RwSignal<Option<u32>>,
    /// Order of the pages; `None` for the order of completion.
    pub sort: RwSignal<Option<Sort>>,
    /// Index of the open page in the job's documents.
    pub page: RwSignal<Option<u64>>,
    /// Filter of the webhook events.
    pub state: RwSignal<Option<DeliveryState>>,
}

/// The view state as values, from the signals or from a URL.
#[derive(PartialEq, Debug)]
struct ViewValues {
    tab: &'static str,
    search: String,
    filter: PageFilter,
    depth: Option<u32>,
    sort: Option<Sort>,
    page: Option<u64>,
    state: Option<DeliveryState>,
}

impl ViewState {
    /// Returns the view state of the URL, and keeps the two in sync.
    pub fn synced_with_url(id: JobId) -> Self {
        let (query, navigate) = (use_query_map(), use_navigate());
        let values = query.with_untracked(ViewValues::from_query);
        let view_state = Self {
            tab: RwSignal::new(values.tab),
            search: RwSignal::new(values.search),
            filter: RwSignal::new(values.filter),
            depth: RwSignal::new(values.depth),
            sort: RwSignal::new(values.sort),
            page: RwSignal::new(values.page),
            state: RwSignal::new(values.state),
        };
        // Back and forward change the tab. Within a tab, the signals are newer than the URL.
        Effect::new(move |_| {
            let values = query.with(ViewValues::from_query);
            // When the URL leads to another job, this one may be gone already.
            let tab = view_state.tab.try_get_untracked();
            if tab.is_some_and(|tab| tab != values.tab) {
                view_state.search.set(values.search);
                view_state.filter.set(values.filter);
                view_state.depth.set(values.depth);
                view_state.sort.set(values.sort);
                view_state.page.set(values.page);
                view_state.state.set(values.state);
                view_state.tab.set(values.tab);
            }
        });
        let generation = StoredValue::new(0_u64);
        Effect::new(move |_| {
            let (values, in_url) = (view_state.values(), query.with_untracked(ViewValues::from_query));
            generation.update_value(|generation| *generation += 1);
            if values == in_url {
                return;
            }
            let (own_generation, adds_history, navigate) =
                (generation.get_value(), values.tab != in_url.tab, navigate.clone());
            spawn_local(async move {
                if !adds_history {
                    browser::sleep(URL_UPDATE_MS).await;
                }
                if generation.try_get_value() == Some(own_generation) {
                    let options = NavigateOptions {
                        replace: !adds_history,
                        scroll: false,
                        ..Default::default()
                    };
                    let encode = |text: &str| String::from(js_sys::encode_uri_component(text));
                    navigate(
                        &format!("{}{}", route::job_path(&id), values.query(encode)),
                        options,
                    );
                }
            });
        });
        view_state
    }

    fn values(self) -> ViewValues {
        ViewValues {
            tab: self.tab.get(),
            search: self.search.with(|search| search.trim().to_owned()),
            filter: self.filter.get(),
            depth: self.depth.get(),
            sort: self.sort.get(),
            page: self.page.get(),
            state: self.state.get(),
        }
    }
}

impl ViewValues {
    fn from_query(query: &ParamsMap) -> Self {
        Self::from_parts(|name| query.get_str(name))
    }

    fn from_parts<'a>(part: impl Fn(&str) -> Option<&'a str>) -> Self {
        let tab = part("tab");
        Self {
            tab: TABS.into_iter().find(|one| Some(*one) == tab).unwrap_or(TABS[0]),
            search: part("search").unwrap_or_default().to_owned(),
            filter: PageFilter::parse(part("only")),
            depth: part("depth").and_then(|depth| depth.parse().ok()),
            sort: Sort::parse(part("sort")),
            page: part("page").and_then(|page| page.parse().ok()),
            state: part("state").and_then(DeliveryState::parse),
        }
    }

    /// Returns the query, such as `?tab=tree&page=3`; empty for the initial state.
    fn query(&self, encode: impl Fn(&str) -> String) -> String {
        let parts = [
            (
                "tab",
                Some(self.tab).filter(|tab| *tab != TABS[0]).map(str::to_owned),
            ),
            (
                "search",
                Some(encode(&self.search)).filter(|search| !search.is_empty()),
            ),
            (
                "only",
                Some(self.filter.to_string()).filter(|name| !name.is_empty()),
            ),
            ("depth", self.depth.map(|depth| depth.to_string())),
            ("sort", self.sort.map(|sort| sort.to_string())),
            ("page", self.page.map(|page| page.to_string())),
            ("state", self.state.map(|state| state.to_string())),
        ];
        let parts = parts
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        let query = parts.collect::<Vec<_>>().join("&");
        match query.is_empty() {
            true => query,
            false => format!("?{query}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pages::job::page_columns::Column;

    use super::*;

    #[test]
    fn view_state_and_query_convert_both_ways() {
        let query = |values: &ViewValues| values.query(str::to_owned);
        let first = ViewValues::from_parts(|_| None);
        assert_eq!(query(&first), "");
        let elsewhere = ViewValues {
            tab: "webhooks",
            search: "docs/api".to_owned(),
            filter: PageFilter::Status(404),
            depth: Some(2),
            sort: Some(Sort::greatest(Column::Size)),
            page: Some(4711),
            state: Some(DeliveryState::GivenUp),
        };
        let written = query(&elsewhere);
        assert_eq!(
            written,
            "?tab=webhooks&search=docs/api&only=404&depth=2&sort=-size&page=4711&state=given_up"
        );
        let read = ViewValues::from_parts(|name| {
            let mut parts = written[1..].split('&').filter_map(|part| part.split_once('='));
            parts.find(|part| part.0 == name).map(|part| part.1)
        });
        assert_eq!(read, elsewhere);
        assert_eq!(ViewValues::from_parts(|_| Some("nonsense")).page, None);
        assert_eq!(ViewValues::from_parts(|_| Some("nonsense")).tab, first.tab);
    }
}
