//! Screen for unknown URLs.

use leptos::prelude::*;

use crate::components::screen_header::ScreenHeader;
use crate::route::Screen;
use crate::text;

/// Renders the message and a link to the overview.
#[component]
pub fn NotFound() -> impl IntoView {
    view! {
        <ScreenHeader title=text::NOT_FOUND.to_owned() intro=|| view! { <p>{text::NOT_FOUND_TEXT}</p> }/>
        <a class="btn" href=Screen::Overview.href()>
            "Go to overview"
        </a>
    }
    .into_any()
}
