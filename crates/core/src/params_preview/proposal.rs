//! Checks proposed crawl options, whether the model or the rules of the core made them: keeps each value that a crawl
//! accepts, unless it would exclude the start page.

use serde_json::{Map, Value, json};

use crate::api::crawl::{CrawlRequest, EnabledOptions};
use crate::api::error::ApiError;
use crate::api::fields::{References, Wire, object_schema};
use crate::api::params_preview::CrawlParams;
use crate::api::url_field::TargetUrl;
use crate::scope::{Scope, Verdict};

/// Options that may be proposed.
const PROPOSABLE: &[&str] = &[
    "includePaths", "excludePaths", "maxDiscoveryDepth", "sitemap", "crawlEntireDomain",
    "allowExternalLinks", "allowSubdomains", "ignoreQueryParameters", "ignoreRobotsTxt", "robotsUserAgent",
    "deduplicateSimilarURLs", "delay", "limit",
];

/// Returns the JSON Schema of a proposal.
pub fn proposal_schema() -> Value {
    let mut fields = CrawlRequest::fields();
    fields.retain(|field| PROPOSABLE.contains(&field.name));
    object_schema(&fields, References::Inline, false)
}

impl CrawlParams {
    /// Returns the options of a proposal that a crawl of `start` accepts, and the names of the others.
    pub fn accept(
        start: &TargetUrl,
        proposal: &Map<String, Value>,
        enabled: EnabledOptions,
    ) -> (Self, Vec<String>) {
        let mut accepted = Map::new();
        let mut refused = Vec::new();
        for (name, value) in proposal {
            let value = whole_seconds(name, value);
            if value.is_null() || !PROPOSABLE.contains(&name.as_str()) {
                continue;
            }
            accepted.insert(name.clone(), value);
            if check(start, &accepted, enabled).is_err() {
                accepted.remove(name);
                refused.push(name.clone());
            }
        }
        if let Some(name) = admit_start(start, &mut accepted) {
            refused.push(name);
        }
        accepted.insert("url".to_owned(), start.as_sent().into());
        let params = serde_json::from_value(Value::Object(accepted));
        (params.expect("each value was read as a crawl reads it"), refused)
    }
}

/// Rounds a delay up to whole seconds, because clients do not accept fractions.
fn whole_seconds(name: &str, value: &Value) -> Value {
    match value.as_f64() {
        Some(seconds) if name == "delay" && seconds.fract() != 0.0 => json!(seconds.ceil() as u64),
        _ => value.clone(),
    }
}

fn check(
    start: &TargetUrl,
    accepted: &Map<String, Value>,
    enabled: EnabledOptions,
) -> Result<CrawlRequest, ApiError> {
    let mut body = accepted.clone();
    body.insert("url".to_owned(), start.as_sent().into());
    let request = CrawlRequest::from_value(Value::Object(body))?;
    Scope::compile(&request)?;
    request.check_enabled(enabled)?;
    Ok(request)
}

/// Changes the patterns so that the start page passes them. Returns the name of an option that had to be removed.
fn admit_start(start: &TargetUrl, accepted: &mut Map<String, Value>) -> Option<String> {
    let passes = |accepted: &Map<String, Value>| {
        check(start, accepted, EVERYTHING)
            .and_then(|request| Scope::compile(&request))
            .is_ok_and(|scope| scope.judge_page(&start.url, 0) == Verdict::Admit)
    };
    if passes(accepted) {
        return None;
    }
    if let Some(Value::Array(include)) = accepted.get_mut("includePaths") {
        include.insert(0, own_path(start.url.path()).into());
        if passes(accepted) {
            return None;
        }
    }
    accepted.remove("excludePaths").map(|_| "excludePaths".to_owned())
}

/// Permissions were checked before.
const EVERYTHING: EnabledOptions = EnabledOptions {
    ignore_robots: true,
    zero_data_retention: true,
};

/// Returns a pattern that matches the start page alone.
pub(super) fn own_path(path: &str) -> String {
    format!("^{}/?$", regex::escape(path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(proposal: Value, expected: Value, refused: &[&str]) {
        let start = TargetUrl::parse("https://site.test/start").unwrap();
        let proposal = proposal.as_object().unwrap();
        let (params, names) = CrawlParams::accept(&start, proposal, EnabledOptions::default());
        let mut params = serde_json::to_value(params).unwrap();
        assert_eq!(
            params.as_object_mut().unwrap().remove("url"),
            Some(json!("https://site.test/start"))
        );
        assert_eq!(
            (params, names),
            (expected, refused.iter().map(|name| (*name).to_owned()).collect())
        );
    }

    #[test]
    fn only_what_a_crawl_accepts_is_taken_over() {
        check(
            json!({"limit": 20, "sitemap": "only", "delay": 0.5, "allowSubdomains": null}),
            json!({"limit": 20, "sitemap": "only", "delay": 1}),
            &[],
        );
        check(
            json!({
                "limit": 0, "maxDiscoveryDepth": "two", "delay": 61, "sitemap": "maybe", "ignoreRobotsTxt": true,
                "excludePaths": ["("], "webhook": "https://evil.test", "url": "https://evil.test", "x": 1,
            }),
            json!({}),
            &[
                "delay", "excludePaths", "ignoreRobotsTxt", "limit", "maxDiscoveryDepth", "sitemap",
            ],
        );
    }

    #[test]
    fn the_start_page_always_belongs() {
        check(
            json!({"includePaths": ["^/blog/"]}),
            json!({"includePaths": ["^/start/?$", "^/blog/"]}),
            &[],
        );
        check(
            json!({"includePaths": ["/"]}),
            json!({"includePaths": ["/"]}),
            &[],
        );
        check(
            json!({"excludePaths": ["/"], "limit": 5}),
            json!({"limit": 5}),
            &["excludePaths"],
        );
    }
}
