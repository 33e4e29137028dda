//! `harvestman setup`: installs what `harvestman doctor` misses. What other programs need goes into the data folder,
//! the programs themselves come from the package manager of the system. Nothing is installed without consent.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::{Arg, ArgAction};
use harvestman_browser::{check_python_packages, find_chromium, find_node, find_python, in_path};

use crate::config::{Config, Program};
use crate::limits;

/// Minor version of playwright for Python that this version is tested with.
const PLAYWRIGHT: &str = "1.65";

/// Package managers, with the arguments that install packages.
const PACKAGE_MANAGERS: [(&str, &[&str]); 4] = [
    ("apt-get", &["install", "--yes", "--no-install-recommends"]),
    ("dnf", &["install", "--assumeyes"]),
    ("pacman", &["--sync", "--noconfirm"]),
    ("apk", &["add"]),
];

/// Returns the grammar of the command.
pub(crate) fn command() -> clap::Command {
    let yes = Arg::new("yes")
        .long("yes")
        .short('y')
        .action(ArgAction::SetTrue)
        .help("Install without asking");
    clap::Command::new("setup")
        .about("Install what browser sessions and scripts need: Chromium, bubblewrap, Node.js, and the driver of Python")
        .arg(yes)
}

/// A command that installs something.
#[derive(PartialEq, Eq, Debug)]
struct Step {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Step {
    fn new<A: AsRef<std::ffi::OsStr>>(program: impl Into<PathBuf>, arguments: &[A]) -> Step {
        Step {
            program: program.into(),
            arguments: arguments
                .iter()
                .map(|argument| argument.as_ref().to_owned())
                .collect(),
        }
    }

    fn run(&self) -> anyhow::Result<()> {
        let status = Command::new(&self.program).args(&self.arguments).status();
        match status.with_context(|| format!("cannot start {}", self.program.display()))? {
            status if status.success() => Ok(()),
            status => bail!("`{self}` failed: {status}"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, " {}", Path::new(argument).display()))
    }
}

/// Plans, asks and installs. `yes`: the user has already agreed.
pub(crate) async fn run(config: &Config, yes: bool) -> anyhow::Result<()> {
    let mut out = io::stdout();
    // A program that was installed may need a driver.
    for _ in 0..2 {
        let steps = plan(config).await?;
        if steps.is_empty() {
            return Ok(writeln!(
                out,
                "nothing to install; `harvestman doctor` shows each part"
            )?);
        }
        writeln!(out, "These commands install what is missing:")?;
        for step in &steps {
            writeln!(out, "  {step}")?;
        }
        if !yes && !agrees(&mut out)? {
            return Ok(writeln!(out, "nothing was installed; --yes runs the commands")?);
        }
        std::fs::create_dir_all(&config.data_dir)
            .with_context(|| format!("cannot create {}", config.data_dir.display()))?;
        steps.iter().try_for_each(Step::run)?;
    }
    Ok(writeln!(out, "done; `harvestman doctor` shows each part")?)
}

async fn plan(config: &Config) -> anyhow::Result<Vec<Step>> {
    let mut steps: Vec<Step> = system_packages(config)?.into_iter().collect();
    steps.extend(python_driver(config).await);
    Ok(steps)
}

/// Asks on the terminal; without one, nobody agrees.
fn agrees(out: &mut impl Write) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(out, "Run them? [y/N] ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Returns the command for programs that are missing.
fn system_packages(config: &Config) -> anyhow::Result<Option<Step>> {
    let is_missing =
        |configured: &Program, found: Option<PathBuf>| *configured == Program::Installed && found.is_none();
    let mut packages = Vec::new();
    if is_missing(&config.chromium, find_chromium()) {
        packages.push("chromium");
    }
    if cfg!(target_os = "linux") && in_path("bwrap").is_none() {
        packages.push("bubblewrap");
    }
    if is_missing(&config.node, find_node()) {
        packages.push("nodejs");
    }
    if packages.is_empty() {
        return Ok(None);
    }
    let found = PACKAGE_MANAGERS
        .iter()
        .find_map(|(name, arguments)| Some((in_path(name)?, *arguments)));
    let Some((manager, arguments)) = found else {
        bail!(
            "install {} with the package manager of this system",
            packages.join(" and ")
        );
    };
    let arguments: Vec<&str> = arguments.iter().copied().chain(packages).collect();
    let step = Step::new(&manager, &arguments);
    Ok(Some(match in_path("sudo").filter(|_| !is_root()) {
        Some(sudo) => {
            let mut all = vec![manager.into_os_string()];
            all.extend(step.arguments);
            Step::new(sudo, &all)
        }
        None => step,
    }))
}

/// Returns the commands that install playwright for Python in an environment of its own, if it is missing.
async fn python_driver(config: &Config) -> Vec<Step> {
    let Some(python) = config.python_program() else {
        return Vec::new();
    };
    if check_python_packages(&python).await.is_ok() || config.python != Program::Installed {
        return Vec::new();
    }
    let folder = config.data_dir.join(limits::PYTHON_FOLDER);
    let environment: [OsString; 3] = ["-m".into(), "venv".into(), folder.into_os_string()];
    let package = format!("playwright=={PLAYWRIGHT}.*");
    vec![
        Step::new(find_python().unwrap_or(python), &environment),
        Step::new(
            config.setup_python(),
            &["-m", "pip", "install", "--quiet", &package],
        ),
    ]
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
