//! Servers in front of a plain site: one with TLS and a self-signed certificate, and one that is silent over TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

/// Serves until it is dropped.
pub struct TlsFront {
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl TlsFront {
    /// Serves what the site at this address serves.
    pub async fn of(site: SocketAddr) -> TlsFront {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let settings = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(settings));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // Clients that refuse the certificate hang up.
                    if let Ok(mut secured) = acceptor.accept(stream).await
                        && let Ok(mut plain) = TcpStream::connect(site).await
                    {
                        let _ = copy_bidirectional(&mut secured, &mut plain).await;
                    }
                });
            }
        });
        TlsFront {
            address,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }
}

/// First byte of a TLS handshake.
const HANDSHAKE: u8 = 22;

/// Starts a server that passes HTTP on to a site and never answers a TLS handshake. Returns its address.
pub async fn serve_without_tls(site: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut first = [0];
                if client.peek(&mut first).await.is_ok() && first[0] == HANDSHAKE {
                    std::future::pending::<()>().await;
                }
                if let Ok(mut plain) = TcpStream::connect(site).await {
                    let _ = copy_bidirectional(&mut client, &mut plain).await;
                }
            });
        }
    });
    address
}
