//! Benchmarks of the real server with generated sites (docs/BENCHMARKS.md). A wrong count is an error; a slow time is
//! not.
#![allow(clippy::print_stdout)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod compare;
mod console;
mod crawl;
mod docs_folder;
mod fairness;
mod job_page;
mod latency;
mod nodes;
mod pace;
mod process;
mod scrape;
mod sessions;
mod site;
mod stored;
mod usage;

use std::process::ExitCode;

use anyhow::{Result, bail};

use harvestman_tests::arguments::Arguments;

const USAGE: &str = "\
usage: cargo xtask bench <which>

  compare [--sites postgresql,boost,rustdoc] [--rounds 5] [--latency-ms 0] [--limit 100000] [--browser]
  console                  run Lighthouse on every screen; use `cargo xtask console-check`, which installs it
  crawl [--pages 100000] [--kills 0] [--concurrency 16] [--seed 1]
  fairness [--jobs 200] [--teams 3] [--pages 40000] [--concurrency 8] [--latency-ms 10]
  interact [--calls 200] [--processes 11]
  job-page [--pages 10000]
  live-view [--clicks 100] [--seconds 5]
  nodes [--pages 4000] [--rounds 3]  servers on PostgreSQL
  pace [--pages 4000] [--latency-ms 20]
  scrape [--calls 500] [--latency-ms 0]
  stored [--pages 10000000] [--calls 1000]  status of a job on PostgreSQL
  usage [--rows 10000000] [--activity 1000000] [--calls 200]
  site [--latency-ms 0]    serve the generated site and print its URL, to compare other crawlers";

#[tokio::main]
async fn main() -> ExitCode {
    match dispatch().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn dispatch() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let which = words.next().unwrap_or_default();
    let mut arguments = Arguments::new(words);
    match which.as_str() {
        "compare" => compare::run(&mut arguments).await,
        "console" => console::run().await,
        "crawl" => crawl::run(&mut arguments).await,
        "fairness" => fairness::run(&mut arguments).await,
        "interact" => sessions::interact(&mut arguments).await,
        "job-page" => job_page::run(&mut arguments).await,
        "nodes" => nodes::run(&mut arguments).await,
        "pace" => pace::run(&mut arguments).await,
        "scrape" => scrape::run(&mut arguments).await,
        "live-view" => sessions::live_view(&mut arguments).await,
        "stored" => stored::run(&mut arguments).await,
        "usage" => usage::run(&mut arguments).await,
        "site" => site::run(&mut arguments).await,
        _ => bail!("unknown benchmark `{which}`\n{USAGE}"),
    }
}
