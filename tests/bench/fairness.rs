//! Many concurrent crawls of several teams: checks that all end with exact counts, and measures how evenly they
//! progress, how long each waits, and the latency of status requests.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use harvestman_tests::TestServer;
use http::Method;
use serde_json::{Value, json};

use crate::latency::Latencies;
use crate::process;
use crate::site::GeneratedSite;
use harvestman_tests::arguments::Arguments;

/// Pages of a large job per page of a small one; each team starts with a large job.
const LARGE: u64 = 20;
/// Interval between two rounds of status requests for all jobs.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Concurrent requests within a round, so that all statuses are from about the same time.
const STATUS_REQUESTS: usize = 8;
/// Approximate number of lines of the progress table.
const TABLE_LINES: usize = 12;
/// Time without a new page after which the benchmark fails.
const TIMEOUT: Duration = Duration::from_secs(60);

struct Job {
    team: usize,
    pages: u64,
    large: bool,
    id: String,
    started: Instant,
    completed: u64,
    ended: bool,
    /// Time at which the newest page was first reported.
    moved: Instant,
    /// Time until the first page was reported, and longest time between two later ones.
    first_wait: Option<Duration>,
    longest_wait: Duration,
}

/// Pages of each team at one time.
struct Sample {
    at: Duration,
    teams: Vec<u64>,
}

/// Times of status requests during the first and the second half of all pages.
#[derive(Default)]
struct StatusTimes {
    early: Latencies,
    late: Latencies,
}

