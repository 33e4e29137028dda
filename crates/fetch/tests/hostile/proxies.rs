//! Tunnels through an HTTPS proxy: its certificate, what it is asked for, and the connections that are reused.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use harvestman_fetch::{FetchConfig, FetchError, FetchRequest, Fetcher, Proxy, TcpDialer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::secure::acceptor;
use crate::server::{ScriptedResolver, Server, ServerAction, config, get, ok};

struct HttpsProxy {
    url: String,
    certificate: Vec<u8>,
    /// Heads of the requests that it received.
    heads: Arc<Mutex<Vec<String>>>,
}

/// Starts an HTTPS proxy named `proxy.test`, which connects every tunnel to `target`.
async fn https_proxy(target: SocketAddr) -> HttpsProxy {
    let (acceptor, certificate) = acceptor("proxy.test", &[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "https://user:p%20w@proxy.test:{}",
        listener.local_addr().unwrap().port()
    );
    let heads = Arc::new(Mutex::new(Vec::new()));
    let received = heads.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (acceptor, received) = (acceptor.clone(), received.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                received.lock().unwrap().push(String::from_utf8(head).unwrap());
                stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
                let mut target = TcpStream::connect(target).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut target).await;
            });
        }
    });
    HttpsProxy {
        url,
        certificate,
        heads,
    }
}

fn through(url: &str, proxy: &Proxy) -> FetchRequest {
    FetchRequest {
        proxy: Some(Arc::new(proxy.clone())),
        ..get(Url::parse(url).unwrap())
    }
}

#[tokio::test]
async fn tunnels_through_an_https_proxy_are_reused() {
    let site = Server::with(|| ServerAction::Keep(ok("site"))).await;
    let proxy = https_proxy(site.address).await;
    let resolver = || {
        ScriptedResolver::new(&[
            ("proxy.test", &[&["127.0.0.1"]]),
            ("site.test", &[&["::1", "93.184.215.14"]]),
            ("inner.test", &[&["10.0.0.1"]]),
        ])
    };
    let trusting = FetchConfig {
        extra_roots: vec![proxy.certificate.clone()],
        ..config("site.test")
    };
    let fetcher = Fetcher::with_parts(trusting, resolver(), Arc::new(TcpDialer)).unwrap();
    let local = Proxy::parse(&proxy.url, false).unwrap();
    for _ in 0..3 {
        let response = fetcher.fetch(through("http://site.test/", &local)).await.unwrap();
        assert_eq!(response.body, "site");
    }
    let heads = proxy.heads.lock().unwrap().clone();
    assert_eq!(heads.len(), 1, "one tunnel: {heads:?}");
    assert!(
        heads[0].starts_with("CONNECT 93.184.215.14:80 HTTP/1.1\r\n"),
        "IPv4 first: {heads:?}"
    );
    let lower = heads[0].to_ascii_lowercase();
    assert!(
        lower.contains("proxy-authorization: basic dxnlcjpwihc="),
        "{heads:?}"
    );
    assert_eq!(site.requests().len(), 3);
    assert_eq!(site.requests()[0].header("proxy-authorization"), None);
    assert_eq!(site.requests()[0].header("host"), Some("site.test"));

    // A private target is rejected before the proxy is contacted.
    let private = fetcher
        .fetch(through("http://inner.test/", &local))
        .await
        .unwrap_err();
    assert!(matches!(private, FetchError::Unsafe { .. }), "{private}");
    // A proxy that resolves names gets the name, and its tunnels are not mixed up with others.
    let remote = Proxy::parse(&proxy.url, true).unwrap();
    for _ in 0..2 {
        fetcher
            .fetch(through("http://unknown.test/", &remote))
            .await
            .unwrap();
    }
    let heads = proxy.heads.lock().unwrap().clone();
    assert_eq!(heads.len(), 2, "{heads:?}");
    assert!(heads[1].starts_with("CONNECT unknown.test:80 "), "{heads:?}");
    for name in ["http://localhost/", "http://a.localhost/", "http://10.0.0.1/"] {
        let own = fetcher.fetch(through(name, &remote)).await.unwrap_err();
        assert!(matches!(own, FetchError::Unsafe { .. }), "{name}: {own}");
    }

    let distrusting = Fetcher::with_parts(config(""), resolver(), Arc::new(TcpDialer)).unwrap();
    let failed = distrusting
        .fetch(through("http://site.test/", &remote))
        .await
        .unwrap_err();
    assert!(
        matches!(failed, FetchError::Proxy { at_fault: true, .. }),
        "{failed}"
    );
}
