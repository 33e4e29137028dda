//! Single rules of a batch scrape.

#![allow(clippy::unwrap_used, reason = "a test")]

use harvestman_core::api::console::Limiter;
use harvestman_core::api::{Document, TargetUrl};
use harvestman_core::crawl::{
    AdmittedUrl, Batch, CommitResponse, Crawl, FetchedPage, Input, JobState, Output, PageOutcome, PageTask,
    Policy, SlotKind, Snapshot, Source, batch_scrape, limits,
};
use harvestman_core::host::HostKey;
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::UrlKey;

const NOW: Timestamp = Timestamp(1_000_000);

fn targets(texts: &[impl AsRef<str>]) -> Vec<TargetUrl> {
    texts
        .iter()
        .map(|text| TargetUrl::parse(text.as_ref()).unwrap())
        .collect()
}

/// Returns the URLs of pages of one site.
fn pages(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("https://a.test/{n}")).collect()
}

fn batch(texts: &[impl AsRef<str>], concurrency: u32) -> Crawl {
    batch_of(texts, None, concurrency)
}

fn batch_of(texts: &[impl AsRef<str>], max_concurrency: Option<u32>, concurrency: u32) -> Crawl {
    let open = batch_scrape::offers(targets(texts))
        .into_iter()
        .map(|offer| AdmittedUrl {
            key: offer.key,
            url: offer.url,
            depth: offer.depth,
            source: offer.source,
            attempts: 0,
        });
    let open: Vec<AdmittedUrl> = open.collect();
    let policy = Policy {
        robots_agent: "harvestman".to_owned(),
        max_concurrency: concurrency,
        starts_in_browser: false,
    };
    let snapshot = Snapshot {
        seen: open.iter().map(|page| page.key).collect(),
        admitted: open.len() as u64,
        open,
        ..Snapshot::default()
    };
    let first = TargetUrl::parse(texts[0].as_ref()).unwrap().url;
    Crawl::restore_batch_scrape(&first, max_concurrency, policy, snapshot).unwrap()
}

fn committed(batch: &Batch) -> Input {
    Input::Committed(CommitResponse {
        number: batch.number,
        admitted: Vec::new(),
        state: JobState::Running,
    })
}

/// Returns the pages to fetch now; answers commits immediately.
fn started(crawl: &mut Crawl) -> Vec<PageTask> {
    let mut tasks = Vec::new();
    while let Some(output) = crawl.poll(NOW) {
        match output {
            Output::AcquireSlot(kind) => crawl.handle(NOW, Input::SlotGranted(kind)),
            Output::FetchPage(task, _) => tasks.push(task),
            Output::Commit(batch) => crawl.handle(NOW, committed(&batch)),
            Output::ReleaseSlot(_) => {}
            other => panic!("{other:?}"),
        }
    }
    tasks
}

fn fetched(crawl: &mut Crawl, task: &PageTask) {
    fetched_with(crawl, task, 200);
}

fn fetched_with(crawl: &mut Crawl, task: &PageTask, status: u16) {
    let page = FetchedPage {
        final_url: task.url.clone(),
        status,
        links: Vec::new(),
        document: Box::new(Document::default()),
        credits: 1,
        retry_after_ms: None,
    };
    let outcome = PageOutcome::Page(Box::new(page));
    let key = task.key;
    crawl.handle(NOW, Input::PageFetched { key, outcome });
}

#[test]
fn a_page_is_offered_once_under_its_first_url() {
    let given = [
        "https://a.test/1", "a.test/1", "http://a.test/1", "https://a.test/1#part", "https://www.a.test/1",
        "https://a.test/1/", "https://a.test/1?q",
    ];
    let offers = batch_scrape::offers(targets(&given));
    let found: Vec<(&str, Source)> = offers
        .iter()
        .map(|offer| (offer.url.as_str(), offer.source))
        .collect();
    // Listing http and https, or both spellings of a path, asks for both.
    assert_eq!(
        found,
        [
            "https://a.test/1", "http://a.test/1", "https://www.a.test/1", "https://a.test/1/",
            "https://a.test/1?q"
        ]
        .map(|url| (url, Source::Given))
    );
    let bare = batch_scrape::offers(targets(&["a.test/1", "https://a.test/1"]));
    assert_eq!((bare.len(), bare[0].source), (1, Source::Guessed));
}

