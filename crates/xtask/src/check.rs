//! `check`: all checks that a change must pass, locally and in CI. Every part runs, even after another has failed.

use anyhow::{Result, bail};

use crate::{licences, lints, process_groups, project::Project, run, test, tidy, tools::Tools, wasm};

type Part<'a> = (&'static str, &'a dyn Fn() -> Result<()>);

/// Runs all checks.
///
/// # Errors
/// Names the parts that failed.
pub(crate) fn check(project: &Project, tools: &Tools) -> Result<()> {
    process_groups::end_on_signal()?;
    let parts: &[Part<'_>] = &[
        ("format", &|| lints::format(project)),
        ("tidy", &|| tidy::tidy(project)),
        ("licences", &|| licences::check(project)),
        ("wasm", &|| wasm::check(project, tools)),
        ("clippy", &|| lints::clippy(project)),
        ("docs", &|| docs(project)),
        ("test", &|| {
            test::Suite::build(project, tools, None, test::Stores::Both)?.run()
        }),
    ];
    let mut failed = Vec::new();
    for (name, part) in parts {
        run::print_step(&format!("check: {name}"));
        if let Err(error) = part() {
            eprintln!("xtask: {name}: {error:#}");
            failed.push(*name);
        }
    }
    if failed.is_empty() {
        run::print_step(&format!("check: all {} parts passed", parts.len()));
        return Ok(());
    }
    bail!(
        "{} of {} checks failed: {}",
        failed.len(),
        parts.len(),
        failed.join(", ")
    )
}

fn docs(project: &Project) -> Result<()> {
    let mut command = project.cargo();
    command
        .args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    run::run(&mut command)
}
