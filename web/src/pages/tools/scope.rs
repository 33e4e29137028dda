//! Checks which URLs are in the scope of a crawl, and which rule decides.

use leptos::prelude::*;
use serde_json::{Value, json};

use super::{Input, ToolLayout, lines, non_empty, verdict_badge};
use crate::components::switch::Switch;
use crate::package::Package;
use crate::{display, text};

/// Renders the tool.
#[component]
pub(super) fn ScopeTool(package: Package) -> impl IntoView {
    let start = RwSignal::new(String::new());
    let include = RwSignal::new(String::new());
    let exclude = RwSignal::new(String::new());
    let links = RwSignal::new(String::new());
    let depth = RwSignal::new(String::new());
    let switches = [
        ("crawlEntireDomain", "Entire domain"),
        ("allowSubdomains", "Subdomains"),
        ("allowExternalLinks", "External links"),
        ("regexOnFullURL", "Match full URL"),
    ]
    .map(|(name, label)| (name, label, RwSignal::new(false)));
    let input = move |depth: u32| {
        let mut request = json!({
            "url": non_empty(start)?,
            "includePaths": lines(include),
            "excludePaths": lines(exclude),
        });
        for (name, _, on) in switches {
            if on.get() {
                request[name] = Value::Bool(true);
            }
        }
        let links = lines(links);
        (!links.is_empty()).then(|| json!({ "request": request, "links": links, "depth": depth }))
    };
    let output = Memo::new(
        move |_| match non_empty(depth).map_or(Ok(1), |depth| depth.parse::<u32>()) {
            Ok(depth) => package.run("scope", &input(depth)?),
            Err(_) => Some(Err(text::TOOL_SCOPE_DEPTH.to_owned())),
        },
    );
    let toggles = switches
        .map(|(name, label, value)| view! { <Switch id=name label value on_change=move |on: bool| value.set(on)/> });
    view! {
        <ToolLayout package output empty=text::TOOL_SCOPE_EMPTY render=result>
            <Input id="scope-url" label="Start URL" value=start placeholder="https://example.com/docs"/>
            <div class="row">
                <Input id="scope-include" label="Include paths" value=include rows=2 hint="Regular expressions, one per line."/>
                <Input id="scope-exclude" label="Exclude paths" value=exclude rows=2 hint="Regular expressions, one per line."/>
            </div>
            <div class="row">{toggles}</div>
            <Input id="scope-links" label="Links to test" value=links rows=7 placeholder="https://example.com/docs/start" hint="One per line."/>
            <Input id="scope-depth" label="Discovery depth" value=depth placeholder="1" hint="Links of the start page have depth 1."/>
        </ToolLayout>
    }
    .into_any()
}

fn result(value: &Value) -> AnyView {
    let verdicts = value.as_array().cloned().unwrap_or_default();
    let is_in = |verdict: &Value| verdict["included"] == true;
    let counted = format!(
        "{} of {}",
        display::count(verdicts.iter().filter(|one| is_in(one)).count() as u64),
        display::count(verdicts.len() as u64)
    );
    let rows = verdicts.iter().map(|one| {
        let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
        view! {
            <li class="verdict">
                {verdict_badge(is_in(one), if is_in(one) { "in" } else { "out" })}
                <span>
                    <code>{text("url")}</code>
                    <span class="what">{text("reason")}</span>
                </span>
            </li>
        }
    });
    view! {
        <div class="card-head">
            <h2>"Verdicts"</h2>
            <span class="grow"></span>
            <span class="hint">{counted} " in scope"</span>
        </div>
        <ul class="rows">{rows.collect_view()}</ul>
    }
    .into_any()
}
