//! The shared crawl cases: which pages a crawl visits. Each case describes a complete web.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "simulation/model_store.rs"]
#[allow(dead_code, reason = "shared with the simulation")]
mod model_store;
#[path = "scripted/site.rs"]
#[allow(dead_code, reason = "shared with the tests of single rules")]
mod site;

use std::collections::{BTreeMap, BTreeSet};

use model_store::ModelStore;
use serde_json::{Value, json};

#[test]
fn crawls_visit_the_pages_in_the_shared_cases() {
    let file: Value = serde_json::from_str(include_str!("data/cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 32);
    let mut wrong = Vec::new();
    for case in cases {
        for concurrency in [1, 8] {
            for problem in compare(case, &site::crawl(case, concurrency).store) {
                wrong.push(format!("{} with {concurrency}: {problem}", case["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare(case: &Value, store: &ModelStore) -> Vec<String> {
    let texts = |value: &Value| -> BTreeSet<String> {
        let list = value.as_array().into_iter().flatten();
        list.map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let expect = &case["expect"];
    let mut visited: BTreeMap<String, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for page in &store.pages {
        if visited
            .insert(page.offer.url.to_string(), page.offer.depth)
            .is_some()
        {
            wrong.push(format!("{} twice", page.offer.url));
        }
    }
    let required = texts(&expect["visited"]);
    wrong.extend(
        required
            .iter()
            .filter(|url| !visited.contains_key(*url))
            .map(|url| format!("{url} missing")),
    );
    let mut allowed = required;
    allowed.extend(texts(&expect["optional"]));
    allowed.extend(texts(&expect["within"]));
    for group in expect["one_of"].as_array().into_iter().flatten() {
        let group = texts(group);
        let found = group.iter().filter(|url| visited.contains_key(*url)).count();
        if found != 1 {
            wrong.push(format!("{found} of {group:?}"));
        }
        allowed.extend(group);
    }
    wrong.extend(
        visited
            .keys()
            .filter(|url| !allowed.contains(*url))
            .map(|url| format!("{url} unexpected")),
    );
    if let Some(count) = expect["count"].as_u64()
        && count != store.completed
    {
        wrong.push(format!("{} pages instead of {count}", store.completed));
    }
    for (url, depth) in expect["depth"].as_object().into_iter().flatten() {
        if visited.get(url).map(|found| json!(found)) != Some(depth.clone()) {
            wrong.push(format!("{url} at depth {:?}", visited.get(url)));
        }
    }
    wrong
}
