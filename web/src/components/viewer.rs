//! Viewer of a page document: one tab for each part that it has, such as rendered page, Markdown, links and metadata,
//! with find, copy and save.

use std::sync::Arc;

use harvestman_core::api::Document;
use harvestman_core::api::page::ActionOutputs;
use leptos::prelude::*;
use serde_json::Value;

use crate::browser::{self, FileParts};
use crate::components::button::{IconButton, IconToggle};
use crate::components::code::{Code, copy};
use crate::components::external_link::external_link;
use crate::components::find_bar::FindBar;
use crate::components::icon::{Glyph, Icon};
use crate::components::inline_code::inline_code;
use crate::components::panes::Expand;
use crate::components::removed_content::{PageOptions, RemovedContent};
use crate::components::tabs::{Tab, Tabs, tab};
use crate::console::Console;
use crate::display;
use crate::highlight::{blocks, json};
use crate::limits::{CHARS_PER_TOKEN, SHOWN_LINKS, SOURCE_BYTES};
use crate::markdown::{is_safe_link, render};
use crate::route;
use crate::storage;
use crate::text;

const LAST_TAB: &str = "viewer-tab";

/// A document that signals can share.
pub type SharedDocument = Arc<Document>;

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Returns the text of a tab, if the document has that part.
fn tab_text(document: &Document, id: &str) -> Option<String> {
    match id {
        "markdown" => document.markdown.clone(),
        "html" => document.html.clone(),
        "rawHtml" => document.raw_html.clone(),
        "summary" => document.summary.clone(),
        "answer" => document.answer.clone(),
        "highlights" => document.highlights.clone(),
        "links" => document.links.as_ref().map(|links| links.join("\n")),
        "images" => document.images.as_ref().map(|images| images.join("\n")),
        "extracted" => document.json.as_ref().map(pretty),
        "attributes" => document.attributes.as_ref().map(pretty),
        "branding" => document.branding.as_ref().map(pretty),
        "product" => document.product.as_ref().map(pretty),
        "menu" => document.menu.as_ref().map(pretty),
        "rawBase64" => document.raw_base64.clone(),
        "changes" => document.change_tracking.as_ref().map(pretty),
        "actions" => document.actions.as_ref().map(pretty),
        "screenshot" => document.screenshot.clone(),
        "metadata" => Some(pretty(&document.metadata)),
        _ => Some(pretty(document)),
    }
}

fn tabs_of(document: &Document) -> Vec<Tab> {
    let counted = |id, label, count: usize| Tab {
        id,
        label,
        count: Some(display::count(count as u64)),
    };
    let mut tabs = Vec::new();
    if document
        .markdown
        .as_ref()
        .is_some_and(|text| !text.trim().is_empty())
    {
        tabs.extend([tab("rendered", "Rendered"), tab("markdown", "Markdown")]);
    }
    let texts = [
        ("summary", "Summary"),
        ("answer", "Answer"),
        ("highlights", "Highlights"),
        ("extracted", "Extracted"),
        ("attributes", "Attributes"),
        ("branding", "Branding"),
        ("product", "Product"),
        ("menu", "Menu"),
        ("changes", "Changes"),
        ("actions", "Actions"),
        ("html", "HTML"),
        ("rawHtml", "Raw HTML"),
        ("rawBase64", "Base64"),
        ("screenshot", "Screenshot"),
    ];
    tabs.extend(
        texts
            .into_iter()
            .filter(|(id, _)| tab_text(document, id).is_some())
            .map(|(id, label)| tab(id, label)),
    );
    if let Some(links) = document.links.as_ref().filter(|links| !links.is_empty()) {
        tabs.push(counted("links", "Links", links.len()));
    }
    if let Some(images) = document.images.as_ref().filter(|images| !images.is_empty()) {
        tabs.push(counted("images", "Images", images.len()));
    }
    tabs.extend([tab("metadata", "Metadata"), tab("json", "JSON")]);
    tabs
}

