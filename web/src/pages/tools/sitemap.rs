//! Lists the URLs of a sitemap.

use leptos::prelude::*;
use serde_json::{Value, json};

use super::{Input, ToolLayout, non_empty, run_tool, strings, url_list};
use crate::package::Package;
use crate::text;

/// Default URL of the sitemap, which only matters for relative URLs in it.
const DEFAULT_URL: &str = "https://example.com/sitemap.xml";

/// Renders the tool.
#[component]
pub(super) fn SitemapTool(package: Package) -> impl IntoView {
    let file = RwSignal::new(String::new());
    let url = RwSignal::new(String::new());
    let output = run_tool(package, "sitemap", move || {
        let url = non_empty(url).unwrap_or_else(|| DEFAULT_URL.to_owned());
        Some(json!({ "text": non_empty(file)?, "url": url }))
    });
    view! {
        <ToolLayout package output empty=text::TOOL_SITEMAP_EMPTY render=result>
            <Input id="sitemap-text" label="Sitemap" value=file rows=14 placeholder="<urlset><url><loc>https://example.com/</loc></url></urlset>"/>
            <Input id="sitemap-url" label="Sitemap URL" value=url placeholder=DEFAULT_URL hint="Makes relative URLs absolute."/>
        </ToolLayout>
    }
    .into_any()
}

fn result(value: &Value) -> AnyView {
    let (pages, sitemaps) = (strings(&value["pages"]), strings(&value["sitemaps"]));
    if pages.is_empty() && sitemaps.is_empty() {
        return view! { <p class="empty">"The sitemap contains no URLs."</p> }.into_any();
    }
    view! {
        {url_list("Pages", pages)}
        {url_list("Nested sitemaps", sitemaps)}
    }
    .into_any()
}
