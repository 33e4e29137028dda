//! Hosts that a crawl visits, links that it follows, and redirects (docs/API.md section 5 rules 2, 6, 7 and 12), with
//! several host names and ports on one machine.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use harvestman_tests::{FinishedCrawl, NameServer, Page, RunningSite, Site, TestServer, assert_contains};
use serde_json::{Value, json};

/// Starts a server that resolves every name under `.test`, and returns it with its DNS server.
async fn server() -> (TestServer, NameServer) {
    let names = NameServer::serve().await;
    let server = TestServer::start_with(&[("HARVESTMAN_DNS_SERVERS", &names.setting())]).await;
    (server, names)
}

async fn crawl(server: &TestServer, start: &str, options: Value) -> FinishedCrawl {
    let mut request = json!({ "url": start, "sitemap": "skip" });
    request
        .as_object_mut()
        .unwrap()
        .extend(options.as_object().unwrap().clone());
    server.run_crawl(&request).await
}

fn assert_visited<S: AsRef<str>>(crawled: &FinishedCrawl, expected: &[S]) {
    assert_eq!(crawled.status["status"], "completed", "{}", crawled.status);
    let expected: BTreeSet<String> = expected.iter().map(|url| url.as_ref().to_owned()).collect();
    assert_eq!(crawled.visited(), expected);
}

