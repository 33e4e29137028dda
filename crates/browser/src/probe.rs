//! Checks of the programs that this crate runs, for an operator who wants to know what works on a machine.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use crate::limits;
use crate::sandbox::Bubblewrap;
use crate::worker::Runtime;

/// Returns the first line that a program prints about its version.
///
/// # Errors
/// Why the program does not start.
pub async fn program_version(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let output = match timeout(limits::DETECT_TIMEOUT, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("cannot start {}: {error}", program.display())),
        Err(_) => return Err(format!("{} --version does not finish", program.display())),
    };
    let first_line = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned()
    };
    match output.status.success() {
        true => Ok(first_line(&output.stdout)),
        false => Err(format!(
            "{} --version fails ({}): {}",
            program.display(),
            output.status,
            first_line(&output.stderr)
        )),
    }
}

/// Starts a process in a sandbox, and returns the path of bubblewrap.
///
/// # Errors
/// Why there is no sandbox on this machine.
pub async fn check_sandbox() -> Result<PathBuf, String> {
    Bubblewrap::detect()
        .await
        .map(|bubblewrap| bubblewrap.program().to_owned())
}

/// Checks that Node.js can drive a browser, with playwright-core from one of `folders` or where Node.js looks for
/// packages. Returns the folder of playwright-core.
///
/// # Errors
/// What is missing, and how to install it.
pub fn check_node_packages(program: &Path, folders: &[PathBuf]) -> Result<PathBuf, String> {
    let runtime = Runtime::node(Some(program), folders).map_err(|error| error.to_string())?;
    let package = runtime.visible.into_iter().next_back();
    Ok(package.map(|(folder, _)| folder).unwrap_or_default())
}

/// Checks that Python can drive a browser.
///
/// # Errors
/// What is missing, and how to install it.
pub async fn check_python_packages(program: &Path) -> Result<(), String> {
    let runtime = Runtime::python(Some(program)).await;
    runtime.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_without_a_version_is_an_error() {
        assert!(
            program_version(Path::new("/missing/program"))
                .await
                .unwrap_err()
                .contains("/missing/program")
        );
        assert!(
            program_version(Path::new("/bin/false"))
                .await
                .unwrap_err()
                .contains("fails")
        );
    }
}
