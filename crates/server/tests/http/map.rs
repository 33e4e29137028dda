//! Maps through the router: credits and activity.

use harvestman_store::{Activity, ActivityQuery};
use serde_json::json;

use crate::app::TestApp;
use crate::crawl::ALLOW;
use crate::site::Site;

#[tokio::test]
async fn a_map_costs_one_credit_unless_it_fails_and_is_always_recorded_as_activity() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(3).await;
    let found = app.post("/v2/map", &json!({ "url": site.url("/") })).await;
    assert_eq!(found.status, 200, "{}", found.json());
    assert_eq!(found.json()["links"].as_array().unwrap().len(), 4);
    let refused = app.post("/v2/map", &json!({ "url": "http://10.0.0.1/" })).await;
    refused.is_error(403, "UNSAFE_TARGET");

    let store = app.app.store();
    let keys = store.keys(None).await.unwrap();
    let team = keys[0].team;
    assert_eq!(store.ledger_total(team).await.unwrap(), 1);
    let query = ActivityQuery {
        now: harvestman_engine::now(),
        endpoint: Some("map".to_owned()),
        before: None,
        limit: 10,
    };
    let activity: Vec<Activity> = store.activity(team, &query).await.unwrap();
    let targets: Vec<_> = activity
        .iter()
        .map(|entry| entry.target.clone().unwrap())
        .collect();
    assert_eq!(targets, ["http://10.0.0.1/".to_owned(), site.url("/")]);
    assert_eq!(found.json()["id"], activity[1].id.to_string());
}
