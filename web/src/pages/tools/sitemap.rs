//! Lists the URLs of a sitemap.

use leptos::prelude::*;
use serde_json::{Value, json};

use super::{Bench, Input, addresses, made, strings, typed};
use crate::package::Package;
use crate::text;

/// Default URL of the sitemap, which only matters for relative URLs in it.
const NOWHERE: &str = "https://example.com/sitemap.xml";

/// Renders the tool.
#[component]
pub(super) fn SitemapTool(package: Package) -> impl IntoView {
    let file = RwSignal::new(String::new());
    let url = RwSignal::new(String::new());
    let made = made(package, "sitemap", move || {
        let url = typed(url).unwrap_or_else(|| NOWHERE.to_owned());
        Some(json!({ "text": typed(file)?, "url": url }))
    });
    view! {
        <Bench package made empty=text::TOOL_SITEMAP_EMPTY shows=result>
            <Input id="sitemap-text" label="Sitemap" value=file rows=14 placeholder="<urlset><url><loc>https://example.com/</loc></url></urlset>"/>
            <Input id="sitemap-url" label="Sitemap URL" value=url placeholder=NOWHERE hint="Makes relative URLs absolute."/>
        </Bench>
    }
    .into_any()
}

fn result(value: &Value) -> AnyView {
    let (pages, sitemaps) = (strings(&value["pages"]), strings(&value["sitemaps"]));
    if pages.is_empty() && sitemaps.is_empty() {
        return view! { <p class="empty">"The sitemap contains no URLs."</p> }.into_any();
    }
    view! {
        {addresses("Pages", pages)}
        {addresses("Further sitemaps", sitemaps)}
    }
    .into_any()
}
