//! The one polite voice: what was said last, for the eye and for screen readers.

use leptos::prelude::*;

use crate::console::Console;

/// Shows and speaks what was said.
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
