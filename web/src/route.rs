//! Addresses of the console's screens.

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
    /// Choices of this device.
    Settings,
}

impl Screen {
    /// In the order of the navigation.
    pub const ALL: [Screen; 4] = [Screen::Overview, Screen::Scrape, Screen::Crawl, Screen::Settings];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Screen::Overview => "Overview",
            Screen::Scrape => "Scrape",
            Screen::Crawl => "Crawl",
            Screen::Settings => "Settings",
        }
    }

    /// Its path under the base.
    pub fn path(self) -> &'static str {
        match self {
            Screen::Overview => "/",
            Screen::Scrape => "/scrape",
            Screen::Crawl => "/crawl",
            Screen::Settings => "/settings",
        }
    }

    /// The letter after `g`.
    pub fn letter(self) -> &'static str {
        match self {
            Screen::Overview => "o",
            Screen::Scrape => "s",
            Screen::Crawl => "c",
            Screen::Settings => "t",
        }
    }

    /// Its address.
    pub fn href(self) -> String {
        format!("{BASE}{}", self.path())
    }

    /// Whether an address (with the base) belongs to it; jobs belong to crawl.
    pub fn owns(self, address: &str) -> bool {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        match self {
            Screen::Overview => path.is_empty() || path == "/",
            Screen::Crawl => path.starts_with("/crawl") || path.starts_with("/jobs/"),
            Screen::Scrape | Screen::Settings => path.starts_with(self.path()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_one_screen() {
        let owner = |address: &str| Screen::ALL.iter().filter(|screen| screen.owns(address)).count();
        for address in [
            "/console",
            "/console/",
            "/console/scrape",
            "/console/crawl",
            "/console/jobs/x",
            "/console/settings",
        ] {
            assert_eq!(owner(address), 1, "{address}");
        }
        assert_eq!(owner("/console/nothing"), 0);
    }
}
