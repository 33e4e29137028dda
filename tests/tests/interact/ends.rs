//! Ends of sessions; each session is charged once.

use futures_util::future::join_all;
use harvestman_tests::tools;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::setup::{
    bash, delete, descendants, execute, interact, open, run, server, sessions, site, wait_for_end,
    wait_until_gone,
};

/// Python program that holds the write lock of the database until stdin ends.
const LOCK: &str = "import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=60)
database.execute('BEGIN IMMEDIATE')
print('locked', flush=True)
sys.stdin.read()";

#[tokio::test]
async fn one_of_many_deletes_ends_a_session_which_is_charged_once() {
    let mut server = server(&[]).await;
    let id = open(&server, json!({})).await;
    let (path, code) = (execute(&id), bash("wait 20000"));
    let deletes = join_all((0..5).map(|_| delete(&server, &id)));
    let (running, deletes) = tokio::join!(server.post(&path, &code), deletes);
    let (done, late): (Vec<_>, Vec<_>) = deletes.into_iter().partition(|response| response.status == 200);
    assert_eq!(done.len(), 1);
    assert!(late.iter().all(|response| response.status == 404));
    running.is_error(410, "SESSION_DESTROYED");
    let billed = done[0].json["creditsBilled"].as_u64().unwrap();
    assert!(billed >= 1);
    server.terminate().await;
    assert_eq!(server.ledger_total("test").await, billed);
}

#[tokio::test]
async fn an_idle_session_ends() {
    let mut server = server(&[]).await;
    let idle = open(&server, json!({ "activityTtl": 10 })).await;
    // A session with running code is not idle.
    run(&server, &execute(&idle), "wait 12000").await;
    wait_for_end(&server, &idle).await;
    server
        .post(&execute(&idle), &bash("get url"))
        .await
        .is_error(410, "SESSION_DESTROYED");
    assert_eq!(delete(&server, &idle).await.status, 404);
    server.terminate().await;
    assert!(
        (1..=2).contains(&server.ledger_total("test").await),
        "the seconds are rounded up to whole credits"
    );
}

#[tokio::test]
async fn a_session_ends_when_the_credits_of_its_team_are_used_up() {
    let server = server(&[("HARVESTMAN_CREDIT_BUDGET", "1")]).await;
    let id = open(&server, json!({})).await;
    wait_for_end(&server, &id).await;
    server
        .post("/v2/browser", &json!({}))
        .await
        .is_error(402, "INSUFFICIENT_CREDITS");
}

