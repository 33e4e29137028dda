//! `serve`: builds the console and the server, creates a development key, and replaces this process with the server.
//! The npm package, which only the tools screen needs, is built in the background while the server already runs.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::unix::{fs::OpenOptionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use anyhow::{Context, Result, anyhow};

use crate::{console, driver, npm, project::Project, run, tools::Tools};

const KEYS_VARIABLE: &str = "HARVESTMAN_API_KEYS";
/// Number of random bytes in a key.
const KEY_BYTES: usize = 32;

/// Builds and starts the server; returns only on an error.
pub(crate) fn serve(project: &Project, tools: &Tools, flags: &[String]) -> Result<()> {
    tools.make()?;
    let mut library_build = BackgroundBuild::start(project)?;
    // Both threads below need these; fetching them first keeps apt from running twice at once.
    tools.node()?;
    tools.wasm_target()?;
    let (console, chromium, languages_env) = thread::scope(|scope| {
        let console = scope.spawn(|| console::build_screens(project, tools));
        let chromium = tools.chromium(project);
        let languages_env = tools.bubblewrap().and_then(|()| languages(project, tools));
        (console.join(), chromium, languages_env)
    });
    console.map_err(|_| anyhow!("the thread that builds the console panicked"))??;
    tools.release()?;
    library_build.wait()?;
    run::run(&mut server_build(project))?;
    add_package(project, tools)?;

    let mut server = run::command(project.target().join("release/harvestman"));
    let flags = flags.strip_prefix(&["--".to_owned()]).unwrap_or(flags);
    server.arg("serve").args(flags);
    match chromium {
        Ok(program) => drop(server.env("HARVESTMAN_CHROMIUM", program)),
        Err(error) => run::print_step(&format!(
            "{error:#}; requests that need a browser will be refused"
        )),
    }
    match languages_env {
        Ok(languages_env) => {
            let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            let unset = languages_env.into_iter().filter(|(name, _)| !is_set(name));
            server.envs(unset);
        }
        Err(error) => run::print_step(&format!("{error:#}; code in browser sessions will be refused")),
    }
    if std::env::var_os(KEYS_VARIABLE).is_none_or(|keys| keys.is_empty()) {
        let key = development_key(&tools.state().join("development.key"))?;
        println!("\n    API key for development: {key}\n");
        server.env(KEYS_VARIABLE, format!("{key}=default:development"));
    }
    Err(server.exec()).context("cannot start the server")
}

/// Returns the command that builds the server. It reads the console from `dist/` instead of embedding it, so that it
/// neither waits for the console nor is built again when the console changes.
fn server_build(project: &Project) -> Command {
    let mut build = project.release();
    build.arg("--no-default-features");
    build
}

/// Adds the npm package to the console: at once if it is built, else in the background, with a log next to it.
fn add_package(project: &Project, tools: &Tools) -> Result<()> {
    if let Some(package) = npm::current(project) {
        return console::add_package(project, tools, &package);
    }
    let log = project.target().join("console.log");
    run::print_step(&format!(
        "building the tools of the console in the background; log: {}",
        log.display()
    ));
    let out = File::create(&log).with_context(|| log.display().to_string())?;
    let mut build = project.background_cargo();
    build.args(["xtask", "console"]).stdin(Stdio::null());
    build.stdout(out.try_clone()?).stderr(out);
    build.spawn().context("cannot start cargo")?;
    Ok(())
}

/// First build of the server's library, which runs while the console is built.
struct BackgroundBuild(Option<Child>);

impl BackgroundBuild {
    fn start(project: &Project) -> Result<BackgroundBuild> {
        if project.target().join("release/harvestman").is_file() {
            return Ok(BackgroundBuild(None));
        }
        run::print_step("compiling the server in parallel");
        let child = server_build(project).args(["--quiet", "--lib"]).spawn();
        Ok(BackgroundBuild(Some(child.context("cannot start cargo")?)))
    }

    /// Waits for the end of the build. Its errors are ignored: the next build reports them.
    fn wait(&mut self) -> Result<()> {
        if let Some(mut child) = self.0.take() {
            child.wait()?;
        }
        Ok(())
    }
}

impl Drop for BackgroundBuild {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Builds the driver for code in browser sessions, and returns the environment: Node.js and Python.
fn languages(project: &Project, tools: &Tools) -> Result<[(&'static str, PathBuf); 2]> {
    driver::build(project, tools)?;
    Ok([
        ("HARVESTMAN_NODE", tools.node()?.path().to_path_buf()),
        ("HARVESTMAN_PYTHON", tools.python(project)?),
    ])
}

/// Returns the key in `file`, which is created on first use and readable only by its owner.
fn development_key(file: &Path) -> Result<String> {
    if let Ok(text) = fs::read_to_string(file) {
        return Ok(text.trim().to_owned());
    }
    let mut bytes = [0; KEY_BYTES];
    File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut bytes))
        .context("cannot read /dev/urandom")?;
    let key = format!("fc-{}", hex::encode(bytes));
    let mut out = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .with_context(|| file.display().to_string())?;
    writeln!(out, "{key}")?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_development_key_is_created_once_and_private() {
        let file = std::env::temp_dir().join(format!("harvestman-key-{}", std::process::id()));
        let first = development_key(&file).unwrap();
        assert_eq!(first.len(), 3 + 2 * KEY_BYTES);
        assert!(first.starts_with("fc-"));
        assert_eq!(development_key(&file).unwrap(), first);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&file).unwrap();
    }
}
