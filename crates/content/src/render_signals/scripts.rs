//! Classifies the scripts of a page: data, analytics, decoration, or code that writes the page.

use std::collections::BTreeSet;

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links;
use crate::html::tag::Tag;
use crate::limits;

/// The scripts of a page by their purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scripts {
    /// Number of scripts that a browser runs.
    pub running: usize,
    /// Number of scripts that may write to the page.
    pub writing: usize,
    /// Whether the page contains the state of a framework, from which its scripts build the page.
    pub state: bool,
    /// Whether a script stores a cookie and reloads the page.
    pub(super) reloads: bool,
    /// Whether a script belongs to a known bot challenge.
    pub(super) challenge: bool,
    /// Element names in the inline scripts that write.
    names: BTreeSet<String>,
}

impl Scripts {
    /// Returns whether an inline script that writes names this element.
    pub(super) fn fills(&self, id: &str) -> bool {
        self.names.contains(id)
    }
}

/// Hosts of analytics, advertisements, chats and consent dialogs; subdomains are included.
const SIDE_HOSTS: &[&str] = &[
    "2mdn.net", "ads-twitter.com", "adsystem.com", "amazon-adsystem.com", "amplitude.com",
    "analytics.tiktok.com", "bat.bing.com", "chartbeat.com", "clarity.ms", "cloudflareinsights.com",
    "connect.facebook.net", "consensu.org", "cookiebot.com", "cookielaw.org", "cookieyes.com",
    "crazyegg.com", "criteo.com", "criteo.net", "didomi.io", "disqus.com", "doubleclick.net", "drift.com",
    "fullstory.com", "getclicky.com", "google-analytics.com", "googleadservices.com",
    "googlesyndication.com", "googletagmanager.com", "googletagservices.com", "goatcounter.com",
    "heapanalytics.com", "hm.baidu.com", "hotjar.com", "hs-analytics.net", "hs-banner.com", "hs-scripts.com",
    "intercom.io", "intercomcdn.com", "iubenda.com", "klaviyo.com", "mc.yandex.ru", "mixpanel.com",
    "mouseflow.com", "mxpnl.com", "newrelic.com", "nr-data.net", "onetrust.com", "optimizely.com",
    "osano.com", "outbrain.com", "plausible.io", "posthog.com", "quantserve.com", "scorecardresearch.com",
    "segment.com", "segment.io", "sentry-cdn.com", "sharethis.com", "simpleanalyticscdn.com",
    "statcounter.com", "taboola.com", "tawk.to", "tiqcdn.com", "trustarc.com", "umami.is",
    "unpkg.com/web-vitals", "usefathom.com", "usercentrics.eu", "vwo.com", "zdassets.com",
];

/// File names of the same kinds of scripts, on any host.
const SIDE_FILES: &[&str] = &[
    "analytics", "beacon", "cookieconsent", "cookie-consent", "email-decode", "fathom", "ga", "ga4", "gtag",
    "gtm", "hotjar", "js.cookie", "klaro", "matomo", "opensearch", "piwik", "plausible", "rum",
    "speedinsights", "stats", "tracker", "tracking", "umami", "web-vitals", "wp-emoji-release",
];

/// File names of libraries that decorate existing content.
const LIBRARY_FILES: &[&str] = &[
    "aos", "bootstrap", "clipboard", "fancybox", "flowbite", "fontawesome", "highlight", "html5shiv",
    "jquery", "lazysizes", "lazyload", "lightbox", "lunr", "mathjax", "modernizr", "owl.carousel",
    "photoswipe", "polyfill", "popper", "prism", "respond", "slick", "smooth-scroll", "swiper", "turbolinks",
];