#[tokio::test]
async fn a_session_ends_when_its_browser_is_killed() {
    let (site, server) = (site().await, server(&[("HARVESTMAN_MAX_SESSIONS", "1")]).await);
    let path = interact(&server.scrape_id(&json!({ "url": site.url("/") })).await);
    run(&server, &path, "get url").await;
    let browsers = descendants(server.pid());
    for pid in &browsers {
        // A process may already have ended with another one.
        let _ended = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
    }
    wait_until_gone(&browsers).await;
    // Until the server notices, it still knows the URL.
    let killed = std::time::Instant::now();
    let over = loop {
        let over = server.post(&path, &bash("get url")).await;
        if over.status != 200 || killed.elapsed().as_secs() >= 10 {
            break over;
        }
    };
    assert!(matches!(over.status, 410 | 502), "{}", over.status);
    wait_for_end(&server, "").await;
    server
        .post(&path, &bash("get url"))
        .await
        .is_error(410, "SESSION_DESTROYED");
    let since = std::time::Instant::now();
    while server.post("/v2/browser", &json!({})).await.status != 200 {
        assert!(since.elapsed().as_secs() < 60, "the session slot is not released");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn sessions_of_a_killed_server_have_ended_and_are_charged_once() {
    let (site, mut server) = (site().await, server(&[]).await);
    let scraped = server.scrape_id(&json!({ "url": site.url("/") })).await;
    run(&server, &interact(&scraped), "get url").await;
    let own = open(&server, json!({})).await;
    let browsers = descendants(server.pid());
    assert!(!browsers.is_empty());
    server.kill9();
    wait_until_gone(&browsers).await;
    server.restart().await;
    let over = |response: harvestman_tests::HttpResponse| (response.status, response.code().to_owned());
    let destroyed = (410, "SESSION_DESTROYED".to_owned());
    assert_eq!(
        over(server.post(&interact(&scraped), &bash("get url")).await),
        destroyed
    );
    assert_eq!(
        over(server.post(&execute(&own), &bash("get url")).await),
        destroyed
    );
    assert_eq!(delete(&server, &own).await.status, 404);
    assert_eq!(server.delete(&interact(&scraped)).await.status, 404);
    assert!(
        sessions(&server, "")
            .await
            .iter()
            .all(|session| session["status"] == "destroyed")
    );
    server.terminate().await;
    let total = server.ledger_total("test").await;
    assert_eq!(
        server.ledger_total("test").await,
        total,
        "reopening the store charges nothing"
    );
    assert!(
        (1..=3).contains(&total),
        "the scrape, and at most one credit per session: {total}"
    );
}

#[tokio::test]
async fn a_shutdown_ends_all_sessions() {
    let mut server = server(&[]).await;
    let id = open(&server, json!({})).await;
    let browsers = descendants(server.pid());
    server.terminate().await;
    wait_until_gone(&browsers).await;
    assert!(server.ledger_total("test").await >= 1);
    server.restart().await;
    let list = sessions(&server, "").await;
    assert_eq!(
        (list.len(), &list[0]["id"], &list[0]["status"]),
        (1, &json!(id), &json!("destroyed"))
    );
}

#[tokio::test]
async fn a_session_end_is_stored_later_if_the_store_is_locked() {
    let mut server = server(&[("HARVESTMAN_CREDIT_BUDGET", "1")]).await;
    let id = open(&server, json!({})).await;
    let database = server.data_dir().join("data/harvestman.db");
    let mut lock = std::process::Command::new(tools::path("HARVESTMAN_TEST_PYTHON"))
        .args(["-c", LOCK, database.to_str().unwrap()])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(lock.stdout.take().unwrap()),
        &mut said,
    )
    .unwrap();
    assert_eq!(said, "locked\n");
    delete(&server, &id).await.is_error(503, "SERVICE_UNAVAILABLE");
    server
        .post(&execute(&id), &bash("get url"))
        .await
        .is_error(410, "SESSION_DESTROYED");
    assert_eq!(sessions(&server, "").await[0]["status"], "destroyed");
    drop(lock.stdin.take());
    lock.wait().unwrap();
    let is_stored = |ended: &Value| ended["sessions"] != json!([]);
    server.wait_until("/v2/browser?status=destroyed", is_stored).await;
    server
        .post("/v2/browser", &json!({}))
        .await
        .is_error(402, "INSUFFICIENT_CREDITS");
    server.terminate().await;
    assert_eq!(
        server.ledger_total("test").await,
        1,
        "the session is charged for its seconds"
    );
}

#[tokio::test]
async fn opening_and_ending_sessions_leaves_no_processes_or_files() {
    let server = server(&[]).await;
    let folder = server.data_dir().join("data/browser");
    let left = || -> Vec<String> {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    let cycle = async || {
        let id = open(&server, json!({})).await;
        run(&server, &execute(&id), "get url").await;
        delete(&server, &id).await.ok();
    };
    let final_counts = async || -> (usize, usize) {
        // One browser is started in advance, which takes a moment.
        let since = std::time::Instant::now();
        let mut seen = (descendants(server.pid()).len(), left().len());
        let mut quiet = 0;
        while quiet < 20 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            let now = (descendants(server.pid()).len(), left().len());
            quiet = if now == seen { quiet + 1 } else { 0 };
            seen = now;
            assert!(
                since.elapsed().as_secs() < 60,
                "the number of processes and files does not settle"
            );
        }
        seen
    };
    cycle().await;
    let (processes, folders) = final_counts().await;
    for _ in 0..10 {
        cycle().await;
    }
    let after = final_counts().await;
    assert!(
        after.0 <= processes && after.1 <= folders,
        "{after:?} of {processes}, {folders}: {:?}",
        left()
    );
    assert_eq!(sessions(&server, "?status=active").await, [] as [Value; 0]);
}
