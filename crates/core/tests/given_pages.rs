//! The rules of a batch scrape, one by one.

#![allow(clippy::unwrap_used, reason = "a test")]

use harvestman_core::api::{Document, TargetUrl};
use harvestman_core::crawl::{
    Admitted, Batch, Committed, Crawl, FetchedPage, Input, JobState, Output, PageOutcome, PageTask, Policy,
    Snapshot, Source, given,
};
use harvestman_core::time::Timestamp;

const NOW: Timestamp = Timestamp(1_000_000);

fn targets(texts: &[&str]) -> Vec<TargetUrl> {
    texts.iter().map(|text| TargetUrl::parse(text).unwrap()).collect()
}

fn batch(texts: &[&str], concurrency: u32) -> Crawl {
    let open = given::offers(targets(texts)).into_iter().map(|offer| Admitted {
        key: offer.key,
        url: offer.url,
        depth: offer.depth,
        source: offer.source,
        attempts: 0,
    });
    let open: Vec<Admitted> = open.collect();
    let policy = Policy {
        robots_agent: "harvestman".to_owned(),
        max_concurrency: concurrency,
    };
    let snapshot = Snapshot {
        seen: open.iter().map(|page| page.key).collect(),
        admitted: open.len() as u64,
        open,
        ..Snapshot::default()
    };
    let first = TargetUrl::parse(texts[0]).unwrap().url;
    Crawl::of_given(&first, None, policy, snapshot).unwrap()
}

fn committed(batch: &Batch) -> Input {
    Input::Committed(Committed {
        number: batch.number,
        admitted: Vec::new(),
        state: JobState::Running,
    })
}

/// Pages to fetch now; commits are answered at once.
fn started(crawl: &mut Crawl) -> Vec<PageTask> {
    let mut tasks = Vec::new();
    while let Some(output) = crawl.poll(NOW) {
        match output {
            Output::WantSlot => crawl.handle(NOW, Input::SlotTaken),
            Output::FetchPage(task) => tasks.push(task),
            Output::Commit(batch) => crawl.handle(NOW, committed(&batch)),
            Output::ReturnSlot => {}
            other => panic!("{other:?}"),
        }
    }
    tasks
}

fn fetched(crawl: &mut Crawl, task: &PageTask) {
    let page = FetchedPage {
        final_url: task.url.clone(),
        status: 200,
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
fn a_page_is_offered_once_and_under_its_first_address() {
    let given = [
        "https://a.test/1",
        "a.test/1",
        "http://a.test/1",
        "https://a.test/1#part",
        "https://www.a.test/1",
        "https://a.test/1/",
        "https://a.test/1?q",
    ];
    let offers = given::offers(targets(&given));
    let told: Vec<(&str, Source)> = offers
        .iter()
        .map(|offer| (offer.url.as_str(), offer.source))
        .collect();
    // Whoever lists http and https, or both spellings of a path, wants both.
    assert_eq!(
        told,
        [
            "https://a.test/1",
            "http://a.test/1",
            "https://www.a.test/1",
            "https://a.test/1/",
            "https://a.test/1?q"
        ]
        .map(|url| (url, Source::Given))
    );
    let bare = given::offers(targets(&["a.test/1", "https://a.test/1"]));
    assert_eq!((bare.len(), bare[0].source), (1, Source::Guessed));
}

#[test]
fn an_address_without_a_scheme_may_be_tried_as_http() {
    let mut crawl = batch(&["a.test/1", "https://a.test/2", "http://a.test/3"], 9);
    let tasks = started(&mut crawl);
    let fallbacks: Vec<Option<&str>> = tasks
        .iter()
        .map(|task| task.fallback.as_ref().map(|url| url.as_str()))
        .collect();
    assert_eq!(fallbacks, [Some("http://a.test/1"), None, None]);
}

#[test]
fn a_slow_host_keeps_its_share_of_the_places_alone() {
    let slow: Vec<String> = (0..20).map(|n| format!("https://slow.test/{n}")).collect();
    let fast: Vec<String> = (0..20).map(|n| format!("https://fast.test/{n}")).collect();
    let all: Vec<&str> = slow.iter().chain(&fast).map(String::as_str).collect();
    let mut crawl = batch(&all, 4);
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
            "half of the places while both have pages"
        );
    }
    assert_eq!((done, running.len()), (20, 4));
}

#[test]
fn what_was_added_is_asked_for_while_pages_are_in_flight() {
    let mut crawl = batch(&["https://a.test/1"], 4);
    let tasks = started(&mut crawl);
    crawl.handle(NOW, Input::Added);
    let Some(Output::Commit(batch)) = crawl.poll(NOW) else {
        panic!("nothing is asked for");
    };
    assert!(batch.end.is_none() && batch.settled.is_empty());
    fetched(&mut crawl, &tasks[0]);
    crawl.handle(NOW, Input::Added);
    assert!(crawl.poll(NOW).is_none(), "one commit at a time");
    crawl.handle(NOW, committed(&batch));
    let Some(Output::Commit(batch)) = crawl.poll(NOW) else {
        panic!("what was added meanwhile is not asked for");
    };
    assert!(
        batch.end.is_none(),
        "the job does not end before the store was asked"
    );
}
