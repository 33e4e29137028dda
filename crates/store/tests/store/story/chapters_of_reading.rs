//! Reading jobs and scrapes, and expiry.

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::page::Document;
use harvestman_core::crawl::{Batch, JobEnd, SettledOutcome};
use harvestman_core::ids::{JobId, ScrapeId};
use harvestman_store::{ActivityQuery, JobKind, NewJob, ScrapeResult, Store, StoredScrape, new_id};

use super::chapters_of_crawls::{commit, offer_first, row, start, team};
use crate::fixtures::{
    NOW, RETENTION_MS, batch, crawl, crawl_with_events, document, failed, found, key, later, new_job, offer,
    offering, offers, page, page_error, page_with, settled, settling, url, without_retention,
};

pub(crate) async fn document_chunks_are_limited_by_bytes(store: &Store) {
    let job = crawl(team(store).await, 10);
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/1", "/2", "/3", "/4"]).await;
    // The third is larger than a chunk, but compresses to almost nothing.
    let large = "x".repeat(5000);
    let pages = vec![page("/1"), page("/2"), page_with("/3", &large, 1), page("/4")];
    commit(store, &lease, &settling(2, pages)).await;

    let all = store.documents(job.id, 0, None, usize::MAX).await.unwrap();
    assert_eq!((all.documents.len(), all.next_skip, all.more), (4, 4, false));
    let read: Vec<Document> = all
        .documents
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let sources: Vec<_> = read
        .iter()
        .filter_map(|document| document.metadata.source_url.clone())
        .collect();
    assert_eq!(
        sources,
        ["/1", "/2", "/3", "/4"].map(|path| url(path).to_string())
    );
    assert_eq!(read[2].markdown.as_deref(), Some(large.as_str()));

    let two = all.documents[0].len() + 1 + all.documents[1].len();
    let chunk = store.documents(job.id, 0, None, two).await.unwrap();
    assert_eq!((chunk.documents.len(), chunk.next_skip, chunk.more), (2, 2, true));
    let chunk = store.documents(job.id, 0, None, two - 1).await.unwrap();
    assert_eq!((chunk.documents.len(), chunk.next_skip), (1, 1));
    let alone = store.documents(job.id, 2, None, 100).await.unwrap();
    assert_eq!(
        (alone.documents, alone.next_skip, alone.more),
        (vec![all.documents[2].clone()], 3, true)
    );
    let limited = store.documents(job.id, 1, Some(2), usize::MAX).await.unwrap();
    assert_eq!(
        (limited.documents.len(), limited.next_skip, limited.more),
        (2, 3, true)
    );
    let past = store.documents(job.id, 9, None, 100).await.unwrap();
    assert_eq!((past.documents.len(), past.next_skip, past.more), (0, 9, false));
    store.cancel(job.team, job.id, NOW).await.unwrap();
}

pub(crate) async fn found_on_is_the_page_of_the_first_offer(store: &Store) {
    let job = crawl(team(store).await, 10);
    let lease = start(store, &job).await;
    let first = offering(1, offers(&["/", "/map"]));
    commit(store, &lease, &first).await;
    // Two pages in one batch, both with a link to /b; one also links to /map, which is known.
    let both = [found("/", &["/a", "/b", "/map"]), found("/map", &["/b", "/c"])];
    let second = Batch {
        settled: vec![page("/"), page("/map")],
        offers: both.concat(),
        aliases: vec![key("/elsewhere")],
        robots_blocked: vec![(key("/private"), url("/private"))],
        ..batch(2)
    };
    commit(store, &lease, &second).await;
    let third = Batch {
        settled: vec![page("/c"), failed("/b"), page("/a")],
        offers: [found("/a", &["/c", "/d"]), found("/c", &["/e"])].concat(),
        ..batch(3)
    };
    commit(store, &lease, &third).await;
    let fourth = Batch {
        settled: vec![page("/e"), page("/d")],
        end: Some(JobEnd::Completed),
        ..batch(4)
    };
    commit(store, &lease, &fourth).await;
    store.expire(NOW).await.unwrap();

    // In the order of completion: /, /map, /c, /a, /e, /d.
    let facts = store.page_facts(job.id, 1, 3).await.unwrap();
    let depths: Vec<_> = facts.iter().map(|facts| facts.depth).collect();
    assert_eq!(depths, [Some(1); 3]);
    assert!(
        facts
            .iter()
            .all(|facts| facts.stored_at == NOW && facts.took_ms == Some(250))
    );
    assert!(store.page_facts(job.id, 6, 3).await.unwrap().is_empty());
    let all = [None, None, Some(1), Some(0), Some(2), Some(3)];
    assert_eq!(store.found_on(job.id, 100).await.unwrap(), all);
    assert_eq!(store.found_on(job.id, 3).await.unwrap(), all[..3]);
    assert!(store.found_on(job.id, 0).await.unwrap().is_empty());
}

