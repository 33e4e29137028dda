//! Toast that shows the latest status message; it is also the polite live region for screen readers.

use leptos::prelude::*;

use crate::console::Console;

/// Renders the toast.
#[component]
pub fn Toast() -> impl IntoView {
    let (said, shown) = Console::get().said();
    view! {
        <div class="toast" class:on=move || shown.get() role="status" aria-live="polite">
            {move || said.get()}
        </div>
    }
    .into_any()
}
