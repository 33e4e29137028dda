//! `npm`: builds the npm package as a folder for `npm pack`. Builds it again only when one of its inputs has changed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{compress::deflate, fingerprint::Stamp, project::Project, run, tools::Tools};

const SOURCES: &[&str] = &[
    "crates/wasm", "crates/core", "crates/content", "crates/derive", "Cargo.toml", "Cargo.lock",
];
/// Wasm files of the package.
const MODULES: &[Module] = &[
    Module {
        feature: "client",
        wasm: "harvestman.wasm",
        glue: "glue.js",
    },
    Module {
        feature: "crawl",
        wasm: "crawl.wasm",
        glue: "crawl_glue.js",
    },
    Module {
        feature: "pages",
        wasm: "pages.wasm",
        glue: "pages_glue.js",
    },
    Module {
        feature: "charsets",
        wasm: "charsets.wasm",
        glue: "charsets_glue.js",
    },
];
const LICENCES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT"];
/// Bundles: source, result, format. Node.js cannot `require` the modules, and many bundlers do not emit the wasm file.
const BUNDLES: &[(&str, &str, &str)] = &[
    ("node.js", "node.cjs", "cjs"),
    ("slim.js", "slim.cjs", "cjs"),
    ("inline.js", "inline.js", "esm"),
];
/// Type of the compressed copies of the wasm files that the inline bundle contains, and the module that unpacks them.
const PACKED: &str = "deflate";
const INFLATE: &str = "inflate.js";
/// Defines in a CommonJS module what `import.meta.url` is in others.
const MODULE_URL: &str = "const moduleUrl = require('node:url').pathToFileURL(__filename);";
/// Types that CommonJS modules have too, under their own names.
const TYPES: &[&str] = &[
    "charsets.wasm", "crawl.wasm", "harvestman.wasm", "index", "inline", "local", "pages.wasm", "requests",
    "slim", "tools",
];
/// Placeholder in the source of package.json for the version of the workspace.
const VERSION_PLACEHOLDER: &str = "\"version\": \"0.0.0\"";

/// A wasm file of the package: the feature of the crate that it is built with, and the JavaScript of wasm-bindgen.
struct Module {
    feature: &'static str,
    wasm: &'static str,
    glue: &'static str,
}

/// Brings the package up to date and returns its folder.
pub(crate) fn build(project: &Project, tools: &Tools) -> Result<PathBuf> {
    if let Some(folder) = current(project) {
        return Ok(folder);
    }
    let folder = folder(project);
    run::print_step("building the npm package");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder)?;
    for module in MODULES {
        let wasm = compile(project, tools, module)?;
        run_wasm_bindgen(project, tools, &wasm, module, &folder)?;
    }
    assemble(project, &folder)?;
    bundle(tools, &folder)?;
    stamp(project).record()?;
    for Module { wasm, .. } in MODULES {
        let file = folder.join(wasm);
        run::print_step(&format!(
            "{}: {} bytes",
            file.display(),
            fs::metadata(&file)?.len()
        ));
    }
    Ok(folder)
}

/// Returns the folder of the package if it is up to date.
pub(crate) fn current(project: &Project) -> Option<PathBuf> {
    stamp(project).is_current().then(|| folder(project))
}

fn folder(project: &Project) -> PathBuf {
    project.target().join("npm/harvestman")
}

fn stamp(project: &Project) -> Stamp<'_> {
    Stamp {
        file: project.target().join("xtask-npm.stamp"),
        output: folder(project),
        inputs: SOURCES,
        base: project.root(),
    }
}

fn compile(project: &Project, tools: &Tools, module: &Module) -> Result<PathBuf> {
    // Without `--crate-type`, cargo also builds an rlib, and then optimises neither across crates.
    let mut cargo = tools.wasm_target()?.cargo("rustc", project, tools)?;
    cargo.args(["--profile", "wasm", "--package", "harvestman-wasm", "--lib"]);
    cargo.args(["--crate-type", "cdylib", "--no-default-features", "--features"]);
    cargo.arg(module.feature);
    run::run(cargo.arg("--config").arg(without_local_paths(project)?))?;
    Ok(project
        .wasm_target()
        .join("wasm32-unknown-unknown/wasm/harvestman_wasm.wasm"))
}