pub(crate) async fn errors_are_listed_in_order(store: &Store) {
    let job = crawl(team(store).await, 10);
    let lease = start(store, &job).await;
    offer_first(store, &lease, &["/1", "/2"]).await;
    let (first, second) = (
        page_error(ErrorCode::ScrapeTimeout),
        page_error(ErrorCode::OutOfScope),
    );
    let outcomes = vec![
        settled("/2", SettledOutcome::Failed(first.clone())),
        settled("/1", SettledOutcome::Dropped(Some(second.clone()))),
    ];
    let blocked = vec![(key("/b"), url("/b")), (key("/a"), url("/a"))];
    commit(
        store,
        &lease,
        &Batch {
            settled: outcomes,
            robots_blocked: blocked,
            ..batch(2)
        },
    )
    .await;
    let errors = store.errors(job.id).await.unwrap();
    let listed: Vec<_> = errors
        .errors
        .iter()
        .map(|entry| (entry.id, entry.code.as_str(), entry.at))
        .collect();
    assert_eq!(
        listed,
        [
            (first.id, "SCRAPE_TIMEOUT", NOW),
            (second.id, "OUT_OF_SCOPE", NOW)
        ]
    );
    assert_eq!(errors.errors[0].url, url("/2").as_str());
    assert_eq!(errors.errors[1].message, second.message);
    let failed = |found| match found {
        Some(StoredScrape::Failed { status, body }) => (status, body),
        other => panic!("{other:?}"),
    };
    let own = store.scrape(job.team, first.id, NOW).await.unwrap();
    let (status, body) = failed(own);
    assert_eq!(status, 408);
    assert!(body.contains("SCRAPE_TIMEOUT"), "{body}");
    let foreign = store.ensure_team("no errors").await.unwrap();
    assert!(store.scrape(foreign, first.id, NOW).await.unwrap().is_none());
    assert_eq!(
        errors.robots_blocked,
        [url("/b").to_string(), url("/a").to_string()]
    );
    store.cancel(job.team, job.id, NOW).await.unwrap();
}

pub(crate) async fn running_crawls_are_listed_newest_first(store: &Store) {
    let team = store.ensure_team("busy").await.unwrap();
    let jobs = [0, 10, 20].map(|ms| NewJob {
        created_at: later(ms),
        ..crawl(team, 1)
    });
    for job in &jobs {
        store.create_crawl(job, None).await.unwrap();
    }
    store
        .begin_scrape(&new_job(team, JobKind::Scrape, 1), NOW)
        .await
        .unwrap();
    store.cancel(team, jobs[1].id, NOW).await.unwrap();
    let active: Vec<_> = store
        .active(team)
        .await
        .unwrap()
        .into_iter()
        .map(|row| row.id)
        .collect();
    assert_eq!(active, [jobs[2].id, jobs[0].id]);
    for job in &jobs {
        store.cancel(team, job.id, NOW).await.unwrap();
    }
}