/// Renders the viewer.
#[component]
pub fn Viewer(
    #[prop(into)] document: Signal<Option<SharedDocument>>,
    /// Options that the page was scraped with; without them its removed content is not offered.
    #[prop(optional_no_strip, into)]
    options: Option<PageOptions>,
) -> impl IntoView {
    let console = Console::get();
    let tabs = Memo::new(move |_| {
        let mut tabs = document.with(|document| document.as_deref().map(tabs_of).unwrap_or_default());
        if options.is_some() && tabs.iter().any(|tab| tab.id == "markdown") {
            tabs.insert(2, tab("removed", "Removed"));
        }
        tabs
    });
    let (selected, open) = tab_signals(tabs);
    let text_of_tab = move || {
        let id = source_of(open.get_untracked());
        document
            .with_untracked(|document| document.as_deref().and_then(|document| tab_text(document, id)))
            .unwrap_or_default()
    };
    let save = move |()| {
        let name = document.with_untracked(|document| document.as_deref().map(file_name));
        if save_file(&name.unwrap_or_default(), open.get_untracked(), &text_of_tab()).is_none() {
            console.notify(text::NOT_SAVED);
        }
    };
    let find_open = RwSignal::new(false);
    let shown = Signal::derive(move || {
        document.track();
        open.track();
    });
    let end = move || {
        view! {
            <IconToggle label="Find in result" glyph=Glyph::Search on=find_open/>
            <IconButton label="Copy" glyph=Glyph::Copy on_click=Callback::new(move |()| copy(console, text_of_tab()))/>
            <IconButton label="Save as file" glyph=Glyph::Save on_click=Callback::new(save)/>
            <Expand/>
        }
    };
    view! {
        <Tabs name="viewer" label="Parts of the page" tabs chosen=selected end/>
        <FindBar open=find_open selector="#viewer-panel" content=shown/>
        <div role="tabpanel" id="viewer-panel" aria-labelledby=move || format!("viewer-{}", open.get())>
            {move || {
                document.get().map(|document| match (open.get(), options) {
                    ("removed", Some(options)) => view! { <RemovedContent document options/> }.into_any(),
                    (open, _) => body(&document, open),
                })
            }}
        </div>
        {move || document.get().map(|document| footer(&document))}
    }
    .into_any()
}

/// Returns the tab that the user selects, and the open one: the first if this document does not have that part.
fn tab_signals(tabs: Memo<Vec<Tab>>) -> (RwSignal<&'static str>, Memo<&'static str>) {
    // The tab that the user chose, which this document may not have.
    let wanted = RwSignal::new(storage::read(LAST_TAB).unwrap_or_else(|| "rendered".to_owned()));
    let open = Memo::new(move |_| {
        tabs.with(|tabs| {
            let tab = wanted.with(|wanted| tabs.iter().find(|tab| tab.id == wanted));
            tab.or(tabs.first()).map_or("json", |tab| tab.id)
        })
    });
    let selected = RwSignal::new(open.get_untracked());
    Effect::new(move |_| {
        let open = open.get();
        if selected.get_untracked() != open {
            selected.set(open);
        }
    });
    Effect::new(move |_| {
        let now = selected.get();
        // Only the user selects another tab than the open one.
        if now != open.get_untracked() {
            wanted.set(now.to_owned());
            // The comparison costs a scrape, so the user starts it for each page.
            if now != "removed" {
                storage::write(LAST_TAB, &now);
            }
        }
    });
    (selected, open)
}

