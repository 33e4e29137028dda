//! `test`: runs the tests of the project, after building the tools, console, server and package that they need.
//!
//! With a filter, only test programs that may contain a test of that name are built and run. Programs that test what a
//! browser does run with each installed Chromium. Tests of the PostgreSQL store have `on_postgresql` in their name.

mod tally;
mod targets;

use std::{
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Result, anyhow, bail};

use self::{
    tally::{Run, Tally},
    targets::{Program, Sources, Target, build},
};
use crate::{
    console, dist, driver,
    fingerprint::files_under,
    lints::{self, BackgroundClippy},
    npm, process_groups,
    project::Project,
    run, tidy,
    tools::{Cluster, Node, Tools},
};

/// Variable that tests with a browser read.
const CHROMIUM: &str = "HARVESTMAN_CHROMIUM";
/// Programs that run with only one Chromium: they test a client, and other programs test the browser.
const OF_CLIENTS: &[&str] = &[
    "clients", "command_line", "docs", "local", "mcp", "node_sessions", "packages", "setup",
];
/// Variable with the path of Node.js that tests read.
const NODE: &str = "HARVESTMAN_TEST_NODE";
/// Variable that tests which start the server read.
const SERVER: &str = "HARVESTMAN_TEST_SERVER";
/// The server that tests start, in cargo's output folder.
const DEBUG_SERVER: &str = "debug/harvestman";
/// Variable with the path of npm that tests read.
const NPM: &str = "HARVESTMAN_TEST_NPM";
/// Variable that tests of the packages read.
const DIST: &str = "HARVESTMAN_TEST_DIST";
/// Variable with the URL of a PostgreSQL server that tests read.
const POSTGRES: &str = "HARVESTMAN_TEST_POSTGRES";
/// What the names of tests on PostgreSQL contain.
const ON_POSTGRES: &str = "on_postgresql";

/// The stores to test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    Both,
    /// All tests except those on PostgreSQL, which is not started.
    Sqlite,
    /// Only tests on PostgreSQL.
    Postgres,
}

/// Runs all tests and checks formatting, structure and lints; or, with a filter or `--store`, runs only those tests.
///
/// # Errors
/// A failed test or check, or a filter that matches no test.
pub(crate) fn test(project: &Project, tools: &Tools, arguments: &[String]) -> Result<()> {
    process_groups::end_on_signal()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (stores, filter) = match arguments[..] {
        [] => (Stores::Both, None),
        ["--store", name, ref rest @ ..] => {
            let stores = match name {
                "sqlite" => Stores::Sqlite,
                "postgres" => Stores::Postgres,
                _ => bail!("unknown store `{name}`: sqlite or postgres"),
            };
            (stores, rest.first().copied())
        }
        [filter, ..] => (Stores::Both, Some(filter)),
    };
    let expected = 2 * usize::from(stores != Stores::Both) + usize::from(filter.is_some());
    if arguments.len() > expected {
        bail!("too many arguments: give --store and at most one filter");
    }
    if expected > 0 {
        return Suite::build(project, tools, filter, stores)?.run();
    }
    // Checks that take only seconds come first.
    lints::format(project)?;
    tidy::tidy(project)?;
    let suite = Suite::build(project, tools, None, stores)?;
    let clippy = BackgroundClippy::start(project)?;
    // Clippy finishes even after failed tests: one run reports both, and no clippy process keeps the build folder
    // locked.
    match (suite.run(), clippy.finish()) {
        (Err(tests), Err(lints)) => bail!("{tests:#}\n{lints:#}"),
        (tests, lints) => tests.and(lints),
    }
}

/// The built test programs and scripts, with everything that they need.
pub(crate) struct Suite {
    programs: Vec<Program>,
    scripts: Scripts,
    environment: Environment,
    /// Node.js for the scripts; `None` if there are no scripts.
    node: Option<Node>,
    folder: PathBuf,
    filter: Option<String>,
    stores: Stores,
}

impl Suite {
    /// Builds all test programs, or those that may contain a test whose name contains `filter`.
    pub(crate) fn build(
        project: &Project,
        tools: &Tools,
        filter: Option<&str>,
        stores: Stores,
    ) -> Result<Suite> {
        let mut targets = Target::find(project, filter)?;
        let mut scripts = Scripts::find(project, filter)?;
        if stores == Stores::Postgres {
            targets.retain(|target| target.reads(POSTGRES));
            scripts.files.clear();
        }
        let server = scripts.sources.mention(SERVER)
            || targets
                .iter()
                .any(|target| target.reads(SERVER) || target.starts_server());
        tools.make()?;
        // The wasm of the console and of the npm package keeps only one core busy.
        let (files, environment) = thread::scope(|scope| {
            let files = scope.spawn(|| build(project, &targets, server));
            let environment = Environment::prepare(project, tools, &targets, &scripts, stores, server);
            (files.join(), environment)
        });
        let files = files.map_err(|_| anyhow!("the thread that builds the tests panicked"))??;
        let mut environment = environment?;
        if targets.iter().any(|target| target.reads(DIST)) {
            let server = project.target().join(DEBUG_SERVER);
            let packages = dist::package(project, tools, &server, dist::Effort::Fast)?;
            environment.variables.push((DIST, packages));
        }
        let node = match scripts.files.is_empty() {
            true => None,
            false => Some(tools.node()?),
        };
        tools.release()?;
        let programs = targets.into_iter().zip(files);
        Ok(Suite {
            programs: programs.map(|(target, file)| Program { target, file }).collect(),
            scripts,
            environment,
            node,
            folder: project.root().to_path_buf(),
            filter: filter.map(str::to_owned),
            stores,
        })
    }

