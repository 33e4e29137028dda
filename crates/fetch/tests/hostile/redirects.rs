//! Redirects over the wire: chains, loops, other origins, cookies.

use harvestman_fetch::{CookieJar, FetchError};

use crate::server::{Server, ServerAction, deadline_in, fetcher, fetcher_with, get, ok, response};

fn to(location: &str) -> ServerAction {
    ServerAction::Keep(response(302, &format!("Location: {location}\r\n"), "moved"))
}

#[tokio::test]
async fn a_chain_is_followed_over_one_connection() {
    let server = Server::start(|seen| match seen.path() {
        "/1" => to("/2"),
        "/2" => to("3?x"),
        _ => ServerAction::Keep(ok("end")),
    })
    .await;
    let response = fetcher().fetch(get(server.url("/1#part"))).await.unwrap();
    assert_eq!(response.url, server.url("/3?x#part"));
    assert_eq!(response.redirects, [server.url("/1#part"), server.url("/2#part")]);
    assert_eq!(response.body, "end");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn loops_and_endless_chains_end() {
    let server = Server::start(|seen| match seen.path() {
        "/a" => to("/b"),
        "/b" => to("/a"),
        path => to(&format!("{path}x")),
    })
    .await;
    let error = fetcher().fetch(get(server.url("/a"))).await.unwrap_err();
    assert!(matches!(error, FetchError::RedirectLoop { .. }), "{error:?}");
    let before = server.requests().len();
    let error = fetcher().fetch(get(server.url("/long"))).await.unwrap_err();
    assert_eq!(error, FetchError::TooManyRedirects { limit: 20 });
    assert_eq!(server.requests().len() - before, 21);
}

#[tokio::test]
async fn another_origin_gets_neither_authorization_nor_cookies() {
    let other = Server::start(|seen| match seen.path() {
        "/" => ServerAction::Keep(ok("end")),
        _ => panic!("unexpected request"),
    })
    .await;
    let target = other.url("/").to_string();
    let server = Server::start(move |seen| match seen.path() {
        "/same" => to("/go"),
        _ => ServerAction::Keep(response(
            302,
            &format!("Set-Cookie: s=1\r\nLocation: {target}\r\n"),
            "",
        )),
    })
    .await;
    let mut request = get(server.url("/same"));
    request.headers = ["Authorization", "Cookie", "Proxy-Authorization", "X-Mine"]
        .map(|name| (name.to_owned(), "k=v".to_owned()))
        .to_vec();
    fetcher().fetch(request).await.unwrap();
    assert!(
        server
            .requests()
            .iter()
            .all(|seen| seen.header("authorization") == Some("k=v"))
    );
    assert!(
        server
            .requests()
            .iter()
            .all(|seen| seen.header("cookie") == Some("k=v"))
    );
    let seen = &other.requests()[0];
    for name in ["authorization", "proxy-authorization"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
    // Cookies are per host, not per port (RFC 6265): the server's own cookie may follow, the caller's may not.
    assert_eq!(seen.header("cookie"), Some("s=1"));
    assert_eq!(seen.header("x-mine"), Some("k=v"));
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_rejected_before_connecting() {
    let canary = Server::with(|| ServerAction::Keep(ok("secret"))).await;
    for location in [
        canary.url("/").to_string(),
        "http://10.0.0.1/".into(),
        "http://[::1]/".into(),
        "http://0x7f.1/".into(),
        "//169.254.169.254/latest".into(),
    ] {
        let server = Server::start(move |_| to(&location)).await;
        let fetcher = fetcher_with(&server.address.to_string());
        let error = fetcher.fetch(get(server.url("/"))).await.unwrap_err();
        assert!(matches!(error, FetchError::Unsafe { .. }), "{error:?}");
        assert_eq!(error.code().as_str(), "UNSAFE_TARGET");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn only_http_is_followed() {
    for location in [
        "file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "ftp://127.0.0.1/",
    ] {
        let server = Server::start(move |_| to(location)).await;
        let error = fetcher().fetch(get(server.url("/"))).await.unwrap_err();
        assert!(matches!(error, FetchError::BadRedirect { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn with_redirects_off_the_redirect_itself_is_returned() {
    let server = Server::start(|_| to("/next")).await;
    let mut request = get(server.url("/"));
    request.max_redirects = 0;
    let response = fetcher().fetch(request).await.unwrap();
    assert_eq!((response.status, server.requests().len()), (302, 1));
}

#[tokio::test]
async fn a_cookie_wall_is_passed_and_jars_are_not_shared() {
    let server = Server::start(|seen| match seen.header("cookie") {
        Some(cookie) if cookie.contains("pass=1") => ServerAction::Keep(ok("inside")),
        _ => ServerAction::Keep(response(302, "Set-Cookie: pass=1; Path=/\r\nLocation: /\r\n", "")),
    })
    .await;
    let fetcher = fetcher();
    let jar = CookieJar::new();
    let mut request = get(server.url("/"));
    request.cookies = Some(jar.clone());
    assert_eq!(fetcher.fetch(request.clone()).await.unwrap().body, "inside");
    assert_eq!(fetcher.fetch(request).await.unwrap().redirects.len(), 0);
    assert_eq!(
        fetcher.fetch(get(server.url("/"))).await.unwrap().redirects.len(),
        1
    );
}

#[tokio::test]
async fn a_redirect_is_followed_even_if_its_body_never_arrives() {
    let server = Server::start(|request| match request.path() {
        "/from" => {
            ServerAction::Hang(b"HTTP/1.1 302 X\r\nLocation: /to\r\nContent-Length: 10\r\n\r\n".to_vec())
        }
        _ => ServerAction::Keep(ok("there")),
    })
    .await;
    let mut request = get(server.url("/from"));
    request.deadline = deadline_in(30_000);
    assert_eq!(fetcher().fetch(request).await.unwrap().body, "there");
}
