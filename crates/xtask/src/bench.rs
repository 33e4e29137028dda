//! `bench`: benchmarks of the release server, and of the content crate in comparison with its peers
//! (docs/BENCHMARKS.md).

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{console, project::Project, run, score::CORPUS, tools::Tools};

/// Benchmarks that need a Chromium and Node.js.
const BROWSER_BENCHMARKS: &[&str] = &["interact", "job-page", "live-view"];
/// The browser benchmark that uses the console.
const CONSOLE_BENCHMARK: &str = "job-page";

/// The benchmark that runs other crawlers as well.
const COMPARE: &str = "compare";
/// Benchmarks that use PostgreSQL.
const POSTGRES_BENCHMARKS: &[&str] = &["nodes", "stored"];

/// Builds the server and its benchmarks, and runs the benchmark that `arguments` name.
///
/// # Errors
/// A failed build, or a benchmark that found a wrong count.
pub(crate) fn bench(project: &Project, arguments: &[String]) -> Result<()> {
    if let [first, rest @ ..] = arguments
        && first == "content"
    {
        return content(project, rest);
    }
    let which = arguments.first().map(String::as_str).unwrap_or_default();
    if which == CONSOLE_BENCHMARK {
        console::build(project, &Tools::open()?)?;
    }
    run::run(project.cargo().args([
        "build", "--release", "--package=harvestman-server", "--package=harvestman-store",
        "--package=harvestman-tests", "--bins", "--example=fill_usage",
    ]))?;
    let release = project.target().join("release");
    let mut bench = run::command(release.join("harvestman-bench"));
    bench
        .env("HARVESTMAN_TEST_SERVER", release.join("harvestman"))
        .args(arguments);
    if BROWSER_BENCHMARKS.contains(&which) {
        let tools = Tools::open()?;
        bench
            .env("HARVESTMAN_TEST_NODE", tools.node()?.path())
            .env("HARVESTMAN_TEST_JAVASCRIPT", tools.javascript(project)?)
            .env("HARVESTMAN_CHROMIUM", tools.chromium(project)?);
        tools.release()?;
    }
    if which == COMPARE {
        add_peers(project, &mut bench);
    }
    let cluster = match POSTGRES_BENCHMARKS.contains(&which) {
        true => Some(Tools::open()?.durable_postgres()?),
        false => None,
    };
    if let Some(cluster) = &cluster {
        bench.env("HARVESTMAN_TEST_POSTGRES", cluster.url());
    }
    run::run(&mut bench)
}

/// Passes the paths of the installed crawlers to the benchmark (docs/PERFORMANCE.md).
fn add_peers(project: &Project, bench: &mut Command) {
    let peers = project.path("tests/peers");
    let spider = peers.join("spider/target/release/spider-peer");
    if spider.is_file() {
        bench.env("HARVESTMAN_BENCH_SPIDER", spider);
    }
    let crawlee = peers.join("crawlee");
    if crawlee.join("node_modules").is_dir() {
        let script = crawlee.join("crawl.mjs");
        bench.env("HARVESTMAN_BENCH_CRAWLEE", format!("node {}", script.display()));
    }
    let mut scrapy = Command::new("python3");
    scrapy
        .args(["-c", "import scrapy, html_to_markdown"])
        .stderr(Stdio::null());
    if scrapy.status().is_ok_and(|status| status.success()) {
        let script = peers.join("scrapy/crawl.py");
        bench.env("HARVESTMAN_BENCH_SCRAPY", format!("python3 {}", script.display()));
    }
}

/// Measures speed and memory of the content crate with the pages of a corpus, or with the small pages of its tests.
fn content(project: &Project, arguments: &[String]) -> Result<()> {
    let folder = project.path("crates/content/bench");
    // The benchmark must use the same versions of dependencies as the product.
    fs::copy(project.path("Cargo.lock"), folder.join("Cargo.lock"))
        .context("cannot copy Cargo.lock to the benchmark")?;
    let mut cargo = project.cargo();
    match arguments {
        [] => {}
        [corpus] => {
            cargo.env(CORPUS, fs::canonicalize(corpus).with_context(|| corpus.clone())?);
        }
        _ => bail!("too many arguments: give one folder of pages"),
    }
    cargo
        .current_dir(folder)
        .args(["bench", "--benches"])
        .env("CARGO_TARGET_DIR", project.target().join("bench-content"));
    run::run(&mut cargo)
}
