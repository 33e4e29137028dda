//! Site preview: what robots.txt allows, which links of the start page and which URLs of the sitemaps are in scope with
//! the options in the form. The core's own rules decide, through the npm package in this page.

use harvestman_client::ClientError;
use harvestman_core::api::crawl::SitemapMode;
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::map::MapLink;
use harvestman_core::api::{Document, MapRequest, ScrapeRequest, TargetUrl, Wire};
use leptos::prelude::*;
use serde_json::{Value, json};
use url::Url;

use crate::browser;
use crate::components::button::{BusyButton, spawn_busy};
use crate::components::code::Code;
use crate::components::inline_code::inline_code;
use crate::console::Console;
use crate::draft::Draft;
use crate::highlight::escape;
use crate::limits::{PREVIEW_SHOWN_URLS, PREVIEW_URLS};
use crate::package::Package;
use crate::{display, text};

/// The fetched facts about a site.
#[derive(Clone, PartialEq)]
struct SitePreview {
    url: Url,
    /// The text of robots.txt, if the site has one; or the error.
    robots: Result<Option<String>, String>,
    /// Links of the start page.
    start_links: Result<Vec<String>, String>,
    /// URLs of the sitemaps.
    links: Result<Vec<MapLink>, String>,
}

/// Renders the card.
#[component]
pub fn Preview(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let site = RwSignal::new(None::<SitePreview>);
    let package = Package::unloaded();
    let busy = RwSignal::new(false);
    let load = Callback::new(move |()| {
        let Some(target) = start_url(draft) else {
            draft.submitted.set(true);
            browser::focus_soon("[data-url]");
            return;
        };
        if busy.get_untracked() {
            return;
        }
        package.load();
        spawn_busy(busy, async move {
            let url = target.url.clone();
            let robots = fetch_robots(console, &url).await;
            let start_links = fetch_start_links(console, &url).await;
            let request = MapRequest {
                sitemap: SitemapMode::Only,
                limit: PREVIEW_URLS,
                ..MapRequest::new(target)
            };
            let links = console.client().map(&request).await;
            let links = links
                .map(|response| response.links)
                .map_err(|error| console.report(&error));
            site.try_set(Some(SitePreview {
                url,
                robots,
                start_links,
                links,
            }));
        });
    });
    // A preview of another URL than the one in the form is hidden.
    let is_current = Memo::new(move |_| {
        let url = start_url(draft).map(|target| target.url);
        site.with(|site| site.as_ref().map(|site| &site.url) == url.as_ref())
    });
    view! {
        <section class="card pane-result" aria-label="Preview">
            <div class="card-head">
                <h2>"Preview"</h2>
                <span class="grow"></span>
                <BusyButton class="btn small" busy label="Preview site" busy_label="Loading preview" on_click=load/>
            </div>
            {move || match package.state.get() {
                Some(Err(problem)) => Some(view! { <p class="pad quiet-text" role="alert">{text::PACKAGE_FAILED} " " {problem}</p> }),
                _ => None,
            }}
            {move || match site.get().filter(|_| is_current.get()) {
                None => view! { <p class="pad quiet-text">{text::PREVIEW_HELP}</p> }.into_any(),
                Some(site) => view! { <div class="pad gap">{robots_part(package, draft, &site)} {start_part(package, draft, &site)} {sitemap_part(package, draft, &site)}</div> }.into_any(),
            }}
        </section>
    }
    .into_any()
}

/// Returns the URL in the form, if it is valid.
fn start_url(draft: Draft) -> Option<TargetUrl> {
    TargetUrl::parse(draft.value("url")?.as_str()?).ok()
}

/// Fetches the site's robots.txt through a scrape.
async fn fetch_robots(console: Console, url: &Url) -> Result<Option<String>, String> {
    let robots = url.join("/robots.txt").map_err(|error| error.to_string())?;
    let document = scrape(console, &robots, FormatKind::RawHtml).await?;
    let is_found = document.metadata.status_code.is_some_and(|status| status < 300);
    Ok(document.raw_html.filter(|_| is_found))
}

