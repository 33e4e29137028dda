//! Checks whether a robots.txt allows a URL.

use leptos::prelude::*;
use serde_json::{Value, json};

use super::{Input, ToolLayout, non_empty, run_tool, strings, url_list, verdict_badge};
use crate::package::Package;
use crate::text;

/// Renders the tool.
#[component]
pub(super) fn RobotsTool(package: Package) -> impl IntoView {
    let rules = RwSignal::new(String::new());
    let url = RwSignal::new(String::new());
    let agent = RwSignal::new(String::new());
    let output = run_tool(package, "robots", move || {
        let agent = non_empty(agent).unwrap_or_else(|| "*".to_owned());
        Some(json!({ "text": non_empty(rules)?, "url": non_empty(url)?, "agent": agent }))
    });
    view! {
        <ToolLayout package output empty=text::TOOL_ROBOTS_EMPTY render=result>
            <Input id="robots-text" label="robots.txt" value=rules rows=12 placeholder="User-agent: *\nDisallow: /private"/>
            <Input id="robots-url" label="URL" value=url placeholder="https://example.com/private/page"/>
            <Input id="robots-agent" label="User agent" value=agent placeholder="*" hint="The product token, such as MyBot."/>
        </ToolLayout>
    }
    .into_any()
}

fn result(value: &Value) -> AnyView {
    let allowed = value["allowed"] == true;
    let delay = match value["crawlDelay"].as_f64() {
        Some(seconds) => format!("{seconds} s between requests"),
        None => "none".to_owned(),
    };
    let rule = match value["rule"].as_str() {
        Some(rule) => view! {
            <code>{rule.to_owned()}</code>
            {format!(" on line {}", value["line"])}
        }
        .into_any(),
        None => text::TOOL_ROBOTS_NO_RULE.into_any(),
    };
    view! {
        <div class="pad gap">
            <p class="big-verdict" data-verdict="">
                {verdict_badge(allowed, if allowed { "allowed" } else { "blocked" })}
            </p>
            <dl class="pairs">
                <dt>"Rule"</dt>
                <dd>{rule}</dd>
                <dt>"Crawl-delay"</dt>
                <dd>{delay}</dd>
            </dl>
        </div>
        {url_list("Sitemaps", strings(&value["sitemaps"]))}
    }
    .into_any()
}
