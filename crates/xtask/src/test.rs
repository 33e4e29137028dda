//! `test`: every test of the project, with the tools, console, server and package they need built first.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::{console, fingerprint::files_under, npm, project::Project, run, tidy, tools::Tools};

/// The console compiles for wasm32 only.
const NATIVE: &[&str] = &["--workspace", "--exclude", "harvestman-web"];

/// Runs all tests whose name contains the given filter; an error if one fails.
pub(crate) fn test(project: &Project, tools: &Tools, arguments: &[String]) -> Result<()> {
    let filter = match arguments {
        [] => None,
        [one] => Some(one.as_str()),
        _ => bail!("one filter at most"),
    };
    let environment = prepare(project, tools)?;
    tools.release()?;

    let mut total = Tally::default();
    let mut cargo = project.cargo();
    cargo.arg("test").args(NATIVE).arg("--no-fail-fast").args(filter);
    total.add("cargo test", cargo.envs(environment.iter().cloned()))?;

    let scripts = scripts(project)?;
    if !scripts.is_empty() {
        run::say("tests of the npm package");
        let mut node = tools.node()?.command();
        node.current_dir(project.root())
            .args(["--test", "--test-reporter=spec"]);
        if let Some(filter) = filter {
            node.arg(format!("--test-name-pattern={filter}"));
        }
        total.add("node --test", node.args(scripts).envs(environment))?;
    }
    tidy::tidy(project)?;
    println!(
        "test result: {} passed, {} failed in all",
        total.passed, total.failed
    );
    if total.broken.is_empty() {
        Ok(())
    } else {
        bail!("failed: {}", total.broken.join(", "))
    }
}

/// Builds what tests run, and says in variables where it is.
fn prepare(project: &Project, tools: &Tools) -> Result<Vec<(&'static str, OsString)>> {
    let node = tools.node()?;
    tools.bubblewrap()?;
    let variables: Vec<(&'static str, PathBuf)> = vec![
        ("HARVESTMAN_TEST_NODE", node.path().to_path_buf()),
        ("HARVESTMAN_TEST_NPM", node.npm_path().to_path_buf()),
        ("HARVESTMAN_TEST_JAVASCRIPT", tools.javascript(project)?),
        ("HARVESTMAN_TEST_PYTHON", tools.python(project)?),
        ("HARVESTMAN_CHROMIUM", tools.chromium(project)?),
        ("HARVESTMAN_TEST_PACKAGE", npm::build(project, tools)?),
        (
            "HARVESTMAN_TEST_SERVER",
            project.target().join("debug/harvestman"),
        ),
    ];
    console::build(project, tools)?;
    // Tests and programs together, so that dependencies are compiled once, with one set of features.
    run::run(
        project
            .cargo()
            .arg("build")
            .args(NATIVE)
            .args(["--bins", "--tests"]),
    )?;
    Ok(variables
        .into_iter()
        .map(|(name, path)| (name, path.into_os_string()))
        .collect())
}

fn scripts(project: &Project) -> Result<Vec<PathBuf>> {
    let mut found = files_under(&project.path("tests/npm"))?;
    found.retain(|file| file.to_string_lossy().ends_with(".test.mjs"));
    Ok(found)
}

/// Counts over several test programs.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    broken: Vec<&'static str>,
}

impl Tally {
    /// Runs `command` with its output passed on, counting what it reports.
    fn add(&mut self, name: &'static str, command: &mut Command) -> Result<()> {
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
            self.broken.push(name);
        }
        Ok(())
    }

    fn count(&mut self, line: &str) {
        // cargo: "test result: ok. 3 passed; 0 failed; ..."; node: "ℹ pass 3", "ℹ fail 0".
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
    fn closing_lines_of_cargo_and_node_are_counted() {
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
