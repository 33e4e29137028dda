//! Crawls with zero data retention: delivered documents are deleted at once, all other data after the end.

use harvestman_core::crawl::{Batch, JobEnd};
use harvestman_core::ids::JobId;
use harvestman_store::{AttemptEnd, EventSubject, NewJob, Store};

use super::chapters_of_crawls::{commit, row, start};
use super::chapters_of_events::{attempt, deliver, take};
use crate::fixtures::{
    NOW, batch, crawl, crawl_with_events, failed, found, key, later, new_job, offering, offers, page, url,
    without_retention,
};

const TEN_MINUTES_MS: u64 = 10 * 60_000;

/// Runs a crawl with three pages to its end.
async fn ended(store: &Store, job: &NewJob) {
    let lease = start(store, job).await;
    let first = offering(
        1,
        [offers(&["/1"]), found("/1", &["/2"]), found("/2", &["/3"])].concat(),
    );
    commit(store, &lease, &first).await;
    let second = Batch {
        settled: vec![page("/1"), page("/2"), page("/3")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    commit(store, &lease, &second).await;
}

/// Returns the number of documents left, and the next `skip`.
async fn left(store: &Store, job: JobId, skip: u64) -> (usize, u64) {
    let chunk = store.documents(job, skip, None, 1 << 20).await.unwrap();
    (chunk.documents.len(), chunk.next_skip)
}

pub(crate) async fn documents_are_deleted_once_delivered(store: &Store) {
    let team = store.ensure_team("discreet crawls").await.unwrap();
    let kept = crawl(team, 3);
    let job = without_retention(crawl(team, 3));
    ended(store, &kept).await;
    ended(store, &job).await;
    assert_eq!(left(store, job.id, 0).await, (3, 3));
    assert_eq!(
        store.found_on(kept.id, 9).await.unwrap(),
        [None, Some(0), Some(1)]
    );
    assert!(store.found_on(job.id, 9).await.unwrap().is_empty());
    assert!(store.page_facts(job.id, 0, 9).await.unwrap().is_empty());
    for job in [&kept, &job] {
        store.delete_delivered(job.id, 0, 2).await.unwrap();
    }
    assert_eq!(
        left(store, job.id, 0).await,
        (1, 3),
        "the third was not delivered"
    );
    assert_eq!(left(store, job.id, 2).await, (1, 3), "and keeps its number");
    assert_eq!(
        left(store, kept.id, 0).await,
        (3, 3),
        "other jobs keep their documents"
    );
    assert_eq!(
        (row(store, &job).await.completed, row(store, &job).await.credits),
        (3, 3)
    );

    // Documents that nobody read are deleted soon after the end; the job itself later.
    store.expire(later(60_000)).await.unwrap();
    assert_eq!(left(store, job.id, 0).await.0, 1);
    store.expire(later(TEN_MINUTES_MS - 60_000)).await.unwrap();
    assert_eq!(left(store, job.id, 0).await, (0, 3));
    assert_eq!(left(store, kept.id, 0).await.0, 3);
    assert!(
        store
            .job(team, job.id, later(TEN_MINUTES_MS))
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(store.ledger_total(team).await.unwrap(), 6);
}

pub(crate) async fn a_document_is_kept_until_its_webhook_is_delivered(store: &Store) {
    let team = store.ensure_team("discreet receivers").await.unwrap();
    let job = without_retention(crawl_with_events(team, 3));
    ended(store, &job).await;
    store.delete_delivered(job.id, 0, 3).await.unwrap();
    assert_eq!(
        left(store, job.id, 0).await.0,
        3,
        "the receiver has not got them yet"
    );
    assert_eq!(take(store, NOW).await, [job.id]);
    assert_eq!(deliver(store, job.id, NOW).await.unwrap().event, "crawl.started");
    for number in 1..=2 {
        let event = deliver(store, job.id, NOW).await.unwrap();
        assert!(matches!(event.subject, EventSubject::Page(_)), "{event:?}");
        assert_eq!(
            left(store, job.id, 0).await.0,
            3 - number,
            "deleted after delivery"
        );
    }
    // The last delivery fails until the document is deleted: then the event only reports the page.
    let event = store.due_event(job.id, NOW).await.unwrap().unwrap();
    let again = AttemptEnd::RetryAt(later(TEN_MINUTES_MS));
    let noted = store
        .finish_attempt(&event, &attempt(NOW, None), again, NOW)
        .await;
    assert!(noted.unwrap());
    store.expire(later(TEN_MINUTES_MS - 60_000)).await.unwrap();
    assert_eq!(left(store, job.id, 0).await.0, 0);
    let later = later(TEN_MINUTES_MS);
    take(store, later).await;
    let mut last = deliver(store, job.id, later).await.unwrap();
    if last.event == "crawl.completed" {
        last = deliver(store, job.id, later).await.unwrap();
    }
    assert_eq!(
        (last.event.as_str(), &last.subject),
        ("crawl.page", &EventSubject::Job { error: None })
    );
}

pub(crate) async fn urls_and_errors_are_deleted_after_the_last_document(store: &Store) {
    let team = store.ensure_team("discreet addresses").await.unwrap();
    let discreet = without_retention(crawl(team, 3));
    let troubled = NewJob {
        id: new_job(team, discreet.kind, 3).id,
        ..discreet.clone()
    };
    let kept = crawl(team, 3);
    for job in [&discreet, &kept] {
        ended(store, job).await;
        store.delete_delivered(job.id, 0, 3).await.unwrap();
    }
    let lease = start(store, &troubled).await;
    let first = Batch {
        offers: offers(&["/1", "/2"]),
        robots_blocked: vec![(key("/refused"), url("/refused"))],
        ..batch(1)
    };
    commit(store, &lease, &first).await;
    let second = Batch {
        settled: vec![page("/1"), failed("/2")],
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    commit(store, &lease, &second).await;
    store.delete_delivered(troubled.id, 0, 2).await.unwrap();

    // Everything of the first job was delivered; the errors of the second may still be read.
    store.expire(later(1)).await.unwrap();
    assert_eq!(row(store, &discreet).await.url, "");
    let errors = async |job: &NewJob| {
        let errors = store.errors(job.id).await.unwrap();
        (errors.errors.len(), errors.robots_blocked.len())
    };
    assert_eq!(errors(&troubled).await, (1, 1));
    assert_eq!(row(store, &troubled).await.url, troubled.url);

    store.expire(later(TEN_MINUTES_MS - 60_000)).await.unwrap();
    assert_eq!(errors(&troubled).await, (0, 0));
    for job in [&discreet, &troubled] {
        let row = row(store, job).await;
        assert_eq!((row.url.as_str(), row.request.as_str()), ("", "{}"));
        assert!(row.zero_data_retention && row.warnings.is_empty());
    }
    let after = row(store, &troubled).await;
    assert_eq!((after.completed, after.failed, after.credits), (1, 1, 1));
    assert_eq!(row(store, &kept).await.url, kept.url);
    assert_eq!(left(store, kept.id, 0).await.0, 3);
}
