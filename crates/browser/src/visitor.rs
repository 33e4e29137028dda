//! The client that a page sees: viewport, device, languages, time zone, headers. Never a disguise: the user
//! agent contains the product name.

mod time_zones;

use harvestman_core::api::format::Viewport;
use harvestman_core::api::options::ScrapeOptions;
use serde_json::{Map, Value, json};

use crate::blocker::Blocker;
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

/// The visitor settings of a scrape.
pub(crate) struct Visitor {
    window: Viewport,
    mobile: bool,
    user_agent: String,
    /// Language tags in order of preference; the browser adds the weights for `Accept-Language`.
    languages: Vec<String>,
    locale: String,
    time_zone: &'static str,
    headers: Map<String, Value>,
    verify_tls: bool,
    blocker: Option<Blocker>,
}

impl Visitor {
    /// Derives the settings from the options. `version` is the browser's major version, `agent` the product
    /// name such as `Harvestman/1.0`. `blocker` is used if the options ask for it.
    pub(crate) fn new(
        options: &ScrapeOptions,
        window: Option<Viewport>,
        version: &str,
        agent: &str,
        blocker: &Blocker,
    ) -> Self {
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
            languages: options.location.accepted_languages(),
            locale: languages.first().cloned().unwrap_or_default(),
            time_zone: time_zone(&options.location.country),
            headers: Map::new(),
            verify_tls: options.verify_tls(),
            blocker: options.block_ads.then(|| blocker.clone()),
        };
        for (name, value) in &options.headers {
            match name.to_ascii_lowercase().as_str() {
                "user-agent" => visitor.user_agent.clone_from(value),
                lower => {
                    if lower == "accept-language" {
                        visitor.languages = tags_by_weight(value);
                    }
                    visitor.headers.insert(name.clone(), value.clone().into());
                }
            }
        }
        visitor
    }

    /// Returns the client's headers, which are sent to the target's origin only.
    pub(crate) fn headers(&self) -> &Map<String, Value> {
        &self.headers
    }

    /// Returns the blocker of advertisements and consent banners; none if the options do not ask for it.
    pub(crate) fn blocker(&self) -> Option<&Blocker> {
        self.blocker.as_ref()
    }

    /// Returns the commands that apply the settings to a page.
    pub(crate) fn commands(&self) -> Vec<(&'static str, Value)> {
        let agent = json!({
            "userAgent": self.user_agent,
            "acceptLanguage": self.languages.join(","),
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

    /// Changes the viewport of a page; `None` restores the visitor's own.
    pub(crate) async fn resize(
        &self,
        session: &Session,
        window: Option<Viewport>,
    ) -> Result<(), BrowserError> {
        let (command, metrics) = self.window(window);
        session.call(command, metrics).await.map(drop)
    }
}

/// Returns the language tags of an `Accept-Language` value (RFC 9110 section 12.5.4), the most preferred
/// first.
fn tags_by_weight(value: &str) -> Vec<String> {
    let mut tags: Vec<(f32, &str)> = value
        .split(',')
        .filter_map(|part| {
            let mut parameters = part.split(';').map(str::trim);
            let tag = parameters.next().filter(|tag| !tag.is_empty() && *tag != "*")?;
            let weight = parameters.find_map(|parameter| parameter.strip_prefix("q=")?.parse().ok());
            Some((weight.unwrap_or(1.0), tag))
        })
        .collect();
    tags.sort_by(|one, other| other.0.total_cmp(&one.0));
    tags.into_iter().map(|(_, tag)| tag.to_owned()).collect()
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
        let visitor = Visitor::new(&options, None, "156", "Harvestman/1.0", &Blocker::default());
        assert_eq!(visitor.time_zone, "Europe/Berlin");
        assert_eq!(visitor.locale, "de-DE");
        assert_eq!(visitor.user_agent, "mine");
        assert_eq!(visitor.headers().keys().collect::<Vec<_>>(), ["X-Key"]);
        assert_eq!((visitor.window.width, visitor.mobile), (412, true));

        let plain = Visitor::new(
            &ScrapeOptions::default(),
            None,
            "156",
            "Harvestman/1.0",
            &Blocker::default(),
        );
        assert!(
            plain
                .user_agent
                .contains("compatible; Harvestman/1.0) Chrome/156.0.0.0 Safari")
        );
        assert_eq!(plain.time_zone, "America/New_York");
        assert_eq!(plain.languages, ["en-US", "en"], "without weights");
    }

    #[test]
    fn accept_language_is_sorted_by_weight_and_sent_unchanged() {
        let options = ScrapeOptions::from_json(
            br#"{"headers":{"Accept-Language":"de;q=0.5, fr-CH ,*;q=0.1, en;q=0.7"}}"#,
        )
        .unwrap();
        let visitor = Visitor::new(&options, None, "156", "Harvestman/1.0", &Blocker::default());
        assert_eq!(visitor.languages, ["fr-CH", "en", "de"]);
        assert_eq!(
            visitor.headers()["Accept-Language"],
            "de;q=0.5, fr-CH ,*;q=0.1, en;q=0.7"
        );
    }

    #[test]
    fn the_time_zone_table_is_sorted_for_binary_search() {
        for country in ["AD", "DE", "JP", "US", "ZW"] {
            assert_ne!(time_zone(country), "UTC", "{country}");
        }
        assert_eq!(time_zone("BV"), "UTC");
    }
}
