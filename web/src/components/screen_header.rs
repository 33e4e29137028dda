//! Header of a screen: title, introduction and actions. Sets the document title and takes the focus after navigation
//! to another screen.

use leptos::prelude::*;

use crate::browser;
use crate::console::Console;
use crate::text;

/// Renders the header of a screen.
#[component]
pub fn ScreenHeader(
    /// Heading and document title.
    #[prop(into)]
    title: Signal<String>,
    /// Content after the heading on the same line.
    #[prop(optional, into)]
    after_title: ViewFn,
    /// Content below the heading.
    #[prop(optional, into)]
    intro: ViewFn,
    /// Buttons at the end.
    #[prop(optional, into)]
    actions: ViewFn,
) -> impl IntoView {
    let console = Console::get();
    Effect::new(move |_| document().set_title(&format!("{} - {}", title.get(), text::PRODUCT)));
    if console.screen_shown.get_value() {
        browser::focus_soon("h1");
    }
    console.screen_shown.set_value(true);
    view! {
        <div class="page-head">
            <div>
                <h1 tabindex="-1">
                    <span class="head-title" title=move || title.get()>{move || breakable(&title.get())}</span>
                    {after_title.run()}
                </h1>
                {intro.run()}
            </div>
            <div class="actions">{actions.run()}</div>
        </div>
    }
    .into_any()
}

/// Renders a heading that may wrap after a slash, for URLs.
fn breakable(title: &str) -> AnyView {
    let parts = title
        .split_inclusive('/')
        .map(|part| view! { {part.to_owned()}<wbr/> });
    parts.collect_view().into_any()
}