/// Code found in inline trackers, tag managers, chats and consent dialogs.
const SIDE_CODE: &[&str] = &[
    "GoogleAnalyticsObject", "googletagmanager.com", "google-analytics.com", "gtag(", "dataLayer", "_gaq",
    "_paq", "fbq(", "_fbq", "hotjar", "_hmt", "hm.baidu.com", "mc.yandex.ru", "clarity.ms", "plausible",
    "NREUM", "intercomSettings", "OneTrust", "adsbygoogle", "googletag", "_linkedin_partner_id", "ttq.",
    "twq(", "pintrk(", "_hsq", "mixpanel.init", "amplitude.", "analytics.load", "posthog.init", "heap.load",
    "__CF$cv$params", "Cookiebot", "__tcfapi", "_satellite", "Tawk_API", "goatcounter", "sc_project",
    "speculationrules", "wpemoji",
];

/// Maximum size of inline code that contains [`SIDE_CODE`] and is assumed to do nothing else.
const SIDE_CODE_BYTES: usize = 6 * 1024;

/// Code with which inline scripts write to a page.
const WRITING_CODE: &[&str] = &[
    "innerHTML", "insertAdjacent", "appendChild", ".append(", "replaceChildren", "replaceWith",
    "document.write", "textContent", "innerText", "fetch(", "XMLHttpRequest", "axios", "import(", "import ",
    "createApp", "createRoot", "hydrate", "render(", "mount(", "bootstrap(", "$.get", "$.ajax", "$.post",
    ".html(", ".load(", "new Vue", "eval(", "customElements.define", "attachShadow", "$RC(",
    "location.reload", "atob(",
];

/// Code that holds the state of a framework.
const STATE_CODE: &[&str] = &[
    "__NEXT_DATA__", "__next_f", "__NUXT__", "__INITIAL_STATE__", "__PRELOADED_STATE__", "__APOLLO_STATE__",
    "__remixContext", "__reactRouterContext", "__sveltekit_", "__INITIAL_DATA__", "__REDUX_STATE__",
    "__STATE__", "__RELAY_STORE__", "__SSR_DATA__",
];
const STATE_IDS: &[&str] = &[
    "__NEXT_DATA__",
    "__NUXT_DATA__",
    "ng-state",
    "serverApp-state",
    "__UNIVERSAL_DATA_FOR_REHYDRATION__",
];

/// Code of bot challenges.
const CHALLENGE_CODE: &[&str] = &[
    "_cf_chl_opt",
    "cf_chl_",
    "/cdn-cgi/challenge-platform/h/",
    "captcha-delivery.com",
    "_Incapsula_Resource",
    "px-captcha",
    "_pxAppId",
    "token.awswaf.com",
    "gokuProps",
    "awsWafCookieDomainList",
    "sgcaptcha",
    "ddos-guard",
    "KPSDK",
    "within.website/x/cmd/anubis",
    "/_sec/cp_challenge",
    "slowAES.decrypt",
    "hcaptcha.com/captcha/challenge",
];

/// Classifies every script of the page.
pub(super) fn scripts(dom: &Dom) -> Scripts {
    let mut found = Scripts::default();
    let mut hidden = 0;
    for &id in &dom.rare {
        let tag = dom.tag(id);
        if id >= hidden && matches!(tag, Tag::Noscript | Tag::Template) {
            hidden = dom.end(id);
        }
        if tag == Tag::Script && id >= hidden {
            classify(dom, id, &mut found);
        }
    }
    found
}

fn classify(dom: &Dom, id: NodeId, found: &mut Scripts) {
    let code = dom.text_of(id, limits::SCRIPT_BYTES);
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    found.state |= has(STATE_CODE)
        || dom
            .attr(id, attr::ID)
            .is_some_and(|name| STATE_IDS.contains(&name));
    if !is_executed_type(dom.attr(id, attr::TYPE)) {
        return;
    }
    found.running += 1;
    if let Some(src) = dom.attr(id, attr::SRC) {
        found.challenge |= CHALLENGE_CODE.iter().any(|word| src.contains(word));
        found.writing += usize::from(!is_side_file(src));
        return;
    }
    found.challenge |= has(CHALLENGE_CODE);
    found.reloads |=
        code.contains("document.cookie") && has(&["location.reload", "location.href", "location.replace"]);
    if code.len() <= SIDE_CODE_BYTES && has(SIDE_CODE) {
        return;
    }
    if has(WRITING_CODE) {
        found.writing += 1;
        collect_names(&code, &mut found.names);
    }
}

