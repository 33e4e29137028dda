//! TLS and HTTP/2.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::join_all;
use harvestman_fetch::{FetchError, FetchRequest, Fetcher, limits};
use http::{Request, Response, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use url::Url;

use crate::server::{ScriptedResolver, Server, ServerAction, config, deadline_in, fetcher, get, ok};

struct Secure {
    address: SocketAddr,
    certificate: Vec<u8>,
    connections: Arc<AtomicUsize>,
}

/// Returns a TLS acceptor with a self-signed certificate for `name`, and the certificate.
pub(crate) fn acceptor(name: &str, protocols: &[&[u8]]) -> (TlsAcceptor, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let certificate = made.cert.der().to_vec();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut settings =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(certificate.clone())], key)
            .unwrap();
    settings.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    (TlsAcceptor::from(Arc::new(settings)), certificate)
}

/// Starts a server with a self-signed certificate for `name` that responds with the HTTP version of the request.
async fn secure(name: &str, protocols: &[&[u8]]) -> Secure {
    let (acceptor, certificate) = acceptor(name, protocols);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let io = TokioIo::new(stream);
                let _ = match h2 {
                    true => {
                        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                            .serve_connection(io, service_fn(respond))
                            .await
                    }
                    false => {
                        hyper::server::conn::http1::Builder::new()
                            .serve_connection(io, service_fn(respond))
                            .await
                    }
                };
            });
        }
    });
    Secure {
        address,
        certificate,
        connections,
    }
}

async fn respond(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
    let mut response = Response::new(Full::new(Bytes::from(match request.version() {
        Version::HTTP_2 => "h2",
        _ => "h1",
    })));
    match request.uri().path() {
        "/many" => {
            for n in 0..=limits::MAX_RESPONSE_HEADERS {
                let name = http::HeaderName::try_from(format!("x-{n}")).unwrap();
                response.headers_mut().insert(name, "v".parse().unwrap());
            }
        }
        "/huge" => {
            response
                .headers_mut()
                .insert("x", "v".repeat(300 * 1024).parse().unwrap());
        }
        "/big" => *response.body_mut() = Full::new(Bytes::from(vec![b'x'; 3_000_000])),
        "/moved" => {
            *response.status_mut() = http::StatusCode::FOUND;
            response.headers_mut().insert("location", "/".parse().unwrap());
        }
        _ => {}
    }
    Ok(response)
}

const BOTH: &[&[u8]] = &[b"h2", b"http/1.1"];

impl Secure {
    fn get(&self, path: &str, verify: bool) -> FetchRequest {
        let mut request = get(Url::parse(&format!("https://{}{path}", self.address)).unwrap());
        request.verify_tls = verify;
        request
    }
}

#[tokio::test]
async fn an_unknown_certificate_is_an_error_if_verified() {
    let server = secure("127.0.0.1", BOTH).await;
    let fetcher = fetcher();
    assert_eq!(fetcher.fetch(server.get("/", false)).await.unwrap().body, "h2");
    // An unverified connection must not serve a request that verifies certificates.
    let error = fetcher.fetch(server.get("/", true)).await.unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
    assert_eq!(error.code().as_str(), "SCRAPE_SSL_ERROR");
}

#[tokio::test]
async fn a_trusted_certificate_is_valid_for_its_own_name_only() {
    let server = secure("a.example", BOTH).await;
    let mut settings = config("127.0.0.1");
    settings.extra_roots = vec![server.certificate.clone()];
    let names = ScriptedResolver::new(&[("a.example", &[&["127.0.0.1"]]), ("b.example", &[&["127.0.0.1"]])]);
    let fetcher = Fetcher::with_parts(settings, names, Arc::new(harvestman_fetch::TcpDialer)).unwrap();
    let fetch = async |name: &str| {
        fetcher
            .fetch(get(Url::parse(&format!(
                "https://{name}:{}/",
                server.address.port()
            ))
            .unwrap()))
            .await
    };
    assert_eq!(fetch("a.example").await.unwrap().body, "h2");
    assert!(matches!(fetch("b.example").await, Err(FetchError::Tls { .. })));
}

#[tokio::test]
async fn http1_over_tls_works() {
    for protocols in [&[&b"http/1.1"[..]][..], &[]] {
        let server = secure("127.0.0.1", protocols).await;
        assert_eq!(fetcher().fetch(server.get("/", false)).await.unwrap().body, "h1");
    }
}

#[tokio::test]
async fn requests_share_one_http2_connection() {
    let server = secure("127.0.0.1", BOTH).await;
    let fetcher = fetcher();
    fetcher.fetch(server.get("/", false)).await.unwrap();
    let all = join_all((0..10).map(|_| fetcher.fetch(server.get("/big", false)))).await;
    assert!(
        all.into_iter()
            .all(|response| response.unwrap().body.len() == 3_000_000)
    );
    assert_eq!(
        fetcher
            .fetch(server.get("/moved", false))
            .await
            .unwrap()
            .redirects
            .len(),
        1
    );
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn bodies_that_wait_for_the_budget_do_not_block_others() {
    let server = secure("127.0.0.1", BOTH).await;
    let mut settings = config("127.0.0.1");
    settings.body_budget_bytes = 12_000_000;
    let fetcher = Fetcher::new(settings).unwrap();
    fetcher.fetch(server.get("/", false)).await.unwrap();
    let fetches = (0..60).map(|_| {
        let (fetcher, request) = (fetcher.clone(), server.get("/big", false));
        tokio::spawn(async move { fetcher.fetch(request).await.map(|response| response.body.len()) })
    });
    for fetch in fetches.collect::<Vec<_>>() {
        assert_eq!(fetch.await.unwrap(), Ok(3_000_000));
    }
}

#[tokio::test]
async fn limits_apply_to_http2() {
    let server = secure("127.0.0.1", BOTH).await;
    let fetcher = fetcher();
    for path in ["/many", "/huge"] {
        let error = fetcher.fetch(server.get(path, false)).await.unwrap_err();
        assert_eq!(error.code().as_str(), "SCRAPE_SITE_ERROR", "{path}: {error:?}");
    }
    let mut request = server.get("/big", false);
    request.max_body_bytes = 1000;
    assert_eq!(
        fetcher.fetch(request).await.unwrap_err(),
        FetchError::TooLarge { limit_bytes: 1000 }
    );
    assert_eq!(fetcher.fetch(server.get("/", false)).await.unwrap().body, "h2");
}

#[tokio::test]
async fn missing_tls_and_endless_handshakes_are_errors() {
    let plain = Server::with(|| ServerAction::Keep(ok("plain"))).await;
    let mut request = get(Url::parse(&format!("https://{}/", plain.address)).unwrap());
    request.deadline = deadline_in(300);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = listener.local_addr().unwrap();
    request.url = Url::parse(&format!("https://{silent}/")).unwrap();
    assert_eq!(fetcher().fetch(request).await.unwrap_err(), FetchError::Timeout);
    let talkative = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = talkative.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = talkative.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 1024]).await;
    });
    let error = fetcher()
        .fetch(get(Url::parse(&format!("https://{address}/")).unwrap()))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
}
