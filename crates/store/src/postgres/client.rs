//! A connection of the pool, and the time limit of its statements.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::Object;
use tokio::time::timeout;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;
use crate::limits;

/// A connection of the pool, on which each statement has a time limit. It is returned to the pool on drop, unless a
/// response may still arrive on it.
pub(crate) struct Client {
    /// `None` once dropped.
    connection: Option<Object>,
    tls: MakeRustlsConnect,
    is_unusable: AtomicBool,
}

impl Client {
    /// `tls` connects again, to cancel a statement.
    pub(crate) fn new(connection: Object, tls: MakeRustlsConnect) -> Self {
        Self {
            connection: Some(connection),
            tls,
            is_unusable: AtomicBool::new(false),
        }
    }

    /// Returns the connection without a time limit, for statements that may take long.
    pub(crate) fn unlimited(&self) -> &tokio_postgres::Client {
        self.connection
            .as_ref()
            .expect("a client has its connection until it is dropped")
    }

    /// Runs statements without parameters.
    pub(crate) async fn batch_execute(&self, sql: &str) -> Result<(), StoreError> {
        self.within_limit(self.unlimited().batch_execute(sql)).await
    }

    /// Waits for a response for [`limits::STATEMENT_TIME`]. Without one, cancels the statement, and lets no other
    /// statement wait behind it.
    pub(crate) async fn within_limit<T>(
        &self,
        response: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, StoreError> {
        if !self.is_unusable()
            && let Ok(response) = timeout(limits::STATEMENT_TIME, response).await
        {
            return Ok(response?);
        }
        if !self.is_unusable.swap(true, Ordering::Relaxed) {
            let (token, tls) = (self.unlimited().cancel_token(), self.tls.clone());
            tokio::spawn(timeout(limits::CONNECTION_TIMEOUT, async move {
                token.cancel_query(tls).await
            }));
        }
        Err(StoreError::Transient("the database does not respond".to_owned()))
    }

    /// Closes the connection on drop.
    pub(crate) fn close(&self) {
        self.is_unusable.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_unusable() || self.unlimited().is_closed()
    }

    fn is_unusable(&self) -> bool {
        self.is_unusable.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take()
            && self.is_unusable()
        {
            drop(Object::take(connection));
        }
    }
}
