//! Builds the console into `dist/`: trunk, splitting into parts, wasm-opt, compressed copies, and the npm package for
//! the tools screen. Each step runs again only when one of its inputs has changed.

use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use anyhow::{Context, Result, anyhow, ensure};

use crate::{
    compress::{compress_tree, compressed, name_of},
    fingerprint::{Fingerprint, Stamp, files_under},
    npm, parts,
    project::Project,
    run,
    tools::Tools,
};

/// Inputs of the console.
const SOURCES: &[&str] = &[
    "web", "crates/client", "crates/core", "index.html", "Trunk.toml", ".cargo", "Cargo.toml", "Cargo.lock",
];

/// Placeholder in index.html for the URL of the package's entry file.
const PACKAGE_PLACEHOLDER: &str = "not-built";
/// Start of the name of the package's folder; a hash of its content follows.
const PACKAGE_FOLDER: &str = "package-";

/// Brings `dist/` up to date.
pub(crate) fn build(project: &Project, tools: &Tools) -> Result<()> {
    let package = with_trunk(tools, &dist(project), || npm::build(project, tools))?;
    build_screens(project, tools)?;
    add_package(project, tools, &package)
}

/// Brings `dist/` up to date except for the npm package. The tools screen then says that the package is missing.
pub(crate) fn build_screens(project: &Project, tools: &Tools) -> Result<()> {
    let dist = dist(project);
    if stamp(project).is_current() {
        return Ok(());
    }
    run::print_step("building the console (trunk build --release)");
    run::run(trunk(project, tools)?.args(["build", "--release", "--offline=false", "--features=split"]))?;
    parts::split(project, tools, &dist)?;
    shrink(&dist, tools)?;
    compress_tree(&dist, &tools.node()?)?;
    print_sizes(&dist)?;
    ensure!(
        dist.join("index.html").is_file(),
        "{} has no index.html",
        dist.display()
    );
    stamp(project).record()
}

/// Brings the npm package in `dist/` up to date: its modules and wasm, in a folder with a content hash in its name, and
/// the path in index.html, which is replaced last. A server that reads `dist/` meanwhile sees a complete console.
pub(crate) fn add_package(project: &Project, tools: &Tools, package: &Path) -> Result<()> {
    let dist = dist(project);
    let folder = format!(
        "{PACKAGE_FOLDER}{}",
        Fingerprint::default().tree(package)?.finish()
    );
    let former = package_folder(&dist)?;
    if former.as_deref() == Some(&folder) {
        return Ok(());
    }
    fs::create_dir_all(dist.join(&folder))?;
    for file in files_under(package)? {
        let kind = file.extension().unwrap_or_default();
        if kind == "js" || kind == "wasm" {
            fs::copy(&file, dist.join(&folder).join(name_of(&file)))?;
        }
    }
    compress_tree(&dist.join(&folder), &tools.node()?)?;
    let index = dist.join("index.html");
    let text = fs::read_to_string(&index)?;
    let written = former
        .as_deref()
        .map_or_else(|| PACKAGE_PLACEHOLDER.to_owned(), package_entry);
    ensure!(
        text.matches(&written).count() == 1,
        "index.html does not name {written} once"
    );
    fs::write(&index, text.replace(&written, &package_entry(&folder)))?;
    compress_tree(&index, &tools.node()?)?;
    if let Some(former) = former {
        fs::remove_dir_all(dist.join(former))?;
    }
    stamp(project).record()
}

