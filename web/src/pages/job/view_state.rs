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
use crate::{browser, route};

/// The tabs; the first one is not written to the URL.
const TABS: [&str; 6] = ["pages", "tree", "graph", "errors", "request", "webhooks"];

/// The view state as signals.
#[derive(Clone, Copy)]
pub struct Place {
    /// One of [`TABS`].
    pub tab: RwSignal<&'static str>,
    /// Filter of the pages.
    pub search: RwSignal<String>,
    /// Index of the open page in the job's documents.
    pub page: RwSignal<Option<u64>>,
    /// Filter of the webhook events.
    pub state: RwSignal<Option<DeliveryState>>,
}

/// The view state as values, from the signals or from a URL.
#[derive(PartialEq, Debug)]
struct Said {
    tab: &'static str,
    search: String,
    page: Option<u64>,
    state: Option<DeliveryState>,
}

impl Place {
    /// Returns the view state of the URL, and keeps the two in sync.
    pub fn in_address(id: JobId) -> Self {
        let (query, navigate) = (use_query_map(), use_navigate());
        let said = query.with_untracked(Said::by_address);
        let place = Self {
            tab: RwSignal::new(said.tab),
            search: RwSignal::new(said.search),
            page: RwSignal::new(said.page),
            state: RwSignal::new(said.state),
        };
        // Back and forward change the tab. Within a tab, the signals are newer than the URL.
        Effect::new(move |_| {
            let said = query.with(Said::by_address);
            if said.tab != place.tab.get_untracked() {
                place.search.set(said.search);
                place.page.set(said.page);
                place.state.set(said.state);
                place.tab.set(said.tab);
            }
        });
        let turn = StoredValue::new(0_u64);
        Effect::new(move |_| {
            let (said, known) = (place.said(), query.with_untracked(Said::by_address));
            turn.update_value(|turn| *turn += 1);
            if said == known {
                return;
            }
            let (mine, step, navigate) = (turn.get_value(), said.tab != known.tab, navigate.clone());
            spawn_local(async move {
                if !step {
                    browser::sleep(URL_UPDATE_MS).await;
                }
                if turn.try_get_value() == Some(mine) {
                    let options = NavigateOptions {
                        replace: !step,
                        scroll: false,
                        ..Default::default()
                    };
                    let encoded = |text: &str| String::from(js_sys::encode_uri_component(text));
                    navigate(
                        &format!("{}{}", route::job_path(&id), said.query(encoded)),
                        options,
                    );
                }
            });
        });
        place
    }

    fn said(self) -> Said {
        Said {
            tab: self.tab.get(),
            search: self.search.with(|search| search.trim().to_owned()),
            page: self.page.get(),
            state: self.state.get(),
        }
    }
}

impl Said {
    fn by_address(query: &ParamsMap) -> Self {
        Self::by(|name| query.get_str(name))
    }

    fn by<'a>(part: impl Fn(&str) -> Option<&'a str>) -> Self {
        let tab = part("tab");
        Self {
            tab: TABS.into_iter().find(|one| Some(*one) == tab).unwrap_or(TABS[0]),
            search: part("search").unwrap_or_default().to_owned(),
            page: part("page").and_then(|page| page.parse().ok()),
            state: part("state").and_then(DeliveryState::parse),
        }
    }

    /// Returns the query, such as `?tab=tree&page=3`; empty for the initial state.
    fn query(&self, encoded: impl Fn(&str) -> String) -> String {
        let parts = [
            (
                "tab",
                Some(self.tab).filter(|tab| *tab != TABS[0]).map(str::to_owned),
            ),
            (
                "search",
                Some(encoded(&self.search)).filter(|search| !search.is_empty()),
            ),
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
    use super::*;

    #[test]
    fn view_state_and_query_convert_both_ways() {
        let query = |said: &Said| said.query(str::to_owned);
        let first = Said::by(|_| None);
        assert_eq!(query(&first), "");
        let elsewhere = Said {
            tab: "webhooks",
            search: "docs/api".to_owned(),
            page: Some(4711),
            state: Some(DeliveryState::GivenUp),
        };
        let written = query(&elsewhere);
        assert_eq!(written, "?tab=webhooks&search=docs/api&page=4711&state=given_up");
        let read = Said::by(|name| {
            let mut parts = written[1..].split('&').filter_map(|part| part.split_once('='));
            parts.find(|part| part.0 == name).map(|part| part.1)
        });
        assert_eq!(read, elsewhere);
        assert_eq!(Said::by(|_| Some("nonsense")).page, None);
        assert_eq!(Said::by(|_| Some("nonsense")).tab, first.tab);
    }
}
