//! A cluster under faults: real servers on one PostgreSQL, each behind a network that fails on request. They run
//! crawls, batch scrapes, webhooks, browser sessions and crawls of a host with a `Crawl-delay`, while servers and the
//! database fail in an order that a seed determines. Afterwards, every job must be exact. `cargo xtask faults` builds
//! and starts it.
#![allow(clippy::print_stdout)]

mod check;
mod cluster;
mod database;
mod fault;
mod paced;
mod random;
mod sessions;
mod work;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use harvestman_tests::Receiver;
use harvestman_tests::arguments::Arguments;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cluster::Cluster;
use crate::fault::Fault;
use crate::random::Random;
use crate::work::{Job, Worker};

const USAGE: &str =
    "usage: cargo xtask faults [--nodes 3] [--seed 1] [--faults 8] [--workers 4] [--pages 300]";

/// What to run.
struct Plan {
    nodes: u64,
    seed: u64,
    faults: u64,
    /// Jobs that run at once.
    workers: u64,
    /// Pages of each job.
    pages: u64,
}

impl Plan {
    fn parse(words: impl IntoIterator<Item = String>) -> Result<Plan> {
        let mut arguments = Arguments::new(words);
        let plan = Plan {
            nodes: arguments.number("--nodes", 3)?,
            seed: arguments.number("--seed", 1)?,
            faults: arguments.number("--faults", 8)?,
            workers: arguments.number("--workers", 4)?,
            pages: arguments.number("--pages", 300)?,
        };
        arguments.end()?;
        ensure!(plan.nodes >= 2 && plan.workers >= 1 && plan.pages >= 1, "too few");
        Ok(plan)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Plan::parse(std::env::args().skip(1)).context(USAGE) {
        Ok(plan) => run(&plan).await.with_context(|| format!("seed {}", plan.seed)),
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("faults: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(plan: &Plan) -> Result<()> {
    println!(
        "seed {}: {} servers, {} jobs of {} pages at once",
        plan.seed, plan.nodes, plan.workers, plan.pages
    );
    let mut random = Random::new(plan.seed);
    let receiver = Arc::new(Receiver::start().await);
    let mut cluster = Cluster::start(plan.nodes).await?;
    let (stop, stopped) = watch::channel(false);
    let worker = |number| Worker {
        number,
        pages: plan.pages,
        addresses: cluster.addresses(),
        webhook: receiver.url(),
        stopped: stopped.clone(),
    };
    let mut workers: JoinSet<_> = (0..plan.workers).map(|number| worker(number).run()).collect();
    let mut others = JoinSet::new();
    others.spawn(worker(0).crawl_paced());
    others.spawn(worker(1).use_sessions());
    for _ in 0..plan.faults {
        let fault = Fault::draw(&mut random, plan.nodes);
        println!("  {fault}");
        fault.inject(&mut cluster).await?;
    }
    stop.send_replace(true);
    let mut jobs: Vec<Job> = Vec::new();
    while let Some(done) = workers.join_next().await {
        jobs.extend(done.context("a worker panicked")??);
    }
    while let Some(done) = others.join_next().await {
        done.context("a worker panicked")??;
    }
    check::check(&cluster, &receiver, &jobs).await
}
