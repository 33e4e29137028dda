//! Verifies the signature of a webhook delivery.

use leptos::prelude::*;
use serde_json::{Value, json};

use super::{Input, ToolLayout, non_empty, run_tool, verdict_badge};
use crate::components::code::Code;
use crate::highlight;
use crate::package::Package;
use crate::text;

/// Renders the tool.
#[component]
pub(super) fn WebhookTool(package: Package) -> impl IntoView {
    let body = RwSignal::new(String::new());
    let signature = RwSignal::new(String::new());
    let secret = RwSignal::new(String::new());
    let output = run_tool(package, "webhook", move || {
        // Not trimmed, because the signature covers every byte of the body.
        let body = body.get();
        let given = !body.is_empty();
        let secret = non_empty(secret).filter(|_| given)?;
        Some(json!({ "body": body, "signature": non_empty(signature).unwrap_or_default(), "secret": secret }))
    });
    view! {
        <ToolLayout package output empty=text::TOOL_WEBHOOK_EMPTY render=result>
            <Input id="hook-body" label="Body as received" value=body rows=10 placeholder="{\"type\":\"crawl.page\"}"/>
            <Input id="hook-signature" label="Signature header" value=signature placeholder="sha256=…"/>
            <Input id="hook-secret" label="Secret" value=secret hint="Stays in this page."/>
        </ToolLayout>
    }
    .into_any()
}

fn result(value: &Value) -> AnyView {
    let problem = value["problem"].as_str().map(str::to_owned);
    let good = problem.is_none();
    let event = good.then(|| {
        let written = serde_json::to_string_pretty(&value["event"]).unwrap_or_default();
        view! { <Code html=highlight::json(&written) label="Event" wrap=true/> }
    });
    view! {
        <div class="pad gap">
            <p class="big-verdict" data-verdict="">
                {verdict_badge(good, if good { "signature valid" } else { "signature invalid" })}
            </p>
            {problem.map(|problem| view! { <p class="quiet-text">{problem}</p> })}
            <dl class="pairs">
                <dt>"Expected"</dt>
                <dd class="mono">{value["expected"].as_str().unwrap_or_default().to_owned()}</dd>
            </dl>
        </div>
        {event}
    }
    .into_any()
}
