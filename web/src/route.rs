//! Screens of the navigation and the URLs of all screens. `screens.rs` maps the paths to components.

use harvestman_core::api::console::ConsoleJob;
use harvestman_core::api::job::JobKind;
use harvestman_core::api::team::{ActivityEntry, Endpoint};
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_query_map};
use leptos_router::params::ParamsMap;

use crate::components::icon::Glyph;

/// Path at which the console is served.
pub const BASE: &str = "/console";

/// A screen in the navigation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Screen {
    /// Health, running crawls, recent activity.
    Overview,
    /// Scrapes one page.
    Scrape,
    /// Crawls a site.
    Crawl,
    /// Scrapes a list of pages.
    Batch,
    /// Searches the web.
    Search,
    /// Extracts data from pages.
    Extract,
    /// Converts a file.
    Parse,
    /// Tasks for an agent.
    Agent,
    /// Recent API calls.
    Activity,
    /// Credits and tokens used.
    Usage,
    /// API keys of the team.
    Keys,
    /// Questions about the documentation.
    Ask,
    /// Tools that run without the server.
    Tools,
    /// Lists the URLs of a site.
    Map,
    /// Pages that are checked on a schedule.
    Monitors,
    /// Browser sessions.
    Sessions,
    /// Settings of this browser.
    Settings,
}

/// Section of the navigation that a screen belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NavSection {
    /// The main section; also in the bottom bar of a phone.
    Primary,
    /// The main section; on a phone under "More".
    Secondary,
    /// The team section; on a phone under "More".
    Team,
}

/// What the navigation shows of a screen.
struct Entry {
    screen: Screen,
    name: &'static str,
    path: &'static str,
    letter: &'static str,
    glyph: Glyph,
    section: NavSection,
}

const fn entry(
    screen: Screen,
    name: &'static str,
    path: &'static str,
    letter: &'static str,
    glyph: Glyph,
    section: NavSection,
) -> Entry {
    Entry {
        screen,
        name,
        path,
        letter,
        glyph,
        section,
    }
}

/// All screens in navigation order: name, path below [`BASE`], shortcut letter after `g`, icon and section.
#[rustfmt::skip]
const TABLE: &[Entry] = &[
    entry(Screen::Overview, "Overview", "/", "o", Glyph::Overview, NavSection::Primary),
    entry(Screen::Scrape, "Scrape", "/scrape", "s", Glyph::Scrape, NavSection::Primary),
    entry(Screen::Crawl, "Crawl", "/crawl", "c", Glyph::Crawl, NavSection::Primary),
    entry(Screen::Batch, "Batch", "/batch", "l", Glyph::Batch, NavSection::Secondary),
    entry(Screen::Map, "Map", "/map", "m", Glyph::Map, NavSection::Secondary),
    entry(Screen::Search, "Search", "/search", "f", Glyph::Search, NavSection::Secondary),
    entry(Screen::Extract, "Extract", "/extract", "x", Glyph::Extract, NavSection::Secondary),
    entry(Screen::Parse, "Parse", "/parse", "p", Glyph::Parse, NavSection::Secondary),
    entry(Screen::Agent, "Agent", "/agent", "e", Glyph::Agent, NavSection::Secondary),
    entry(Screen::Monitors, "Monitors", "/monitors", "n", Glyph::Monitors, NavSection::Secondary),
    entry(Screen::Sessions, "Sessions", "/sessions", "b", Glyph::Sessions, NavSection::Primary),
    entry(Screen::Activity, "Activity", "/activity", "a", Glyph::Activity, NavSection::Team),
    entry(Screen::Usage, "Usage", "/usage", "u", Glyph::Usage, NavSection::Team),
    entry(Screen::Keys, "Keys", "/keys", "k", Glyph::Keys, NavSection::Team),
    entry(Screen::Ask, "Ask", "/ask", "q", Glyph::Ask, NavSection::Team),
    entry(Screen::Tools, "Tools", "/tools", "w", Glyph::Tools, NavSection::Team),
    entry(Screen::Settings, "Settings", "/settings", "t", Glyph::Settings, NavSection::Team),
];

impl Screen {
    /// Returns every screen in navigation order.
    pub fn all() -> impl Iterator<Item = Screen> {
        TABLE.iter().map(|entry| entry.screen)
    }

