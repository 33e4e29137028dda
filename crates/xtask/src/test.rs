//! `test`: runs the tests of the project, after building the tools, console, server and package that they need.
//!
//! With a filter, only test programs that may contain a test of that name are built and run. Programs that use a
//! browser run with each installed Chromium.

mod tally;
mod targets;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use self::{
    tally::Tally,
    targets::{Sources, Target, build},
};
use crate::{
    console, dist, driver, fingerprint::files_under, lints, npm, project::Project, run, tidy, tools::Tools,
};

/// Package of the console.
const CONSOLE: &str = "harvestman-web";
/// Everything else, built at once; the console would enable features that the server does not have.
const WITHOUT_CONSOLE: &[&str] = &["--workspace", "--exclude", CONSOLE];
/// Variable that tests with a browser read.
const CHROMIUM: &str = "HARVESTMAN_CHROMIUM";
/// Variable that tests which start the server read.
const SERVER: &str = "HARVESTMAN_TEST_SERVER";
/// The server that tests start, in cargo's output folder.
const DEBUG_SERVER: &str = "debug/harvestman";
/// Variable that tests of the packages read.
const DIST: &str = "HARVESTMAN_TEST_DIST";

/// Runs all tests and checks formatting, structure and lints; or runs only the tests whose name contains the given
/// filter.
///
/// # Errors
/// A failed test or check, or a filter that matches no test.
pub(crate) fn test(project: &Project, tools: &Tools, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => {}
        [one] => return programs(project, tools, Some(one)),
        _ => bail!("too many arguments: give at most one filter"),
    }
    // What takes seconds comes first; the lints come last, because tests say more about a change.
    lints::format(project)?;
    tidy::tidy(project)?;
    programs(project, tools, None)?;
    run::print_step("clippy");
    lints::clippy(project)
}

/// Runs all test programs, or those tests whose name contains `filter`.
///
/// # Errors
/// A failed test, or a filter that matches no test.
pub(crate) fn programs(project: &Project, tools: &Tools, filter: Option<&str>) -> Result<()> {
    let targets = Target::find(project, filter)?;
    let scripts = Scripts::find(project, filter)?;
    let mut environment = Environment::prepare(project, tools, &targets, &scripts)?;
    let programs = build(project, &targets, environment.server)?;
    if targets.iter().any(|target| target.reads(DIST)) {
        let server = project.target().join(DEBUG_SERVER);
        let packages = dist::package(project, tools, &server, dist::Effort::Fast)?;
        environment.variables.push((DIST, packages));
    }
    tools.release()?;

    let mut total = Tally::default();
    let (first, others) = match environment.browsers.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    for browser in std::iter::once(first).chain(others.iter().map(Some)) {
        for program in &programs {
            let uses_browser = program.target.reads(CHROMIUM);
            // Programs without a browser run once.
            if !uses_browser && browser != first {
                continue;
            }
            let mut title = program.target.title();
            let mut command = run::command(&program.file);
            command.current_dir(program.target.folder()).args(filter);
            if let Some(browser) = browser.filter(|_| uses_browser) {
                title = format!("{title}, {}", browser.display());
                command.env(CHROMIUM, browser);
            }
            run::print_step(&title);
            total.add(&title, command.envs(environment.variables()))?;
        }
    }
    if !scripts.files.is_empty() {
        run::print_step("tests of the npm package");
        let mut node = tools.node()?.command();
        node.current_dir(project.root())
            .args(["--test", "--test-reporter=spec"])
            .args(filter.map(|filter| format!("--test-name-pattern={filter}")))
            .args(&scripts.files);
        total.add("tests of the npm package", node.envs(environment.variables()))?;
    }
    match filter {
        Some(filter) if total.is_empty() => bail!("no test has `{filter}` in its name"),
        _ => total.finish(),
    }
}

/// Environment of the test programs.
struct Environment {
    variables: Vec<(&'static str, PathBuf)>,
    /// Chromium programs for tests that use one.
    browsers: Vec<PathBuf>,
    /// Whether tests start the server.
    server: bool,
}

impl Environment {
    /// Fetches and builds what the variables that `targets` and `scripts` read refer to.
    fn prepare(
        project: &Project,
        tools: &Tools,
        targets: &[Target],
        scripts: &Scripts,
    ) -> Result<Environment> {
        let reads = |variable| {
            targets.iter().any(|target| target.reads(variable)) || scripts.sources.mention(variable)
        };
        let mut variables = Vec::new();
        let mut give = |variable, path: &dyn Fn() -> Result<PathBuf>| {
            if reads(variable) {
                variables.push((variable, path()?));
            }
            anyhow::Ok(())
        };
        give("HARVESTMAN_TEST_NODE", &|| Ok(tools.node()?.path().to_path_buf()))?;
        give("HARVESTMAN_TEST_NPM", &|| {
            Ok(tools.node()?.npm_path().to_path_buf())
        })?;
        give("HARVESTMAN_TEST_JAVASCRIPT", &|| tools.javascript(project))?;
        give("HARVESTMAN_TEST_PYTHON", &|| tools.python(project))?;
        give("HARVESTMAN_TEST_TINYPROXY", &|| tools.proxy("tinyproxy"))?;
        give("HARVESTMAN_TEST_MICROSOCKS", &|| tools.proxy("microsocks"))?;
        give("HARVESTMAN_TEST_PACKAGE", &|| npm::build(project, tools))?;
        let browsers = match reads(CHROMIUM) {
            true => {
                tools.bubblewrap()?;
                tools.chromiums(project)?
            }
            false => Vec::new(),
        };
        let server = reads(SERVER) || targets.iter().any(Target::starts_server);
        if server {
            console::build(project, tools)?;
            driver::build(project, tools)?;
            variables.push((SERVER, project.target().join(DEBUG_SERVER)));
        }
        Ok(Environment {
            variables,
            browsers,
            server,
        })
    }

    fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.variables.iter().map(|(name, path)| (*name, path.as_path()))
    }
}

/// Tests of the npm package.
struct Scripts {
    files: Vec<PathBuf>,
    sources: Sources,
}

impl Scripts {
    /// Finds the files that may contain a test whose name contains `filter`.
    fn find(project: &Project, filter: Option<&str>) -> Result<Scripts> {
        let all = files_under(&project.path("tests/npm"))?;
        let mut files = Vec::new();
        for file in &all {
            let is_test = file.to_string_lossy().ends_with(".test.mjs");
            let one = Sources::read(vec![file.clone()])?;
            if is_test && filter.is_none_or(|filter| one.can_hold(filter)) {
                files.push(file.clone());
            }
        }
        // Every test may use the shared files.
        let read = if files.is_empty() { Vec::new() } else { all };
        Ok(Scripts {
            files,
            sources: Sources::read(read)?,
        })
    }
}