fn page(path: &str, links: &[String]) -> Page {
    Page::links(path, &links.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The start site, a subdomain of it, and an external site: each on its own port, with links to each other.
struct Web {
    home: RunningSite,
    docs: RunningSite,
    other: RunningSite,
}

impl Web {
    async fn serve() -> Web {
        let other = Site::new()
            .graph(&[("/", &[]), ("/?home", &[]), ("/page", &["/next"]), ("/next", &[])])
            .serve()
            .await;
        let docs = Site::new()
            .graph(&[("/", &["/guide"]), ("/guide", &["/guide/a"]), ("/guide/a", &[])])
            .serve()
            .await;
        let (at_docs, at_other) = (
            |path: &str| docs.url_at("docs.site.test", path),
            |path: &str| other.url_at("other.test", path),
        );
        let home = Site::new()
            .page(
                "/start",
                page(
                    "start",
                    &["/start/a".into(), at_docs("/guide"), at_other("/page")],
                ),
            )
            .page(
                "/start/a",
                page("a", &["/outside".into(), at_other("/"), at_other("/?home")]),
            )
            .graph(&[("/outside", &[])])
            .serve()
            .await;
        Web { home, docs, other }
    }

    fn home(&self, path: &str) -> String {
        self.home.url_at("site.test", path)
    }

    fn docs(&self, path: &str) -> String {
        self.docs.url_at("docs.site.test", path)
    }

    fn other(&self, path: &str) -> String {
        self.other.url_at("other.test", path)
    }
}

#[tokio::test]
async fn other_hosts_are_visited_only_with_options() {
    let (server, _names) = server().await;
    let web = Web::serve().await;
    let own = [web.home("/start"), web.home("/start/a")];
    let family = [web.docs("/guide"), web.docs("/guide/a")];
    let one_hop = [web.other("/page"), web.other("/?home")];
    let start = web.home("/start");

    assert_visited(&crawl(&server, &start, json!({})).await, &own);
    assert_eq!(
        (web.docs.hits().len(), web.other.hits().len()),
        (0, 0),
        "other hosts get no requests, not even for robots.txt"
    );

    let crawled = crawl(&server, &start, json!({ "crawlEntireDomain": true })).await;
    assert_visited(&crawled, &[&own[..], &[web.home("/outside")]].concat());
    assert_eq!((web.docs.hits().len(), web.other.hits().len()), (0, 0));

    let crawled = crawl(&server, &start, json!({ "allowSubdomains": true })).await;
    assert_visited(&crawled, &[&own[..], &family].concat());
    assert_eq!(web.other.hits().len(), 0);

    // Without allowSubdomains a subdomain counts as external, so its links are not followed.
    let crawled = crawl(&server, &start, json!({ "allowExternalLinks": true })).await;
    assert_visited(&crawled, &[&own[..], &family[..1], &one_hop].concat());

    let both = json!({ "allowExternalLinks": true, "allowSubdomains": true });
    let crawled = crawl(&server, &start, both).await;
    assert_visited(&crawled, &[&own[..], &family, &one_hop].concat());
    assert_eq!(
        web.other.count("/next"),
        0,
        "links on external pages are not followed"
    );
    assert_eq!(
        web.other.count("/"),
        0,
        "an external home page without a path is not fetched"
    );
}

/// Returns the path of every page that was requested, and whether with the headers that may hold secrets. All requests
/// must have `x-own`.
fn page_requests(site: &RunningSite) -> BTreeSet<(String, bool)> {
    let pages = site.hits().into_iter().filter(|hit| hit.path != "/robots.txt");
    let read = pages.map(|hit| {
        assert_eq!(hit.headers["x-own"], "1", "{}", hit.path);
        let is_private = hit.headers.contains_key("authorization");
        assert_eq!(hit.headers.contains_key("cookie"), is_private, "{}", hit.path);
        (hit.path, is_private)
    });
    read.collect()
}

#[tokio::test]
async fn other_origins_do_not_get_private_headers() {
    let (server, _names) = server().await;
    let web = Web::serve().await;
    let headers = json!({ "Authorization": "Bearer 1", "Cookie": "a=b", "X-Own": "1" });
    let options = json!({ "allowExternalLinks": true, "allowSubdomains": true,
        "scrapeOptions": { "headers": headers } });
    let requests =
        |paths: [&str; 2], is_private| BTreeSet::from(paths.map(|path| (path.to_owned(), is_private)));

    crawl(&server, &web.home("/start"), options.clone()).await;
    assert_eq!(page_requests(&web.home), requests(["/start", "/start/a"], true));
    assert_eq!(page_requests(&web.docs), requests(["/guide", "/guide/a"], false));
    assert_eq!(page_requests(&web.other), requests(["/page", "/?home"], false));

    // The crawl moves to the host that the start URL redirects to.
    let moved = Page::redirect(302, &web.docs("/guide"));
    web.home.change("/start", Some(moved));
    crawl(&server, &web.home("/start"), options).await;
    let last = web.docs.hits().pop().unwrap();
    assert_eq!(
        (last.path.as_str(), &last.headers["cookie"]),
        ("/guide/a", &"a=b".parse().unwrap())
    );
}

#[tokio::test]
async fn an_ip_address_has_no_subdomains() {
    let server = TestServer::start().await;
    let other = Site::new().graph(&[("/page", &[])]).serve().await;
    let home = Site::new()
        .page("/", page("home", &[other.url("/page"), "/a".into()]))
        .graph(&[("/a", &[])])
        .serve()
        .await;
    let crawled = crawl(&server, &home.url("/"), json!({ "allowSubdomains": true })).await;
    crawled.assert_visited(&home, &["/", "/a"]);
    assert!(other.hits().is_empty(), "another port is another host");
}

#[tokio::test]
async fn a_rule_that_the_size_limit_of_robots_txt_cuts_is_ignored() {
    let (server, _names) = server().await;
    // The limit of 512 KiB is behind the first slash of the rule.
    let rule = "User-agent: *\nDisallow: /private";
    let comment = format!("#{}\n", "x".repeat(512 * 1024 - rule.len() - 2 + "private".len()));
    let site = Site::new()
        .page("/robots.txt", Page::new("text/plain", format!("{comment}{rule}")))
        .graph(&[("/", &["/open"]), ("/open", &[])])
        .serve()
        .await;
    let crawled = crawl(&server, &site.url("/"), json!({})).await;
    crawled.assert_visited(&site, &["/", "/open"]);
}

#[tokio::test]
async fn robots_txt_is_fetched_once_per_host() {
    let (server, _names) = server().await;
    let docs = Site::new()
        .page(
            "/robots.txt",
            Page::new("text/plain", "User-agent: *\nDisallow: /private"),
        )
        .graph(&[
            ("/", &["/private/a", "/open"]),
            ("/private/a", &[]),
            ("/open", &[]),
        ])
        .serve()
        .await;
    let home = Site::new()
        .page(
            "/",
            page("home", &[docs.url_at("docs.site.test", "/"), "/private/b".into()]),
        )
        .graph(&[("/private/b", &[])])
        .serve()
        .await;
    let start = home.url_at("site.test", "/");
    let crawled = crawl(&server, &start, json!({ "allowSubdomains": true })).await;
    let docs_at = |path: &str| docs.url_at("docs.site.test", path);
    let expected = [
        start,
        home.url_at("site.test", "/private/b"),
        docs_at("/"),
        docs_at("/open"),
    ];
    assert_visited(&crawled, &expected);
    assert_eq!(crawled.robots_blocked, BTreeSet::from([docs_at("/private/a")]));
    assert_eq!((docs.count("/robots.txt"), docs.count("/private/a")), (1, 0));
    assert_eq!(home.count("/robots.txt"), 1);
    let warning = crawled.status["warning"].as_str().unwrap();
    assert!(warning.contains("robots.txt"), "{warning}");
}

#[tokio::test]
async fn redirects_out_of_scope_are_dropped() {
    let (server, _names) = server().await;
    let other = Site::new().graph(&[("/page", &[])]).serve().await;
    let home = Site::new()
        .graph(&[
            (
                "/docs",
                &[
                    "/docs/moved", "/docs/up", "/docs/away", "/docs/gone", "/docs/last",
                ],
            ),
            ("/docs/here", &["/docs/behind"]),
            ("/docs/behind", &[]),
            ("/docs/last", &[]),
            ("/up", &[]),
        ])
        .page("/docs/moved", Page::redirect(301, "/docs/hop"))
        .page("/docs/hop", Page::redirect(307, "/docs/here"))
        .page("/docs/up", Page::redirect(302, "/up"))
        .page(
            "/docs/away",
            Page::redirect(302, &other.url_at("other.test", "/page")),
        )
        .page("/docs/gone", Page::redirect(302, "http://nowhere.test/"))
        .serve()
        .await;
    let at = |path: &str| home.url_at("site.test", path);
    let crawled = crawl(&server, &at("/docs"), json!({ "limit": 5 })).await;
    assert_visited(
        &crawled,
        &["/docs", "/docs/moved", "/docs/behind", "/docs/last"].map(at),
    );
    let moved = &crawled.document(&at("/docs/moved"))["metadata"];
    assert_eq!(
        moved["url"],
        at("/docs/here"),
        "the document has the first requested URL and the final URL"
    );
    let codes: Vec<(&str, &str)> = crawled
        .errors
        .iter()
        .map(|(url, code)| (url.rsplit('/').next().unwrap(), code.as_str()))
        .collect();
    let expected = [
        ("away", "OUT_OF_SCOPE"),
        ("gone", "SCRAPE_DNS_RESOLUTION_ERROR"),
        ("up", "OUT_OF_SCOPE"),
    ];
    assert_eq!(codes, expected);
    assert_eq!(
        crawled.status["total"], 5,
        "a failed page counts towards the total, a dropped one does not"
    );

    let options = json!({ "crawlEntireDomain": true, "allowExternalLinks": true });
    let crawled = crawl(&server, &at("/docs"), options).await;
    for (requested, found) in [
        ("/docs/up", at("/up")),
        ("/docs/away", other.url_at("other.test", "/page")),
    ] {
        assert_eq!(crawled.document(&at(requested))["metadata"]["url"], found);
    }
}

#[tokio::test]
async fn a_start_page_that_redirects_within_its_domain_moves_the_scope() {
    let (server, _names) = server().await;
    let docs = Site::new()
        .graph(&[
            ("/en/", &["/en/a", "/de/a"]),
            ("/en/a", &["/en/b"]),
            ("/en/b", &[]),
            ("/de/a", &[]),
        ])
        .serve()
        .await;
    let home = Site::new()
        .page("/", Page::redirect(301, &docs.url_at("docs.site.test", "/en/")))
        .graph(&[("/home", &[])])
        .serve()
        .await;
    let start = home.url_at("site.test", "/");
    let crawled = crawl(&server, &start, json!({})).await;
    let docs_at = |path: &str| docs.url_at("docs.site.test", path);
    assert_visited(&crawled, &[start.clone(), docs_at("/en/a"), docs_at("/en/b")]);
    assert_eq!(crawled.document(&start)["metadata"]["url"], docs_at("/en/"));
    assert!(crawled.errors.is_empty());
}

#[tokio::test]
async fn a_start_page_that_redirects_to_another_domain_is_an_error() {
    let (server, _names) = server().await;
    let other = Site::new().graph(&[("/page", &[])]).serve().await;
    let home = Site::new()
        .page("/", Page::redirect(302, &other.url_at("other.test", "/page")))
        .serve()
        .await;
    let start = home.url_at("site.test", "/");
    let crawled = crawl(&server, &start, json!({})).await;
    assert_visited::<&str>(&crawled, &[]);
    assert_eq!(crawled.errors, [(start, "OUT_OF_SCOPE".to_owned())].into());
    assert_eq!(crawled.status["total"], 0);
    assert_contains(&crawled.status, "/warning", "redirects to");
}

#[tokio::test]
async fn every_kind_of_link_is_followed_relative_to_the_base_url() {
    let body = "<!doctype html><html><head><title>links</title><base href='/sub/'>\
        <link rel=next href='by-next'><link rel=prev href='by-prev'><link rel=canonical href='by-canonical'>\
        <link rel='alternate' hreflang=de href='by-alternate'><link rel=stylesheet href='style'>\
        <link rel=preload href='by-preload'></head><body><p>Some text that the page has of its own.</p>\
        <a href='by-a'>a</a> <a rel=nofollow href='by-nofollow'>n</a> <a href='/absolute'>b</a> <a href='?query'>q</a>\
        <map><area href='by-area'></map><iframe src='by-iframe'></iframe><img src='by-img'><a>no address</a>\
        <a href='#top'>top</a><form action='by-form'></form></body></html>";
    let followed = [
        "/sub/by-next", "/sub/by-prev", "/sub/by-canonical", "/sub/by-alternate", "/sub/by-a",
        "/sub/by-nofollow", "/absolute", "/sub/?query", "/sub/by-area", "/sub/by-iframe",
    ];
    let mut site = Site::new().page("/", Page::html(body));
    for path in followed {
        site = site.page(path, Page::links(path, &[]));
    }
    let site = site.serve().await;
    let server = TestServer::start().await;
    let crawled = crawl(&server, &site.url("/"), json!({})).await;
    crawled.assert_visited(&site, &[&["/"][..], &followed].concat());
    assert_eq!(site.hits().len(), followed.len() + 2, "{:?}", site.counts());
}
