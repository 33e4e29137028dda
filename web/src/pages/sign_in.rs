//! Sign-in screen, shown while the server requires a key and there is none.

use leptos::prelude::*;

use crate::components::button::{BusyButton, spawn_busy};
use crate::components::icon::{Glyph, Icon};
use crate::components::notice::problem_notice;
use crate::components::switch::Switch;
use crate::console::Console;
use crate::{browser, sign_in, text};

/// Renders the form for an API key.
#[component]
pub fn SignIn(problem: Option<String>) -> impl IntoView {
    let console = Console::get();
    let key = RwSignal::new(String::new());
    let remember = RwSignal::new(sign_in::is_remembered());
    let busy = RwSignal::new(false);
    let problem = RwSignal::new(problem);
    document().set_title(&format!("{} - {}", text::SIGN_IN_TITLE, text::PRODUCT));
    browser::focus_soon("#key");
    let submit = browser::on_submit(move || {
        let entered_key = key.get_untracked().trim().to_owned();
        if entered_key.is_empty() || busy.get_untracked() {
            browser::focus_soon("#key");
            return;
        }
        spawn_busy(busy, async move {
            let result = sign_in::try_key(console, entered_key, remember.get_untracked()).await;
            if let Err(reason) = result {
                problem.try_set(Some(reason));
                browser::focus_soon("#key");
            }
        });
    });
    view! {
        <div class="sign-in">
            <form class="card" on:submit=submit>
                <Icon glyph=Glyph::Mark class="mark"/>
                <div>
                    <h1 tabindex="-1">{text::SIGN_IN_TITLE}</h1>
                    <p>{text::SIGN_IN_TEXT}</p>
                </div>
                {move || problem.get().as_deref().map(problem_notice)}
                <div class="field">
                    <label class="field-name" for="key">
                        "API key"
                    </label>
                    <input
                        class="input big"
                        id="key"
                        type="password"
                        autocomplete="off"
                        spellcheck="false"
                        placeholder="fc-..."
                        bind:value=key
                    />
                </div>
                <Switch
                    id="remember"
                    label="Remember on this device"
                    hint=text::REMEMBER_HELP
                    value=remember
                    on_change=move |on| remember.set(on)
                />
                <div class="send">
                    <BusyButton busy label="Sign in"/>
                    <a class="btn quiet" href="/docs" rel="external">
                        "API documentation"
                    </a>
                </div>
            </form>
        </div>
    }
    .into_any()
}