/// Returns the name of the folder of the npm package in `dist`.
fn package_folder(dist: &Path) -> Result<Option<String>> {
    for entry in fs::read_dir(dist).with_context(|| dist.display().to_string())? {
        let name = name_of(&entry?.path());
        if name.starts_with(PACKAGE_FOLDER) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Returns the URL of the entry file of the npm package in `folder`.
fn package_entry(folder: &str) -> String {
    format!("/console/{folder}/slim.js")
}

/// Builds `dist/` quickly for development, neither optimised nor compressed. The next [`build`] replaces it.
pub(crate) fn build_dev(project: &Project, tools: &Tools) -> Result<()> {
    run::run(trunk(project, tools)?.args(["build", "--offline=false"]))
}

/// Serves the console for development and rebuilds it at every change. The API comes from a separate server.
pub(crate) fn develop(project: &Project, tools: &Tools) -> Result<()> {
    let mut command = trunk(project, tools)?;
    tools.release()?;
    // trunk ignores changes in this folder, which must exist even if cargo uses another one.
    fs::create_dir_all(project.path("target"))?;
    Err(command.args(["serve", "--offline=false"]).exec()).context("cannot start trunk")
}

/// Runs `work`, and in parallel fetches or builds trunk if there is no `dist` yet.
fn with_trunk<T>(tools: &Tools, dist: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if dist.join("index.html").is_file() {
        return work();
    }
    thread::scope(|scope| {
        let trunk = scope.spawn(|| tools.trunk());
        let done = work()?;
        trunk
            .join()
            .map_err(|_| anyhow!("the thread that fetches trunk panicked"))??;
        Ok(done)
    })
}

/// Returns a trunk command with everything it needs in its environment.
fn trunk(project: &Project, tools: &Tools) -> Result<Command> {
    let target = tools.wasm_target()?;
    let mut command = run::command(tools.trunk()?);
    tools.wasm_bindgen(project)?;
    // trunk also reads this variable and accepts only `true` and `false`.
    command.current_dir(project.root()).env_remove("NO_COLOR");
    target.configure(&mut command, project, tools)?;
    Ok(command)
}

fn dist(project: &Project) -> PathBuf {
    project.path("dist")
}

fn stamp(project: &Project) -> Stamp<'_> {
    Stamp {
        file: project.target().join("xtask-console.stamp"),
        output: dist(project),
        inputs: SOURCES,
        base: project.root(),
    }
}

fn shrink(dist: &Path, tools: &Tools) -> Result<()> {
    let wasm_opt = match tools.wasm_opt() {
        Ok(found) => found,
        Err(error) => {
            run::print_step(&format!(
                "skipping wasm-opt; the console is larger than necessary: {error:#}"
            ));
            return Ok(());
        }
    };
    let index = fs::read_to_string(dist.join("index.html"))?;
    // Browsers would reject a file whose integrity hash was computed before this step.
    ensure!(
        !index.contains("integrity=\"sha"),
        "index.html contains integrity hashes: set `no_sri = true` in Trunk.toml"
    );
    for wasm in files_under(dist)?
        .iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "wasm"))
    {
        run::print_step(&format!("wasm-opt {} on {}", wasm_opt.version(), wasm.display()));
        wasm_opt.shrink(wasm)?;
    }
    Ok(())
}

/// Compressed size of the files that a browser fetches before the console can be used.
#[derive(Default)]
pub(crate) struct FirstLoad {
    pub(crate) total: u64,
    pub(crate) wasm: u64,
}

/// Returns the size of the first load in `dist/`.
pub(crate) fn first_load(project: &Project) -> Result<FirstLoad> {
    let mut load = FirstLoad::default();
    for (file, _, packed) in sizes(&dist(project))? {
        if !is_on_demand(&file) {
            load.total += packed;
            load.wasm += if file.ends_with(".wasm") { packed } else { 0 };
        }
    }
    Ok(load)
}

/// Returns whether a file is fetched only by a later screen.
fn is_on_demand(file: &str) -> bool {
    file.starts_with(PACKAGE_FOLDER) || file.starts_with(parts::FOLDER)
}

/// Returns every file below `dist` with its size and its compressed size in bytes.
fn sizes(dist: &Path) -> Result<Vec<(String, u64, u64)>> {
    let mut sizes = Vec::new();
    for file in files_under(dist)? {
        if file.extension().is_some_and(|kind| kind == "br" || kind == "gz") {
            continue;
        }
        let bytes = fs::metadata(&file)?.len();
        let packed = fs::metadata(compressed(&file, "br")).map_or(bytes, |copy| copy.len().min(bytes));
        let name = file.strip_prefix(dist).unwrap_or(&file);
        sizes.push((name.to_string_lossy().into_owned(), bytes, packed));
    }
    Ok(sizes)
}

fn print_sizes(dist: &Path) -> Result<()> {
    let (mut first, mut on_demand) = (0, 0);
    for (file, bytes, packed) in sizes(dist)? {
        *if is_on_demand(&file) {
            &mut on_demand
        } else {
            &mut first
        } += packed;
        println!("    {bytes:>8} bytes {packed:>8} compressed  dist/{file}");
    }
    println!("    {first:>23} compressed for the first load, {on_demand} more for other screens");
    Ok(())
}
