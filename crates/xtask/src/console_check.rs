//! `console-check`: quality checks of the console: size of the first load; axe and Lighthouse on every screen; no
//! requests to other hosts, console errors or horizontal scrolling.

use anyhow::{Result, ensure};

use crate::{console, project::Project, run, tools::Tools};

/// Largest compressed size of all files of the first load.
const FIRST_LOAD_BYTES: u64 = 370 << 10;
/// Largest compressed size of the wasm among them.
const WASM_BYTES: u64 = 340 << 10;

/// Runs the checks.
///
/// # Errors
/// Names the first check that failed.
pub(crate) fn check(project: &Project, tools: &Tools) -> Result<()> {
    console::build(project, tools)?;
    let load = console::first_load(project)?;
    run::print_step(&format!(
        "first load: {} of {FIRST_LOAD_BYTES} bytes, wasm {} of {WASM_BYTES}",
        load.total, load.wasm
    ));
    let environment = [
        ("HARVESTMAN_TEST_NODE", tools.node()?.path().to_path_buf()),
        ("HARVESTMAN_TEST_JAVASCRIPT", tools.javascript(project)?),
        ("HARVESTMAN_TEST_LIGHTHOUSE", tools.lighthouse(project)?),
        ("HARVESTMAN_CHROMIUM", tools.chromium(project)?),
        (
            "HARVESTMAN_TEST_SERVER",
            project.target().join("debug/harvestman"),
        ),
    ];
    tools.release()?;
    let packages = ["--package=harvestman-server", "--package=harvestman-tests"];
    run::run(project.cargo().arg("build").args(packages).arg("--bins"))?;
    run::print_step("axe, hosts, console errors and horizontal scrolling on every screen");
    let mut screens = project.cargo();
    screens.args([
        "test", "--package=harvestman-tests", "--test=console_screens", "every_screen",
    ]);
    run::run(screens.envs(environment.iter().cloned()))?;
    run::print_step("Lighthouse on every screen");
    let mut lighthouse = run::command(project.target().join("debug/harvestman-bench"));
    run::run(lighthouse.arg("console").envs(environment))?;
    ensure!(
        load.total <= FIRST_LOAD_BYTES && load.wasm <= WASM_BYTES,
        "the first load is larger than its limit"
    );
    Ok(())
}