/// Returns whether a browser runs a script of this type; other types are data.
fn is_executed_type(kind: Option<&str>) -> bool {
    let Some(kind) = kind else { return true };
    let kind = kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    matches!(kind.as_str(), "" | "module" | "text/javascript" | "application/javascript" | "text/ecmascript")
        || kind.ends_with("javascript") && kind.contains('/')
        // A placeholder type: a proxy starts the script later.
        || kind.ends_with("-text/javascript")
}

/// Returns whether the file at this URL does not contribute to the page's content.
fn is_side_file(src: &str) -> bool {
    let src = src.trim();
    let plain = src.split(['?', '#']).next().unwrap_or(src);
    let path = plain.split_once("//").map_or(plain, |(_, rest)| rest);
    let is_absolute = plain.starts_with("//") || plain.contains("://");
    let host = path.split('/').next().unwrap_or("").to_ascii_lowercase();
    if is_absolute && SIDE_HOSTS.iter().any(|side| links::is_within(&host, side)) {
        return true;
    }
    if path.contains("/_vercel/insights")
        || path.contains("/_vercel/speed-insights")
        || path.contains("/cdn-cgi/scripts/")
    {
        return true;
    }
    let file = path.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
    let stem = file.split(".js").next().unwrap_or(&file).trim_end_matches(".min");
    SIDE_FILES.contains(&stem)
        || LIBRARY_FILES.iter().any(|library| {
            // For example `jquery-3.7.1`, `bootstrap.bundle`.
            stem.strip_prefix(library)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '_']))
        })
}

/// Collects the element names that code looks up: `getElementById("x")`, `querySelector("#x")`, `$("#x")`.
fn collect_names(code: &str, names: &mut BTreeSet<String>) {
    let mut add = |rest: &str| {
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')))
            .unwrap_or(rest.len());
        if end > 0 && names.len() < limits::SCRIPT_NAMES {
            names.insert(rest[..end].to_owned());
        }
    };
    for lookup in ["getElementById(\"", "getElementById('", "getElementById(`"] {
        code.split(lookup).skip(1).for_each(&mut add);
    }
    for lookup in ["(\"#", "('#", "(`#"] {
        code.split(lookup).skip(1).for_each(&mut add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_scripts_are_detected_by_host_and_file_name() {
        for side in [
            "https://www.googletagmanager.com/gtag/js?id=G-1",
            "//static.cloudflareinsights.com/beacon.min.js",
            "/js/jquery-3.7.1.min.js",
            "https://cdn.example/bootstrap.bundle.min.js?v=5",
            "/matomo.js",
            "/_vercel/insights/script.js",
        ] {
            assert!(is_side_file(side), "{side}");
        }
        for own in [
            "/assets/index-B3x.js", "main.js", "https://cdn.example/app.js", "/jqueryapp.js",
            "/notdisqus.com/a.js",
        ] {
            assert!(!is_side_file(own), "{own}");
        }
    }

    #[test]
    fn data_scripts_are_not_run() {
        for data in [
            "application/ld+json", "importmap", "speculationrules", "text/template", "application/json",
            "text/x-handlebars",
        ] {
            assert!(!is_executed_type(Some(data)), "{data}");
        }
        for run in [
            None,
            Some(""),
            Some("module"),
            Some("text/javascript; charset=utf-8"),
            Some("application/x-javascript"),
            Some("1a2b-text/javascript"),
        ] {
            assert!(is_executed_type(run), "{run:?}");
        }
    }
}
