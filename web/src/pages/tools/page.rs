//! Converts the HTML of a page to Markdown, cleaned HTML, links and metadata.

use std::sync::Arc;

use harvestman_core::api::Document;
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{Input, ToolLayout, lines, non_empty, run_tool};
use crate::components::switch::Switch;
use crate::components::viewer::Viewer;
use crate::package::Package;
use crate::text;

/// Renders the tool.
#[component]
pub(super) fn PageTool(package: Package) -> impl IntoView {
    let html = RwSignal::new(String::new());
    let url = RwSignal::new(String::new());
    let include = RwSignal::new(String::new());
    let exclude = RwSignal::new(String::new());
    let main_only = RwSignal::new(true);
    let output = run_tool(package, "page", move || {
        let mut input = json!({
            "html": non_empty(html)?,
            "onlyMainContent": main_only.get(),
            "includeTags": lines(include),
            "excludeTags": lines(exclude),
        });
        if let Some(url) = non_empty(url) {
            input["url"] = Value::from(url);
        }
        Some(input)
    });
    view! {
        <ToolLayout package output empty=text::TOOL_PAGE_EMPTY render=result>
            <Input id="page-html" label="HTML" value=html rows=14 placeholder="<main><h1>A page</h1>…</main>"/>
            <Input id="page-url" label="Page URL" value=url placeholder="https://example.com/page" hint="Makes relative links absolute."/>
            <div class="row">
                <Input id="page-include" label="Include tags" value=include rows=2 hint="CSS selectors, one per line."/>
                <Input id="page-exclude" label="Exclude tags" value=exclude rows=2 hint="CSS selectors, one per line."/>
            </div>
            <Switch id="page-main" label="Main content only" value=main_only on_change=move |on| main_only.set(on)/>
        </ToolLayout>
    }
    .into_any()
}

/// Renders the result, which has the shape of a scraped document.
fn result(value: &Value) -> AnyView {
    match serde_json::from_value::<Document>(value.clone()) {
        Ok(document) => {
            let document = Some(Arc::new(document));
            view! { <Viewer document=Signal::stored(document)/> }.into_any()
        }
        Err(error) => view! { <p class="empty">{error.to_string()}</p> }.into_any(),
    }
}