    /// Runs the tests, or those whose name contains the filter.
    ///
    /// # Errors
    /// A failed test, or a filter that matches no test.
    pub(crate) fn run(&self) -> Result<()> {
        let browsers = &self.environment.browsers;
        let (first, others) = match browsers.split_first() {
            Some((first, others)) => (Some(first), others),
            None => (None, &[][..]),
        };
        let mut runs = Vec::new();
        for browser in std::iter::once(first).chain(others.iter().map(Some)) {
            for program in &self.programs {
                let uses_browser = program.target.uses_browser();
                if browser == first || uses_browser && !program.target.is_one_of(OF_CLIENTS) {
                    runs.push(self.run_of(program, browser.filter(|_| uses_browser)));
                }
            }
        }
        runs.extend(self.node.as_ref().map(|node| self.run_of_scripts(node, first)));
        let mut total = Tally::default();
        total.run(runs)?;
        match &self.filter {
            Some(filter) if total.is_empty() => bail!("no test has `{filter}` in its name"),
            _ => total.finish(),
        }
    }

    fn run_of<'a>(&'a self, program: &'a Program, browser: Option<&'a PathBuf>) -> Run<'a> {
        let mut name = program.target.title();
        if let Some(browser) = browser {
            name = format!("{name}, {}", browser.display());
        }
        let make = move || {
            let mut command = run::command(&program.file);
            command.current_dir(program.target.folder());
            command.envs(self.environment.variables());
            command.envs(browser.map(|browser| (CHROMIUM, browser)));
            command
        };
        let mut command = make();
        command.args(&self.filter);
        match self.stores {
            Stores::Both => {}
            Stores::Sqlite => {
                command.args(["--skip", ON_POSTGRES]);
            }
            Stores::Postgres => {
                command.args(self.filter.is_none().then_some(ON_POSTGRES));
            }
        }
        let repeat = move |failed: &[String]| {
            let mut command = make();
            command.arg("--exact").args(failed);
            command
        };
        Run {
            name,
            command,
            repeat: Box::new(repeat),
        }
    }

    fn run_of_scripts<'a>(&'a self, node: &'a Node, browser: Option<&'a PathBuf>) -> Run<'a> {
        let make = move |files: &[PathBuf]| {
            let mut command = node.command();
            command
                .current_dir(&self.folder)
                .args(["--test", "--test-reporter=spec"])
                .args(
                    self.filter
                        .iter()
                        .map(|filter| format!("--test-name-pattern={filter}")),
                )
                .args(files)
                .envs(browser.map(|browser| (CHROMIUM, browser)))
                .envs(self.environment.variables());
            command
        };
        Run {
            name: "tests of the npm package".to_owned(),
            command: make(&self.scripts.files),
            repeat: Box::new(move |failed| make(&failed.iter().map(PathBuf::from).collect::<Vec<_>>())),
        }
    }
}

/// Environment of the test programs.
struct Environment {
    variables: Vec<(&'static str, PathBuf)>,
    /// Chromium programs for tests that use one.
    browsers: Vec<PathBuf>,
    /// Runs while tests use it.
    _postgres: Option<Cluster>,
}

impl Environment {
    /// Fetches and builds everything that the variables of `targets` and `scripts` refer to; with `server`, also what
    /// the server reads at run time.
    fn prepare(
        project: &Project,
        tools: &Tools,
        targets: &[Target],
        scripts: &Scripts,
        stores: Stores,
        server: bool,
    ) -> Result<Environment> {
        let reads = |variable| {
            targets.iter().any(|target| target.reads(variable)) || scripts.sources.mention(variable)
        };
        let mut variables = Vec::new();
        // Servers run code with this Node.js, even if the tests do not mention it.
        if server || reads(NODE) {
            variables.push((NODE, tools.node()?.path().to_path_buf()));
        }
        // npm and the commands of npm packages run the `node` that they find in PATH.
        if reads(NPM) {
            variables.push(("PATH", tools.node()?.search_path()?.into()));
        }
        let mut give = |variable, path: &dyn Fn() -> Result<PathBuf>| {
            if reads(variable) {
                variables.push((variable, path()?));
            }
            anyhow::Ok(())
        };
        give(NPM, &|| Ok(tools.node()?.npm_path().to_path_buf()))?;
        give("HARVESTMAN_TEST_JAVASCRIPT", &|| tools.javascript(project))?;
        give("HARVESTMAN_TEST_PYTHON", &|| tools.python(project))?;
        give("HARVESTMAN_TEST_TINYPROXY", &|| tools.proxy("tinyproxy"))?;
        give("HARVESTMAN_TEST_MICROSOCKS", &|| tools.proxy("microsocks"))?;
        if stores != Stores::Sqlite {
            give("HARVESTMAN_TEST_PGBOUNCER", &|| tools.proxy("pgbouncer"))?;
        }
        give("HARVESTMAN_TEST_PACKAGE", &|| npm::build(project, tools))?;
        let postgres = match reads(POSTGRES) && stores != Stores::Sqlite {
            true => Some(tools.postgres()?),
            false => None,
        };
        variables.extend(
            postgres
                .iter()
                .map(|cluster| (POSTGRES, PathBuf::from(cluster.url()))),
        );
        let browsers = match targets.iter().any(Target::uses_browser) || scripts.sources.mention(CHROMIUM) {
            true => {
                tools.bubblewrap()?;
                tools.chromiums(project)?
            }
            false => Vec::new(),
        };
        if server {
            console::build(project, tools)?;
            driver::build(project, tools)?;
            variables.push((SERVER, project.target().join(DEBUG_SERVER)));
        }
        Ok(Environment {
            variables,
            browsers,
            _postgres: postgres,
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
