//! Reports over a large ledger: measures their latency through the real server, and checks them against the ledger.

use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use harvestman_core::ids::JobId;
use harvestman_core::month::Month;
use harvestman_core::paging::Cursor;
use harvestman_core::time::Timestamp;
use harvestman_store::{DATABASE_FILE, Store, StoreConfig};
use harvestman_tests::TestServer;
use http::Method;
use serde_json::Value;

use crate::latency::Latencies;
use crate::process;
use harvestman_tests::arguments::Arguments;

const TEAMS: usize = 10;
const KEYS_PER_TEAM: usize = 8;
/// Age of the entries on the late page of activity.
const LATE_PAGE_AGE: Duration = Duration::from_secs(23 * 3600);

/// Runs `usage --rows N --activity N --calls N`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let rows = arguments.number("--rows", 10_000_000)?;
    let activity = arguments.number("--activity", 1_000_000)?;
    let calls = arguments.number("--calls", 200)?.max(1);
    arguments.end()?;

    let keys: Vec<String> = (0..TEAMS * KEYS_PER_TEAM)
        .map(|number| format!("fc-{number}=team-{}:key-{number}", number % TEAMS))
        .collect();
    let keys = keys.join(",");
    let settings = [
        ("HARVESTMAN_API_KEYS", keys.as_str()),
        ("HARVESTMAN_CREDIT_BUDGET", "1000000000"),
        ("HARVESTMAN_LOG", "warn"),
    ];
    let mut server = TestServer::start_with(&settings).await;
    ensure!(server.terminate().await.success(), "the server did not stop");
    let folder = server.data_dir().join("data");
    let filled = Instant::now();
    fill(&folder.join(DATABASE_FILE), rows, activity)?;
    println!(
        "{rows} ledger rows, {TEAMS} teams of {KEYS_PER_TEAM} keys, {activity} activity rows: {:.1} s, {:.1} MiB",
        filled.elapsed().as_secs_f64(),
        process::folder_bytes(&folder)? as f64 / f64::from(1 << 20)
    );

    server.restart().await;
    let late = SystemTime::now()
        .duration_since(UNIX_EPOCH)?
        .saturating_sub(LATE_PAGE_AGE);
    let late = Cursor {
        time: Timestamp(u64::try_from(late.as_millis())?),
        id: "00000000-0000-0000-0000-000000000000".parse::<JobId>()?.0,
    };
    let late = late.encode();
    for (name, path) in [
        ("empty response", "/health".to_owned()),
        ("credits by month", "/v2/team/credit-usage/historical".to_owned()),
        (
            "credits by key",
            "/v2/team/credit-usage/historical?byApiKey=true".to_owned(),
        ),
        (
            "tokens by key",
            "/v2/team/token-usage/historical?byApiKey=true".to_owned(),
        ),
        ("credits left", "/v2/team/credit-usage".to_owned()),
        ("activity, first", "/v2/team/activity?limit=100".to_owned()),
        (
            "activity, late",
            format!("/v2/team/activity?limit=100&cursor={late}"),
        ),
        (
            "activity, rare",
            "/v2/team/activity?limit=100&endpoint=agent".to_owned(),
        ),
        ("queue", "/v2/team/queue-status".to_owned()),
        ("concurrency", "/v2/concurrency-check".to_owned()),
    ] {
        let mut times = Latencies::default();
        for _ in 0..calls {
            let started = Instant::now();
            get(&server, &path).await?;
            times.push(started.elapsed());
        }
        println!("{name:<17} {}", times.line());
    }
    let report = get(&server, "/v2/team/credit-usage/historical?byApiKey=true").await?;
    ensure!(server.terminate().await.success(), "the server did not stop");
    check(&folder, &report, calls).await
}

async fn get(server: &TestServer, path: &str) -> Result<Value> {
    let headers = [("authorization", "Bearer fc-0")];
    let response = server.send(Method::GET, path, &headers, Bytes::new()).await;
    ensure!(response.status == 200, "{path}: {}", response.json);
    Ok(response.json)
}

/// Fills the database with two years of usage, with a program that `cargo xtask bench` builds next to this one.
fn fill(database: &std::path::Path, rows: u64, activity: u64) -> Result<()> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name("examples").join("fill_usage");
    let done = Command::new(&program)
        .arg(database)
        .args([rows.to_string(), activity.to_string()])
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(done.success(), "cannot fill the database");
    Ok(())
}

/// Measures the budget check that every page makes, and checks the report against the ledger.
async fn check(folder: &std::path::Path, report: &Value, calls: u64) -> Result<()> {
    let store = Store::open(&StoreConfig::new(folder)).await?;
    let team = store.ensure_team("team-0").await?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let month = Month::of(Timestamp(u64::try_from(now.as_millis())?));
    let mut times = Latencies::default();
    for _ in 0..calls {
        let started = Instant::now();
        store.credits_in_month(team, month).await?;
        times.push(started.elapsed());
    }
    println!("{:<17} {}", "budget, in store", times.line());
    let started = Instant::now();
    let ledger = store.ledger_total(team).await?;
    println!(
        "{:<17} {:.1} s",
        "the whole ledger",
        started.elapsed().as_secs_f64()
    );
    store.close().await?;
    let periods = report["periods"]
        .as_array()
        .context("the report has no periods")?;
    let credits = |period: &Value| period["creditsUsed"].as_u64().unwrap_or(0);
    let reported: u64 = periods.iter().map(credits).sum();
    ensure!(
        reported == ledger,
        "the report has {reported} credits, the ledger {ledger}"
    );
    println!(
        "{} periods, {reported} credits, equal to the ledger",
        periods.len()
    );
    Ok(())
}