/// Returns the part of the document that a tab shows.
fn source_of(tab: &'static str) -> &'static str {
    match tab {
        "rendered" | "removed" => "markdown",
        tab => tab,
    }
}

/// Saves the text of a tab as a file; an image of this server as an image.
fn save_file(name: &str, tab: &'static str, text: &str) -> Option<()> {
    if let Some((kind, image)) = image_of(text).filter(|_| tab == "screenshot") {
        let parts = FileParts::default();
        parts.push_bytes(&image);
        return parts.save(&format!("{name}.{kind}"), &format!("image/{kind}"));
    }
    let (ending, kind) = match source_of(tab) {
        "markdown" => ("md", "text/markdown"),
        "html" | "rawHtml" => ("html", "text/html"),
        "links" | "images" | "summary" | "answer" | "highlights" | "rawBase64" | "screenshot" => {
            ("txt", "text/plain")
        }
        _ => ("json", "application/json"),
    };
    browser::download(&format!("{name}.{ending}"), kind, text)
}

fn body(document: &Document, open: &'static str) -> AnyView {
    let text = tab_text(document, source_of(open)).unwrap_or_default();
    match open {
        "rendered" => {
            let rendered = render(&text);
            let cut = rendered
                .cut
                .then(|| view! { <p class="notice warn">{text::RENDER_CUT}</p> });
            view! {
                {cut}
                <div class="prose" tabindex="0" role="region" aria-label="Rendered page" inner_html=rendered.html></div>
            }
            .into_any()
        }
        "links" => url_list(document.links.as_deref().unwrap_or_default()),
        "images" => url_list(document.images.as_deref().unwrap_or_default()),
        "metadata" => metadata_list(document),
        "screenshot" => image(text),
        "actions" => actions(document.actions.as_ref(), &text),
        "summary" | "answer" | "highlights" => {
            view! { <div class="prose" tabindex="0" inner_html=render(&text).html></div> }.into_any()
        }
        kind => {
            let (shown, cut) = truncate(&text);
            let html = match kind {
                "json" | "extracted" | "attributes" | "branding" | "product" | "menu" | "changes" => {
                    json(shown)
                }
                _ => blocks(shown),
            };
            view! {
                {cut.then(|| view! { <p class="notice warn">{text::SOURCE_CUT}</p> })}
                <Code html label="Source" wrap=true/>
            }
            .into_any()
        }
    }
}

/// Renders the results of actions: screenshots, then everything as JSON.
fn actions(outputs: Option<&ActionOutputs>, text: &str) -> AnyView {
    let images = outputs.into_iter().flat_map(|outputs| &outputs.screenshots);
    let images = images.map(|url| image(url.clone()));
    let (shown, cut) = truncate(text);
    view! {
        {images.collect_view()}
        {cut.then(|| view! { <p class="notice warn">{text::SOURCE_CUT}</p> })}
        <Code html=json(shown) label="Source" wrap=true/>
    }
    .into_any()
}

/// Returns the first [`SOURCE_BYTES`] of a text, and whether it was cut; more would block the page.
fn truncate(text: &str) -> (&str, bool) {
    let end = text.floor_char_boundary(SOURCE_BYTES);
    (&text[..end], end < text.len())
}

/// Renders an image that this server made. An image on another host is shown as a link, so that viewing a page makes
/// no request to that host.
fn image(url: String) -> AnyView {
    let own = url.starts_with("data:image/") || url.starts_with(&format!("{}/", browser::origin()));
    match own {
        true => view! { <div class="prose" tabindex="0"><img src=url alt="Screenshot of the page"/></div> }
            .into_any(),
        false => url_list(&[url]),
    }
}

/// Returns the kind and the bytes of an image in a data URL.
fn image_of(url: &str) -> Option<(&str, Vec<u8>)> {
    let (kind, data) = url.strip_prefix("data:image/")?.split_once(";base64,")?;
    let bytes = window().atob(data).ok()?;
    Some((kind, bytes.chars().map(|byte| byte as u8).collect()))
}

fn url_list(list: &[String]) -> AnyView {
    let rest = list.len().saturating_sub(SHOWN_LINKS);
    let rest = (rest > 0).then(|| {
        let words = format!(
            "{} more. Copy and Save include all of them.",
            display::count(rest as u64)
        );
        view! { <p class="hint">{words}</p> }
    });
    let items = list
        .iter()
        .take(SHOWN_LINKS)
        .map(|url| view! { <li>{external_link(url, "", url.clone())}</li> });
    view! {
        <div class="scroll pad" tabindex="0" role="region" aria-label="URLs">
            <ul class="links">{items.collect_view()}</ul>
            {rest}
        </div>
    }
    .into_any()
}

fn metadata_list(document: &Document) -> AnyView {
    let metadata = serde_json::to_value(&document.metadata).unwrap_or_default();
    let fields = metadata.as_object().into_iter().flatten().map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        view! {
            <dt>{name.clone()}</dt>
            <dd>{value}</dd>
        }
    });
    view! {
        <div class="scroll pad" tabindex="0" role="region" aria-label="Metadata">
            <dl class="pairs">{fields.collect_view()}</dl>
        </div>
    }
    .into_any()
}

fn footer(document: &Document) -> AnyView {
    let metadata = &document.metadata;
    let size = document.markdown.as_ref().map(|text| {
        let characters = text.chars().count();
        view! {
            <span>{display::plural(characters as u64, "character", "characters")}</span>
            <span>{format!("about {} tokens", display::count(characters.div_ceil(CHARS_PER_TOKEN) as u64))}</span>
        }
    });
    let url = metadata
        .url
        .clone()
        .or_else(|| metadata.source_url.clone())
        .filter(|url| is_safe_link(url));
    // A converted file has neither a URL nor a status.
    let is_page = url.is_some();
    let facts = [
        metadata
            .status_code
            .filter(|_| is_page)
            .map(|status| format!("HTTP {status}")),
        metadata
            .cache_state
            .as_ref()
            .map(|state| format!("cache {state}")),
        metadata
            .credits_used
            .map(|credits| display::plural(u64::from(credits), "credit", "credits")),
    ];
    let facts = facts
        .into_iter()
        .flatten()
        .map(|fact| view! { <span>{fact}</span> });
    let open = url.map(|url| external_link(&url, "cut", display::short_url(&url).to_owned()));
    let interact = metadata.scrape_id.filter(|_| is_page).map(|id| {
        view! {
            <a class="btn small" href=route::session_href(&id)>
                <Icon glyph=Glyph::Sessions/>
                "Interact with this page"
            </a>
        }
    });
    let warning = document
        .warning
        .clone()
        .map(|warning| view! { <p class="notice warn">{inline_code(&warning)}</p> });
    view! {
        {warning.map(|warning| view! { <div class="pad">{warning}</div> })}
        <div class="card-foot">{size} {facts.collect_view()} <span class="grow"></span> {open} {interact}</div>
    }
    .into_any()
}

/// Returns host and path of the document's URL as a file name.
fn file_name(document: &Document) -> String {
    let metadata = &document.metadata;
    let url = metadata.url.as_deref().or(metadata.source_url.as_deref());
    browser::file_name(url.unwrap_or("page"))
}
