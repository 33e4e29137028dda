//! A cluster under faults: real servers on one PostgreSQL, each behind a network that fails on request, with crawls,
//! batch scrapes and webhooks, while servers and the database fail in an order that a seed decides. Afterwards every
//! job must be exact. `cargo xtask faults` builds and starts it.
#![allow(clippy::print_stdout)]

mod check;
mod cluster;
mod fault;
mod random;
mod work;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use harvestman_tests::Receiver;
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
        let mut plan = Plan {
            nodes: 3,
            seed: 1,
            faults: 8,
            workers: 4,
            pages: 300,
        };
        let mut words = words.into_iter();
        while let Some(name) = words.next() {
            let number = match name.as_str() {
                "--nodes" => &mut plan.nodes,
                "--seed" => &mut plan.seed,
                "--faults" => &mut plan.faults,
                "--workers" => &mut plan.workers,
                "--pages" => &mut plan.pages,
                _ => bail!("unknown argument `{name}`\n{USAGE}"),
            };
            *number = words
                .next()
                .and_then(|word| word.parse().ok())
                .with_context(|| format!("{name} needs a number\n{USAGE}"))?;
        }
        ensure!(
            plan.nodes >= 2 && plan.workers >= 1 && plan.pages >= 1,
            "too few\n{USAGE}"
        );
        Ok(plan)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Plan::parse(std::env::args().skip(1)) {
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
    let mut workers = JoinSet::new();
    for number in 0..plan.workers {
        let worker = Worker {
            number,
            pages: plan.pages,
            addresses: cluster.addresses(),
            webhook: receiver.url(),
            stopped: stopped.clone(),
        };
        workers.spawn(worker.run());
    }
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
    check::check(&cluster, &receiver, &jobs).await
}
