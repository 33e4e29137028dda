//! What `blockAds` uses: filter lists against requests to advertisers and trackers, and a script that answers consent
//! banners.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use adblock::lists::{ParseOptions, RuleTypes};
use adblock::request::Request;
use adblock::{Engine, FilterSet};
use harvestman_core::scope::registrable_domain;
use url::Url;

/// The embedded lists; `blocker/LICENCE.md` describes them.
const EMBEDDED: [&str; 2] = [
    include_str!("blocker/easylist.txt"),
    include_str!("blocker/easyprivacy.txt"),
];

/// Type of the documents of frames.
pub(crate) const FRAME: &str = "sub_frame";

/// Blocks advertisements, trackers and consent banners. Cheap to clone.
#[derive(Clone, Default)]
pub struct Blocker {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Texts of the operator's lists.
    lists: Vec<String>,
    /// Script that answers the banners of consent tools.
    consent_script: Option<String>,
    compiled: OnceLock<Rules>,
}

/// Compiled lists.
struct Rules {
    /// The rules for requests.
    requests: Engine,
    /// The operator's exceptions for whole pages. In `requests`, exceptions for some resource types would match pages
    /// too.
    pages: Engine,
}

impl Blocker {
    /// Creates a blocker with the embedded filter lists and `lists`: the texts of more lists, in the syntax of Adblock
    /// Plus and uBlock Origin or with one host name per line. Without a `consent_script` (autoconsent's standalone script)
    /// banners are hidden instead of answered.
    pub fn new(lists: Vec<String>, consent_script: Option<String>) -> Blocker {
        Blocker {
            shared: Arc::new(Shared {
                lists,
                consent_script,
                compiled: OnceLock::new(),
            }),
        }
    }

    pub(crate) fn consent_script(&self) -> Option<&str> {
        self.shared.consent_script.as_deref()
    }

    /// Compiles the lists on another thread, unless they are compiled already.
    pub(crate) async fn prepare(&self) {
        if self.shared.compiled.get().is_some() {
            return;
        }
        let blocker = self.clone();
        let compiling = tokio::task::spawn_blocking(move || _ = blocker.rules());
        if let Err(error) = compiling.await {
            tracing::error!(%error, "cannot compile the filter lists");
        }
    }

    /// Returns whether a page at `document` must not embed a frame that shows `url`.
    pub async fn blocks_frame(&self, url: &Url, document: &Url) -> bool {
        self.prepare().await;
        self.blocks(url, document, FRAME)
    }

    /// Returns whether a page at `document` must not request `url`. `resource_type` is a type of the WebExtensions API,
    /// such as `script`.
    pub(crate) fn blocks(&self, url: &Url, document: &Url, resource_type: &str) -> bool {
        let (Some(host), Some(page)) = (url.host_str(), document.host_str()) else {
            return false;
        };
        let request = |url: &Url, host, resource_type, is_third_party| {
            Request::preparsed(url.as_str(), host, page, resource_type, is_third_party, "get")
        };
        let Rules { requests, pages } = self.rules();
        let is_third_party = site(host) != site(page);
        requests
            .check_network_request(&request(url, host, resource_type, is_third_party))
            .should_block()
            && pages
                .check_network_request_subset(&request(document, page, "document", false), true, true)
                .exception
                .is_none()
    }

    fn rules(&self) -> &Rules {
        self.shared.compiled.get_or_init(|| {
            let own: Vec<Cow<'_, str>> = self
                .shared
                .lists
                .iter()
                .map(|list| with_host_rules(list))
                .collect();
            let own = || own.iter().map(Cow::as_ref);
            let exempt = own().flat_map(str::lines).filter(|rule| exempts_page(rule));
            Rules {
                pages: compile(std::iter::once(exempt.collect::<Vec<_>>().join("\n").as_str())),
                requests: compile(EMBEDDED.into_iter().chain(own())),
            }
        })
    }
}

/// Compiles the rules for requests of some lists.
fn compile<'l>(lists: impl Iterator<Item = &'l str>) -> Engine {
    let options = ParseOptions {
        rule_types: RuleTypes::NetworkOnly,
        ..ParseOptions::default()
    };
    let mut rules = FilterSet::new(false);
    for list in lists {
        rules.add_filter_list(list.to_owned(), options);
    }
    Engine::new_with_filter_set(rules)
}

/// Returns whether a rule exempts a page and all its requests, such as `@@||news.example^$document`.
fn exempts_page(rule: &str) -> bool {
    let options = rule.strip_prefix("@@").and_then(|rule| rule.rsplit_once('$'));
    options.is_some_and(|(_, options)| {
        options
            .split(',')
            .any(|option| matches!(option, "document" | "doc"))
    })
}

/// Replaces the lines of a list that are host names, such as `ads.example` or `0.0.0.0 ads.example`, with rules.
fn with_host_rules(list: &str) -> Cow<'_, str> {
    if list.lines().all(|line| host_of(line).is_none()) {
        return list.into();
    }
    let mut rules = String::with_capacity(list.len() + list.len() / 4);
    for line in list.lines() {
        // Writing to a string cannot fail.
        _ = match host_of(line) {
            Some(host) => writeln!(rules, "||{host}^"),
            None => writeln!(rules, "{line}"),
        };
    }
    rules.into()
}

