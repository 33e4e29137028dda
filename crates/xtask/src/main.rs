//! Project tasks, run as `cargo xtask <task>`: build, run, test, check.
//!
//! Each task first fetches the tools that it needs, so that it works in a fresh clone without further setup.
#![allow(clippy::print_stdout)]

mod bench;
mod check;
mod compress;
mod console;
mod console_check;
mod dist;
mod driver;
mod embedded;
mod faults;
mod fingerprint;
mod fuzz;
mod licences;
mod lints;
mod npm;
mod npm_runtimes;
mod parts;
mod process_groups;
mod project;
mod run;
mod score;
mod serve;
mod source;
mod test;
mod tidy;
mod tools;
mod wasm;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{project::Project, tools::Tools};

const USAGE: &str = "\
usage: cargo xtask <task>

    serve [-- FLAGS]  build and start the console and server on http://localhost:3002; FLAGS go to `harvestman serve`
    test [--store sqlite|postgres] [FILTER]
                      check formatting and structure, run all tests (crates, whole product, npm package), run
                      clippy; with FILTER, only tests whose name contains it; with --store, only
                      the tests of one store
    bench WHICH       run benchmarks of the release server (docs/BENCHMARKS.md): crawl, fairness, interact,
                      live-view, site;
                      or compare the content crate with its peers: content [CORPUS]
    faults [--nodes N] [--seed S] [--without-fence]
                      run a cluster of servers on PostgreSQL under faults that a seed decides, and check every
                      job (docs/CONTRIBUTING.md)
    check             run all checks: format, lints, docs, tests, wasm builds, licences, tidy
    console [--dev]   build the console into dist/; --dev: a fast, unoptimised build for development
    driver            build the npm packages that the server embeds into crates/server/driver/ and consent/
    console-check     check the size of the console, and every screen with axe and Lighthouse
    dev               serve the console on http://localhost:8080 and rebuild it on changes; needs a running `serve`
    npm               build the npm package into <target>/npm/harvestman
    npm-runtimes [NAME]...
                      check the npm package in every JavaScript runtime and bundler, or in those whose name
                      contains NAME; takes minutes and needs npm's registry
    dist [--binary FILE]
                      package a release build, or FILE, into <target>/dist: archive, Python wheel, npm packages,
                      Debian package, checksums
    score [--peers] [CORPUS]
                      score the Markdown on a corpus of pages, compared with peers (docs/MARKDOWN.md); with
                      --peers, run the peers as well
    wasm              compile everything that runs in wasm, without building packages
    tidy              check structure rules only (seconds)
    fuzz [TARGET] [--seconds N]
                      run each fuzz target for 600 s, or one of them
    licences          check licences of all dependencies only (seconds)
    tools             fetch every tool that the tasks need
    browsers          install each Chromium of the distribution; `test` uses all that are installed";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((task, rest)) = arguments.split_first() else {
        bail!("no task given\n{USAGE}")
    };
    if matches!(task.as_str(), "help" | "-h" | "--help") {
        println!("{USAGE}");
        return Ok(());
    }
    let project = Project::find()?;
    if !matches!(
        task.as_str(),
        "serve" | "test" | "score" | "bench" | "faults" | "fuzz" | "console" | "dist" | "npm-runtimes"
    ) && !rest.is_empty()
    {
        bail!("`{task}` takes no arguments\n{USAGE}");
    }
    match task.as_str() {
        "serve" => serve::serve(&project, &Tools::open()?, rest),
        "test" => test::test(&project, &Tools::open()?, rest),
        "bench" => bench::bench(&project, rest),
        "faults" => faults::faults(&project, &Tools::open()?, rest),
        "check" => check::check(&project, &Tools::open()?),
        "console" => match rest {
            [] => console::build(&project, &Tools::open()?),
            [dev] if dev == "--dev" => console::build_dev(&project, &Tools::open()?),
            _ => bail!("`console` takes only `--dev`\n{USAGE}"),
        },
        "driver" => driver::build(&project, &Tools::open()?),
        "console-check" => console_check::check(&project, &Tools::open()?),
        "dev" => console::develop(&project, &Tools::open()?),
        "dist" => dist::dist(&project, &Tools::open()?, rest),
        "npm" => npm::build(&project, &Tools::open()?).map(drop),
        "npm-runtimes" => npm_runtimes::check(&project, &Tools::open()?, rest),
        "score" => score::score(&project, &Tools::open()?, rest),
        "wasm" => wasm::check(&project, &Tools::open()?),
        "fuzz" => fuzz::fuzz(&project, rest),
        "tidy" => tidy::tidy(&project),
        "licences" => licences::check(&project),
        "tools" => Tools::open()?.ensure_all(&project),
        "browsers" => Tools::open()?.install_chromiums(),
        other => bail!("unknown task `{other}`\n{USAGE}"),
    }
}
