//! Site preview: what robots.txt allows, how many URLs the sitemaps list, and which of them are in scope with the
//! options in the form. The core's own rules decide, through the npm package in this page.

use harvestman_client::ClientError;
use harvestman_core::api::crawl::SitemapMode;
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::map::MapLink;
use harvestman_core::api::{MapRequest, ScrapeRequest, TargetUrl, Wire};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};
use url::Url;

use crate::browser;
use crate::components::code::Code;
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
    links: Result<Vec<MapLink>, String>,
}

/// Renders the card.
#[component]
pub fn Preview(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let site = RwSignal::new(None::<SitePreview>);
    let package = Package::unloaded();
    let busy = RwSignal::new(false);
    let load = move |_| {
        let url = draft
            .value("url")
            .and_then(|url| TargetUrl::parse(url.as_str()?).ok());
        let Some(target) = url else {
            draft.submitted.set(true);
            browser::focus_soon("[data-url]");
            return;
        };
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        package.load();
        spawn_local(async move {
            let url = target.url.clone();
            let robots = fetch_robots(console, &url).await;
            let request = MapRequest {
                sitemap: SitemapMode::Only,
                limit: PREVIEW_URLS,
                ..MapRequest::new(target)
            };
            let links = console.client().map(&request).await;
            let links = links.map(|answer| answer.links).map_err(|error| {
                console.handle_error(&error);
                error.to_string()
            });
            site.try_set(Some(SitePreview { url, robots, links }));
            busy.try_set(false);
        });
    };
    view! {
        <section class="card pane-result" aria-label="Preview">
            <div class="card-head">
                <h2>"Preview"</h2>
                <span class="grow"></span>
                <button type="button" class="btn small" aria-disabled=move || busy.get().to_string() on:click=load>
                    {move || busy.get().then(|| view! { <span class="spin"></span> })}
                    {move || if busy.get() { "Loading preview" } else { "Preview site" }}
                </button>
            </div>
            {move || match package.state.get() {
                Some(Err(problem)) => Some(view! { <p class="pad quiet-text" role="alert">{text::PACKAGE_FAILED} " " {problem}</p> }),
                _ => None,
            }}
            {move || match site.get() {
                None => view! { <p class="pad quiet-text">{text::PREVIEW_HELP}</p> }.into_any(),
                Some(site) => view! { <div class="pad gap">{robots_part(package, draft, &site)} {sitemap_part(package, draft, &site)}</div> }.into_any(),
            }}
        </section>
    }
    .into_any()
}

/// Fetches the site's robots.txt through a scrape.
async fn fetch_robots(console: Console, url: &Url) -> Result<Option<String>, String> {
    let address = url.join("/robots.txt").map_err(|error| error.to_string())?;
    let body = json!({ "url": address.as_str(), "formats": [FormatKind::RawHtml.as_str()], "maxAge": 0 });
    let request = ScrapeRequest::from_value(body).map_err(|error| error.message)?;
    match console.client().scrape(&request).await {
        Ok(answer) => {
            let document = answer.data.unwrap_or_default();
            let is_found = document.metadata.status_code.is_some_and(|status| status < 300);
            Ok(document.raw_html.filter(|_| is_found))
        }
        Err(error @ (ClientError::Network(_) | ClientError::Aborted)) => {
            console.handle_error(&error);
            Err(error.to_string())
        }
        Err(error) => Err(error.to_string()),
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
    let (class, message) = if verdict["allowed"] == true {
        ("badge ok", "The start page is allowed.")
    } else {
        (
            "badge bad",
            "The start page is blocked, so the crawl would fetch nothing.",
        )
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
    let urls = StoredValue::new(urls);
    // Recomputed when the form changes.
    let verdicts = Memo::new(move |_| {
        let input = json!({ "request": draft.body.get(), "links": urls.get_value(), "depth": 0 });
        let verdicts = package.run("scope", &input)?.ok()?;
        let (mut in_scope, mut out_of_scope) = (Vec::new(), Vec::new());
        for verdict in verdicts.as_array()? {
            let text_of = |name: &str| verdict[name].as_str().unwrap_or_default().to_owned();
            if verdict["included"] == true {
                in_scope.push(text_of("url"));
            } else {
                out_of_scope.push((text_of("url"), text_of("reason")));
            }
        }
        Some((in_scope, out_of_scope))
    });
    let more = if count == PREVIEW_URLS { " or more" } else { "" };
    let url_count = format!("{}{more}.", display::plural(count, "URL", "URLs"));
    let scope_summary = move || {
        verdicts.with(|verdicts| {
            let (in_scope, out_of_scope) = verdicts.as_ref()?;
            Some(format!(
                " {} in scope, {} out of scope.",
                display::count(in_scope.len() as u64),
                display::count(out_of_scope.len() as u64)
            ))
        })
    };
    let list = move || {
        verdicts.with(|verdicts| {
            let (in_scope, out_of_scope) = verdicts.as_ref()?;
            let in_scope = in_scope.iter().take(PREVIEW_SHOWN_URLS).map(|url| {
                view! { <li><code>{display::url_path(url).to_owned()}</code></li> }
            });
            let out_of_scope = out_of_scope.iter().take(PREVIEW_SHOWN_URLS).map(|(url, why)| {
                view! { <li class="out"><code>{display::url_path(url).to_owned()}</code> <span class="hint">{why.clone()}</span></li> }
            });
            Some(view! { <ul class="scope-list">{in_scope.collect_view()} {out_of_scope.collect_view()}</ul> })
        })
    };
    view! {
        <p><span class="badge ok">"Sitemap"</span> " " {url_count} {scope_summary}</p>
        <details class="preview-details">
            <summary>"Show URLs with scope"</summary>
            {list}
        </details>
    }
    .into_any()
}