#[test]
fn a_url_without_a_scheme_falls_back_to_http() {
    let mut crawl = batch(&["a.test/1", "https://a.test/2", "http://a.test/3"], 9);
    let tasks = started(&mut crawl);
    let fallbacks: Vec<Option<&str>> = tasks
        .iter()
        .map(|task| task.fallback.as_ref().map(|url| url.as_str()))
        .collect();
    assert_eq!(fallbacks, [Some("http://a.test/1"), None, None]);
}

#[test]
fn a_slow_host_takes_no_more_than_its_share_of_the_concurrency() {
    let slow: Vec<String> = (0..20).map(|n| format!("https://slow.test/{n}")).collect();
    let fast: Vec<String> = (0..20).map(|n| format!("https://fast.test/{n}")).collect();
    let mut crawl = batch(&[slow, fast].concat(), 4);
    let mut running = started(&mut crawl);
    let mut done = 0;
    while let Some(at) = running
        .iter()
        .position(|task| task.url.host_str() == Some("fast.test"))
    {
        let task = running.swap_remove(at);
        fetched(&mut crawl, &task);
        done += 1;
        running.extend(started(&mut crawl));
        let of_slow = running
            .iter()
            .filter(|task| task.url.host_str() == Some("slow.test"));
        assert!(
            of_slow.count() <= 2 || done >= 18,
            "half of the concurrency while both hosts have pages"
        );
    }
    assert_eq!((done, running.len()), (20, 4));
}

/// Returns twenty pages on hosts of one domain, then twenty on another domain.
fn two_sites() -> Vec<String> {
    let one = (0..20).map(|n| format!("https://h{}.one.test/{n}", n % 3));
    one.chain((0..20).map(|n| format!("https://two.test/{n}")))
        .collect()
}

fn started_at(tasks: &[PageTask], domain: &str) -> usize {
    let at = |task: &&PageTask| task.url.host_str().is_some_and(|host| host.ends_with(domain));
    tasks.iter().filter(at).count()
}

#[test]
fn a_domain_has_eight_pages_in_flight_unless_the_request_sets_a_limit() {
    let urls = two_sites();
    let mut crawl = batch(&urls, 64);
    let mut tasks = started(&mut crawl);
    assert_eq!(
        (started_at(&tasks, "one.test"), started_at(&tasks, "two.test")),
        (8, 8)
    );
    assert_eq!(crawl.limiter(), Some(Limiter::HostConcurrency));
    fetched(&mut crawl, &tasks.remove(0));
    assert_eq!(started(&mut crawl).len(), 1, "its slot is free");

    let tasks = started(&mut batch_of(&urls, Some(30), 64));
    assert_eq!(tasks.len(), 30);
    let tasks = started(&mut batch(&urls, 6));
    assert_eq!(tasks.len(), 6, "the limit of the team");
}

#[test]
fn private_hosts_have_no_site_limit() {
    let mut crawl = batch(&two_sites(), 64);
    let tasks = started(&mut crawl);
    crawl.handle(NOW, Input::PrivateHost(HostKey::of(&tasks[0].url)));
    let more = started(&mut crawl);
    assert_eq!((started_at(&more, "one.test"), more.len()), (12, 12));
}

/// Returns the pages and renders that start now, with one browser slot.
fn started_and_rendered(crawl: &mut Crawl, browser_free: &mut bool) -> (Vec<PageTask>, Vec<UrlKey>) {
    let (mut tasks, mut renders) = (Vec::new(), Vec::new());
    while let Some(output) = crawl.poll(NOW) {
        match output {
            Output::AcquireSlot(SlotKind::Browser) if !*browser_free => {}
            Output::AcquireSlot(kind) => crawl.handle(NOW, Input::SlotGranted(kind)),
            Output::FetchPage(task, SlotKind::Plain) => tasks.push(task),
            Output::Render(key) => {
                *browser_free = false;
                renders.push(key);
            }
            Output::Commit(batch) => crawl.handle(NOW, committed(&batch)),
            other => panic!("{other:?}"),
        }
    }
    (tasks, renders)
}

