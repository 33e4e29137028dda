//! Builds the console into `dist/`: trunk, splitting into parts, wasm-opt, the npm package for the tools screen,
//! compressed copies. Repeated only when one of its inputs has changed.

use std::{fs, os::unix::process::CommandExt, path::Path, process::Command, thread};

use anyhow::{Context, Result, anyhow, ensure};

use crate::{
    compress::{compress_tree, compressed},
    fingerprint::{Fingerprint, files_under},
    npm, parts,
    project::Project,
    run,
    tools::Tools,
};

/// Inputs of the console.
const SOURCES: &[&str] = &[
    "web",
    "crates/client",
    "crates/core",
    "index.html",
    "Trunk.toml",
    ".cargo",
    "Cargo.toml",
    "Cargo.lock",
];

/// Placeholder in index.html for the URL of the package's entry file.
const PACKAGE_PLACEHOLDER: &str = "not-built";
const PACKAGE_ENTRY: &str = "slim.js";

/// Brings `dist/` up to date.
pub(crate) fn build(project: &Project, tools: &Tools) -> Result<()> {
    let dist = project.path("dist");
    let stamp = project.target().join("xtask-console.stamp");
    let package = with_trunk(tools, &dist, || npm::build(project, tools))?;
    let sources = sources(project, &package)?;
    if fs::read_to_string(&stamp).is_ok_and(|text| output(&sources, &dist).is_ok_and(|now| now == text)) {
        return Ok(());
    }
    run::print_step("building the console (trunk build --release)");
    run::run(trunk(project, tools)?.args(["build", "--release", "--offline=false", "--features=split"]))?;
    parts::split(project, tools, &dist)?;
    shrink(&dist, tools)?;
    add_package(&package, &dist)?;
    compress_tree(&dist, &tools.node()?)?;
    print_sizes(&dist)?;
    fs::write(&stamp, output(&sources, &dist)?).with_context(|| stamp.display().to_string())
}

/// Builds `dist/` quickly for development, neither optimised nor compressed. The next [`build`] replaces it.
pub(crate) fn build_dev(project: &Project, tools: &Tools) -> Result<()> {
    run::run(trunk(project, tools)?.args(["build", "--offline=false"]))
}

/// Serves the console for development and rebuilds it at every change. The API comes from a separate server.
pub(crate) fn develop(project: &Project, tools: &Tools) -> Result<()> {
    let mut command = trunk(project, tools)?;
    tools.release()?;
    // trunk ignores changes in this folder, which must exist, also where cargo uses another.
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

fn sources(project: &Project, package: &Path) -> Result<String> {
    let mut print = Fingerprint::default().tree(package)?;
    for source in SOURCES {
        print = print.word(source).tree(&project.path(source))?;
    }
    Ok(print.finish())
}

/// Returns a fingerprint of inputs and output. The output counts because other builds, such as `trunk serve`, write
/// to the same folder.
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

/// Copies the modules and the wasm of the npm package into a folder with a content hash in its name, for the tools
/// screen, and writes its path into index.html.
fn add_package(package: &Path, dist: &Path) -> Result<()> {
    let folder = format!("package-{}", Fingerprint::default().tree(package)?.finish());
    fs::create_dir_all(dist.join(&folder))?;
    for file in files_under(package)? {
        let kind = file.extension().unwrap_or_default();
        if kind == "js" || kind == "wasm" {
            fs::copy(
                &file,
                dist.join(&folder).join(file.file_name().unwrap_or_default()),
            )?;
        }
    }
    let index = dist.join("index.html");
    let text = fs::read_to_string(&index)?;
    ensure!(
        text.matches(PACKAGE_PLACEHOLDER).count() == 1,
        "index.html has no {PACKAGE_PLACEHOLDER}"
    );
    let entry = format!("/console/{folder}/{PACKAGE_ENTRY}");
    fs::write(&index, text.replace(PACKAGE_PLACEHOLDER, &entry)).with_context(|| index.display().to_string())
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
    for (file, _, packed) in sizes(&project.path("dist"))? {
        if !is_on_demand(&file) {
            load.total += packed;
            load.wasm += if file.ends_with(".wasm") { packed } else { 0 };
        }
    }
    Ok(load)
}

/// Returns whether a file is fetched only by a later screen.
fn is_on_demand(file: &str) -> bool {
    file.starts_with("package-") || file.starts_with(parts::FOLDER)
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
