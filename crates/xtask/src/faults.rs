//! `faults`: runs a cluster of servers on one PostgreSQL under faults that a seed determines (docs/CONTRIBUTING.md).

use anyhow::{Result, bail};

use crate::{console, driver, project::Project, run, tools::Tools};

/// Argument for a server that lets former owners of a job change it.
const WITHOUT_FENCE: &str = "--without-fence";

/// Builds the debug server, starts PostgreSQL, and runs the faults that `arguments` describe.
///
/// # Errors
/// A failed build, or a job that is not exact afterwards; without the fence, if every job is still exact.
pub(crate) fn faults(project: &Project, tools: &Tools, arguments: &[String]) -> Result<()> {
    console::build(project, tools)?;
    driver::build(project, tools)?;
    let (without_fence, arguments): (Vec<_>, Vec<_>) =
        arguments.iter().partition(|word| *word == WITHOUT_FENCE);
    let fenced = without_fence.is_empty();
    let mut build = project.cargo();
    build.args([
        "build",
        "--workspace",
        "--exclude=harvestman-web",
        "--bin=harvestman",
        "--bin=harvestman-faults",
        // For libfaketime.
        "--features=harvestman-server/system-allocator",
    ]);
    if !fenced {
        build.arg("--features=harvestman-engine/no-fence");
    }
    run::run(&mut build)?;
    let cluster = tools.postgres()?;
    let faketime = tools.faketime()?;
    let chromium = tools.chromium(project)?;
    tools.release()?;
    let debug = project.target().join("debug");
    let exact = run::run(
        run::command(debug.join("harvestman-faults"))
            .env("HARVESTMAN_TEST_SERVER", debug.join("harvestman"))
            .env("HARVESTMAN_TEST_POSTGRES", cluster.url())
            .env("HARVESTMAN_TEST_FAKETIME", faketime)
            .env("HARVESTMAN_CHROMIUM", chromium)
            .env("HARVESTMAN_TEST_POSTGRES_CONTROL", cluster.control())
            .env("HARVESTMAN_TEST_POSTGRES_DATA", cluster.data())
            .args(arguments),
    );
    match (fenced, exact) {
        (true, exact) => exact,
        (false, Ok(())) => bail!("all rules hold without the fence: these faults do not test it"),
        (false, Err(error)) => {
            println!("without the fence, as it must be: {error:#}");
            Ok(())
        }
    }
}