#[test]
fn pages_waiting_for_the_browser_release_their_slots_to_plain_pages() {
    let mut crawl = batch(&pages(40), 64);
    let mut free = true;
    let (mut tasks, _) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!(tasks.len(), 8);
    for task in &tasks {
        let key = task.key;
        crawl.handle(NOW, Input::NeedsBrowser { key, bytes: 10 });
    }
    let (more, renders) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!(renders, [tasks[0].key], "the first in the queue");
    assert_eq!(
        more.len(),
        7,
        "the page in the browser counts against the eight of its site"
    );
    for task in &more {
        fetched(&mut crawl, task);
    }
    fetched(&mut crawl, &tasks.remove(0));
    // The slot that was requested meanwhile.
    crawl.handle(NOW, Input::SlotGranted(SlotKind::Browser));
    let (_, renders) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!(renders, [tasks[0].key]);
}

#[test]
fn pages_in_the_browser_do_not_block_plain_pages_of_a_small_team() {
    let mut crawl = batch(&pages(9), 1);
    let mut free = true;
    let (tasks, _) = started_and_rendered(&mut crawl, &mut free);
    let key = tasks[0].key;
    crawl.handle(NOW, Input::NeedsBrowser { key, bytes: 10 });
    let (more, renders) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!((tasks.len(), more.len(), renders), (1, 1, vec![key]));
    fetched(&mut crawl, &tasks[0]);
    let (none, _) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!(none.len(), 0, "its end frees no plain slot");
    fetched(&mut crawl, &more[0]);
    assert_eq!(started_and_rendered(&mut crawl, &mut free).0.len(), 1);
}

#[test]
fn the_memory_of_pages_waiting_for_the_browser_is_limited() {
    let mut crawl = batch(&pages(9), 64);
    let mut free = false;
    let (tasks, _) = started_and_rendered(&mut crawl, &mut free);
    let bytes = limits::RENDERS_WAITING_MAX_BYTES;
    let key = tasks[0].key;
    crawl.handle(NOW, Input::NeedsBrowser { key, bytes });
    let (more, _) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!((more.len(), crawl.limiter()), (0, Some(Limiter::Browser)));
    fetched(&mut crawl, &tasks[0]);
    let (more, _) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!(more.len(), 1, "it no longer waits");
}

#[test]
fn max_concurrency_includes_pages_in_the_browser() {
    let mut crawl = batch_of(&pages(9), Some(1), 64);
    let mut free = true;
    let (tasks, _) = started_and_rendered(&mut crawl, &mut free);
    let key = tasks[0].key;
    crawl.handle(NOW, Input::NeedsBrowser { key, bytes: 10 });
    let (more, renders) = started_and_rendered(&mut crawl, &mut free);
    assert_eq!((tasks.len(), more.len(), renders), (1, 0, vec![key]));
    assert_eq!(crawl.limiter(), Some(Limiter::Concurrency));
}

#[test]
fn added_pages_are_admitted_while_others_are_in_flight() {
    let mut crawl = batch(&["https://a.test/1"], 4);
    let tasks = started(&mut crawl);
    crawl.handle(NOW, Input::PagesAdded);
    let Some(Output::Commit(batch)) = crawl.poll(NOW) else {
        panic!("no commit");
    };
    assert!(batch.end.is_none() && batch.settled.is_empty());
    fetched(&mut crawl, &tasks[0]);
    crawl.handle(NOW, Input::PagesAdded);
    assert!(crawl.poll(NOW).is_none(), "one commit at a time");
    crawl.handle(NOW, committed(&batch));
    let Some(Output::Commit(batch)) = crawl.poll(NOW) else {
        panic!("no commit for the pages added meanwhile");
    };
    assert!(
        batch.end.is_none(),
        "the job does not end before the store admitted them"
    );
}

#[test]
fn a_page_that_is_fetched_again_awaits_no_commit() {
    let mut crawl = batch(&["https://a.test/1", "https://a.test/2"], 9);
    let tasks = started(&mut crawl);
    for (task, status, awaits) in [(&tasks[0], 503, false), (&tasks[1], 200, true)] {
        fetched_with(&mut crawl, task, status);
        assert_eq!(crawl.awaits_commit(task.key), awaits, "{status}");
    }
}
