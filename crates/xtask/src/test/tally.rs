//! Runs test programs and counts their tests. Two programs run at a time, because most of them wait for a browser, a
//! database or a clock half of the time. Tests that fail are run once more, alone, since a busy machine delays what
//! they wait for. Tests that pass in the second run are reported as unstable. A program that hangs is stopped.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};

use crate::{process_groups, run};

/// Programs that run at the same time.
const LANES: usize = 2;
/// Longest run of one program; the slowest take about 8 minutes on two slow cores.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// Programs that the totals list as the slowest.
const SLOWEST: usize = 10;

/// Counts of passed and failed tests, the tests that passed only when repeated, and the programs that failed.
#[derive(Default)]
pub(super) struct Tally {
    passed: u64,
    failed: u64,
    unstable: Vec<String>,
    broken: Vec<String>,
    durations: Vec<(Duration, String)>,
}

/// Creates the command for some tests of a libtest program or some files of Node's test runner.
type Repeat<'a> = Box<dyn Fn(&[String]) -> Command + Send + 'a>;

/// A program of libtest or of Node's test runner.
pub(super) struct Run<'a> {
    pub(super) name: String,
    pub(super) command: Command,
    pub(super) repeat: Repeat<'a>,
}

/// Result of one run of a program.
#[derive(Default)]
struct Outcome {
    output: String,
    passed: u64,
    failed: u64,
    /// Names of the failed tests of a libtest program, or files with failed tests of Node.
    failures: Vec<String>,
    succeeded: bool,
}

impl Tally {
    /// Runs programs, prints the output of each when it ends, and counts the results of their tests.
    pub(super) fn run(&mut self, runs: Vec<Run<'_>>) -> Result<()> {
        let waiting = Mutex::new(runs.into_iter());
        let ended = Mutex::new(Vec::new());
        // Not in the loop's condition, which would hold the lock while the program runs.
        let next = || lock(&waiting).next();
        let lane = || -> Result<()> {
            while let Some(mut run) = next() {
                run::print_step(&run.name);
                let start = Instant::now();
                let outcome = Outcome::of(&run.name, &mut run.command)?;
                lock(&ended).push((run, outcome, start.elapsed()));
            }
            Ok(())
        };
        thread::scope(|scope| {
            let lanes = [(); LANES].map(|()| scope.spawn(lane));
            let join = |lane: thread::ScopedJoinHandle<'_, _>| {
                lane.join()
                    .map_err(|_| anyhow!("a thread that runs tests panicked"))?
            };
            lanes.into_iter().try_for_each(join)
        })?;
        let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        ended.into_iter().try_for_each(|(run, outcome, duration)| {
            self.durations.push((duration, run.name.clone()));
            self.add(&run, outcome)
        })
    }

    /// Runs the failed tests a second time, then counts the result.
    fn add(&mut self, run: &Run<'_>, mut outcome: Outcome) -> Result<()> {
        let name = &run.name;
        if !outcome.failures.is_empty() {
            run::print_step(&format!("{name}, failed tests again"));
            let repeated = Outcome::of(name, &mut (run.repeat)(&outcome.failures))?;
            let fixed = outcome
                .failures
                .iter()
                .filter(|test| !repeated.failures.contains(test));
            self.unstable.extend(fixed.map(|test| format!("{name}: {test}")));
            outcome.passed += repeated.passed;
            outcome.failed = repeated.failed;
            outcome.succeeded = repeated.succeeded;
        }
        self.passed += outcome.passed;
        self.failed += outcome.failed;
        if !outcome.succeeded {
            self.broken.push(name.clone());
        }
        Ok(())
    }

    /// Returns whether no test was run.
    pub(super) fn is_empty(&self) -> bool {
        self.passed + self.failed == 0 && self.broken.is_empty()
    }

    /// Prints the totals.
    ///
    /// # Errors
    /// Names the programs that failed.
    pub(super) fn finish(mut self) -> Result<()> {
        self.durations.sort_by(|(left, _), (right, _)| right.cmp(left));
        println!("slowest programs:");
        for (duration, name) in self.durations.iter().take(SLOWEST) {
            println!("{:>6} s  {name}", duration.as_secs());
        }
        println!(
            "test result: {} passed, {} failed in total",
            self.passed, self.failed
        );
        if !self.unstable.is_empty() {
            println!("unstable, passed when repeated: {}", self.unstable.join(", "));
        }
        if !self.broken.is_empty() {
            bail!("failed: {}", self.broken.join(", "));
        }
        Ok(())
    }
}

impl Outcome {
    /// Runs a program, and prints its output at its end.
    fn of(name: &str, command: &mut Command) -> Result<Outcome> {
        let mut child = process_groups::spawn(command.stdout(Stdio::piped()))
            .with_context(|| format!("cannot start {name}"))?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut outcome = Outcome::default();
                for line in BufReader::new(stdout).split(b'\n') {
                    let line = String::from_utf8_lossy(&line?).into_owned();
                    outcome.read(&line);
                    outcome.output.extend([&line, "\n"]);
                }
                anyhow::Ok(outcome)
            });
            let ended = run::wait_within(&mut child, LIMIT);
            let mut outcome = reader
                .join()
                .map_err(|_| anyhow!("the output of {name} cannot be read"))??;
            print!("==> {name}: output\n{}", outcome.output);
            outcome.succeeded = match ended {
                Ok(status) => status.success(),
                Err(error) => {
                    println!("{name}: {error}");
                    false
                }
            };
            Ok(outcome)
        })
    }

    fn read(&mut self, line: &str) {
        // libtest: "test a::b ... FAILED", "test result: ok. 3 passed; 0 failed; ...".
        // Node: "ℹ pass 3", "ℹ fail 1", and after the totals "test at folder/a.test.mjs:12:3".
        let words: Vec<&str> = line.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            ["test", "result:", _, passed, "passed", failed, "failed", ..] => {
                self.passed += passed.parse().unwrap_or(0);
                self.failed += failed.parse().unwrap_or(0);
            }
            ["test", test, "...", "FAILED"] => self.failures.push((*test).to_owned()),
            ["test", "at", place] => {
                let file = place.split(':').next().unwrap_or(place).to_owned();
                if !self.failures.contains(&file) {
                    self.failures.push(file);
                }
            }
            ["ℹ", "pass", passed] => self.passed += passed.parse().unwrap_or(0),
            ["ℹ", "fail", failed] => self.failed += failed.parse().unwrap_or(0),
            _ => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn summary_lines_of_libtest_and_node_are_counted() {
        let mut outcome = Outcome::default();
        for line in [
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "ℹ pass 5",
            "ℹ fail 1",
            "test a::b ... ok",
            "test a::c ... FAILED",
            "test at tests/npm/a.test.mjs:12:3",
            "test at tests/npm/a.test.mjs:1:1",
        ] {
            outcome.read(line);
        }
        assert_eq!((outcome.passed, outcome.failed), (12, 3));
        assert_eq!(outcome.failures, ["a::c", "tests/npm/a.test.mjs"]);
    }
}
