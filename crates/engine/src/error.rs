//! Errors that several parts of the engine return, and the reasons why a page cannot be scraped.

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_fetch::FetchError;
use harvestman_store::StoreError;

use crate::limits;
use crate::proxies::{Fault, Faulty};

/// Why a page could not be scraped.
#[derive(Debug)]
pub(crate) struct ScrapeFailure {
    pub(crate) error: ApiError,
    /// Another attempt may succeed.
    pub(crate) transient: bool,
    /// The connection failed, so another scheme may work.
    pub(crate) unreachable: bool,
    /// Whether the operator's proxy may have caused it.
    pub(crate) fault: Fault,
}

impl ScrapeFailure {
    /// Returns a failure that another attempt would repeat.
    pub(crate) fn permanent(error: ApiError) -> Self {
        Self {
            error,
            transient: false,
            unreachable: false,
            fault: Fault::No,
        }
    }

    /// Returns a failure that another attempt may avoid.
    pub(crate) fn transient(error: ApiError) -> Self {
        Self {
            error,
            transient: true,
            unreachable: false,
            fault: Fault::No,
        }
    }

    /// Returns the failure of a page that was not scraped in time.
    pub(crate) fn timeout() -> Self {
        let error = ApiError::new(
            ErrorCode::ScrapeTimeout,
            "the scrape did not finish within `timeout`; allow more time or try again later",
        );
        Self::transient(error)
    }
}

impl Faulty for ScrapeFailure {
    fn fault(&self) -> Fault {
        self.fault
    }
}

impl From<FetchError> for ScrapeFailure {
    fn from(error: FetchError) -> Self {
        Self {
            fault: error.fault(),
            unreachable: error.is_before_response(),
            transient: error.is_transient(),
            error: ApiError::new(error.code(), error.to_string()),
        }
    }
}

impl From<StoreError> for ScrapeFailure {
    fn from(error: StoreError) -> Self {
        Self {
            transient: error.is_transient(),
            error: error.into(),
            unreachable: false,
            fault: Fault::No,
        }
    }
}

pub(crate) fn key_reused() -> ApiError {
    ApiError::new(
        ErrorCode::IdempotencyKeyReused,
        "this x-idempotency-key was used with a different body; use a new key for a new request",
    )
}

pub(crate) fn job_not_found() -> ApiError {
    ApiError::not_found("no such job; it may have expired")
}

pub(crate) fn internal_error(error: impl std::error::Error) -> ApiError {
    tracing::error!(%error, "internal error");
    ApiError::internal("internal server error; see the server log")
}

/// Returns whether an error of an operation on the store means that the store is unavailable.
pub(crate) fn is_outage(error: &ApiError) -> bool {
    error.code == ErrorCode::Unavailable
}

/// Returns the error for a request that the shutdown interrupts.
pub(crate) fn stopping() -> ApiError {
    let mut error = ApiError::new(
        ErrorCode::Unavailable,
        "the server is shutting down and dropped this request; send it again in a moment",
    );
    error.retry_after_s = Some(limits::STOP_RETRY_AFTER_S);
    error
}
