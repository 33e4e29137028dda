//! Splits the console's wasm into parts: one for the first screen, and others that are fetched with later screens.
//! The split points are in the console's code (`web/src/screens.rs`, feature `split`).

use std::{fs, path::Path};

use anyhow::{Context, Result, anyhow};
use wasm_split_cli_support::{Options, transform};

use crate::{
    compress::name_of,
    fingerprint::{Fingerprint, files_under},
    project::Project,
    run,
    tools::Tools,
};

/// Crate of the console, and prefix of the names of its files.
const PROGRAM: &str = "harvestman-web";
/// Path of the linked program in the wasm target folder.
const LINKED: &str = "wasm32-unknown-unknown/wasm/harvestman-web.wasm";
/// Prefix of the name of the folder with the parts.
pub(crate) const FOLDER: &str = "parts-";

/// Replaces the complete program that trunk has put into `dist` with its parts.
pub(crate) fn split(project: &Project, tools: &Tools, dist: &Path) -> Result<()> {
    let linked = project.wasm_target().join(LINKED);
    let whole = fs::read(&linked).with_context(|| linked.display().to_string())?;
    let print = Fingerprint::default()
        .word(&project.locked_version("wasm_split_cli_support")?)
        .tree(&linked)?
        .finish();
    let (name, folder) = (format!("{PROGRAM}-{print}"), format!("{FOLDER}{print}"));
    run::print_step("splitting the console's wasm into parts");

    let work = project.target().join("xtask-parts");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(work.join(&folder))?;
    let first = work.join("first.wasm");
    // Relative URLs between the parts: the main program is in the folder above.
    let (link, main) = (format!("./{folder}/parts.js"), format!("../{name}.js"));
    let mut options = Options::new(&whole);
    options.output_dir = &work;
    options.main_out_path = &first;
    options.link_name = &link;
    options.main_module = &main;
    let split = transform(options).map_err(|error| anyhow!("cannot split the program: {error:#}"))?;
    for part in split.split_modules {
        fs::rename(&part, work.join(&folder).join(name_of(&part)))?;
    }

    let bound = work.join("bound");
    let mut bindgen = run::command(tools.wasm_bindgen(project)?);
    bindgen.args([
        "--target=web", "--no-typescript", "--keep-lld-exports", "--no-demangle",
    ]);
    run::run(
        bindgen
            .arg("--out-name")
            .arg(&name)
            .arg("--out-dir")
            .arg(&bound)
            .arg(first),
    )?;

    let program = program_name(dist)?;
    for end in [".js", "_bg.wasm"] {
        fs::remove_file(dist.join(format!("{program}{end}")))?;
    }
    for (from, to) in [
        (bound, dist.to_path_buf()),
        (work.join(&folder), dist.join(&folder)),
    ] {
        for file in files_under(&from)? {
            let target = to.join(file.strip_prefix(&from)?);
            fs::create_dir_all(target.parent().unwrap_or(&to))?;
            fs::copy(&file, target)?;
        }
    }
    let index = dist.join("index.html");
    let text = fs::read_to_string(&index)?.replace(&program, &name);
    fs::write(&index, text).with_context(|| index.display().to_string())
}

/// Returns trunk's file name of the program, without its extension.
fn program_name(dist: &Path) -> Result<String> {
    let found = files_under(dist)?.iter().find_map(|file| {
        let name = name_of(file).strip_suffix("_bg.wasm")?.to_owned();
        name.starts_with(PROGRAM).then_some(name)
    });
    found.with_context(|| format!("{} has no {PROGRAM}", dist.display()))
}