/// Fetches the links of the start page through a scrape.
async fn fetch_start_links(console: Console, url: &Url) -> Result<Vec<String>, String> {
    let document = scrape(console, url, FormatKind::Links).await?;
    match document.metadata.status_code {
        Some(status) if status >= 400 => Err(format!("The start page returned {status}.")),
        _ => Ok(document.links.unwrap_or_default()),
    }
}

async fn scrape(console: Console, url: &Url, format: FormatKind) -> Result<Document, String> {
    let body =
        json!({ "url": url.as_str(), "formats": [format.as_str()], "onlyMainContent": false, "maxAge": 0 });
    let request = ScrapeRequest::from_value(body).map_err(|error| error.message)?;
    match console.client().scrape(&request).await {
        Ok(response) => Ok(response.data.unwrap_or_default()),
        Err(error) => {
            if matches!(error, ClientError::Network(_) | ClientError::Aborted) {
                console.handle_error(&error);
            }
            Err(error.to_string())
        }
    }
}

fn robots_part(package: Package, draft: Draft, site: &SitePreview) -> AnyView {
    let text = match &site.robots {
        Err(problem) => {
            return view! {
                <p><span class="badge warn">"robots.txt"</span> " " {format!("{} {problem}", text::ROBOTS_FAILED)}</p>
            }
            .into_any();
        }
        Ok(None) => {
            return view! { <p><span class="badge ok">"robots.txt"</span> " " {text::ROBOTS_NONE}</p> }
                .into_any();
        }
        Ok(Some(text)) => text.clone(),
    };
    let agent = draft.value("robotsUserAgent");
    let agent = agent
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or(text::ROBOTS_AGENT);
    let input = json!({ "text": text, "url": site.url.as_str(), "agent": agent });
    let verdict = match package.run("robots", &input) {
        None => return ().into_any(),
        Some(Err(problem)) => return problem.into_any(),
        Some(Ok(verdict)) => verdict,
    };
    let ignores_robots = draft.value("ignoreRobotsTxt") == Some(Value::Bool(true));
    let (class, message) = match (verdict["allowed"] == true, ignores_robots) {
        (true, _) => ("badge ok", "The start page is allowed."),
        (false, true) => (
            "badge warn",
            "The start page is blocked, but this crawl ignores robots.txt.",
        ),
        (false, false) => (
            "badge bad",
            "The start page is blocked, so the crawl would fetch nothing.",
        ),
    };
    let delay = verdict["crawlDelay"]
        .as_f64()
        .map(|seconds| format!(" Crawl delay: {}.", display::duration(seconds)));
    let sitemaps = verdict["sitemaps"].as_array().map_or(0, Vec::len) as u64;
    let lists =
        (sitemaps > 0).then(|| format!(" Lists {}.", display::plural(sitemaps, "sitemap", "sitemaps")));
    view! {
        <p><span class=class>"robots.txt"</span> " " {message} {delay} {lists}</p>
        <details class="preview-details">
            <summary>"Show robots.txt"</summary>
            <Code html=escape(&text) label="robots.txt" wrap=true/>
        </details>
    }
    .into_any()
}

fn sitemap_part(package: Package, draft: Draft, site: &SitePreview) -> AnyView {
    let urls: Vec<_> = match &site.links {
        Err(problem) => {
            return view! { <p><span class="badge warn">"Sitemap"</span> " " {problem.clone()}</p> }
                .into_any();
        }
        Ok(links) if links.is_empty() => {
            return view! { <p><span class="badge">"Sitemap"</span> " " {text::SITEMAP_NONE}</p> }.into_any();
        }
        Ok(links) => links.iter().map(|link| link.url.clone()).collect(),
    };
    let count = urls.len() as u64;
    let verdicts = verdicts(package, draft, urls);
    let more = if count == PREVIEW_URLS { " or more" } else { "" };
    let url_count = format!("{}{more}.", display::plural(count, "URL", "URLs"));
    let scope_summary = move || {
        verdicts.with(|verdicts| {
            let verdicts = verdicts.as_ref()?;
            Some(format!(
                " {} in scope, {} out of scope.",
                display::count(verdicts.in_scope.len() as u64),
                display::count(verdicts.out_of_scope.len() as u64)
            ))
        })
    };
    view! {
        <p><span class="badge ok">"Sitemap"</span> " " {url_count} {scope_summary}</p>
        {scope_list("Show URLs with scope", verdicts)}
    }
    .into_any()
}

