//! The shared robots.txt cases of all three levels: RFC 9309, common extensions, robustness.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::{Duration, Instant};

use harvestman_core::robots::{Robots, path_and_query};
use serde_json::Value;

#[test]
fn verdicts_match_the_shared_cases() {
    let file: Value = serde_json::from_str(include_str!("data/robots-cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let text = robots_text(case);
        let started = Instant::now();
        let robots = Robots::parse(text.as_bytes(), case["agent"].as_str().unwrap());
        let allowed = robots.allows(&path_and_query(case["url"].as_str().unwrap()));
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{} took too long",
            case["id"]
        );
        if Some(allowed) != case["allowed"].as_bool() {
            wrong.push(format!("{} ({}): {allowed}", case["id"], case["level"]));
        }
    }
    assert!(cases.len() >= 390);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the file of a case, or its parts, repeated with `%d` counting up from 0.
fn robots_text(case: &Value) -> String {
    if let Some(text) = case["robots"].as_str() {
        return text.to_owned();
    }
    let parts = case["robots_parts"].as_array().unwrap();
    let part = |part: &Value| {
        let text = part[0].as_str().unwrap();
        let times = part[1].as_u64().unwrap();
        (0..times)
            .map(|i| text.replace("%d", &i.to_string()))
            .collect::<String>()
    };
    parts.iter().map(part).collect()
}
