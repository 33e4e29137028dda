//! Checks of the programs that this crate runs, for an operator who wants to know what works on a machine.

use std::path::{Path, PathBuf};

use crate::program::first_line_of;
use crate::sandbox::Bubblewrap;
use crate::worker::Runtime;

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
pub async fn check_node_packages(program: &Path, folders: &[PathBuf]) -> Result<PathBuf, String> {
    let runtime = Runtime::node(Some(program), folders).await;
    let runtime = runtime.map_err(|error| error.to_string())?;
    let package = runtime.visible.into_iter().next_back();
    Ok(package.map(|(folder, _)| folder).unwrap_or_default())
}

/// Checks that Python can drive a browser.
///
/// # Errors
/// What is missing, and how to install it.
pub async fn check_python_packages(program: &Path) -> Result<(), String> {
    let runtime = Runtime::python(Some(program)).await;
    runtime.map_err(|error| error.to_string())?;
    // Its driver is a program that needs libraries of its own.
    let version = first_line_of(program, &["-m", "playwright", "--version"]).await;
    version
        .map(drop)
        .map_err(|reason| format!("the driver of playwright does not start: {reason}"))
}
