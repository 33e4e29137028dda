//! Compiles for wasm32 all that runs there, and nothing else: the proof that these crates need no machine below them.

use anyhow::Result;

use crate::{project::Project, run, tools::Tools};

/// Each group is compiled by itself, so that no other crate switches features on for it.
const GROUPS: &[&[&str]] = &[
    &["harvestman-content"],
    &["harvestman-core", "harvestman-wasm"],
    &["harvestman-client", "harvestman-web"],
];

/// An error if one of them does not compile.
pub(crate) fn check(project: &Project, tools: &Tools) -> Result<()> {
    let target = tools.wasm_target()?;
    for group in GROUPS {
        let mut command = target.cargo("check", project, tools)?;
        for package in *group {
            command.args(["--package", package]);
        }
        run::say(&format!("wasm32: {}", group.join(", ")));
        run::run(&mut command)?;
    }
    Ok(())
}