    fn entry(self) -> &'static Entry {
        let entry = TABLE.iter().find(|entry| entry.screen == self);
        entry.expect("every screen is in the table, as a test checks")
    }

    /// Returns the name on screen.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the path below [`BASE`].
    pub fn path(self) -> &'static str {
        self.entry().path
    }

    /// Returns the shortcut letter after `g`.
    pub fn letter(self) -> &'static str {
        self.entry().letter
    }

    /// Returns the icon.
    pub fn glyph(self) -> Glyph {
        self.entry().glyph
    }

    /// Returns the section of the navigation.
    pub fn section(self) -> NavSection {
        self.entry().section
    }

    /// Returns the URL path including [`BASE`].
    pub fn href(self) -> String {
        format!("{BASE}{}", self.path())
    }

    /// Returns the path with a query parameter.
    pub fn path_with(self, parameter: &str, value: &str) -> String {
        let value = String::from(js_sys::encode_uri_component(value));
        format!("{}?{parameter}={value}", self.path())
    }

    /// Returns the URL path including [`BASE`], with a query parameter.
    pub fn href_with(self, parameter: &str, value: &str) -> String {
        format!("{BASE}{}", self.path_with(parameter, value))
    }

    /// Returns the query parameters of the console URL, empty while another screen is open.
    pub fn query(self) -> Memo<ParamsMap> {
        let (query, path) = (use_query_map(), use_location().pathname);
        let is_here = move || path.with(|path| path.ends_with(self.path()));
        Memo::new(move |_| if is_here() { query.get() } else { ParamsMap::new() })
    }

    /// Returns whether a URL path (including [`BASE`]) belongs to the screen. Job pages belong to crawl.
    pub fn owns(self, path: &str) -> bool {
        let path = path.strip_prefix(BASE).unwrap_or(path);
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        let first = if first == "jobs" { "crawl" } else { first };
        first == self.path().trim_start_matches('/')
    }
}

/// Returns the URL path of a job.
pub fn job_href(id: &impl std::fmt::Display) -> String {
    format!("{BASE}{}", job_path(id))
}

/// Returns the path of a job below [`BASE`].
pub fn job_path(id: &impl std::fmt::Display) -> String {
    format!("/jobs/{id}")
}

/// Returns the path below [`BASE`] of the scrape form with the result of an earlier scrape.
pub fn scrape_path(url: &str, id: &impl std::fmt::Display) -> String {
    format!("{}&id={id}", Screen::Scrape.path_with("url", url))
}

/// Returns the path below [`BASE`] of the screen that shows the result of a stored job.
pub fn result_path(job: &ConsoleJob) -> String {
    let with_id = |screen: Screen| format!("{}?id={}", screen.path(), job.id);
    match job.kind {
        JobKind::Scrape => scrape_path(&job.url, &job.id),
        JobKind::Parse => with_id(Screen::Parse),
        JobKind::Extract => with_id(Screen::Extract),
        JobKind::Agent => with_id(Screen::Agent),
        _ => job_path(&job.id),
    }
}

/// Returns the URL path of an agent run.
pub fn agent_href(id: &impl std::fmt::Display) -> String {
    format!("{}?id={id}", Screen::Agent.href())
}

/// Returns the path of a monitor below [`BASE`].
pub fn monitor_path(id: &str) -> String {
    format!("{}/{id}", Screen::Monitors.path())
}

/// Returns the URL path of a monitor.
pub fn monitor_href(id: &str) -> String {
    format!("{BASE}{}", monitor_path(id))
}

/// Returns the path of a session below [`BASE`]; the id belongs to the session or to its scrape.
pub fn session_path(id: &impl std::fmt::Display) -> String {
    format!("{}/{id}", Screen::Sessions.path())
}

/// Returns the URL path of a session.
pub fn session_href(id: &impl std::fmt::Display) -> String {
    format!("{BASE}{}", session_path(id))
}

/// Returns the URL path of the result of an API call, or of the form with the same target if results are not stored.
pub fn call_href(call: &ActivityEntry) -> Option<String> {
    let form = |screen: Screen, field| Some(screen.href_with(field, call.target.as_deref()?));
    match call.endpoint {
        Endpoint::Crawl | Endpoint::BatchScrape => Some(job_href(&call.id)),
        Endpoint::Extract => Some(format!("{}?id={}", Screen::Extract.href(), call.id)),
        Endpoint::Browser | Endpoint::Interact => Some(session_href(&call.id)),
        Endpoint::Parse => Some(format!("{}?id={}", Screen::Parse.href(), call.id)),
        Endpoint::Scrape => {
            let url = call.target.as_deref().unwrap_or_default();
            Some(format!("{BASE}{}", scrape_path(url, &call.id)))
        }
        Endpoint::Map => form(Screen::Map, "url"),
        Endpoint::Search => form(Screen::Search, "query"),
        Endpoint::Agent => Some(agent_href(&call.id)),
        Endpoint::Llmstxt | Endpoint::DeepResearch => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_one_screen() {
        let owner = |path: &str| Screen::all().filter(|screen| screen.owns(path)).count();
        for path in [
            "/console", "/console/", "/console/scrape", "/console/crawl", "/console/jobs/x",
            "/console/sessions/x", "/console/monitors/x", "/console/agent", "/console/parse",
            "/console/settings",
        ] {
            assert_eq!(owner(path), 1, "{path}");
        }
        assert_eq!(owner("/console/nothing"), 0);
    }

    #[test]
    fn every_screen_has_a_unique_path_and_letter() {
        for screen in Screen::all() {
            let same = |other: &Screen| other.path() == screen.path() || other.letter() == screen.letter();
            assert_eq!(Screen::all().filter(same).count(), 1, "{screen:?}");
        }
    }
}