/// Renders how many links of the start page are in scope, and offers the whole site when none is.
fn start_part(package: Package, draft: Draft, site: &SitePreview) -> AnyView {
    let urls = match &site.start_links {
        Err(problem) => {
            return view! { <p><span class="badge bad">"Start page"</span> " " {inline_code(problem)}</p> }
                .into_any();
        }
        Ok(links) => links.clone(),
    };
    let count = display::plural(urls.len() as u64, "link", "links");
    let path = display::url_path(site.url.as_str()).to_owned();
    let has_links = !urls.is_empty();
    let verdicts = verdicts(package, draft, urls);
    let in_scope = Memo::new(move |_| verdicts.with(|verdicts| Some(verdicts.as_ref()?.in_scope.len())));
    let whole_site = move || draft.value("crawlEntireDomain") == Some(Value::Bool(true));
    let offer = move || has_links && in_scope.get() == Some(0) && !whole_site();
    view! {
        <p>
            <span class=move || if in_scope.get() == Some(0) { "badge warn" } else { "badge ok" }>"Start page"</span>
            " "
            {move || match in_scope.get() {
                _ if !has_links => "It has no links.".to_owned(),
                None => format!("{count}."),
                Some(0) => format!("None of its {count} is in scope below {path}."),
                Some(number) => format!("{} of its {count} are in scope.", display::count(number as u64)),
            }}
        </p>
        <Show when=offer>
            <button
                type="button"
                class="btn small"
                on:click=move |_| draft.put("crawlEntireDomain", Some(Value::Bool(true)))
            >
                "Crawl the whole site"
            </button>
        </Show>
        {scope_list("Show links with scope", verdicts)}
    }
    .into_any()
}

/// URLs in scope, and URLs out of scope with the reason.
#[derive(Clone, PartialEq, Default)]
struct Verdicts {
    in_scope: Vec<String>,
    out_of_scope: Vec<(String, String)>,
}

/// Returns which URLs are in scope, recomputed when the form changes; `None` until the package is loaded.
fn verdicts(package: Package, draft: Draft, urls: Vec<String>) -> Memo<Option<Verdicts>> {
    let urls = StoredValue::new(urls);
    Memo::new(move |_| {
        let input = json!({ "request": draft.body.get(), "links": urls.get_value(), "depth": 0 });
        let response = package.run("scope", &input)?.ok()?;
        let mut verdicts = Verdicts::default();
        for verdict in response.as_array()? {
            let text_of = |name: &str| verdict[name].as_str().unwrap_or_default().to_owned();
            if verdict["included"] == true {
                verdicts.in_scope.push(text_of("url"));
            } else {
                verdicts.out_of_scope.push((text_of("url"), text_of("reason")));
            }
        }
        Some(verdicts)
    })
}

fn scope_list(summary: &'static str, verdicts: Memo<Option<Verdicts>>) -> AnyView {
    let list = move || {
        verdicts.with(|verdicts| {
            let verdicts = verdicts.as_ref()?;
            let in_scope = verdicts.in_scope.iter().take(PREVIEW_SHOWN_URLS).map(|url| {
                view! { <li><code>{display::url_path(url).to_owned()}</code></li> }
            });
            let out_of_scope = verdicts.out_of_scope.iter().take(PREVIEW_SHOWN_URLS).map(|(url, why)| {
                view! { <li class="out"><code>{display::url_path(url).to_owned()}</code> <span class="hint">{why.clone()}</span></li> }
            });
            Some(view! { <ul class="scope-list">{in_scope.collect_view()} {out_of_scope.collect_view()}</ul> })
        })
    };
    view! {
        <details class="preview-details">
            <summary>{summary}</summary>
            {list}
        </details>
    }
    .into_any()
}