/// Returns the host in a line that is a plain host name or an entry of a hosts file.
fn host_of(line: &str) -> Option<&str> {
    let mut words = line
        .split_ascii_whitespace()
        .take_while(|word| !word.starts_with('#'));
    let host = match (words.next()?, words.next(), words.next()) {
        (host, None, _) | ("0.0.0.0" | "127.0.0.1" | "::" | "::1", Some(host), None) => host,
        _ => return None,
    };
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    // A rule for a part of a URL, such as `-ads.`, is not a complete host name.
    let is_whole =
        host.contains('.') && !host.starts_with(['.', '-', '_']) && !host.ends_with(['.', '-', '_']);
    (is_whole && host.chars().all(is_host) && registrable_domain(host).is_some()).then_some(host)
}

/// Returns the registrable domain of a host, or the host itself if it has none.
fn site(host: &str) -> &str {
    match host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok() {
        true => host,
        false => registrable_domain(host).unwrap_or(host),
    }
}

impl std::fmt::Debug for Blocker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://news.test/story";

    #[track_caller]
    fn check(blocker: &Blocker, url: &str, page: &str, resource_type: &str, expected: bool) {
        let found = blocker.blocks(&url.parse().unwrap(), &page.parse().unwrap(), resource_type);
        assert_eq!(found, expected, "{url} on {page}");
    }

    #[test]
    fn the_embedded_lists_block_known_advertisers_and_trackers() {
        let blocker = Blocker::default();
        let check = |url: &str, expected: bool| check(&blocker, url, PAGE, "script", expected);
        check("https://securepubads.g.doubleclick.net/tag/js/gpt.js", true);
        check("https://www.google-analytics.com/analytics.js", true);
        check("https://static.hotjar.com/c/hotjar-1.js", true);
        check("https://static.criteo.net/js/ld/ld.js", true);
        // Scripts on the page's own host are recognized by their names.
        check("https://news.test/my-ad-manager/main.js", true);
        check("https://news.test/js/event-tracking.js", true);
        check("https://cdn.jsdelivr.net/npm/vue@3/dist/vue.global.js", false);
        check(
            "https://ajax.googleapis.com/ajax/libs/jquery/3.7.1/jquery.min.js",
            false,
        );
        check("https://news.test/app.js", false);
    }

    #[test]
    fn rules_of_the_operator_have_the_whole_syntax() {
        let list = "! comment\n[Adblock Plus 2.0]\n##.banner\n-own-banner.\n/sponsor[0-9]+\\.js/\n||own.test^\n\
             ||cdn.test^$third-party\n||shop.test/Stork/*.gif$image\n||fonts.test^$~font,domain=news.test|~blog.news.test\n\
             @@||ok.own.test^$script\n||forced.own.test^$important\n@@||forced.own.test^\n||bad.test^$popup\n\
             @@||quiet.test^$document\n||beacons.test^$xhr,3p,from=news.test\n||swap.test/a.js$redirect=noop.js\n\
             ||*.wild.test^\nkeep.test##.ad\nkeep.test#@#.ad\n0.0.0.0 hosts.test # comment\nplain.test\n127.0.0.1 localhost\n";
        let blocker = Blocker::new(vec![list.to_owned()], None);
        let check = |url, page, of, expected| check(&blocker, url, page, of, expected);
        check("https://own.test/a.js", PAGE, "script", true);
        check("https://x.own.test:8443/", PAGE, "image", true);
        check("https://noown.test/a.js", PAGE, "script", false);
        check("https://own.test.example/", PAGE, "script", false);
        check("https://news.test/x-own-banner.png", PAGE, "image", true);
        check("https://news.test/sponsor12.js", PAGE, "script", true);
        check("https://news.test/sponsor.js", PAGE, "script", false);
        check("https://cdn.test/a.js", PAGE, "script", true);
        check("https://cdn.test/a.js", "https://www.cdn.test/", "script", false);
        check("https://shop.test/stork/a.gif", PAGE, "image", true);
        check("https://shop.test/stork/a.gif", PAGE, "script", false);
        check("https://fonts.test/a", PAGE, "stylesheet", true);
        check("https://fonts.test/a", PAGE, "font", false);
        check(
            "https://fonts.test/a", "https://blog.news.test/", "stylesheet", false,
        );
        check("https://fonts.test/a", "https://other.test/", "stylesheet", false);
        check("https://ok.own.test/a.js", PAGE, "script", false);
        check("https://ok.own.test/a.gif", PAGE, "image", true);
        check("https://forced.own.test/a.js", PAGE, "script", true);
        check("https://own.test/a.js", "https://quiet.test/", "script", false);
        // An exception for scripts of a host does not exempt its pages.
        check("https://own.test/a.js", "https://ok.own.test/", "image", true);
        check("https://beacons.test/a", PAGE, "xmlhttprequest", true);
        check("https://beacons.test/a", PAGE, "image", false);
        check("https://swap.test/a.js", PAGE, "script", true);
        check("https://x.wild.test/", PAGE, "script", true);
        check("https://bad.test/", PAGE, "script", false);
        check("https://keep.test/", PAGE, "script", false);
        check("https://hosts.test/", PAGE, "script", true);
        check("https://plain.test/", PAGE, "script", true);
        check("https://notplain.test/?plain.test", PAGE, "script", false);
        check("http://127.0.0.1/app", "http://127.0.0.1/", "script", false);
        check("http://localhost/", PAGE, "script", false);
    }

    #[test]
    fn a_list_of_rules_alone_is_left_as_it_is() {
        let list = "||own.test^\n-ads.\n/a.js$image\n@@|https://x.test/\n";
        assert!(matches!(with_host_rules(list), Cow::Borrowed(_)));
    }
}
