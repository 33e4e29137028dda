//! Programs that tests run beside the server: clients, browsers. `cargo xtask test` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::TestServer;

/// The program or folder that a variable names.
///
/// # Panics
/// Without the variable: a test that cannot run fails rather than passing unseen.
pub fn path(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => path.into(),
        None => panic!(
            "{variable} is not set: run this test with `cargo xtask test`, which installs what it needs"
        ),
    }
}

/// A script of `tests/clients`.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// Runs a script to its end; its last line has to be `done`.
///
/// # Panics
/// When it fails, with all that it and the server said.
pub async fn run(mut command: Command, done: &str, server: &TestServer) {
    let output = tokio::task::spawn_blocking(move || command.output())
        .await
        .unwrap()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && stdout.trim().ends_with(done),
        "{stdout}\n{stderr}\n{}",
        server.log()
    );
}
