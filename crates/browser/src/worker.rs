//! Code for a live browser: what running it brings.

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
