//! The head of a screen: title, one line, its actions. Sets the document's title and takes the focus
//! when the screen was changed.

use leptos::prelude::*;

use crate::browser;
use crate::console::Console;
use crate::text;

/// Shows the head of a screen.
#[component]
pub fn PageHead(
    /// Heading, also in the document's title.
    #[prop(into)]
    title: Signal<String>,
    /// What follows the heading in the same line.
    #[prop(optional, into)]
    beside: ViewFn,
    /// One line below.
    #[prop(optional, into)]
    intro: ViewFn,
    /// Buttons.
    #[prop(optional, into)]
    actions: ViewFn,
) -> impl IntoView {
    let console = Console::get();
    Effect::new(move |_| document().set_title(&format!("{} - {}", title.get(), text::PRODUCT)));
    if console.visited.get_value() {
        browser::focus_soon("h1");
    }
    console.visited.set_value(true);
    view! {
        <div class="page-head">
            <div>
                <h1 tabindex="-1">
                    <span class="head-title" title=move || title.get()>{move || breakable(&title.get())}</span>
                    {beside.run()}
                </h1>
                {intro.run()}
            </div>
            <div class="actions">{actions.run()}</div>
        </div>
    }
    .into_any()
}

/// A heading that is an address may be broken after its slashes.
fn breakable(title: &str) -> AnyView {
    let parts = title
        .split_inclusive('/')
        .map(|part| view! { {part.to_owned()}<wbr/> });
    parts.collect_view().into_any()
}
