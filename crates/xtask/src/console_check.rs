//! `console-check`: whether the console keeps its promises. Size of the first load, what axe and Lighthouse say of every
//! screen, requests to other hosts, complaints, sideways scroll.

use anyhow::{Result, ensure};

use crate::{console, project::Project, run, tools::Tools};

/// All files of the first load, compressed.
const FIRST_LOAD_BYTES: usize = 370 << 10;
/// The wasm among them.
const WASM_BYTES: usize = 340 << 10;

/// Runs every check; an error names the first that failed.
pub(crate) fn check(project: &Project, tools: &Tools) -> Result<()> {
    console::build(project, tools)?;
    let load = console::first_load(project)?;
    run::say(&format!(
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
    run::say("axe, hosts, complaints and sideways scroll on every screen");
    let mut screens = project.cargo();
    screens.args([
        "test",
        "--package=harvestman-tests",
        "--test=console_screens",
        "every_screen",
    ]);
    run::run(screens.envs(environment.iter().cloned()))?;
    run::say("Lighthouse on every screen");
    let mut lighthouse = run::command(project.target().join("debug/harvestman-bench"));
    run::run(lighthouse.arg("console").envs(environment))?;
    ensure!(
        load.total <= FIRST_LOAD_BYTES && load.wasm <= WASM_BYTES,
        "the first load is larger than it may be"
    );
    Ok(())
}
