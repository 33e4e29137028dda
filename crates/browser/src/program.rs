//! Programs of this machine: where they are, and their versions.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use crate::limits;

/// Returns the path of a program in the folders of `PATH`.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Returns the first line that a program prints about its version.
///
/// # Errors
/// Why the program does not start.
pub async fn program_version(program: &Path) -> Result<String, String> {
    first_line_of(program, &["--version"]).await
}

/// Returns the first line that a program prints with these arguments.
pub(crate) async fn first_line_of(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let command_line = format!("{} {}", program.display(), arguments.join(" "));
    let output = match timeout(limits::DETECT_TIMEOUT, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("cannot start {}: {error}", program.display())),
        Err(_) => return Err(format!("{command_line} does not finish")),
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
            "{command_line} fails ({}): {}",
            output.status,
            first_line(&output.stderr)
        )),
    }
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
