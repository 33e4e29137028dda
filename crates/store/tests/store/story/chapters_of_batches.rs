//! Pages of a batch scrape: stored with it, added while it runs, and added after it has ended.

use harvestman_core::api::console::DeliveryAttempt;
use harvestman_core::crawl::{Batch, JobEnd, JobState, Offer, Source};
use harvestman_store::{
    ActivityQuery, AddPagesOutcome, AttemptEnd, CancelOutcome, CreateOutcome, Idempotency, JobKind,
    JobStatus, NewJob, Store, WebhookEvents,
};

use crate::fixtures::{LEASE_MS, NOW, RETENTION_MS, batch, later, new_job, offers, page};
use crate::story::chapters_of_crawls::{commit, row, take, team};

fn given(paths: &[&str]) -> Vec<Offer> {
    let give = |offer| Offer {
        depth: 0,
        source: Source::Given,
        ..offer
    };
    offers(paths).into_iter().map(give).collect()
}

fn job(team: harvestman_core::ids::TeamId, pages: u64) -> NewJob {
    new_job(team, JobKind::BatchScrape, pages)
}

fn last(number: u64, paths: &[&str]) -> Batch {
    Batch {
        settled: paths.iter().map(|path| page(path)).collect(),
        end: Some(JobEnd::Completed),
        ..batch(number)
    }
}

async fn add(store: &Store, job: &NewJob, paths: &[&str]) -> AddPagesOutcome {
    store
        .add_pages(job.team, job.id, given(paths), None, NOW)
        .await
        .unwrap()
}

/// Delivers the pending events of the job and returns their names, in order.
async fn deliver_all(store: &Store, job: &NewJob) -> Vec<String> {
    let at = later(LEASE_MS * 1_000);
    let attempt = DeliveryAttempt {
        at,
        duration_ms: 1,
        status: Some(204),
        error: None,
    };
    let mut names = Vec::new();
    while let Some(event) = store.due_event(job.id, at).await.unwrap() {
        let end = AttemptEnd::Delivered;
        assert!(store.finish_attempt(&event, &attempt, end, at).await.unwrap());
        names.push(event.event);
    }
    names
}

pub(crate) async fn batch_pages_are_stored_with_their_job(store: &Store) {
    let team = team(store).await;
    let job = job(team, 3);
    let entry = Idempotency {
        key: "a batch".into(),
        body_hash: [1; 32],
    };
    let made = store
        .create_batch(&job, given(&["/1", "/2", "/3"]), Some(&entry))
        .await;
    assert_eq!(made.unwrap(), CreateOutcome::Created);
    let again = store
        .create_batch(&self::job(team, 1), given(&["/1"]), Some(&entry))
        .await;
    assert_eq!(again.unwrap(), CreateOutcome::Repeated(job.id));
    assert_eq!(
        (row(store, &job).await.total(), row(store, &job).await.kind),
        (3, JobKind::BatchScrape)
    );
    let query = ActivityQuery {
        endpoint: Some("batch_scrape".into()),
        before: None,
        limit: 10,
        now: NOW,
    };
    let activity = store.activity(team, &query).await.unwrap();
    assert_eq!(activity.iter().filter(|entry| entry.id == job.id).count(), 1);

    let lease = take(store, &job, 0).await;
    let first = commit(store, &lease, &batch(1)).await;
    let admitted: Vec<_> = first
        .admitted
        .iter()
        .map(|page| (page.url.path(), page.depth, page.source))
        .collect();
    assert_eq!(admitted, ["/1", "/2", "/3"].map(|path| (path, 0, Source::Given)));
    assert_eq!(
        commit(store, &lease, &last(2, &["/1", "/2", "/3"])).await.state,
        JobState::Ended
    );
    let ended = row(store, &job).await;
    assert_eq!(
        (ended.status, ended.total(), ended.completed, ended.credits),
        (JobStatus::Completed, 3, 3, 3)
    );
}

pub(crate) async fn pages_are_added_to_a_running_batch(store: &Store) {
    let job = job(team(store).await, 1);
    store.create_batch(&job, given(&["/1"]), None).await.unwrap();
    let lease = take(store, &job, 0).await;
    commit(store, &lease, &batch(1)).await;
    assert_eq!(
        add(store, &job, &["/1", "/2", "/3"]).await,
        AddPagesOutcome::Added(2)
    );
    assert_eq!(add(store, &job, &["/3", "/1"]).await, AddPagesOutcome::Added(0));
    assert_eq!(row(store, &job).await.total(), 3);
    // The owner does not know of the added pages and believes that everything is done.
    let response = commit(store, &lease, &last(2, &["/1"])).await;
    assert_eq!((response.state, response.admitted.len()), (JobState::Running, 2));
    assert_eq!(
        commit(store, &lease, &last(3, &["/2", "/3"])).await.state,
        JobState::Ended
    );
}

