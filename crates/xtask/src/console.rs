//! Builds the console into `dist/`: trunk, wasm-opt, compressed twins. Done again only when something it is made of
//! has changed.

use std::{fs, os::unix::process::CommandExt, path::Path, process::Command};

use anyhow::{Context, Result, ensure};

use crate::{
    compress::{brotli, compress_tree},
    fingerprint::{Fingerprint, files_under},
    project::Project,
    run,
    tools::Tools,
};

/// All that goes into the console.
const SOURCES: &[&str] = &[
    "web",
    "crates/client",
    "crates/core",
    "index.html",
    "Trunk.toml",
    "Cargo.toml",
    "Cargo.lock",
];

/// Makes `dist/` current.
pub(crate) fn build(project: &Project, tools: &Tools) -> Result<()> {
    let dist = project.path("dist");
    let stamp = project.target().join("xtask-console.stamp");
    let sources = sources(project)?;
    if fs::read_to_string(&stamp).is_ok_and(|text| output(&sources, &dist).is_ok_and(|now| now == text)) {
        return Ok(());
    }
    run::say("building the console (trunk build --release)");
    run::run(trunk(project, tools)?.args(["build", "--release", "--offline=false"]))?;
    shrink(&dist, tools)?;
    compress_tree(&dist)?;
    print_sizes(project, &dist)?;
    fs::write(&stamp, output(&sources, &dist)?).with_context(|| stamp.display().to_string())
}

/// Serves the console while it is worked on, rebuilt at every change; the API comes from a server that runs beside.
pub(crate) fn develop(project: &Project, tools: &Tools) -> Result<()> {
    let mut command = trunk(project, tools)?;
    tools.release()?;
    Err(command.args(["serve", "--offline=false"]).exec()).context("cannot start trunk")
}

/// trunk with everything it needs in its environment.
fn trunk(project: &Project, tools: &Tools) -> Result<Command> {
    let target = tools.wasm_target()?;
    let mut command = run::command(tools.trunk()?);
    tools.wasm_bindgen(project)?;
    // trunk reads this variable too, and knows only `true` and `false`.
    command.current_dir(project.root()).env_remove("NO_COLOR");
    target.configure(&mut command, project, tools)?;
    Ok(command)
}

fn sources(project: &Project) -> Result<String> {
    let mut print = Fingerprint::default();
    for source in SOURCES {
        print = print.word(source).tree(&project.path(source))?;
    }
    Ok(print.finish())
}

/// Sources and what was made of them: another build in the same folder, such as `trunk serve`, makes a difference.
fn output(sources: &str, dist: &Path) -> Result<String> {
    ensure!(
        dist.join("index.html").is_file(),
        "{} has no index.html",
        dist.display()
    );
    Ok(Fingerprint::default().word(sources).tree(dist)?.finish())
}

fn shrink(dist: &Path, tools: &Tools) -> Result<()> {
    let wasm_opt = match tools.wasm_opt() {
        Ok(found) => found,
        Err(error) => {
            run::say(&format!(
                "wasm-opt is left out, so the console is larger than it could be: {error:#}"
            ));
            return Ok(());
        }
    };
    let index = fs::read_to_string(dist.join("index.html"))?;
    // A hash of the file before this step would make browsers refuse it.
    ensure!(
        !index.contains("integrity=\"sha"),
        "index.html pins hashes: set `no_sri = true` in Trunk.toml"
    );
    for wasm in files_under(dist)?
        .iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "wasm"))
    {
        run::say(&format!("wasm-opt {} on {}", wasm_opt.version(), wasm.display()));
        wasm_opt.shrink(wasm)?;
    }
    Ok(())
}

fn print_sizes(project: &Project, dist: &Path) -> Result<()> {
    let mut total = 0;
    for file in files_under(dist)? {
        if file.extension().is_some_and(|kind| kind == "br" || kind == "gz") {
            continue;
        }
        let bytes = fs::read(&file)?;
        let packed = brotli(&bytes)?.len().min(bytes.len());
        total += packed;
        let name = file.strip_prefix(project.root()).unwrap_or(&file);
        println!(
            "    {:>8} bytes {packed:>8} packed  {}",
            bytes.len(),
            name.display()
        );
    }
    println!("    {total:>23} packed in all");
    Ok(())
}
