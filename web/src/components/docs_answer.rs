//! An answer about the documentation: text, sources, tokens used and duration.

use harvestman_core::api::support::{DocsResponse, Evidence};
use leptos::prelude::*;

use crate::markdown::render;
use crate::{browser, display};

/// Renders an answer.
#[component]
pub fn DocsAnswerView(answer: DocsResponse) -> impl IntoView {
    let sources = (!answer.evidence.is_empty()).then(|| {
        view! {
            <h3 class="small-head">"Sources"</h3>
            <ol class="sources">{answer.evidence.into_iter().map(source).collect_view()}</ol>
        }
    });
    let tokens = answer.usage.total_tokens;
    let tokens = (tokens > 0).then(|| {
        let parts = format!(
            "{} in, {} out",
            display::count(answer.usage.input_tokens),
            display::count(answer.usage.output_tokens)
        );
        view! { <span title=parts>{display::plural(tokens, "token", "tokens")}</span> }
    });
    view! {
        <div class="answer">
            <div class="prose" tabindex="0" role="region" aria-label="Answer text" inner_html=render(&answer.answer).html></div>
            {sources}
            <p class="card-foot">
                {tokens}
                <span>{display::duration_ms(answer.duration_ms)}</span>
            </p>
        </div>
    }
    .into_any()
}

fn source(evidence: Evidence) -> AnyView {
    // Only URLs on this server become links, because a model may have written the answer.
    let location = evidence.path_or_url;
    let path = location.strip_prefix(&browser::origin()).unwrap_or(&location);
    let name = path.trim_start_matches("/docs/").to_owned();
    let location = match path.starts_with('/') && !path.starts_with("//") {
        true => view! { <a href=path.to_owned() rel="external" target="_blank">{name}</a> }.into_any(),
        false => view! { <code>{name}</code> }.into_any(),
    };
    view! {
        <li>
            {location}
            <span class="quiet-text" inner_html=render(&evidence.reason).html></span>
        </li>
    }
    .into_any()
}
