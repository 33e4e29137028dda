//! Simulates whole crawls of random scripted webs on virtual time. `HARVESTMAN_SIM_SEED=n` replays one seed.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "simulation/model_store.rs"]
#[allow(dead_code, reason = "shared with the tests of single rules")]
mod model_store;
#[path = "simulation/oracle.rs"]
mod oracle;
#[path = "simulation/rng.rs"]
mod rng;
#[path = "simulation/run.rs"]
mod run;
#[path = "simulation/world.rs"]
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use run::{Faults, Run};

const SEEDS: u64 = 2_000;

/// Runs `check` for every seed, or for the one in the environment, and reports the failing seed.
fn for_seeds(check: fn(u64)) {
    let seeds = match std::env::var("HARVESTMAN_SIM_SEED") {
        Ok(seed) => {
            let seed: u64 = seed.parse().unwrap();
            seed..seed + 1
        }
        Err(_) => 0..SEEDS,
    };
    for seed in seeds {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(seed))) {
            eprintln!("replay with HARVESTMAN_SIM_SEED={seed}");
            resume_unwind(panic);
        }
    }
}

#[test]
fn crawls_follow_every_rule_find_every_page_and_end() {
    static COMPARED: AtomicUsize = AtomicUsize::new(0);
    static PAGES: AtomicUsize = AtomicUsize::new(0);
    for_seeds(|seed| {
        let mut run = Run::new(seed, Faults::None);
        let result = run.finish();
        PAGES.fetch_add(result.pages.len(), Ordering::Relaxed);
        if run.is_comparable() {
            COMPARED.fetch_add(1, Ordering::Relaxed);
            assert_eq!(result.pages, run.expected());
        }
    });
    if std::env::var("HARVESTMAN_SIM_SEED").is_err() {
        assert!(
            COMPARED.load(Ordering::Relaxed) > 500,
            "too few worlds are comparable"
        );
        assert!(
            PAGES.load(Ordering::Relaxed) > 10_000,
            "the worlds have too few pages"
        );
    }
}

#[test]
fn batches_settle_every_page_despite_faults() {
    for_seeds(|seed| {
        let result = Run::batch(seed, Faults::None).finish();
        assert_eq!(
            Run::batch(seed, Faults::Owners).finish(),
            result,
            "a crash changed the result"
        );
        Run::batch(seed, Faults::Cancel).finish();
    });
}

#[test]
fn crashes_and_lost_responses_do_not_change_the_result() {
    for_seeds(|seed| {
        let mut faulty = Run::new(seed, Faults::Owners);
        let result = faulty.finish();
        if faulty.is_comparable() {
            assert_eq!(
                Run::new(seed, Faults::None).finish(),
                result,
                "a crash changed the result"
            );
        }
    });
}

#[test]
fn a_cancelled_crawl_stops_and_adds_nothing() {
    for_seeds(|seed| {
        let mut run = Run::new(seed, Faults::Cancel);
        run.finish();
    });
}
