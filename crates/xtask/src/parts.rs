//! Cuts the console's program in parts: what the first screen needs, and what is fetched with other screens. Where to
//! cut is said in the console's own code (`web/src/screens.rs`, feature `split`).

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

/// The crate of the console, after which its files are named.
const PROGRAM: &str = "harvestman-web";
/// Where the linker leaves the program, in the wasm target folder.
const LINKED: &str = "wasm32-unknown-unknown/wasm/harvestman-web.wasm";
/// Begins the name of the folder with the parts.
pub(crate) const FOLDER: &str = "parts-";

/// Puts the parts in place of the whole program that trunk left in `dist`.
pub(crate) fn cut(project: &Project, tools: &Tools, dist: &Path) -> Result<()> {
    let linked = project.wasm_target().join(LINKED);
    let whole = fs::read(&linked).with_context(|| linked.display().to_string())?;
    let print = Fingerprint::default()
        .word(&project.locked_version("wasm_split_cli_support")?)
        .tree(&linked)?
        .finish();
    let (name, folder) = (format!("{PROGRAM}-{print}"), format!("{FOLDER}{print}"));
    run::say("cutting the console's program in parts");

    let work = project.target().join("xtask-parts");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(work.join(&folder))?;
    let first = work.join("first.wasm");
    // The addresses that the parts know each other by: the program is fetched from the folder above.
    let (link, main) = (format!("./{folder}/parts.js"), format!("../{name}.js"));
    let mut options = Options::new(&whole);
    options.output_dir = &work;
    options.main_out_path = &first;
    options.link_name = &link;
    options.main_module = &main;
    let cut = transform(options).map_err(|error| anyhow!("cannot cut the program: {error:#}"))?;
    for part in cut.split_modules {
        fs::rename(&part, work.join(&folder).join(name_of(&part)))?;
    }

    let bound = work.join("bound");
    let mut bindgen = run::command(tools.wasm_bindgen(project)?);
    bindgen.args([
        "--target=web",
        "--no-typescript",
        "--keep-lld-exports",
        "--no-demangle",
    ]);
    run::run(
        bindgen
            .arg("--out-name")
            .arg(&name)
            .arg("--out-dir")
            .arg(&bound)
            .arg(first),
    )?;

    let trunks = trunks_name(dist)?;
    for end in [".js", "_bg.wasm"] {
        fs::remove_file(dist.join(format!("{trunks}{end}")))?;
    }
    for (from, to) in [
        (bound, dist.to_path_buf()),
        (work.join(&folder), dist.join(&folder)),
    ] {
        for file in files_under(&from)? {
            let place = to.join(file.strip_prefix(&from)?);
            fs::create_dir_all(place.parent().unwrap_or(&to))?;
            fs::copy(&file, place)?;
        }
    }
    let index = dist.join("index.html");
    let text = fs::read_to_string(&index)?.replace(&trunks, &name);
    fs::write(&index, text).with_context(|| index.display().to_string())
}

/// What trunk called the program, without an ending.
fn trunks_name(dist: &Path) -> Result<String> {
    let found = files_under(dist)?.iter().find_map(|file| {
        let name = name_of(file).strip_suffix("_bg.wasm")?.to_owned();
        name.starts_with(PROGRAM).then_some(name)
    });
    found.with_context(|| format!("{} has no {PROGRAM}", dist.display()))
}
