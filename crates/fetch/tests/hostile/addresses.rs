//! The address rule end to end: nothing is dialed that was not checked.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use harvestman_fetch::{FetchError, Fetcher};
use url::Url;

use crate::server::{RecordingDialer, ScriptedResolver, Server, ServerAction, config, fetcher_with, get, ok};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[tokio::test]
async fn disguised_private_addresses_are_rejected_without_a_dial() {
    let dialer = RecordingDialer::new(None);
    let names = ScriptedResolver::new(&[
        ("intra.example", &[&["10.1.2.3"]]),
        ("mixed.example", &[&["93.184.215.14", "10.1.2.3"]]),
        ("six.example", &[&["fd12::1"]]),
        ("mapped.example", &[&["::ffff:10.1.2.3"]]),
    ]);
    let fetcher = Fetcher::with_parts(config(""), names, dialer.clone()).unwrap();
    for text in [
        "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/",
        "http://0177.0.0.1/", "http://１２７.0.0.1/", "http://127.0.0.1./", "http://[::1]/",
        "http://[::ffff:127.0.0.1]/", "http://[::]/", "http://0.0.0.0/", "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:1::]/", "http://169.254.169.254/", "http://intra.example/",
        "http://mixed.example/", "http://six.example/", "http://mapped.example:8080/x",
    ] {
        let error = fetcher.fetch(get(url(text))).await.unwrap_err();
        assert!(matches!(error, FetchError::Unsafe { .. }), "{text}: {error:?}");
        let shown = error.to_string();
        assert!(!shown.contains("10.1.2.3") && !shown.contains("fd12"), "{shown}");
        assert_eq!(
            fetcher.check_target(&url(text), None).await.unwrap_err(),
            error,
            "{text}"
        );
    }
    assert_eq!(dialer.dialed(), []);
}

#[tokio::test]
async fn a_rebinding_name_is_dialed_at_the_checked_address() {
    let server = Server::with(|| ServerAction::Keep(ok("public"))).await;
    let dialer = RecordingDialer::new(Some(server.address));
    let names = ScriptedResolver::new(&[("rebind.example", &[&["93.184.215.14"], &["127.0.0.1"]])]);
    let fetcher = Fetcher::with_parts(config(""), names.clone(), dialer.clone()).unwrap();
    let page = url("http://rebind.example/");
    assert_eq!(fetcher.fetch(get(page.clone())).await.unwrap().body, "public");
    assert_eq!(
        names.lookups.load(Ordering::SeqCst),
        1,
        "one resolution for check and connection"
    );
    assert_eq!(
        dialer.dialed(),
        ["93.184.215.14:80".parse::<SocketAddr>().unwrap()]
    );
    // The connection to the public address is still open, but the name now resolves to another one.
    let error = fetcher.fetch(get(page)).await.unwrap_err();
    assert!(matches!(error, FetchError::Unsafe { .. }), "{error:?}");
    assert_eq!(dialer.dialed().len(), 1);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn every_redirect_is_resolved_and_checked() {
    let server = Server::start(|_| {
        ServerAction::Keep(crate::server::response(
            302,
            "Location: http://intra.example/\r\n",
            "",
        ))
    })
    .await;
    let dialer = RecordingDialer::new(Some(server.address));
    let names = ScriptedResolver::new(&[
        ("public.example", &[&["93.184.215.14"]]),
        ("intra.example", &[&["192.168.1.1"]]),
    ]);
    let fetcher = Fetcher::with_parts(config(""), names, dialer.clone()).unwrap();
    let error = fetcher
        .fetch(get(url("http://public.example/")))
        .await
        .unwrap_err();
    assert_eq!(
        error,
        FetchError::Unsafe {
            host: "intra.example".into()
        }
    );
    assert_eq!(dialer.dialed().len(), 1);
}

#[tokio::test]
async fn the_next_address_is_tried_if_one_refuses() {
    let server = Server::with(|| ServerAction::Keep(ok("here"))).await;
    let port = server.address.port();
    let names = ScriptedResolver::new(&[("two.example", &[&["127.0.0.2", "127.0.0.1"]])]);
    let fetcher = Fetcher::with_parts(
        config("two.example"),
        names,
        std::sync::Arc::new(harvestman_fetch::TcpDialer),
    )
    .unwrap();
    let response = fetcher
        .fetch(get(url(&format!("http://two.example:{port}/"))))
        .await
        .unwrap();
    assert_eq!(response.body, "here");
}

#[tokio::test]
async fn an_exception_with_a_port_covers_only_that_port() {
    let server = Server::with(|| ServerAction::Keep(ok("here"))).await;
    let other = Server::with(|| ServerAction::Keep(ok("not here"))).await;
    let fetcher = fetcher_with(&server.address.to_string());
    assert!(fetcher.fetch(get(server.url("/"))).await.is_ok());
    assert!(matches!(
        fetcher.fetch(get(other.url("/"))).await,
        Err(FetchError::Unsafe { .. })
    ));
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn the_server_does_not_fetch_from_itself() {
    let own = Server::with(|| ServerAction::Keep(ok("me"))).await;
    for (allow, allowed) in [
        ("*", false),
        ("127.0.0.1", true),
        (&*format!("127.0.0.1:{}", own.address.port()), true),
    ] {
        let mut config = config(allow);
        config.listen = Some(own.address);
        let fetched = Fetcher::new(config).unwrap().fetch(get(own.url("/"))).await;
        assert_eq!(fetched.is_ok(), allowed, "{allow}");
    }
    assert_eq!(own.connections(), 2);
}

#[tokio::test]
async fn urls_that_are_not_web_addresses_are_rejected() {
    let fetcher = fetcher_with("*");
    for text in [
        "file:///etc/passwd", "ftp://127.0.0.1/", "http://user:pass@127.0.0.1/", "http://127.0.0.1:0/",
        "data:,x",
    ] {
        let error = fetcher.fetch(get(url(text))).await.unwrap_err();
        assert!(
            matches!(error, FetchError::InvalidRequest(_)),
            "{text}: {error:?}"
        );
    }
}

#[tokio::test]
async fn localhost_follows_the_allow_list() {
    let server = Server::with(|| ServerAction::Keep(ok("here"))).await;
    let page = url(&format!("http://localhost:{}/", server.address.port()));
    assert_eq!(
        fetcher_with("localhost")
            .fetch(get(page.clone()))
            .await
            .unwrap()
            .body,
        "here"
    );
    assert_eq!(
        fetcher_with("127.0.0.1")
            .fetch(get(page.clone()))
            .await
            .unwrap()
            .body,
        "here"
    );
    assert!(matches!(
        fetcher_with("").fetch(get(page)).await,
        Err(FetchError::Unsafe { .. })
    ));
}