pub(crate) async fn recent_jobs_are_listed_newest_first(store: &Store) {
    let team = store.ensure_team("recent").await.unwrap();
    let mut jobs = Vec::new();
    for ms in [0, 10, 20] {
        let id = JobId(new_id());
        let job = NewJob {
            id,
            url: format!("http://site.test/Page%20{ms}"),
            created_at: later(ms),
            ..new_job(team, JobKind::Scrape, 1)
        };
        store.begin_scrape(&job, later(ms)).await.unwrap();
        jobs.push(id);
    }
    let error = ApiError::new(ErrorCode::DnsResolution, "no such host");
    store
        .finish_scrape(jobs[2], ScrapeResult::Failed(&error), later(20))
        .await
        .unwrap();
    let recent = async |search, limit, now| {
        let rows = store.recent_jobs(team, search, limit, now).await.unwrap();
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(recent(None, 2, later(30)).await, [jobs[2], jobs[1]]);
    assert_eq!(
        recent(None, 9, later(20 + RETENTION_MS)).await,
        [jobs[1], jobs[0]]
    );
    // The text is not a pattern, and its case does not matter.
    assert_eq!(recent(Some("PAGE%20"), 2, later(30)).await, [jobs[2], jobs[1]]);
    assert_eq!(recent(Some("page%200"), 9, later(30)).await, [jobs[0]]);
    assert_eq!(recent(Some("page_"), 9, later(30)).await, []);
}

pub(crate) async fn a_job_is_visible_only_to_its_team(store: &Store) {
    let job = crawl(team(store).await, 1);
    store.create_crawl(&job, None).await.unwrap();
    let stranger = store.ensure_team("stranger").await.unwrap();
    assert_eq!(store.job(stranger, job.id, NOW).await.unwrap(), None);
    assert!(store.job(job.team, job.id, NOW).await.unwrap().is_some());
    let scrape = new_job(job.team, JobKind::Scrape, 1);
    store.begin_scrape(&scrape, NOW).await.unwrap();
    assert_eq!(store.scrape(stranger, scrape.id.into(), NOW).await.unwrap(), None);
    store.cancel(job.team, job.id, NOW).await.unwrap();
}

pub(crate) async fn a_scrape_ends_once(store: &Store) {
    let team = store.ensure_team("scrapes").await.unwrap();
    let job = new_job(team, JobKind::Scrape, 1);
    let id = ScrapeId::from(job.id);
    store.begin_scrape(&job, NOW).await.unwrap();
    assert_eq!(
        store.scrape(team, id, NOW).await.unwrap(),
        Some(StoredScrape::Running)
    );
    let page = document("/", "hello");
    let end = ScrapeResult::Document {
        document: &page,
        credits: 4,
    };
    store.finish_scrape(job.id, end, NOW).await.unwrap();
    store.finish_scrape(job.id, end, NOW).await.unwrap();
    let late = ApiError::new(ErrorCode::ScrapeTimeout, "too late");
    store
        .finish_scrape(job.id, ScrapeResult::Failed(&late), NOW)
        .await
        .unwrap();
    let Some(StoredScrape::Document(text)) = store.scrape(team, id, NOW).await.unwrap() else {
        panic!("the document must be stored");
    };
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), page);
    assert_eq!(store.ledger_total(team).await.unwrap(), 4);
    assert_eq!(
        (row(store, &job).await.completed, row(store, &job).await.credits),
        (1, 4)
    );
    assert_eq!(store.scrape(team, id, later(RETENTION_MS)).await.unwrap(), None);

    let job = new_job(team, JobKind::Scrape, 1);
    store.begin_scrape(&job, NOW).await.unwrap();
    let error = ApiError::new(ErrorCode::DnsResolution, "no such host");
    store
        .finish_scrape(job.id, ScrapeResult::Failed(&error), NOW)
        .await
        .unwrap();
    let stored = store.scrape(team, job.id.into(), NOW).await.unwrap();
    assert_eq!(
        stored,
        Some(StoredScrape::Failed {
            status: 400,
            body: error.body().to_string()
        })
    );
    assert_eq!(store.ledger_total(team).await.unwrap(), 4);

    // A fast scrape is stored once, at its end.
    let job = new_job(team, JobKind::Scrape, 1);
    store.record_scrape(&job, end, NOW).await.unwrap();
    assert!(matches!(
        store.scrape(team, job.id.into(), NOW).await.unwrap(),
        Some(StoredScrape::Document(_))
    ));
    assert_eq!(store.ledger_total(team).await.unwrap(), 8);
}

