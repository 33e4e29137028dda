//! Why a command was not carried out.

use crate::error::BrowserError;

/// A command that was not carried out. `Display` is the sentence for the caller.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CommandError {
    /// The page does not have or allow what was asked for.
    #[error("{0}")]
    Failed(String),
    /// The deadline passed, or the browser did not answer for long.
    #[error("it was not done in the time given")]
    Timeout,
    /// The browser is not there.
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
