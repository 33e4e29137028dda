//! Links to pages of other sites.

use leptos::prelude::*;

use crate::markdown::is_safe_link;

/// Renders a link to a page of another site, or only its text if the URL is not safe to open.
pub fn external_link(url: &str, class: &'static str, text: String) -> AnyView {
    match is_safe_link(url) {
        true => view! {
            <a class=class href=url.to_owned() target="_blank" rel="noopener noreferrer nofollow">
                {text}
            </a>
        }
        .into_any(),
        false => text.into_any(),
    }
}
