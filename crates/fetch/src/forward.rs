//! Requests to another server of the operator, passed on as they are: over HTTP/1.1, without redirects, cookies or
//! limits on bodies. The response may switch protocols.

use std::error::Error;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use url::Url;

use crate::body::http_error;
use crate::client::Fetcher;
use crate::error::FetchError;
use crate::limits;

impl Fetcher {
    /// Sends a request to the host of `url` on a connection of its own, and returns the response when its head has
    /// arrived. The request's URI has path and query only. Dropping the future or the body closes the connection.
    ///
    /// # Errors
    /// The host cannot be reached within [`limits::FORWARD_CONNECT_TIMEOUT`], or closes the connection.
    pub async fn forward<B>(&self, url: &Url, request: Request<B>) -> Result<Response<Incoming>, FetchError>
    where
        B: Body + Send + Unpin + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let host = url.host_str().unwrap_or_default();
        let stream = timeout(limits::FORWARD_CONNECT_TIMEOUT, self.open_secure(url)).await;
        let stream = stream.map_err(|_| FetchError::Connect {
            host: host.to_owned(),
            reason: "the server did not respond".to_owned(),
        })??;
        let error = |error: hyper::Error| http_error(&error, host);
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(error)?;
        tokio::spawn(connection.with_upgrades());
        sender.send_request(request).await.map_err(error)
    }
}
