//! Errors of the browser, with messages for the client.

use harvestman_core::api::action::ActionKind;
use harvestman_core::api::error::{ApiError, ErrorCode};

/// Why a page could not be rendered, or why there is no browser.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// The process did not start.
    #[error("cannot start the browser: {0}")]
    Start(String),
    /// The operator has not configured what the request needs; the text says what to do.
    #[error("{0}")]
    NotConfigured(String),
    /// The process ended unexpectedly.
    #[error("the browser ended unexpectedly; try again")]
    Gone,
    /// The page's renderer crashed: out of memory, or a browser bug.
    #[error("the page crashed in the browser")]
    Crashed,
    /// The deadline passed.
    #[error("the page was not rendered in time; raise `timeout` or try again later")]
    Timeout,
    /// The URL could not be opened; `reason` is the browser's error, such as `net::ERR_CONNECTION_RESET`.
    #[error("cannot open the page: {reason}")]
    Navigation {
        /// Error text of the browser.
        reason: String,
    },
    /// A redirect to a URL that cannot be followed.
    #[error(
        "the page redirects to a URL that cannot be followed: only http and https with a host are followed"
    )]
    BadRedirect,
    /// The URL is a file that the browser downloads instead of displaying it.
    #[error("the URL is a file download, not a page")]
    Download,
    /// An action failed.
    #[error("action {index} ({}) failed: {reason}", .kind.as_str())]
    Action {
        /// Index from 0.
        index: usize,
        /// Type of the action.
        kind: ActionKind,
        /// Why it failed.
        reason: String,
    },
    /// The page goes from one document to the next without end.
    #[error("the page keeps navigating or reloading, so its content cannot be read")]
    KeepsNavigating,
    /// The browser rejected a command, or a script threw an exception.
    #[error("the browser rejected {command}: {reason}")]
    Refused {
        /// Name of the command.
        command: String,
        /// Error text of the browser.
        reason: String,
    },
}

impl BrowserError {
    /// Returns whether another attempt may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Gone | Self::Crashed | Self::Timeout)
    }

    /// Returns whether a command failed because the document that it was about has been replaced.
    pub(crate) fn is_document_gone(&self) -> bool {
        const REASONS: [&str; 4] = [
            "Cannot find context with specified id",
            "Execution context was destroyed",
            "Inspected target navigated or closed",
            "No frame for given id found",
        ];
        match self {
            Self::Refused { reason, .. } => REASONS.iter().any(|known| reason.contains(known)),
            _ => false,
        }
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
            BrowserError::Navigation { .. } | BrowserError::BadRedirect => ErrorCode::SiteError,
            _ => ErrorCode::AllEnginesFailed,
        };
        let mut api = ApiError::new(code, error.to_string());
        if let BrowserError::Action { index, kind, .. } = error {
            api.details = Some(serde_json::json!({"index": index, "type": kind.as_str()}));
        }
        api
    }
}
