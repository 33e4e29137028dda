//! `faults`: runs a cluster of servers on one PostgreSQL under faults that a seed decides (docs/CONTRIBUTING.md).

use anyhow::Result;

use crate::{console, driver, project::Project, run, tools::Tools};

/// Builds the debug server, starts PostgreSQL, and runs the faults that `arguments` describe.
///
/// # Errors
/// A failed build, or a job that is not exact afterwards.
pub(crate) fn faults(project: &Project, tools: &Tools, arguments: &[String]) -> Result<()> {
    console::build(project, tools)?;
    driver::build(project, tools)?;
    run::run(project.cargo().args([
        "build",
        "--workspace",
        "--exclude=harvestman-web",
        "--bin=harvestman",
        "--bin=harvestman-faults",
    ]))?;
    let cluster = tools.postgres()?;
    let faketime = tools.faketime()?;
    tools.release()?;
    let debug = project.target().join("debug");
    run::run(
        run::command(debug.join("harvestman-faults"))
            .env("HARVESTMAN_TEST_SERVER", debug.join("harvestman"))
            .env("HARVESTMAN_TEST_POSTGRES", cluster.url())
            .env("HARVESTMAN_TEST_FAKETIME", faketime)
            .env("HARVESTMAN_TEST_POSTGRES_CONTROL", cluster.control())
            .env("HARVESTMAN_TEST_POSTGRES_DATA", cluster.data())
            .args(arguments),
    )
}
