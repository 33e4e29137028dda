//! `npm-runtimes`: checks the packed npm package in every JavaScript runtime and bundler. Needs npm's registry.

use anyhow::Result;

use crate::{npm, project::Project, run, tools::Tools};

/// Runs the checks whose name contains one of `filters`, or all.
///
/// # Errors
/// If one of them failed.
pub(crate) fn check(project: &Project, tools: &Tools, filters: &[String]) -> Result<()> {
    let node = tools.node()?;
    let environment = [
        ("HARVESTMAN_TEST_PACKAGE", npm::build(project, tools)?),
        ("HARVESTMAN_TEST_NODE", node.path().to_path_buf()),
        ("HARVESTMAN_TEST_NPM", node.npm_path().to_path_buf()),
        ("HARVESTMAN_TEST_JAVASCRIPT", tools.javascript(project)?),
        ("HARVESTMAN_CHROMIUM", tools.chromium(project)?),
    ];
    tools.release()?;
    let mut command = node.command();
    command
        .arg(project.path("tests/npm/runtimes/run.mjs"))
        .args(filters);
    run::run(command.envs(environment))
}
