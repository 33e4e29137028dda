//! `fuzz`: coverage-guided fuzzing of the parsers with the stable compiler. Findings are in `fuzz/artifacts/`, the
//! generated corpus in `fuzz/corpus/`; neither is committed.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::{project::Project, run};

/// Default time per target in seconds.
const SECONDS: u64 = 600;
/// Time in seconds above which an input is a finding.
const INPUT_SECONDS: u64 = 10;
/// Memory in MiB above which an input is a finding.
const MEMORY_MIB: u64 = 2048;
/// Longest input in bytes.
const INPUT_BYTES: u64 = 16 * 1024;
/// Compiler flags for libFuzzer's coverage and comparison tracing: those of `cargo fuzz`, without a sanitizer.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs one target, or all in turn.
///
/// # Errors
/// Names the targets with a finding.
pub(crate) fn fuzz(project: &Project, arguments: &[String]) -> Result<()> {
    let (wanted, seconds) = read(arguments)?;
    let mut targets = targets(&project.path("fuzz/fuzz_targets"))?;
    if let Some(wanted) = wanted {
        if !targets.contains(&wanted) {
            bail!("no target `{wanted}`; targets are: {}", targets.join(", "));
        }
        targets = vec![wanted];
    }
    let host = host()?;
    // The targets must use the same versions of dependencies as the product.
    fs::copy(project.path("Cargo.lock"), project.path("fuzz/Cargo.lock"))
        .context("cannot write fuzz/Cargo.lock")?;
    let output = project.target().join("fuzz");
    for target in &targets {
        let mut build = project.cargo();
        build
            .current_dir(project.path("fuzz"))
            .args(["build", "--release", "--target", &host, "--bin", target])
            .env("CARGO_TARGET_DIR", &output)
            .env("RUSTFLAGS", COVERAGE);
        run::run(&mut build)?;
    }
    let mut found = Vec::new();
    for target in targets {
        run::print_step(&format!("fuzz: {target} for {seconds} s"));
        let program = output.join(&host).join("release").join(&target);
        if run::run(&mut fuzz_command(project, &program, &target, seconds)?).is_err() {
            found.push(target);
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => bail!("findings in fuzz/artifacts: {}", found.join(", ")),
    }
}

/// Returns the command that runs one target on its corpus and seeds.
fn fuzz_command(project: &Project, program: &Path, target: &str, seconds: u64) -> Result<Command> {
    let corpus = project.path("fuzz/corpus").join(target);
    let artifacts = project.path("fuzz/artifacts").join(target);
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut command = run::command(program);
    command
        .current_dir(project.root())
        .arg(&corpus)
        .arg(project.path("fuzz/seeds").join(target))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
        .arg(format!("-max_len={INPUT_BYTES}"))
        .arg("-print_final_stats=1")
        .arg("-verbosity=0");
    Ok(command)
}

/// Parses `[target] [--seconds N]`, in any order.
fn read(arguments: &[String]) -> Result<(Option<String>, u64)> {
    let (mut target, mut seconds) = (None, SECONDS);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--seconds" => {
                let value = rest.next().context("`--seconds` needs a number")?;
                seconds = value
                    .parse()
                    .with_context(|| format!("`{value}` is not a number"))?;
            }
            name if target.is_none() && !name.starts_with('-') => target = Some(name.to_owned()),
            other => bail!("unexpected argument `{other}`; usage: fuzz [target] [--seconds N]"),
        }
    }
    Ok((target, seconds))
}

fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|kind| kind == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the compiler's host target. Naming it keeps the flags away from build scripts.
fn host() -> Result<String> {
    let version = run::output(run::command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV prints no host")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn target_and_seconds_come_in_any_order() {
        let read = |text: &str| read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(read("").unwrap(), (None, 600));
        assert_eq!(read("parse --seconds 5").unwrap(), (Some("parse".to_owned()), 5));
        assert_eq!(read("--seconds 5 parse").unwrap(), (Some("parse".to_owned()), 5));
        for wrong in ["a b", "--seconds", "--seconds x", "--fast"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
