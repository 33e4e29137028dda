//! Why a command failed.

use crate::error::BrowserError;

/// Why a command failed. `Display` is the message for the client.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CommandError {
    /// The page does not have or does not allow what the command needs.
    #[error("{0}")]
    Failed(String),
    /// The deadline passed, or the browser did not respond in time.
    #[error("the command did not finish in time")]
    Timeout,
    /// The browser is not available.
    #[error("{0}")]
    Browser(BrowserError),
}

impl CommandError {
    pub(super) fn failed(why: impl Into<String>) -> CommandError {
        CommandError::Failed(why.into())
    }
}

impl From<BrowserError> for CommandError {
    fn from(error: BrowserError) -> Self {
        match error {
            BrowserError::Refused { reason, .. } => CommandError::Failed(reason),
            BrowserError::Timeout => CommandError::Timeout,
            error @ (BrowserError::Start(_) | BrowserError::Gone) => CommandError::Browser(error),
            other => CommandError::Failed(other.to_string()),
        }
    }
}
