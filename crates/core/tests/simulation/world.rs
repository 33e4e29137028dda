//! A random scripted web and a request to crawl it: several hosts with all kinds of robots.txt, slow and failing
//! pages, redirects into and out of scope and in circles, recursive sitemaps, traps. A page's response depends
//! on its URL and on the number of requests, not on time.

use std::collections::HashMap;

use harvestman_core::api::TargetUrl;
use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::page::Document;
use harvestman_core::crawl::batch::Snapshot;
use harvestman_core::crawl::{Crawl, FetchFailure, FetchedPage, PageOutcome, Policy, RobotsOutcome};
use harvestman_core::host::HostKey;
use harvestman_core::ids::ScrapeId;
use harvestman_core::robots::Robots;
use harvestman_core::sitemap::Sitemap;
use harvestman_core::url_key::{Identity, bare_host, normal_form, resolve_link};
use serde_json::json;
use url::Url;

use crate::rng::Rng;

pub(crate) const ALWAYS: u32 = u32::MAX;
pub(crate) const HOST_ERROR: &str = "the scripted host is unreachable";
/// Hosts of the world; the first is the start host, the first three are one site.
const HOSTS: [&str; 5] = [
    "site.test", "docs.site.test", "shop.site.test", "other.test", "third.test",
];

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) request: CrawlRequest,
    pub(crate) concurrency: u32,
    /// Whether two runs must visit the same pages: no limit, depth or trap makes the order matter.
    pub(crate) comparable: bool,
    pub(crate) hosts: HashMap<String, Host>,
    pub(crate) pages: HashMap<String, Page>,
    /// The pages of a batch scrape; a crawl has none.
    pub(crate) batch_pages: Vec<TargetUrl>,
    requests: HashMap<String, u32>,
    traps: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// `None` for 404.
    pub(crate) robots: Option<Rules>,
    /// Number of times that fetching the file fails.
    pub(crate) robots_failures: u32,
    /// Whether those failures concern the file, not the host.
    pub(crate) reachable: bool,
    pub(crate) latency_ms: u64,
    pub(crate) sitemaps: HashMap<String, Sitemap>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) disallow: Vec<String>,
    pub(crate) crawl_delay_ms: Option<u64>,
    pub(crate) sitemap_line: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) links: Vec<String>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Plain,
    Status(u16),
    /// Responds like this the first `times`, then normally.
    Busy {
        status: u16,
        times: u32,
        retry_after_ms: Option<u64>,
    },
    Timeout {
        times: u32,
    },
    Unreachable,
    Redirect(String),
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let mut rng = Rng::new(seed ^ 0x5757_0000);
        let rng = &mut rng;
        let traps = rng.percent(15);
        let small = traps || rng.percent(40);
        let seed_path = *rng.pick(&["/", "/", "/p1", "/p1/p2", "/d/"]);
        let mut body = json!({ "url": format!("http://site.test{seed_path}") });
        let flags = [
            "crawlEntireDomain", "allowExternalLinks", "allowSubdomains", "ignoreQueryParameters",
        ];
        for flag in flags {
            body[flag] = json!(rng.percent(40));
        }
        body["deduplicateSimilarURLs"] = json!(rng.percent(80));
        body["ignoreRobotsTxt"] = json!(rng.percent(8));
        body["sitemap"] = json!(rng.pick(&["include", "include", "skip", "only"]));
        body["limit"] = json!(if small { rng.between(1, 30) } else { 1000 });
        if rng.percent(15) {
            body["maxDiscoveryDepth"] = json!(rng.below(5));
        }
        if rng.percent(15) {
            body["excludePaths"] = json!([format!("^/p{}", rng.below(4))]);
        }
        if rng.percent(5) {
            body["includePaths"] = json!(["/p", "^/$", "^/d"]);
        }
        if rng.percent(12) {
            body["delay"] = json!(*rng.pick(&[0.05, 1.0, 2.5]));
        }
        if rng.percent(50) {
            body["maxConcurrency"] = json!(rng.between(1, 6));
        }
        let request = CrawlRequest::from_json(body.to_string().as_bytes()).unwrap();
        let comparable = !small && request.max_discovery_depth.is_none();
        let paths = rng.between(2, 25);
        let mut world = World {
            request,
            concurrency: u32::try_from(rng.between(1, 16)).unwrap(),
            comparable,
            hosts: HashMap::new(),
            pages: HashMap::new(),
            batch_pages: Vec::new(),
            requests: HashMap::new(),
            traps,
        };
        for name in HOSTS {
            let host = world.new_host(rng, name, paths);
            world.hosts.insert(name.to_owned(), host);
            for path in 0..paths {
                let page = Page {
                    links: (0..rng.below(8)).map(|_| world.href(rng, name, paths)).collect(),
                    kind: world.kind(rng, paths),
                };
                for address in [
                    format!("http://{name}/p{path}"),
                    format!("http://{name}/p1/p{path}"),
                ] {
                    world
                        .pages
                        .entry(content_key(&Url::parse(&address).unwrap()))
                        .or_insert(page.clone());
                }
            }
            let root = Page {
                links: (0..rng.below(15)).map(|_| world.href(rng, name, paths)).collect(),
                kind: if rng.percent(90) {
                    Kind::Plain
                } else {
                    world.kind(rng, paths)
                },
            };
            world.pages.insert(
                content_key(&Url::parse(&format!("http://{name}/")).unwrap()),
                root.clone(),
            );
            world.pages.insert(
                content_key(&Url::parse(&format!("http://{name}/d/")).unwrap()),
                root,
            );
        }
        world
    }

    /// Creates the same web with a batch of its pages instead of a crawl.
    pub(crate) fn batch(seed: u64) -> World {
        let mut world = World::new(seed);
        let mut rng = Rng::new(seed ^ 0x6a7c);
        world.request.ignore_robots_txt = true;
        world.request.delay = None;
        world.comparable = true;
        for _ in 0..rng.between(1, 60) {
            let host = *rng.pick(&HOSTS);
            let address = world.href(&mut rng, host, 25);
            let bare = address.trim_start_matches("http://");
            let spelling = if rng.percent(10) { bare } else { &address };
            world.batch_pages.push(TargetUrl::parse(spelling).unwrap());
        }
        world
    }

    fn new_host(&self, rng: &mut Rng, name: &str, paths: u64) -> Host {
        let rules = Rules {
            disallow: (0..rng.below(3))
                .map(|_| format!("/p{}", rng.below(paths)))
                .collect(),
            crawl_delay_ms: rng.percent(15).then(|| rng.between(1, 4) * 500),
            sitemap_line: rng.percent(30),
        };
        let entry = |rng: &mut Rng| Url::parse(&self.href(rng, name, paths)).unwrap();
        let address = |path: &str| Url::parse(&format!("http://{name}{path}")).unwrap();
        let mut sitemaps = HashMap::new();
        if rng.percent(50) {
            let index = Sitemap {
                pages: (0..rng.below(4)).map(|_| entry(rng)).collect(),
                children: ["/sitemap.xml", "/s1.xml", "/s2.xml", "/gone.xml"]
                    .map(address)
                    .to_vec(),
            };
            let first = Sitemap {
                pages: (0..rng.below(6)).map(|_| entry(rng)).collect(),
                children: vec![address("/s1.xml"), address("/sitemap.xml")],
            };
            let second = Sitemap {
                pages: (0..rng.below(6)).map(|_| entry(rng)).collect(),
                children: Vec::new(),
            };
            for (path, sitemap) in [("/sitemap.xml", index), ("/s1.xml", first), ("/s2.xml", second)] {
                sitemaps.insert(path.to_owned(), sitemap);
            }
        }
        Host {
            robots: rng.percent(75).then_some(rules),
            robots_failures: *rng.pick(&[0, 0, 0, 0, 0, 0, 0, 1, 2, ALWAYS]),
            reachable: rng.percent(50),
            latency_ms: *rng.pick(&[5, 20, 20, 100, 3000]),
            sitemaps,
        }
    }

    /// Returns a random link in one of its spellings.
    fn href(&self, rng: &mut Rng, from: &str, paths: u64) -> String {
        let host = if rng.percent(80) { from } else { *rng.pick(&HOSTS) };
        let www = if rng.percent(5) { "www." } else { "" };
        let mut path = match rng.below(20) {
            0 => "/".to_owned(),
            1 => "/d/".to_owned(),
            2 => format!("/p{}.png", rng.below(paths)),
            3 if self.traps => format!("/trap/{}", rng.below(3)),
            4..8 => format!("/p1/p{}", rng.below(paths)),
            _ => format!("/p{}", rng.below(paths)),
        };
        match rng.below(12) {
            0 => path.push('/'),
            1 => path.push_str("?q=1"),
            2 => path.push_str("#here"),
            3 => path.push_str("/index.html"),
            _ => {}
        }
        format!("http://{www}{host}{path}")
    }

    fn kind(&self, rng: &mut Rng, paths: u64) -> Kind {
        let times = *rng.pick(&[1, 1, 2, 2, ALWAYS]);
        match rng.below(20) {
            0 => Kind::Status(*rng.pick(&[404, 500, 403])),
            1 => Kind::Busy {
                status: *rng.pick(&[429, 503]),
                times,
                retry_after_ms: Some(*rng.pick(&[0, 500, 5_000, 30_000])),
            },
            2 => Kind::Busy {
                status: *rng.pick(&[429, 502, 503, 504]),
                times,
                retry_after_ms: None,
            },
            3 => Kind::Timeout { times },
            4 => Kind::Unreachable,
            5 | 6 => Kind::Redirect(self.href(rng, HOSTS[0], paths)),
            7 => Kind::Redirect("http://other.test/p1".to_owned()),
            _ => Kind::Plain,
        }
    }

    pub(crate) fn host(&self, url: &Url) -> &Host {
        &self.hosts[bare_host(url)]
    }

    pub(crate) fn is_dead(&self, url: &Url) -> bool {
        let host = self.host(url);
        !host.reachable && host.robots_failures == ALWAYS
    }

    pub(crate) fn latency_ms(&self, url: &Url) -> u64 {
        self.hosts.get(bare_host(url)).map_or(10, |host| host.latency_ms)
    }

    fn count(&mut self, what: String) -> u32 {
        let count = self.requests.entry(what).or_default();
        *count += 1;
        *count
    }

    pub(crate) fn robots(&mut self, key: &HostKey, agent: &str) -> RobotsOutcome {
        let requests = self.count(format!("robots {key}"));
        let url = key.robots_url().unwrap();
        let fault = |transient| {
            RobotsOutcome::HostError(FetchFailure {
                id: ScrapeId(uuid::Uuid::from_u128(u128::from(requests))),
                code: ErrorCode::SiteError,
                message: HOST_ERROR.to_owned(),
                transient,
            })
        };
        // A sitemap may be on a host that does not exist.
        let Some(host) = self.hosts.get(bare_host(&url)) else {
            return fault(false);
        };
        if requests <= host.robots_failures {
            return match host.reachable {
                true => RobotsOutcome::Unreachable("a scripted failure".to_owned()),
                false => fault(true),
            };
        }
        let Some(rules) = &host.robots else {
            return RobotsOutcome::Missing;
        };
        let mut text = "User-agent: *\n".to_owned();
        for path in &rules.disallow {
            text.push_str(&format!("Disallow: {path}\n"));
        }
        if let Some(delay_ms) = rules.crawl_delay_ms {
            text.push_str(&format!(
                "Crawl-delay: {}.{:03}\n",
                delay_ms / 1000,
                delay_ms % 1000
            ));
        }
        if rules.sitemap_line {
            text.push_str("Sitemap: /s1.xml\nSitemap: http://nowhere.test/x.xml\n");
        }
        RobotsOutcome::Found(Robots::parse(text.as_bytes(), agent))
    }

    /// Returns the `Crawl-delay` that a crawl must keep once it has read robots.txt.
    pub(crate) fn crawl_delay_ms(&self, key: &HostKey) -> Option<u64> {
        if self.request.ignore_robots_txt || self.request.delay.is_some() {
            return None;
        }
        let host = self.hosts.get(bare_host(&key.robots_url().unwrap()))?;
        host.robots.as_ref().and_then(|rules| rules.crawl_delay_ms)
    }

    pub(crate) fn sitemap(&self, url: &Url) -> Option<Sitemap> {
        self.hosts.get(bare_host(url))?.sitemaps.get(url.path()).cloned()
    }

    pub(crate) fn page(&mut self, url: &Url, id: ScrapeId) -> PageOutcome {
        let Some((final_url, page)) = self.resolve(url) else {
            return failed(id, ErrorCode::SiteError, false);
        };
        let requests = self.count(content_key(&final_url));
        let (mut status, mut retry_after) = (200, None);
        match &page.kind {
            Kind::Plain | Kind::Redirect(_) => {}
            Kind::Status(code) => status = *code,
            Kind::Busy {
                status: code,
                times,
                retry_after_ms,
            } => {
                if requests <= *times {
                    (status, retry_after) = (*code, *retry_after_ms);
                }
            }
            Kind::Timeout { times } => {
                if requests <= *times {
                    return failed(id, ErrorCode::ScrapeTimeout, true);
                }
            }
            Kind::Unreachable => return failed(id, ErrorCode::DnsResolution, false),
        }
        let credits = 1 + u32::try_from(final_url.path().len() % 3).unwrap();
        let mut document = Document::default();
        document.metadata.source_url = Some(url.to_string());
        document.metadata.url = Some(final_url.to_string());
        document.metadata.status_code = Some(status);
        document.metadata.credits_used = Some(credits);
        document.metadata.scrape_id = Some(id);
        PageOutcome::Page(Box::new(FetchedPage {
            links: page
                .links
                .iter()
                .filter_map(|href| resolve_link(&final_url, href))
                .collect(),
            final_url,
            status,
            document: Box::new(document),
            credits,
            retry_after_ms: retry_after,
        }))
    }

    /// Follows redirects; `None` if they loop.
    pub(crate) fn resolve(&self, url: &Url) -> Option<(Url, Page)> {
        let mut url = url.clone();
        for _ in 0..20 {
            let page = self.content(&url);
            match &page.kind {
                Kind::Redirect(to) => url = Url::parse(to).unwrap(),
                _ => return Some((url, page)),
            }
        }
        None
    }

    fn content(&self, url: &Url) -> Page {
        if let Some(page) = self.pages.get(&content_key(url)) {
            return page.clone();
        }
        let number = url
            .path()
            .strip_prefix("/trap/")
            .and_then(|text| text.trim_end_matches('/').parse::<u64>().ok());
        match number.filter(|_| self.traps) {
            Some(number) => {
                let link = |step: u64| format!("http://{}/trap/{}", HOSTS[0], number * 2 + step);
                Page {
                    links: (1..4).map(link).collect(),
                    kind: Kind::Plain,
                }
            }
            None => Page {
                links: vec!["/p0".to_owned()],
                kind: Kind::Status(404),
            },
        }
    }

    /// Restores the crawl or batch of this world.
    pub(crate) fn crawl(&self, snapshot: Snapshot) -> Crawl {
        let policy = Policy {
            robots_agent: "harvestman".to_owned(),
            max_concurrency: self.concurrency,
            starts_in_browser: false,
        };
        match self.batch_pages.first() {
            Some(first) => {
                Crawl::restore_batch_scrape(&first.url, self.request.max_concurrency, policy, snapshot)
            }
            None => Crawl::restore(&self.request, policy, snapshot),
        }
        .unwrap()
    }
}

fn failed(id: ScrapeId, code: ErrorCode, transient: bool) -> PageOutcome {
    PageOutcome::Failed(FetchFailure {
        id,
        code,
        message: "scripted".to_owned(),
        transient,
    })
}

/// Returns the key of a page's content, the same for all its spellings.
pub(crate) fn content_key(url: &Url) -> String {
    let identity = Identity {
        ignore_query: true,
        merge_similar: true,
    };
    normal_form(url, identity)
}
