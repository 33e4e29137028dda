//! Programs that tests run with the server: clients, browsers. `cargo xtask test` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::TestServer;

/// Returns the program or folder that an environment variable names.
///
/// # Panics
/// If the variable is not set: a test that cannot run must fail instead of being skipped.
pub fn path(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => path.into(),
        None => panic!(
            "{variable} is not set: run this test with `cargo xtask test`, which installs what it needs"
        ),
    }
}

/// Returns the setting of a server that uses the browser of the tests. `cargo xtask test` finds the programs that use a
/// browser by the name of this function.
pub fn chromium() -> (&'static str, &'static str) {
    const NAME: &str = "HARVESTMAN_CHROMIUM";
    static PROGRAM: LazyLock<String> = LazyLock::new(|| path(NAME).display().to_string());
    (NAME, &PROGRAM)
}

/// Returns the path of a script in `tests/clients`.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// Runs a script, whose output must end with `done`.
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
