//! Totals over several test programs. Tests that fail are run once more: many wait for a browser or a database, and a
//! busy machine delays both. Those that pass then are reported as unstable.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::run;

/// Counts of passed and failed tests, the tests that passed only when repeated, and the programs that failed.
#[derive(Default)]
pub(super) struct Tally {
    passed: u64,
    failed: u64,
    unstable: Vec<String>,
    broken: Vec<String>,
}

/// Result of one run of a program.
#[derive(Default)]
struct Outcome {
    passed: u64,
    failed: u64,
    /// Names of the failed tests of a libtest program.
    failures: Vec<String>,
    succeeded: bool,
}

impl Tally {
    /// Runs a program of libtest, and its failed tests again with `repeat`, which makes the same command without
    /// arguments. Prints its output, and counts its test results.
    pub(super) fn add(
        &mut self,
        name: &str,
        command: &mut Command,
        repeat: impl FnOnce() -> Command,
    ) -> Result<()> {
        let mut outcome = Outcome::of(name, command)?;
        if !outcome.failures.is_empty() {
            run::print_step(&format!("{name}, failed tests again"));
            let repeated = Outcome::of(name, repeat().arg("--exact").args(&outcome.failures))?;
            let fixed = outcome
                .failures
                .iter()
                .filter(|test| !repeated.failures.contains(test));
            self.unstable.extend(fixed.map(|test| format!("{name}: {test}")));
            outcome.passed += repeated.passed;
            outcome.failed = repeated.failed;
            outcome.succeeded = repeated.succeeded;
        }
        self.record(name, outcome);
        Ok(())
    }

    /// Runs tests of Node, prints their output, and counts their results.
    pub(super) fn add_scripts(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let outcome = Outcome::of(name, command)?;
        self.record(name, outcome);
        Ok(())
    }

    fn record(&mut self, name: &str, outcome: Outcome) {
        self.passed += outcome.passed;
        self.failed += outcome.failed;
        if !outcome.succeeded {
            self.broken.push(name.to_owned());
        }
    }

    /// Returns whether no test was run.
    pub(super) fn is_empty(&self) -> bool {
        self.passed + self.failed == 0 && self.broken.is_empty()
    }

    /// Prints the totals.
    ///
    /// # Errors
    /// Names the programs that failed.
    pub(super) fn finish(self) -> Result<()> {
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
    /// Runs a program and prints its output.
    fn of(name: &str, command: &mut Command) -> Result<Outcome> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        let mut outcome = Outcome::default();
        for line in BufReader::new(stdout).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            println!("{line}");
            outcome.read(&line);
        }
        outcome.succeeded = child.wait()?.success();
        Ok(outcome)
    }

    fn read(&mut self, line: &str) {
        // libtest: "test a::b ... FAILED", "test result: ok. 3 passed; 0 failed; ..."; node: "ℹ pass 3", "ℹ fail 0".
        let words: Vec<&str> = line.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            ["test", "result:", _, passed, "passed", failed, "failed", ..] => {
                self.passed += passed.parse().unwrap_or(0);
                self.failed += failed.parse().unwrap_or(0);
            }
            ["test", test, "...", "FAILED"] => self.failures.push((*test).to_owned()),
            ["ℹ", "pass", passed] => self.passed += passed.parse().unwrap_or(0),
            ["ℹ", "fail", failed] => self.failed += failed.parse().unwrap_or(0),
            _ => {}
        }
    }
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
        ] {
            outcome.read(line);
        }
        assert_eq!((outcome.passed, outcome.failed), (12, 3));
        assert_eq!(outcome.failures, ["a::c"]);
    }
}
