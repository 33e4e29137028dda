//! Code for a live browser: what running it brings.

use std::path::PathBuf;

/// The Node.js of this machine; none when there is none.
pub fn find_node() -> Option<PathBuf> {
    in_path("node")
}

/// The Python of this machine; none when there is none.
pub fn find_python() -> Option<PathBuf> {
    in_path("python3")
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// What running code brought.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// Captured; cut at [`crate::limits::MAX_OUTPUT_BYTES`].
    pub stdout: String,
    /// Captured; cut at [`crate::limits::MAX_OUTPUT_BYTES`].
    pub stderr: String,
    /// Value of the last expression: a string as it is, anything else as JSON; none for `undefined`.
    pub result: Option<String>,
    /// 0: done; 1: an exception; 124: out of time; else what the code exited with.
    pub exit_code: i32,
    /// Stopped because the time was over.
    pub killed: bool,
    /// What went wrong; none when the exit code is 0.
    pub error: Option<String>,
}
