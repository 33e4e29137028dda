//! Totals over several test programs.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// Counts of passed and failed tests, and the programs that failed.
#[derive(Default)]
pub(super) struct Tally {
    passed: u64,
    failed: u64,
    broken: Vec<String>,
}

impl Tally {
    /// Runs `command`, prints its output, and counts its test results.
    pub(super) fn add(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        for line in BufReader::new(stdout).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            println!("{line}");
            self.count(&line);
        }
        if !child.wait()?.success() {
            self.broken.push(name.to_owned());
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
    pub(super) fn finish(self) -> Result<()> {
        println!(
            "test result: {} passed, {} failed in total",
            self.passed, self.failed
        );
        if !self.broken.is_empty() {
            bail!("failed: {}", self.broken.join(", "));
        }
        Ok(())
    }

    fn count(&mut self, line: &str) {
        // libtest: "test result: ok. 3 passed; 0 failed; ..."; node: "ℹ pass 3", "ℹ fail 0".
        let words: Vec<&str> = line.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            ["test", "result:", _, passed, "passed", failed, "failed", ..] => {
                self.passed += passed.parse().unwrap_or(0);
                self.failed += failed.parse().unwrap_or(0);
            }
            ["ℹ", "pass", passed] => self.passed += passed.parse().unwrap_or(0),
            ["ℹ", "fail", failed] => self.failed += failed.parse().unwrap_or(0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn summary_lines_of_libtest_and_node_are_counted() {
        let mut tally = Tally::default();
        for line in [
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "ℹ pass 5",
            "ℹ fail 1",
            "test a::b ... ok",
        ] {
            tally.count(line);
        }
        assert_eq!((tally.passed, tally.failed), (12, 3));
    }
}
