//! The last version of a page, for `changeTracking`.

use harvestman_core::api::page::Document;
use harvestman_core::crawl::SettledOutcome;
use harvestman_core::ids::TeamId;
use harvestman_core::page_version::{PageVersion, VersionKey};
use harvestman_store::{JobKind, NewJob, ScrapeResult, Store};

use super::chapters_of_crawls::{commit, start};
use crate::fixtures::{
    NOW, RETENTION_MS, crawl, document, key, later, new_job, offer, offering, settled, settling,
    without_retention,
};

fn version_key(tag: &str) -> VersionKey {
    VersionKey {
        url: key("/tracked"),
        tag: tag.to_owned(),
    }
}

fn tracked(markdown: &str, tag: &str) -> Document {
    Document {
        version: Some(version_key(tag)),
        tracked: Some(serde_json::json!({ "text": markdown })),
        ..document("/tracked", markdown)
    }
}

async fn scrape(store: &Store, job: NewJob, document: &Document) {
    store.begin_scrape(&job, NOW).await.unwrap();
    let end = ScrapeResult::Document { document, credits: 1 };
    store.finish_scrape(job.id, end, job.created_at).await.unwrap();
}

async fn last(store: &Store, team: TeamId, tag: &str) -> Option<PageVersion> {
    store.page_version(team, &version_key(tag)).await.unwrap()
}

pub(crate) async fn the_last_version_of_a_page_is_stored_per_team_and_tag(store: &Store) {
    let team = store.ensure_team("tracking").await.unwrap();
    let stranger = store.ensure_team("stranger").await.unwrap();
    assert_eq!(last(store, team, "").await, None);
    scrape(store, new_job(team, JobKind::Scrape, 1), &tracked("first", "")).await;
    let first = PageVersion {
        at: NOW,
        status_code: 200,
        markdown: "first".to_owned(),
        data: Some(serde_json::json!({"text": "first"})),
    };
    assert_eq!(last(store, team, "").await, Some(first.clone()));
    assert_eq!(last(store, team, "tag").await, None);
    assert_eq!(last(store, stranger, "").await, None);

    // A page without change tracking leaves the version unchanged.
    scrape(
        store,
        new_job(team, JobKind::Scrape, 1),
        &document("/tracked", "other"),
    )
    .await;
    assert_eq!(last(store, team, "").await, Some(first));

    // In a crawl the version is written with the commit of its page.
    let job = crawl(team, 1);
    let lease = start(store, &job).await;
    let offers = offering(1, vec![offer("/tracked")]);
    commit(store, &lease, &offers).await;
    let outcome = SettledOutcome::Page {
        document: Box::new(tracked("second", "")),
        credits: 1,
    };
    let outcomes = settling(2, vec![settled("/tracked", outcome)]);
    commit(store, &lease, &outcomes).await;
    assert_eq!(last(store, team, "").await.unwrap().markdown, "second");
    store.cancel(team, job.id, NOW).await.unwrap();
}

pub(crate) async fn versions_outlive_their_jobs_except_with_zero_retention(store: &Store) {
    let team = store.ensure_team("tracking for long").await.unwrap();
    scrape(store, new_job(team, JobKind::Scrape, 1), &tracked("kept", "")).await;
    let discreet = without_retention(new_job(team, JobKind::Scrape, 1));
    scrape(store, discreet, &tracked("never kept", "")).await;
    while store.expire(later(2 * RETENTION_MS)).await.unwrap() > 0 {}
    assert_eq!(last(store, team, "").await.unwrap().markdown, "kept");
}
