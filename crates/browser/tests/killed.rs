//! Processes of live browsers that are killed from outside, and what is left at the end. A single test,
//! because it inspects every process that it started.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "live/plain.rs"]
mod plain;
#[path = "live/sandboxed.rs"]
mod sandboxed;
#[path = "live/sites.rs"]
mod sites;

use std::time::{Duration, Instant};

use harvestman_browser::{BrowserError, Execution, LiveBrowser};
use harvestman_core::api::interact::Language;
use harvestman_core::api::options::ScrapeOptions;
use rustix::process::{Pid, Signal, kill_process};

/// Longest time that any step may take.
const PATIENCE: Duration = Duration::from_secs(60);

async fn run(browser: &LiveBrowser, language: Language, code: &str) -> Execution {
    let since = Instant::now();
    let done = browser
        .run(code, language, Duration::from_secs(30))
        .await
        .unwrap();
    println!("{code}: {} ms", since.elapsed().as_millis());
    done
}

/// Returns the descendant processes of this one, with their command lines.
fn processes() -> Vec<(u32, String)> {
    let mut found = vec![(std::process::id(), String::new())];
    let all: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut next = 0;
    while let Some((parent, _)) = found.get(next).cloned() {
        let children = all.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(pid, _)| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            (*pid, String::from_utf8_lossy(&line).replace('\0', " "))
        }));
        next += 1;
    }
    found.split_off(1)
}

/// Kills all matching processes.
fn kill(what: &str, is: impl Fn(&str) -> bool) {
    let chosen: Vec<u32> = processes()
        .into_iter()
        .filter(|(_, line)| is(line))
        .map(|(pid, _)| pid)
        .collect();
    assert!(!chosen.is_empty(), "no {what} process found");
    for pid in chosen {
        // One process may have ended with another.
        let _ended = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
    }
}

fn is_browser(line: &str) -> bool {
    line.contains("--remote-debugging-pipe") && !line.contains("--type=")
}

async fn until(what: &str, is: impl Fn() -> bool) {
    let since = Instant::now();
    while !is() {
        assert!(since.elapsed() < PATIENCE, "{what} {:?}", processes());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn groups() -> usize {
    let name = format!("harvestman-{}-", std::process::id());
    let folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"];
    let entries = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten();
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&name))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_are_replaced_or_reported_and_nothing_is_left() {
    let browsers = sandboxed::browsers("killed").await;
    let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
    let go = "await page.goto('http://app.test/form'); globalThis.kept = 1; await page.title()";
    assert_eq!(
        run(&browser, Language::Node, go).await.result.as_deref(),
        Some("Form")
    );
    let title = "await page.title()";
    assert_eq!(
        run(&browser, Language::Python, title).await.result.as_deref(),
        Some("Form")
    );

    // The page's renderer: the page is reopened, and the code keeps its variables.
    kill("renderer", |line| line.contains("--type=renderer"));
    let after = run(&browser, Language::Node, "[kept, await page.title()]").await;
    assert_eq!(after.result.as_deref(), Some("[1,\"Form\"]"), "{after:?}");
    assert_eq!(
        run(&browser, Language::Python, title).await.result.as_deref(),
        Some("Form")
    );

    // The worker of idle code: the next one has the same page.
    for (language, program) in [(Language::Node, "/run/node -e"), (Language::Python, "python -c")] {
        kill(program, |line| {
            line.starts_with(program) || line.contains(&format!("/{program}"))
        });
        let after = run(&browser, language, title).await;
        assert_eq!(after.result.as_deref(), Some("Form"), "{after:?}");
    }

    // The worker of running code: an error is reported, and the page is still there for the next call.
    let running = {
        let browser = browser.clone();
        tokio::spawn(async move {
            run(
                &browser,
                Language::Node,
                "console.log('here'); await new Promise(() => {})",
            )
            .await
        })
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    kill("node", |line| line.starts_with("/run/node -e"));
    let cut = running.await.unwrap();
    assert_eq!(
        (cut.stdout.as_str(), cut.exit_code, cut.killed),
        ("here\n", 137, false),
        "{cut:?}"
    );
    assert!(cut.error.unwrap().contains("ended unexpectedly"));
    assert_eq!(
        run(&browser, Language::Node, title).await.result.as_deref(),
        Some("Form")
    );

    // The browser: the session is over at once.
    kill("browser", is_browser);
    until("the browser is gone", || browser.has_ended()).await;
    for language in [Language::Node, Language::Python, Language::Bash] {
        let over = browser.run(title, language, Duration::from_secs(30)).await;
        assert_eq!(over.unwrap_err(), BrowserError::Gone);
    }
    browser.end().await;

    let cycles = std::env::var("HARVESTMAN_CYCLES").map_or(3, |cycles| cycles.parse().unwrap());
    for _ in 0..cycles {
        let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
        let sum = browser
            .run("1 + 1", Language::Node, Duration::from_secs(30))
            .await
            .unwrap();
        assert_eq!(sum.result.as_deref(), Some("2"));
        browser.end().await;
        // Kill the spare, so that the next session needs another browser.
        until("no spare browser was started", || {
            processes().iter().any(|(_, line)| is_browser(line))
        })
        .await;
        kill("spare browser", is_browser);
    }
    let folder = plain::config("killed").folder;
    drop(browsers);
    until("processes are left", || processes().is_empty()).await;
    until("control groups are left", || groups() == 0).await;
    assert!(!folder.exists(), "{}", folder.display());
}
