//! `serve`: console, server, a key for development, and then the server itself in place of this process.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::unix::{fs::OpenOptionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
};

use anyhow::{Context, Result, anyhow};

use crate::{console, project::Project, run, tools::Tools};

const KEYS_VARIABLE: &str = "HARVESTMAN_API_KEYS";
/// Random bytes of a key.
const KEY_BYTES: usize = 32;

/// Never returns unless something went wrong or the server could not be started.
pub(crate) fn serve(project: &Project, tools: &Tools, flags: &[String]) -> Result<()> {
    let mut ahead = Ahead::start(project)?;
    // Both threads below use it, and whatever apt may be needed for here is done before.
    tools.node()?;
    tools.wasm_target()?;
    let (console, chromium, code) = thread::scope(|scope| {
        let console = scope.spawn(|| console::build(project, tools));
        let chromium = tools.chromium(project);
        let code = tools.bubblewrap().and_then(|()| languages(project, tools));
        (console.join(), chromium, code)
    });
    console.map_err(|_| anyhow!("the thread that builds the console panicked"))??;
    tools.release()?;
    ahead.wait()?;
    run::run(&mut release(project))?;

    let mut server = run::command(project.target().join("release/harvestman"));
    let flags = flags.strip_prefix(&["--".to_owned()]).unwrap_or(flags);
    server.arg("serve").args(flags);
    match chromium {
        Ok(program) => drop(server.env("HARVESTMAN_CHROMIUM", program)),
        Err(error) => run::say(&format!("{error:#}; what needs a browser is refused")),
    }
    match code {
        Ok(code) => {
            let said = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            let unsaid = code.into_iter().filter(|(name, _)| !said(name));
            server.envs(unsaid);
        }
        Err(error) => run::say(&format!("{error:#}; code for browser sessions is refused")),
    }
    if std::env::var_os(KEYS_VARIABLE).is_none_or(|keys| keys.is_empty()) {
        let key = development_key(&tools.state().join("development.key"))?;
        println!("\n    API key for development: {key}\n");
        server.env(KEYS_VARIABLE, format!("{key}=default:development"));
    }
    Err(server.exec()).context("cannot start the server")
}

/// The first build of the server's library, while the console that the server embeds is made.
struct Ahead(Option<Child>);

impl Ahead {
    fn start(project: &Project) -> Result<Ahead> {
        if project.target().join("release/harvestman").is_file() {
            return Ok(Ahead(None));
        }
        run::say("compiling the server meanwhile");
        let child = release(project).args(["--quiet", "--lib"]).spawn();
        Ok(Ahead(Some(child.context("cannot start cargo")?)))
    }

    /// Waits for its end. It may have met a half-made console: what is wrong is reported by the build after it.
    fn wait(&mut self) -> Result<()> {
        if let Some(mut child) = self.0.take() {
            child.wait()?;
        }
        Ok(())
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// The build of the server.
fn release(project: &Project) -> Command {
    let mut cargo = project.cargo();
    cargo.args(["build", "--release", "--package", "harvestman-server"]);
    cargo
}

/// What the server runs code of browser sessions with.
fn languages(project: &Project, tools: &Tools) -> Result<[(&'static str, PathBuf); 3]> {
    Ok([
        ("HARVESTMAN_NODE", tools.node()?.path().to_path_buf()),
        ("NODE_PATH", tools.javascript(project)?.join("node_modules")),
        ("HARVESTMAN_PYTHON", tools.python(project)?),
    ])
}

/// The key in `file`, which is made on first use and readable by its owner alone.
fn development_key(file: &Path) -> Result<String> {
    if let Ok(text) = fs::read_to_string(file) {
        return Ok(text.trim().to_owned());
    }
    let mut bytes = [0; KEY_BYTES];
    File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut bytes))
        .context("/dev/urandom")?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let key = format!("fc-{digits}");
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
    fn the_development_key_is_made_once_and_private() {
        let file = std::env::temp_dir().join(format!("harvestman-key-{}", std::process::id()));
        let first = development_key(&file).unwrap();
        assert_eq!(first.len(), 3 + 2 * KEY_BYTES);
        assert!(first.starts_with("fc-"));
        assert_eq!(development_key(&file).unwrap(), first);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&file).unwrap();
    }
}