pub(crate) async fn a_page_of_a_crawl_is_read_by_its_scrape_id(store: &Store) {
    let job = crawl(team(store).await, 1);
    let lease = start(store, &job).await;
    commit(store, &lease, &offering(1, vec![offer("/")])).await;
    let page = document("/", "of a crawl");
    let id = page.metadata.scrape_id.unwrap();
    let outcome = SettledOutcome::Page {
        document: Box::new(page.clone()),
        credits: 1,
    };
    commit(store, &lease, &settling(2, vec![settled("/", outcome)])).await;
    let Some(StoredScrape::Document(text)) = store.scrape(job.team, id, NOW).await.unwrap() else {
        panic!("the page must be found");
    };
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), page);
    let origin = store.scrape_origin(id).await.unwrap().unwrap();
    assert_eq!((origin.team, origin.kind), (job.team, JobKind::Crawl));
    assert_eq!(
        (origin.url, origin.request),
        (url("/").to_string(), job.request.clone())
    );
    let stranger = store.ensure_team("stranger").await.unwrap();
    assert_eq!(store.scrape(stranger, id, NOW).await.unwrap(), None);
    store.cancel(job.team, job.id, NOW).await.unwrap();
}

pub(crate) async fn zero_retention_scrapes_store_no_document(store: &Store) {
    let team = store.ensure_team("discreet").await.unwrap();
    let job = without_retention(new_job(team, JobKind::Scrape, 1));
    store.begin_scrape(&job, NOW).await.unwrap();
    let page = document("/", "nobody reads this");
    store
        .finish_scrape(
            job.id,
            ScrapeResult::Document {
                document: &page,
                credits: 1,
            },
            NOW,
        )
        .await
        .unwrap();
    assert_eq!(store.scrape(team, job.id.into(), NOW).await.unwrap(), None);
    assert_eq!(
        store.documents(job.id, 0, None, 1000).await.unwrap().documents,
        [""; 0]
    );
    assert_eq!(store.ledger_total(team).await.unwrap(), 1);
    let query = ActivityQuery {
        now: NOW,
        endpoint: None,
        before: None,
        limit: 10,
    };
    assert_eq!(store.activity(team, &query).await.unwrap()[0].target, None);
}

pub(crate) async fn expired_jobs_are_deleted_but_not_their_ledger(store: &Store) {
    let team = store.ensure_team("expiry").await.unwrap();
    let job = crawl_with_events(team, 1000);
    let lease = start(store, &job).await;
    let paths: Vec<String> = (0..1200).map(|n| format!("/{n}")).collect();
    let found = offering(1, paths.iter().map(|path| offer(path)).collect());
    commit(store, &lease, &found).await;
    let mut outcomes: Vec<_> = paths[..900].iter().map(|path| page(path)).collect();
    outcomes.extend(paths[900..1000].iter().map(|path| failed(path)));
    let last = Batch {
        settled: outcomes,
        end: Some(JobEnd::Completed),
        ..batch(2)
    };
    commit(store, &lease, &last).await;
    let scrape = new_job(team, JobKind::Scrape, 1);
    store.begin_scrape(&scrape, NOW).await.unwrap();
    let running = crawl(team, 1);
    store.create_crawl(&running, None).await.unwrap();

    while store.expire(later(RETENTION_MS - 1)).await.unwrap() > 0 {}
    assert_eq!(
        store
            .documents(job.id, 0, None, usize::MAX)
            .await
            .unwrap()
            .documents
            .len(),
        900
    );
    let over = later(RETENTION_MS);
    assert_eq!(
        store.job(team, job.id, over).await.unwrap(),
        None,
        "an expired job is not returned, even before it is deleted"
    );
    let mut gone = 0;
    loop {
        let step = store.expire(over).await.unwrap();
        gone += step;
        if step == 0 {
            break;
        }
    }
    assert!(gone >= 1);
    assert_eq!(store.job(team, job.id, NOW).await.unwrap(), None);
    assert_eq!(
        store.documents(job.id, 0, None, 1000).await.unwrap().documents,
        [""; 0]
    );
    assert_eq!(store.errors(job.id).await.unwrap(), Default::default());
    assert!(store.load(&lease).await.is_err());
    assert_eq!(store.ledger_total(team).await.unwrap(), 900);
    assert!(
        store.job(team, running.id, over).await.unwrap().is_some(),
        "a running job never expires"
    );
    let query = ActivityQuery {
        now: over,
        endpoint: None,
        before: None,
        limit: 10,
    };
    assert_eq!(store.activity(team, &query).await.unwrap(), []);
}
