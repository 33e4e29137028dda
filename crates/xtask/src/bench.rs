//! `bench`: the release server and the benchmarks that drive it (docs/BENCHMARKS.md).

use anyhow::Result;

use crate::{project::Project, run};

/// Builds both and runs the benchmark that `arguments` name; an error when it found a wrong count.
pub(crate) fn bench(project: &Project, arguments: &[String]) -> Result<()> {
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
