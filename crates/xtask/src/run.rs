//! Runs other programs, checks their exit status, and optionally limits their time.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::process_groups::{self, Group};

/// Creates a command without the variables that cargo sets only for this program.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_MANIFEST_")
            || text.starts_with("CARGO_BIN_")
        {
            command.env_remove(&name);
        }
    }
    // `cargo run` prepends the libraries of its toolchain, which another toolchain must not load.
    command
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("CARGO")
        .env_remove("CARGO_PRIMARY_PACKAGE");
    command
}

/// Prints the start of a slow step.
pub(crate) fn print_step(text: &str) {
    println!("==> {text}");
}

/// Runs a command with inherited output.
///
/// # Errors
/// A command that cannot start or does not exit with 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = process_groups::spawn(command).and_then(|mut program| program.wait());
    ensure_success(command, status)
}

/// Runs a command like [`run`] that may ask for a password: it stays in the foreground of the terminal, and a signal that
/// ends the task does not end it.
pub(crate) fn run_in_foreground(command: &mut Command) -> Result<()> {
    let status = command.status();
    ensure_success(command, status)
}

/// Runs a command like [`run`], with standard input closed, and stops it with an error after `limit`.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    let mut child = process_groups::spawn(command.stdin(Stdio::null()))
        .with_context(|| format!("cannot start {}", command_line(command)))?;
    let status =
        wait_within(&mut child, limit).with_context(|| format!("{} failed", command_line(command)))?;
    ensure_success(command, Ok(status))
}

/// Waits for a program, and kills it after `limit`.
///
/// # Errors
/// The program did not end within the limit.
pub(crate) fn wait_within(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill().ok();
            child.wait()?;
            bail!("it did not end within {} s", limit.as_secs());
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// A command that does not exit with 0; the message contains its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let piped = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = process_groups::spawn(piped)
        .and_then(Group::output)
        .with_context(|| format!("cannot start {}", command_line(command)))?;
    if !output.status.success() {
        bail!(
            "{} failed: {}",
            command_line(command),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("output of {} is not UTF-8", command_line(command)))
}

/// Runs a command with inherited standard error and returns its standard output.
///
/// # Errors
/// A command that does not exit with 0.
pub(crate) fn output_of_build(command: &mut Command) -> Result<String> {
    let output = process_groups::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))
        .and_then(Group::output)
        .with_context(|| format!("cannot start {}", command_line(command)))?;
    ensure_success(command, Ok(output.status))?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("output of {} is not UTF-8", command_line(command)))
}

/// Returns the version in the first line of `program --version`, without a leading `v`; none if it cannot run.
pub(crate) fn version_of(program: &Path) -> Option<String> {
    let text = output(command(program).arg("--version")).ok()?;
    let words = text
        .lines()
        .next()?
        .split_whitespace()
        .map(|word| word.strip_prefix('v').unwrap_or(word));
    words
        .into_iter()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
}

/// Finds the first file of this name in PATH.
pub(crate) fn find_in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Returns PATH with `folders` in front.
pub(crate) fn path_with(folders: &[&Path]) -> Result<std::ffi::OsString> {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let all = folders
        .iter()
        .map(|folder| folder.to_path_buf())
        .chain(std::env::split_paths(&rest));
    std::env::join_paths(all).context("cannot add a folder with `:` in its name to PATH")
}

fn ensure_success(command: &Command, status: io::Result<ExitStatus>) -> Result<()> {
    let status = status.with_context(|| format!("cannot start {}", command_line(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", command_line(command));
    }
    Ok(())
}

fn command_line(command: &Command) -> String {
    let mut text = format!("`{}", command.get_program().to_string_lossy());
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text.push('`');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hanging_program_is_stopped_at_its_time_limit() {
        let started = Instant::now();
        let error = run_within(command("sleep").arg("20"), Duration::from_millis(200)).unwrap_err();
        assert!(format!("{error:#}").contains("did not end within"), "{error:#}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn the_error_of_a_failing_program_names_it() {
        let error = run(command("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(error.to_string().contains("`sh -c exit 3` failed"), "{error}");
    }
}
