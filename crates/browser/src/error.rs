//! What can go wrong in a browser, with the sentence for the caller.

use harvestman_core::api::action::ActionKind;
use harvestman_core::api::error::{ApiError, ErrorCode};

/// A page that could not be rendered, or a browser that is not there.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// The process could not be started.
    #[error("the browser could not be started: {0}")]
    Start(String),
    /// The operator has not configured what it needs; the text says what to do.
    #[error("{0}")]
    NotConfigured(String),
    /// The process ended while it was needed.
    #[error("the browser ended unexpectedly; try again")]
    Gone,
    /// The page's process ended: out of memory, or a fault of the browser.
    #[error("the page crashed in the browser")]
    Crashed,
    /// The deadline passed.
    #[error("the page was not rendered in the time given; raise `timeout` or try again later")]
    Timeout,
    /// The address could not be opened; `reason` is the browser's word, such as `net::ERR_CONNECTION_RESET`.
    #[error("the page could not be opened: {reason}")]
    Navigation {
        /// The browser's word.
        reason: String,
    },
    /// The address is a file that a browser does not show.
    #[error("the address is a download, not a page")]
    Download,
    /// An action failed.
    #[error("action {index} ({}) failed: {reason}", .kind.as_str())]
    Action {
        /// From 0.
        index: usize,
        /// Its type.
        kind: ActionKind,
        /// Why.
        reason: String,
    },
    /// The browser refused a command.
    #[error("the browser refused {command}: {reason}")]
    Refused {
        /// Name of the command.
        command: String,
        /// The browser's words.
        reason: String,
    },
}

impl BrowserError {
    /// Whether another attempt may help.
    pub fn passing(&self) -> bool {
        matches!(self, Self::Gone | Self::Crashed | Self::Timeout)
    }
}

impl From<BrowserError> for ApiError {
    fn from(error: BrowserError) -> Self {
        let code = match &error {
            BrowserError::Timeout => ErrorCode::ScrapeTimeout,
            BrowserError::Action { .. } => ErrorCode::ActionError,
            BrowserError::NotConfigured(_) => ErrorCode::NotConfigured,
            BrowserError::Download => ErrorCode::UnsupportedFile,
            BrowserError::Navigation { reason } if reason.contains("ERR_CERT") || reason.contains("SSL") => {
                ErrorCode::SslError
            }
            BrowserError::Navigation { reason } if reason.contains("ERR_NAME_NOT_RESOLVED") => {
                ErrorCode::DnsResolution
            }
            BrowserError::Navigation { .. } => ErrorCode::SiteError,
            _ => ErrorCode::AllEnginesFailed,
        };
        let mut api = ApiError::new(code, error.to_string());
        if let BrowserError::Action { index, kind, .. } = error {
            api.details = Some(serde_json::json!({"index": index, "type": kind.as_str()}));
        }
        api
    }
}
