//! `wasm`: compiles for wasm32 everything that runs there, which proves that these crates need no operating system.

use anyhow::Result;

use crate::{project::Project, run, tools::Tools};

/// Groups that are compiled separately, so that no other crate enables features for them.
const GROUPS: &[&[&str]] = &[
    &["harvestman-content"],
    &["harvestman-core", "harvestman-wasm"],
    &["harvestman-client", "harvestman-web"],
];

/// Compiles each group.
pub(crate) fn check(project: &Project, tools: &Tools) -> Result<()> {
    let target = tools.wasm_target()?;
    for group in GROUPS {
        let mut command = target.cargo("check", project, tools)?;
        for package in *group {
            command.args(["--package", package]);
        }
        run::print_step(&format!("wasm32: {}", group.join(", ")));
        run::run(&mut command)?;
    }
    Ok(())
}