pub(crate) async fn adding_pages_restarts_an_ended_batch(store: &Store) {
    let job = NewJob {
        webhook: Some(WebhookEvents::ALL),
        request: r#"{"webhook":"http://receiver.test/"}"#.into(),
        ..job(team(store).await, 1)
    };
    store.create_batch(&job, given(&["/1"]), None).await.unwrap();
    let lease = take(store, &job, 0).await;
    commit(store, &lease, &batch(1)).await;
    commit(store, &lease, &last(2, &["/1"])).await;
    assert_eq!(add(store, &job, &["/1"]).await, AddPagesOutcome::Added(0));
    assert_eq!(
        row(store, &job).await.status,
        JobStatus::Completed,
        "nothing was new"
    );

    assert_eq!(add(store, &job, &["/1", "/2"]).await, AddPagesOutcome::Added(1));
    let running = row(store, &job).await;
    assert_eq!(
        (
            running.status,
            running.total(),
            running.completed,
            running.completed_at
        ),
        (JobStatus::Scraping, 2, 1, None)
    );
    assert_eq!(
        running.expires_at, None,
        "it does not expire before it has ended again"
    );
    // The lease of the former owner, who knows of the end, does not have to expire first.
    let second = take(store, &job, 0).await;
    assert_eq!(second.epoch, 2);
    let snapshot = store.load(&second).await.unwrap();
    assert_eq!(
        (snapshot.last_batch, snapshot.spare, snapshot.open.len()),
        (2, 1, 0)
    );
    assert_eq!(commit(store, &second, &batch(3)).await.admitted.len(), 1);
    let end = store
        .commit(&second, &last(4, &["/2"]), later(5_000), LEASE_MS)
        .await;
    assert_eq!(end.unwrap().state, JobState::Ended);
    let ended = row(store, &job).await;
    assert_eq!(
        (ended.status, ended.completed, ended.credits, ended.expires_at),
        (JobStatus::Completed, 2, 2, Some(later(5_000 + RETENTION_MS)))
    );
    let round = ["started", "page", "completed"].map(|word| format!("batch_scrape.{word}"));
    assert_eq!(deliver_all(store, &job).await, [round.clone(), round].concat());
}

pub(crate) async fn pages_are_added_only_to_a_stored_uncancelled_batch(store: &Store) {
    let team = team(store).await;
    let job = job(team, 1);
    store.create_batch(&job, given(&["/1"]), None).await.unwrap();
    let stranger = store.ensure_team("stranger").await.unwrap();
    let theirs = store.add_pages(stranger, job.id, given(&["/2"]), None, NOW).await;
    assert_eq!(theirs.unwrap(), AddPagesOutcome::NotFound);
    let crawl = new_job(team, JobKind::Crawl, 5);
    store.create_crawl(&crawl, None).await.unwrap();
    assert_eq!(add(store, &crawl, &["/2"]).await, AddPagesOutcome::NotFound);
    assert_eq!(
        store.cancel(team, crawl.id, NOW).await.unwrap(),
        CancelOutcome::Cancelled(JobKind::Crawl)
    );
    assert_eq!(
        store.cancel(team, job.id, NOW).await.unwrap(),
        CancelOutcome::Cancelled(JobKind::BatchScrape)
    );
    assert_eq!(
        row(store, &job).await.total(),
        1,
        "a cancelled batch keeps its total"
    );
    let entry = Idempotency {
        key: "too late".into(),
        body_hash: [1; 32],
    };
    for _ in 0..2 {
        let late = store
            .add_pages(team, job.id, given(&["/2"]), Some(&entry), NOW)
            .await;
        assert_eq!(
            late.unwrap(),
            AddPagesOutcome::Cancelled,
            "a refusal does not use up the idempotency key"
        );
    }
    let expired = store
        .add_pages(team, job.id, given(&["/2"]), None, later(RETENTION_MS))
        .await;
    assert_eq!(expired.unwrap(), AddPagesOutcome::NotFound);
}