/// Runs `fairness --jobs N --teams T --pages P --concurrency C --latency-ms L`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let jobs = arguments.number("--jobs", 200)?;
    let teams = usize::try_from(arguments.number("--teams", 3)?)?.max(1);
    let pages = arguments.number("--pages", 40_000)?;
    let concurrency = arguments.number("--concurrency", 8)?;
    let latency = Duration::from_millis(arguments.number("--latency-ms", 10)?);
    arguments.end()?;

    let site = GeneratedSite::serve(latency).await?;
    let keys: Vec<String> = (0..teams)
        .map(|team| format!("{}=team-{team}:bench", key(team)))
        .collect();
    let (keys, concurrency) = (keys.join(","), concurrency.to_string());
    let server = TestServer::start_with(&[
        ("HARVESTMAN_API_KEYS", keys.as_str()),
        ("HARVESTMAN_MAX_CONCURRENCY", concurrency.as_str()),
        ("HARVESTMAN_LOG", "warn"),
    ])
    .await;
    let sizes = sizes(jobs, teams, pages);
    let of_team = |team: usize| sizes.iter().filter(|size| size.team == team).count();
    let counts: Vec<String> = (0..teams).map(|team| of_team(team).to_string()).collect();
    println!(
        "{} jobs of {teams} teams ({}), {concurrency} pages per team at once, at least {} ms per page",
        sizes.len(),
        counts.join(" + "),
        latency.as_millis()
    );

    let started = Instant::now();
    let starts = sizes.iter().map(|size| start(&server, &site, size));
    let mut running = futures_util::future::try_join_all(starts).await?;
    println!("started         all in {:.1} s", started.elapsed().as_secs_f64());
    let total: u64 = sizes.iter().map(|size| size.pages).sum();
    let (mut samples, mut small, mut large) = (Vec::new(), StatusTimes::default(), StatusTimes::default());
    let mut spread = vec![None; teams];
    let (mut most, mut since) = (0, Instant::now());
    while running.iter().any(|job| !job.ended) {
        let looks = running
            .iter_mut()
            .filter(|job| !job.ended)
            .map(|job| read_status(&server, job));
        let looks: Vec<_> = stream::iter(looks)
            .buffer_unordered(STATUS_REQUESTS)
            .try_collect()
            .await?;
        for (is_large, time) in looks {
            let times = if is_large { &mut large } else { &mut small };
            if most * 2 < total {
                times.early.push(time)
            } else {
                times.late.push(time)
            }
        }
        samples.push(Sample {
            at: started.elapsed(),
            teams: (0..teams).map(|team| pages_of(&running, team)).collect(),
        });
        for (team, spread) in spread.iter_mut().enumerate() {
            if spread.is_none() {
                *spread = page_count_range(&running, team);
            }
        }
        let now: u64 = running.iter().map(|job| job.completed).sum();
        if now > most {
            (most, since) = (now, Instant::now());
        }
        ensure!(since.elapsed() < TIMEOUT, "no new page after {now} of {total}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let wall_s = started.elapsed().as_secs_f64();
    println!(
        "wall            {wall_s:.1} s, {:.0} pages/s",
        total as f64 / wall_s
    );
    println!("server CPU      {:.1} s", process::cpu_s(server.pid())?);
    println!(
        "peak memory     {:.1} MiB",
        process::peak_bytes(server.pid())? as f64 / f64::from(1 << 20)
    );
    print_progress(&samples, &running, teams);
    for (team, spread) in spread.into_iter().enumerate() {
        let (least, most) = spread.unwrap_or_default();
        println!(
            "team {team}, jobs    at the end of its first small job, the others had {least} to {most} pages"
        );
    }
    print_waits(&running, teams);
    println!("status early    small jobs: {}", small.early.line());
    println!("                large jobs: {}", large.early.line());
    println!("status late     small jobs: {}", small.late.line());
    println!("                large jobs: {}", large.late.line());
    println!(
        "exact           {} jobs, {total} pages: counts and charges of all jobs are correct",
        running.len()
    );
    Ok(())
}

fn key(team: usize) -> String {
    format!("fc-bench-{team}")
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Size {
    team: usize,
    pages: u64,
    large: bool,
}

/// Returns the jobs in the order of their start: the first team has the most, and each team begins with a large one.
fn sizes(jobs: u64, teams: usize, pages: u64) -> Vec<Size> {
    let shares: u64 = (1..=teams as u64).sum();
    let small = (pages / (jobs + (LARGE - 1) * teams as u64)).max(1);
    let mut sizes = Vec::new();
    for team in 0..teams {
        let share = (jobs * (teams - team) as u64 / shares).max(1);
        for number in 0..share {
            let large = number == 0;
            let pages = if large { small * LARGE } else { small };
            sizes.push(Size { team, pages, large });
        }
    }
    // The remainder of the division goes to the first team.
    while (sizes.len() as u64) < jobs {
        sizes.insert(
            1,
            Size {
                team: 0,
                pages: small,
                large: false,
            },
        );
    }
    sizes
}

async fn start(server: &TestServer, site: &GeneratedSite, size: &Size) -> Result<Job> {
    let url = site.start(&format!("docs-{}", size.pages));
    let request = json!({ "url": url, "limit": size.pages + 10, "scrapeOptions": { "maxAge": 0 } });
    let now = Instant::now();
    let response = send(server, size.team, Method::POST, "/v2/crawl", request.to_string()).await;
    Ok(Job {
        team: size.team,
        pages: size.pages,
        large: size.large,
        id: response["id"]
            .as_str()
            .context("the response has no job id")?
            .to_owned(),
        started: now,
        completed: 0,
        ended: false,
        moved: now,
        first_wait: None,
        longest_wait: Duration::ZERO,
    })
}

async fn send(server: &TestServer, team: usize, method: Method, path: &str, body: impl Into<Bytes>) -> Value {
    let authorization = format!("Bearer {}", key(team));
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
    ];
    server.send(method, path, &headers, body).await.ok()
}

/// Reads the status of a job with its newest document. Returns whether the job is large, and the time of the request.
async fn read_status(server: &TestServer, job: &mut Job) -> Result<(bool, Duration)> {
    let path = format!("/v2/crawl/{}?limit=1&skip={}", job.id, job.completed.max(1) - 1);
    let started = Instant::now();
    let status = send(server, job.team, Method::GET, &path, Bytes::new()).await;
    let took = started.elapsed();
    let completed = status["completed"]
        .as_u64()
        .context("the status has no page count")?;
    if completed > job.completed {
        let wait = job.moved.elapsed();
        if job.completed == 0 {
            job.first_wait = Some(job.started.elapsed());
        } else {
            job.longest_wait = job.longest_wait.max(wait);
        }
        (job.completed, job.moved) = (completed, Instant::now());
    }
    if status["status"] != "scraping" {
        job.ended = true;
        ensure!(
            status["status"] == "completed",
            "job {} of team {} has not completed: {status}",
            job.id,
            job.team
        );
        for field in ["completed", "total", "creditsUsed"] {
            ensure!(
                status[field] == job.pages,
                "{field} of job {} is not {}: {status}",
                job.id,
                job.pages
            );
        }
    }
    Ok((job.large, took))
}

fn pages_of(jobs: &[Job], team: usize) -> u64 {
    jobs.iter()
        .filter(|job| job.team == team)
        .map(|job| job.completed)
        .sum()
}

/// Returns the smallest and largest page count of a team's running small jobs, once the first one has ended.
fn page_count_range(jobs: &[Job], team: usize) -> Option<(u64, u64)> {
    let small = || jobs.iter().filter(|job| job.team == team && !job.large);
    if !small().any(|job| job.ended) {
        return None;
    }
    let others = || small().filter(|job| !job.ended).map(|job| job.completed);
    others().min().zip(others().max())
}

/// Prints a table of pages by team over time, and the ratio between the teams while all had work.
fn print_progress(samples: &[Sample], jobs: &[Job], teams: usize) {
    let totals: Vec<u64> = (0..teams)
        .map(|team| {
            jobs.iter()
                .filter(|job| job.team == team)
                .map(|job| job.pages)
                .sum()
        })
        .collect();
    let busy = samples
        .iter()
        .rfind(|sample| sample.teams.iter().zip(&totals).all(|(now, all)| now < all));
    for sample in samples.iter().step_by(samples.len().div_ceil(TABLE_LINES)) {
        let pages: Vec<String> = sample.teams.iter().map(|pages| format!("{pages:>7}")).collect();
        println!(
            "at {:>6.1} s     {} pages by team",
            sample.at.as_secs_f64(),
            pages.join("")
        );
    }
    if let Some((least, most)) =
        busy.and_then(|sample| sample.teams.iter().min().zip(sample.teams.iter().max()))
    {
        let ratio = *most as f64 / (*least).max(1) as f64;
        println!("teams           {least} to {most} pages while all had work: ratio {ratio:.2}");
    }
}

fn print_waits(jobs: &[Job], teams: usize) {
    for team in 0..teams {
        let of_team = || jobs.iter().filter(|job| job.team == team);
        let first = of_team()
            .filter_map(|job| job.first_wait)
            .max()
            .unwrap_or_default();
        let next = of_team().map(|job| job.longest_wait).max().unwrap_or_default();
        println!(
            "team {team}, waits   longest wait for a first page {:.1} s, for a later one {:.1} s",
            first.as_secs_f64(),
            next.as_secs_f64()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_have_unequal_numbers_of_jobs_and_one_large_job_each() {
        let sizes = sizes(200, 3, 20_000);
        let of_team = |team: usize| sizes.iter().filter(|size| size.team == team).count();
        assert_eq!(sizes.len(), 200);
        assert_eq!((of_team(0), of_team(1), of_team(2)), (101, 66, 33));
        assert_eq!(sizes.iter().filter(|size| size.large).count(), 3);
        let pages: u64 = sizes.iter().map(|size| size.pages).sum();
        assert!((19_000..=20_000).contains(&pages), "{pages}");
    }
}
