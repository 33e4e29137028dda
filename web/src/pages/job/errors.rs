//! Errors tab: failed pages, and separately the URLs blocked by robots.txt.

use leptos::prelude::*;

use crate::components::virtual_scroll::VirtualScroll;
use crate::job_feed::JobFeed;
use crate::limits::SHOWN_ERRORS;
use crate::{display, text};

/// Renders the errors.
#[component]
pub fn Errors(feed: JobFeed) -> impl IntoView {
    move || {
        let errors = feed.errors.get();
        if errors.errors.is_empty() && errors.robots_blocked.is_empty() {
            return view! { <p class="empty">{text::NO_ERRORS}</p> }.into_any();
        }
        let failed = VirtualScroll::visible_items(0..SHOWN_ERRORS, &errors.errors)
            .into_iter()
            .map(|(_, entry)| {
                view! {
                    <li class="error-row">
                        <code>{entry.url}</code>
                        <span class="what">{entry.error} " " <code>{entry.code.as_str()}</code></span>
                    </li>
                }
            });
        let failed = (!errors.errors.is_empty()).then(|| {
            view! {
                <h2 class="error-head">"Failed" <span class="count bad">{display::count(errors.errors.len() as u64)}</span></h2>
                <ul class="rows">{failed.collect_view()}</ul>
                {cut_note(errors.errors.len())}
            }
        });
        let blocked = (!errors.robots_blocked.is_empty()).then(|| {
            let blocked_urls = errors.robots_blocked.iter().take(SHOWN_ERRORS);
            let blocked_urls = blocked_urls.map(|url| view! { <li class="error-row"><code>{url.clone()}</code></li> });
            view! {
                <h2 class="error-head">
                    "Blocked by robots.txt" <span class="count">{display::count(errors.robots_blocked.len() as u64)}</span>
                </h2>
                <ul class="rows">{blocked_urls.collect_view()}</ul>
                {cut_note(errors.robots_blocked.len())}
            }
        });
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label="Errors">
                {failed}
                {blocked}
            </div>
        }
        .into_any()
    }
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
