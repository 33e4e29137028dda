//! Whole crawls against scripted random webs on virtual time. `HARVESTMAN_SIM_SEED=n` replays one.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "simulation/model_store.rs"]
mod model_store;
#[path = "simulation/rng.rs"]
mod rng;
#[path = "simulation/run.rs"]
mod run;
#[path = "simulation/world.rs"]
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use run::{Faults, Run};

const SEEDS: u64 = 2_000;

/// Runs `check` for every seed, or for the one of the environment, and names the seed that fails.
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
fn crawls_keep_every_rule_and_end() {
    for_seeds(|seed| drop(Run::new(seed, Faults::None).finish()));
}

#[test]
fn crashes_and_lost_answers_change_no_result() {
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
