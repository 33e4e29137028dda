//! Any address without a screen.

use leptos::prelude::*;

use crate::components::head::PageHead;
use crate::route::Screen;
use crate::text;

/// Says so, and leads home.
#[component]
pub fn NotFound() -> impl IntoView {
    view! {
        <PageHead title=text::NOT_FOUND.to_owned() intro=|| view! { <p>{text::NOT_FOUND_TEXT}</p> }/>
        <a class="btn" href=Screen::Overview.href()>
            "Go to the overview"
        </a>
    }
    .into_any()
}
