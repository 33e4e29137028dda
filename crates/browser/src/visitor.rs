//! Whom a page sees: window, device, languages, time zone, headers. Never a disguise: the user agent names us.

mod time_zones;

use harvestman_core::api::format::Viewport;
use harvestman_core::api::options::ScrapeOptions;
use serde_json::{Map, Value, json};

use crate::cdp::Session;
use crate::error::BrowserError;
use time_zones::time_zone;

const DESKTOP: Viewport = Viewport {
    width: 1280,
    height: 720,
};
const PHONE: Viewport = Viewport {
    width: 412,
    height: 915,
};

/// Hosts of advertisements and of trackers, one a line, with all below them.
const AD_HOSTS: &str = include_str!("visitor/ad_hosts.txt");

/// The visitor that a scrape asks for.
pub(crate) struct Visitor {
    window: Viewport,
    mobile: bool,
    user_agent: String,
    accept_language: String,
    locale: String,
    time_zone: &'static str,
    headers: Map<String, Value>,
    verify_tls: bool,
    block_ads: bool,
}

impl Visitor {
    /// Reads mobile, location, headers, certificates and blocking from the options. `version` is the browser's
    /// major version, `agent` our name such as `Harvestman/1.0`.
    pub(crate) fn new(options: &ScrapeOptions, window: Option<Viewport>, version: &str, agent: &str) -> Self {
        let languages = options.location.effective_languages();
        let (device, touch) = match options.mobile {
            true => ("Linux; Android 14; Pixel 8", " Mobile"),
            false => ("X11; Linux x86_64", ""),
        };
        let mut visitor = Self {
            window: window.unwrap_or(if options.mobile { PHONE } else { DESKTOP }),
            mobile: options.mobile,
            user_agent: format!(
                "Mozilla/5.0 ({device}) AppleWebKit/537.36 (KHTML, like Gecko; compatible; {agent}) \
                 Chrome/{version}.0.0.0{touch} Safari/537.36"
            ),
            accept_language: options.location.accept_language(),
            locale: languages.first().cloned().unwrap_or_default(),
            time_zone: time_zone(&options.location.country),
            headers: Map::new(),
            verify_tls: options.verify_tls(),
            block_ads: options.block_ads,
        };
        for (name, value) in &options.headers {
            match name.to_ascii_lowercase().as_str() {
                "user-agent" => visitor.user_agent.clone_from(value),
                "accept-language" => visitor.accept_language.clone_from(value),
                _ => {
                    visitor.headers.insert(name.clone(), value.clone().into());
                }
            }
        }
        visitor
    }

    /// The caller's headers, for requests to the target alone.
    pub(crate) fn headers(&self) -> &Map<String, Value> {
        &self.headers
    }

    /// Makes a page see this visitor.
    pub(crate) fn commands(&self) -> Vec<(&'static str, Value)> {
        let agent = json!({
            "userAgent": self.user_agent,
            "acceptLanguage": self.accept_language,
        });
        let mut commands = vec![
            self.window(None),
            ("Emulation.setUserAgentOverride", agent),
            (
                "Emulation.setTimezoneOverride",
                json!({"timezoneId": self.time_zone}),
            ),
            ("Emulation.setLocaleOverride", json!({"locale": self.locale})),
        ];
        if self.mobile {
            let touch = json!({"enabled": true, "maxTouchPoints": 5});
            commands.push(("Emulation.setTouchEmulationEnabled", touch));
        }
        if !self.verify_tls {
            commands.push(("Security.setIgnoreCertificateErrors", json!({"ignore": true})));
        }
        if self.block_ads {
            let patterns: Vec<String> = AD_HOSTS
                .lines()
                .flat_map(|host| [format!("*://{host}/*"), format!("*://*.{host}/*")])
                .collect();
            commands.push(("Network.setBlockedURLs", json!({"urls": patterns})));
        }
        commands
    }

    fn window(&self, window: Option<Viewport>) -> (&'static str, Value) {
        let window = window.unwrap_or(self.window);
        let metrics = json!({
            "width": window.width,
            "height": window.height,
            "deviceScaleFactor": if self.mobile { 2 } else { 1 },
            "mobile": self.mobile,
        });
        ("Emulation.setDeviceMetricsOverride", metrics)
    }

    /// Gives the page another window, or its own again.
    pub(crate) async fn resize(
        &self,
        session: &Session,
        window: Option<Viewport>,
    ) -> Result<(), BrowserError> {
        let (command, metrics) = self.window(window);
        session.call(command, metrics).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_follows_the_options() {
        let options = ScrapeOptions::from_json(
            br#"{"mobile":true,"location":{"country":"de"},"headers":{"X-Key":"1","User-Agent":"mine"}}"#,
        )
        .unwrap();
        let visitor = Visitor::new(&options, None, "156", "Harvestman/1.0");
        assert_eq!(visitor.time_zone, "Europe/Berlin");
        assert_eq!(visitor.locale, "de-DE");
        assert_eq!(visitor.user_agent, "mine");
        assert_eq!(visitor.headers().keys().collect::<Vec<_>>(), ["X-Key"]);
        assert_eq!((visitor.window.width, visitor.mobile), (412, true));

        let plain = Visitor::new(&ScrapeOptions::default(), None, "156", "Harvestman/1.0");
        assert!(
            plain
                .user_agent
                .contains("compatible; Harvestman/1.0) Chrome/156.0.0.0 Safari")
        );
        assert_eq!(plain.time_zone, "America/New_York");
    }

    #[test]
    fn every_country_is_in_order_so_that_it_is_found() {
        for country in ["AD", "DE", "JP", "US", "ZW"] {
            assert_ne!(time_zone(country), "UTC", "{country}");
        }
        assert_eq!(time_zone("BV"), "UTC");
    }
}
