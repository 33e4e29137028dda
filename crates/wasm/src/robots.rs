//! Checks URLs against a robots.txt.

use std::{cell::RefCell, collections::BTreeMap};

use harvestman_core::{
    api::ApiError,
    robots::{Robots as Rules, line_of},
};
use serde_json::{Value, json};
use url::Position;
use wasm_bindgen::prelude::*;

use crate::boundary::{parse_url, text_of};

/// Maximum number of agents whose parsed rules are cached.
const MAX_AGENTS: usize = 16;

/// A robots.txt.
#[wasm_bindgen]
pub struct Robots {
    text: String,
    parsed: RefCell<BTreeMap<String, Rules>>,
}

#[wasm_bindgen]
impl Robots {
    /// Creates the rules. Skips lines that it does not understand, so it never fails.
    #[wasm_bindgen(constructor)]
    pub fn new(text: String) -> Robots {
        Robots {
            text,
            parsed: RefCell::default(),
        }
    }

    /// Returns the JSON text `{ allowed, rule?, line?, crawlDelay?, sitemaps }` for the product token `agent`: the deciding
    /// rule as written in the file, its line number from 1, and the delay in seconds.
    pub fn check(&self, url: &str, agent: &str) -> Result<String, String> {
        text_of(self.verdict(url, agent))
    }
}

impl Robots {
    fn verdict(&self, url: &str, agent: &str) -> Result<Value, ApiError> {
        let url = parse_url(url)?;
        let mut parsed = self.parsed.borrow_mut();
        if parsed.len() >= MAX_AGENTS && !parsed.contains_key(agent) {
            parsed.clear();
        }
        let rules = parsed
            .entry(agent.to_owned())
            .or_insert_with(|| Rules::parse(self.text.as_bytes(), agent));
        let verdict = rules.judge(&url[Position::BeforePath..Position::AfterQuery]);
        let mut result = json!({ "allowed": verdict.allowed, "sitemaps": rules.sitemaps() });
        if let Some(line) = verdict.line {
            result["rule"] = json!(line_of(&self.text, line));
            result["line"] = json!(line);
        }
        if let Some(delay_ms) = rules.crawl_delay_ms() {
            result["crawlDelay"] = json!(delay_ms as f64 / 1000.0);
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_own_rules() {
        let text = "User-agent: *\nDisallow: /private\nCrawl-delay: 1.5\n\nUser-agent: mine\nDisallow: /search?\n\
                    Sitemap: https://example.com/map.xml\n";
        let robots = Robots::new(text.to_owned());
        let all = robots.verdict("https://example.com/private/a", "other").unwrap();
        assert_eq!(
            (&all["allowed"], &all["crawlDelay"]),
            (&json!(false), &json!(1.5))
        );
        let mine = robots.verdict("https://example.com/private/a", "mine").unwrap();
        assert_eq!(
            mine,
            json!({ "allowed": true, "sitemaps": ["https://example.com/map.xml"] })
        );
        let search = robots.verdict("https://example.com/search?q=1", "mine").unwrap();
        assert_eq!(
            (&search["allowed"], &search["rule"], &search["line"]),
            (&json!(false), &json!("Disallow: /search?"), &json!(6))
        );
        assert!(robots.verdict("nowhere", "mine").is_err());
    }

    #[test]
    fn the_number_of_cached_agents_is_limited() {
        let robots = Robots::new("User-agent: *\nDisallow: /\n".to_owned());
        for number in 0..100 {
            assert_eq!(
                robots.verdict("https://a.b/", &format!("agent{number}")).unwrap()["allowed"],
                false
            );
            assert!(robots.parsed.borrow().len() <= MAX_AGENTS);
        }
    }
}
