//! `bench`: the release server and the benchmarks that drive it; content alone, beside its peers (docs/BENCHMARKS.md).

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{project::Project, run, score::CORPUS};

/// Builds both and runs the benchmark that `arguments` name; an error when it found a wrong count.
pub(crate) fn bench(project: &Project, arguments: &[String]) -> Result<()> {
    if let [first, rest @ ..] = arguments
        && first == "content"
    {
        return content(project, rest);
    }
    run::run(project.cargo().args([
        "build",
        "--release",
        "--package=harvestman-server",
        "--package=harvestman-tests",
        "--bins",
    ]))?;
    let release = project.target().join("release");
    run::run(
        run::command(release.join("harvestman-bench"))
            .env("HARVESTMAN_TEST_SERVER", release.join("harvestman"))
            .args(arguments),
    )
}

/// Speed and memory of content over the pages of a corpus, or over the small ones of its tests.
fn content(project: &Project, arguments: &[String]) -> Result<()> {
    let folder = project.path("crates/content/bench");
    // The versions that the product is built with.
    fs::copy(project.path("Cargo.lock"), folder.join("Cargo.lock")).context("the benchmark's Cargo.lock")?;
    let mut cargo = project.cargo();
    match arguments {
        [] => {}
        [corpus] => {
            cargo.env(CORPUS, fs::canonicalize(corpus).with_context(|| corpus.clone())?);
        }
        _ => bail!("one folder of pages only"),
    }
    cargo
        .current_dir(folder)
        .args(["bench", "--benches"])
        .env("CARGO_TARGET_DIR", project.target().join("bench-content"));
    run::run(&mut cargo)
}
