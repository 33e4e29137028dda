//! A plain HTTP server in this process, for the sites, receivers and models of tests.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// Serves every request on a listener until the returned handle is dropped.
pub(crate) fn serve<A>(
    listener: TcpListener,
    respond: impl Fn(Request<Incoming>) -> A + Clone + Send + 'static,
) -> AbortOnDropHandle<()>
where
    A: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            let respond = respond.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let response = respond(request);
                    async { Ok::<_, Infallible>(response.await) }
                });
                // Errors are expected: some tests abort connections or kill the client.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }))
}
