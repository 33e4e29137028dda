//! Errors and Blocked tabs: the pages that failed, and the URLs that robots.txt blocks.

use leptos::prelude::*;

use crate::components::inline_code::inline_code;
use crate::job_feed::JobFeed;
use crate::limits::SHOWN_ERRORS;
use crate::pages::job::retry::Retry;
use crate::{display, text};

/// Renders the pages that failed, each with its reason and a button that fetches it again.
#[component]
pub fn Errors(feed: JobFeed, retry: Retry) -> impl IntoView {
    let failed = move || {
        feed.errors
            .with(|errors| errors.errors.iter().map(|error| error.url.clone()).collect())
    };
    let label = move || {
        let count = feed.errors.with(|errors| errors.errors.len() as u64);
        format!("Retry {}", display::plural(count, "failed page", "failed pages"))
    };
    move || {
        let errors = feed.errors.with(|errors| errors.errors.clone());
        let rows = errors.iter().take(SHOWN_ERRORS).map(|entry| {
            let url = entry.url.clone();
            view! {
                <li class="error-row">
                    <code>{entry.url.clone()}</code>
                    <span class="what">{inline_code(&entry.error)} " " <code>{entry.code.as_str()}</code></span>
                    {retry.button(|| "Retry".to_owned(), move || vec![url.clone()])}
                </li>
            }
        });
        let rows = rows.collect_view().into_any();
        let foot = (!errors.is_empty()).then(|| {
            view! { <div class="card-foot">{retry.button(label, failed)}</div> }
        });
        view! {
            {list("Errors", text::NO_ERRORS, errors.len(), rows)}
            {foot}
        }
    }
}

/// Renders the URLs that robots.txt blocks.
#[component]
pub fn Blocked(feed: JobFeed) -> impl IntoView {
    move || {
        let urls = feed.errors.with(|errors| errors.robots_blocked.clone());
        let rows = urls
            .iter()
            .take(SHOWN_ERRORS)
            .map(|url| view! { <li class="error-row"><code>{url.clone()}</code></li> });
        let rows = rows.collect_view().into_any();
        list("Blocked by robots.txt", text::NO_BLOCKED_URLS, urls.len(), rows)
    }
}

fn list(label: &'static str, empty: &'static str, count: usize, rows: AnyView) -> AnyView {
    if count == 0 {
        return view! { <p class="empty">{empty}</p> }.into_any();
    }
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=label>
            <ul class="rows">{rows}</ul>
            {cut_note(count)}
        </div>
    }
    .into_any()
}

/// Returns the note below a list that is cut.
fn cut_note(count: usize) -> Option<AnyView> {
    (count > SHOWN_ERRORS).then(|| {
        let note = format!(
            "{} more. The errors endpoint of the API returns all of them.",
            display::count((count - SHOWN_ERRORS) as u64)
        );
        view! { <p class="pad hint">{note}</p> }.into_any()
    })
}
