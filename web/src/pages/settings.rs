//! Settings of the console in this browser.

use harvestman_core::api::format::FormatKind;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use crate::components::dialog::Confirm;
use crate::components::format_chips::{Chips, toggle};
use crate::components::screen_header::ScreenHeader;
use crate::components::top_bar::mask_key;
use crate::console::Console;
use crate::draft::FORMATS;
use crate::theme::{Density, Theme};
use crate::{kept_result, sign_in, storage, text};

/// Renders the screen.
#[component]
pub fn SettingsPage() -> impl IntoView {
    let confirming = RwSignal::new(false);
    let console = Console::get();
    let on_confirm = Callback::new(move |()| {
        storage::clear();
        Theme::System.choose();
        Density::Comfortable.choose();
        storage::clear();
        spawn_local(kept_result::clear());
        console.theme.set(Theme::System);
        sign_in::sign_out(console);
        console.notify("Local data cleared");
    });
    view! {
        <div class="settings">
            <ScreenHeader title="Settings".to_owned() intro=|| view! { <p>{text::SETTINGS_INTRO}</p> }/>
            <section class="card" aria-label="Settings">
                <ThemeSetting/>
                <DensitySetting/>
                <FormatSetting/>
                <KeySetting/>
                <div class="setting">
                    <div>
                        <h2>"Local data"</h2>
                        <p>"API key, theme, drafts, remembered requests and results."</p>
                    </div>
                    <div>
                        <button class="btn danger" on:click=move |_| confirming.set(true)>
                            "Clear local data"
                        </button>
                    </div>
                </div>
            </section>
        </div>
        <Confirm
            open=confirming
            title=text::CLEAR_TITLE
            text=text::CLEAR_TEXT
            confirm_label="Clear local data"
            cancel_label="Keep data"
            on_confirm
        />
    }
    .into_any()
}

#[component]
fn ThemeSetting() -> impl IntoView {
    let console = Console::get();
    let chips = Theme::ALL.map(|theme| {
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || (console.theme.get() == theme).to_string()
                on:click=move |_| {
                    theme.choose();
                    console.theme.set(theme);
                }
            >
                {theme.name()}
            </button>
        }
    });
    view! {
        <div class="setting">
            <div>
                <h2 id="set-theme">"Theme"</h2>
                <p>"System follows the setting of your device."</p>
            </div>
            <div>
                <div class="chips" role="group" aria-labelledby="set-theme">
                    {chips}
                </div>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn DensitySetting() -> impl IntoView {
    let chosen = RwSignal::new(Density::stored());
    let chips = Density::ALL.map(|density| {
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || (chosen.get() == density).to_string()
                on:click=move |_| {
                    density.choose();
                    chosen.set(density);
                }
            >
                {density.name()}
            </button>
        }
    });
    view! {
        <div class="setting">
            <div>
                <h2 id="set-density">"Density"</h2>
                <p>"Compact fits more on the screen."</p>
            </div>
            <div>
                <div class="chips" role="group" aria-labelledby="set-density">
                    {chips}
                </div>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn FormatSetting() -> impl IntoView {
    let default_formats = vec![Value::from(FormatKind::Markdown.as_str())];
    let formats = RwSignal::new(storage::read(FORMATS).unwrap_or(default_formats));
    let chosen = Memo::new(move |_| -> Vec<FormatKind> {
        formats.with(|formats| {
            formats
                .iter()
                .filter_map(Value::as_str)
                .filter_map(FormatKind::parse)
                .collect()
        })
    });
    let on_toggle = Callback::new(move |kind| {
        formats.update(|formats| toggle(formats, kind));
        formats.with_untracked(|formats| storage::write(FORMATS, formats));
    });
    view! {
        <div class="setting">
            <div>
                <h2 id="set-formats">"Default formats"</h2>
                <p>"Selected formats in new and cleared forms."</p>
            </div>
            <div role="group" aria-labelledby="set-formats">
                <Chips chosen on_toggle/>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn KeySetting() -> impl IntoView {
    let console = Console::get();
    let remember = RwSignal::new(sign_in::is_remembered());
    let has_key = move || console.key.with(Option::is_some);
    view! {
        <div class="setting">
            <div>
                <h2>"API key"</h2>
                <p>"Sent to this server only, and never part of a URL."</p>
            </div>
            <div>
                {move || match console.key.get() {
                    None => view! { <span class="quiet-text">"This server needs no key."</span> }.into_any(),
                    Some(key) => view! { <span class="mono">{mask_key(&key)}</span> }.into_any(),
                }}
                <Show when=has_key>
                    <div class="switch">
                        <input
                            type="checkbox"
                            role="switch"
                            id="remember"
                            prop:checked=move || remember.get()
                            on:change=move |event| {
                                remember.set(event_target_checked(&event));
                                if let Some(key) = console.key.get_untracked() {
                                    sign_in::store_key(&key, remember.get_untracked());
                                }
                            }
                        />
                        <label class="field-name" for="remember">
                            "Remember on this device"
                        </label>
                        <p class="hint">"If off, the key is removed when you close this tab."</p>
                    </div>
                    <button class="btn" on:click=move |_| sign_in::sign_out(console)>
                        "Change API key"
                    </button>
                </Show>
            </div>
        </div>
    }
    .into_any()
}
