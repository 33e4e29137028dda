use harvestman_core::ids::TeamId;
use harvestman_store::JobKind;
use serde_json::Value;
use uuid::Uuid;

use super::*;

fn page(status: JobStatus, completed: u64, documents: u64, query: StatusQuery) -> Value {
    json(&status_page(status, completed, documents, query))
}

fn json(page: &StatusPage) -> Value {
    serde_json::from_str(&page.json("http://here", Timestamp(5_000))).unwrap()
}

fn status_page(status: JobStatus, completed: u64, documents: u64, query: StatusQuery) -> StatusPage {
    let ended = status.is_final();
    let row = JobRow {
        id: JobId(Uuid::from_u128(7)),
        team: TeamId(Uuid::from_u128(1)),
        key: None,
        kind: JobKind::Crawl,
        url: "https://example.com/".to_owned(),
        request: "{}".to_owned(),
        status,
        page_limit: 100,
        admitted: 20,
        completed,
        failed: 0,
        credits: completed,
        created_at: Timestamp(1_000),
        completed_at: ended.then_some(Timestamp(2_500)),
        expires_at: ended.then_some(Timestamp(9_000)),
        retention_ms: 86_400_000,
        warnings: vec!["First.".to_owned(), "Second.".to_owned()],
        zero_data_retention: false,
        error: Some("why".to_owned()),
    };
    let next_skip = query.skip + documents;
    let documents = (0..documents)
        .map(|n| format!("{{\"markdown\":\"{n}\"}}"))
        .collect();
    StatusPage {
        row,
        documents,
        next_skip,
        path: StatusPath::Crawl,
        query,
    }
}

#[test]
fn documents_are_spliced_in_order() {
    let page = page(JobStatus::Completed, 3, 3, StatusQuery::default());
    assert_eq!(page["success"], true);
    assert_eq!(page["data"][2]["markdown"], "2");
    assert_eq!(
        (&page["total"], &page["completed"], &page["creditsUsed"]),
        (&20.into(), &3.into(), &3.into())
    );
    assert_eq!(page["duration"], 1.5);
    assert_eq!(page["completedAt"], "1970-01-01T00:00:02.500Z");
    assert_eq!(page["expiresAt"], "1970-01-01T00:00:09.000Z");
    assert_eq!(page["warning"], "First. Second.");
    assert_eq!(page["next"], Value::Null, "next is there and null at the end");
    assert!(page.as_object().unwrap().contains_key("next"));
    assert_eq!(page.get("error"), None, "an error is for failed jobs only");
}

#[test]
fn a_running_job_expires_one_retention_period_from_now() {
    let page = page(
        JobStatus::Scraping,
        3,
        2,
        StatusQuery {
            skip: 1,
            limit: Some(2),
        },
    );
    assert_eq!(page["expiresAt"], "1970-01-02T00:00:05.000Z");
    assert_eq!((page.get("completedAt"), page.get("duration")), (None, None));
    assert_eq!(
        page["next"],
        "http://here/v2/crawl/00000000-0000-0000-0000-000000000007?skip=3&limit=2"
    );
}

#[test]
fn a_failed_job_has_an_error() {
    let page = page(JobStatus::Failed, 0, 0, StatusQuery::default());
    assert_eq!(page["error"], "why");
    assert_eq!(page["data"], Value::Array(Vec::new()));
}

#[test]
fn the_end_of_a_socket_has_no_documents_and_no_next() {
    let page = page(JobStatus::Completed, 3, 0, StatusQuery { skip: 3, limit: None });
    assert_eq!(
        (page["next"].is_null(), page["data"].as_array().map(Vec::len)),
        (true, Some(0))
    );
}

#[test]
fn an_ended_job_counts_as_running_at_the_start_of_a_socket_while_documents_remain() {
    for status in [JobStatus::Completed, JobStatus::Failed, JobStatus::Cancelled] {
        let catchup =
            |documents| json(&status_page(status, 3, documents, StatusQuery::default()).into_catchup());
        let partial = catchup(2);
        assert_eq!(partial["status"], "scraping");
        for field in ["completedAt", "duration", "error"] {
            assert_eq!(partial.get(field), None, "{status}: {field}");
        }
        assert_eq!(
            partial["next"],
            "http://here/v2/crawl/00000000-0000-0000-0000-000000000007?skip=2"
        );
        assert_eq!(catchup(3), page(status, 3, 3, StatusQuery::default()));
    }
}
