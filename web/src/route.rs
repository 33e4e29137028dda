//! Addresses of the console's screens.

use harvestman_core::api::team::{ActivityEntry, Endpoint};

use crate::components::icon::Picture;

/// Where the console is served.
pub const BASE: &str = "/console";

/// A screen of the navigation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Screen {
    /// Health, running crawls, recent jobs.
    Overview,
    /// One page.
    Scrape,
    /// A site.
    Crawl,
    /// The web by words.
    Search,
    /// Data from pages.
    Extract,
    /// What was asked.
    Activity,
    /// What was spent.
    Usage,
    /// Keys of the team.
    Keys,
    /// Questions to the documentation.
    Ask,
    /// What needs no server.
    Tools,
    /// The addresses of a site.
    Map,
    /// Live browsers.
    Sessions,
    /// Choices of this device.
    Settings,
}

/// Where a screen stands in the navigation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// At the top, and in the bar of a phone.
    First,
    /// Below those; on a phone under "More".
    Work,
    /// In the section of the team; on a phone under "More".
    Team,
}

/// What is known of a screen: name, path under the base, the letter after `g`, picture, place.
struct Entry(Screen, &'static str, &'static str, &'static str, Picture, Place);

/// In the order of the navigation.
#[rustfmt::skip]
const TABLE: &[Entry] = &[
    Entry(Screen::Overview, "Overview", "/", "o", Picture::Overview, Place::First),
    Entry(Screen::Scrape, "Scrape", "/scrape", "s", Picture::Scrape, Place::First),
    Entry(Screen::Crawl, "Crawl", "/crawl", "c", Picture::Crawl, Place::First),
    Entry(Screen::Map, "Map", "/map", "m", Picture::Map, Place::Work),
    Entry(Screen::Search, "Search", "/search", "f", Picture::Search, Place::Work),
    Entry(Screen::Extract, "Extract", "/extract", "x", Picture::Extract, Place::Work),
    Entry(Screen::Sessions, "Sessions", "/sessions", "b", Picture::Sessions, Place::First),
    Entry(Screen::Activity, "Activity", "/activity", "a", Picture::Activity, Place::Team),
    Entry(Screen::Usage, "Usage", "/usage", "u", Picture::Usage, Place::Team),
    Entry(Screen::Keys, "Keys", "/keys", "k", Picture::Keys, Place::Team),
    Entry(Screen::Ask, "Ask", "/ask", "q", Picture::Ask, Place::Team),
    Entry(Screen::Tools, "Tools", "/tools", "w", Picture::Tools, Place::Team),
    Entry(Screen::Settings, "Settings", "/settings", "t", Picture::Settings, Place::Team),
];

impl Screen {
    /// Every screen, in the order of the navigation.
    pub fn all() -> impl Iterator<Item = Screen> {
        TABLE.iter().map(|entry| entry.0)
    }

    fn entry(self) -> &'static Entry {
        let found = TABLE.iter().find(|entry| entry.0 == self);
        found.expect("a test looks for every screen in the table")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// Its path under the base.
    pub fn path(self) -> &'static str {
        self.entry().2
    }

    /// The letter after `g`.
    pub fn letter(self) -> &'static str {
        self.entry().3
    }

    /// Its picture.
    pub fn picture(self) -> Picture {
        self.entry().4
    }

    /// Where it stands.
    pub fn place(self) -> Place {
        self.entry().5
    }

    /// Its address.
    pub fn href(self) -> String {
        format!("{BASE}{}", self.path())
    }

    /// Whether an address (with the base) belongs to it; jobs belong to crawl.
    pub fn owns(self, address: &str) -> bool {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        let first = if first == "jobs" { "crawl" } else { first };
        first == self.path().trim_start_matches('/')
    }
}

/// Address of a job's screen.
pub fn job_href(id: &impl std::fmt::Display) -> String {
    format!("{BASE}{}", job_path(id))
}

/// Path of a job's screen under the base.
pub fn job_path(id: &impl std::fmt::Display) -> String {
    format!("/jobs/{id}")
}

/// Path of the form of a scrape with the result of one under the base.
pub fn scrape_path(url: &str, id: &impl std::fmt::Display) -> String {
    let url = String::from(js_sys::encode_uri_component(url));
    format!("{}?url={url}&id={id}", Screen::Scrape.path())
}

/// Path of a session's screen under the base; the id is the session's or its scrape's.
pub fn session_path(id: &impl std::fmt::Display) -> String {
    format!("{}/{id}", Screen::Sessions.path())
}

/// Address of a session's screen.
pub fn session_href(id: &impl std::fmt::Display) -> String {
    format!("{BASE}{}", session_path(id))
}

/// Address of the screen where the result of a call is, or of its form with the same target where nothing was kept.
pub fn call_href(call: &ActivityEntry) -> Option<String> {
    let form = |screen: Screen, field| {
        let target = js_sys::encode_uri_component(call.target.as_deref()?);
        Some(format!("{}?{field}={target}", screen.href()))
    };
    match call.endpoint {
        Endpoint::Crawl | Endpoint::BatchScrape => Some(job_href(&call.id)),
        Endpoint::Extract => Some(format!("{}?id={}", Screen::Extract.href(), call.id)),
        Endpoint::Browser | Endpoint::Interact => Some(session_href(&call.id)),
        Endpoint::Scrape => {
            let url = call.target.as_deref().unwrap_or_default();
            Some(format!("{BASE}{}", scrape_path(url, &call.id)))
        }
        Endpoint::Map => form(Screen::Map, "url"),
        Endpoint::Search => form(Screen::Search, "query"),
        Endpoint::Agent | Endpoint::Llmstxt | Endpoint::DeepResearch => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_one_screen() {
        let owner = |address: &str| Screen::all().filter(|screen| screen.owns(address)).count();
        for address in [
            "/console",
            "/console/",
            "/console/scrape",
            "/console/crawl",
            "/console/jobs/x",
            "/console/sessions/x",
            "/console/settings",
        ] {
            assert_eq!(owner(address), 1, "{address}");
        }
        assert_eq!(owner("/console/nothing"), 0);
    }

    #[test]
    fn every_screen_has_a_path_and_a_letter_of_its_own() {
        for screen in Screen::all() {
            let same = |other: &Screen| other.path() == screen.path() || other.letter() == screen.letter();
            assert_eq!(Screen::all().filter(same).count(), 1, "{screen:?}");
        }
    }
}