/// Returns the setting of cargo that keeps the paths of this machine out of the wasm.
fn without_local_paths(project: &Project) -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut flags = vec![format!("--remap-path-prefix={}=", project.root().display())];
    for index in home
        .iter()
        .flat_map(|home| fs::read_dir(home.join("registry/src")))
        .flatten()
    {
        flags.push(format!("--remap-path-prefix={}/=", index?.path().display()));
    }
    Ok(format!("target.wasm32-unknown-unknown.rustflags = {flags:?}"))
}

/// Writes the wasm and its wasm-bindgen JavaScript under the file names of the package.
fn run_wasm_bindgen(
    project: &Project,
    tools: &Tools,
    wasm: &Path,
    module: &Module,
    folder: &Path,
) -> Result<()> {
    let out = project.target().join("npm/glue");
    fs::remove_dir_all(&out).ok();
    let mut bindgen = run::command(tools.wasm_bindgen(project)?);
    // Without a default path: the entry files locate the wasm, and bundlers must not look for another one.
    bindgen.args([
        "--target", "web", "--omit-default-module-path", "--no-typescript", "--out-name", "glue",
    ]);
    run::run(bindgen.arg("--out-dir").arg(&out).arg(wasm))?;
    fs::copy(out.join("glue.js"), folder.join(module.glue))?;
    let small = folder.join(module.wasm);
    fs::copy(out.join("glue_bg.wasm"), &small)?;
    tools.wasm_opt()?.shrink(&small)
}

fn bundle(tools: &Tools, folder: &Path) -> Result<()> {
    for Module { wasm, .. } in MODULES {
        let packed = packed_with_size(&fs::read(folder.join(wasm))?)?;
        fs::write(folder.join(format!("{wasm}.{PACKED}")), packed)?;
    }
    for (source, result, format) in BUNDLES {
        let mut esbuild = tools.esbuild(folder)?;
        esbuild.args([
            source, "--bundle", "--log-level=warning", "--target=es2022", "--loader:.deflate=base64",
        ]);
        esbuild.args([
            "--allow-overwrite", "--legal-comments=none", "--platform=node", "--packages=external",
        ]);
        esbuild
            .arg(format!("--format={format}"))
            .arg(format!("--outfile={result}"));
        if *source == "node.js" {
            esbuild.arg("--define:import.meta.url=moduleUrl");
            esbuild.arg(format!("--banner:js={MODULE_URL}"));
        }
        run::run(&mut esbuild)?;
    }
    for Module { wasm, .. } in MODULES {
        fs::remove_file(folder.join(format!("{wasm}.{PACKED}")))?;
    }
    fs::remove_file(folder.join(INFLATE))?;
    for name in TYPES {
        let text = fs::read_to_string(folder.join(format!("{name}.d.ts")))?;
        let text = text.replace(".js'", ".cjs'");
        fs::write(folder.join(format!("{name}.d.cts")), text)?;
    }
    Ok(())
}

/// Compresses with DEFLATE, and puts the original size in front as four little-endian bytes.
fn packed_with_size(bytes: &[u8]) -> Result<Vec<u8>> {
    let size = u32::try_from(bytes.len())?.to_le_bytes();
    Ok([&size[..], &deflate(bytes)?].concat())
}

fn assemble(project: &Project, folder: &Path) -> Result<()> {
    let skin = project.path("crates/wasm/npm");
    for entry in fs::read_dir(&skin).with_context(|| skin.display().to_string())? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    for licence in LICENCES {
        fs::copy(project.path(licence), folder.join(licence)).context(*licence)?;
    }
    let manifest = folder.join("package.json");
    let text = fs::read_to_string(&manifest)?;
    ensure!(
        text.contains(VERSION_PLACEHOLDER),
        "package.json has no {VERSION_PLACEHOLDER}"
    );
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&manifest, text.replace(VERSION_PLACEHOLDER, &version))?;
    let wasm = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "wasm"));
    ensure!(
        wasm.count() == MODULES.len(),
        "the package must contain exactly {} wasm files",
        MODULES.len()
    );
    Ok(())
}
