//! Toast that shows the latest status message; it is also the polite live region for screen readers.

use leptos::prelude::*;

use crate::console::Console;

/// Renders the toast.
#[component]
pub fn Toast() -> impl IntoView {
    let (text, visible) = Console::get().toast();
    view! {
        <div class="toast" class:on=move || visible.get() role="status" aria-live="polite">
            {move || text.get()}
        </div>
    }
    .into_any()
}
