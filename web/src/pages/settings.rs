//! Settings of the console in this browser.

use harvestman_core::api::format::FormatKind;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use crate::components::dialog::Confirm;
use crate::components::format_chips::{Chips, toggle};
use crate::components::screen_header::ScreenHeader;
use crate::components::switch::Switch;
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
                <Setting name="Local data" help="API key, theme, drafts, remembered requests and results.">
                    <button class="btn danger" on:click=move |_| confirming.set(true)>
                        "Clear local data"
                    </button>
                </Setting>
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

/// Renders a setting: its name, a sentence about it, and its controls.
#[component]
fn Setting(
    name: &'static str,
    help: &'static str,
    /// Id of the name, for controls that are labelled by it.
    #[prop(optional)]
    id: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    view! {
        <div class="setting">
            <div>
                <h2 id=id>{name}</h2>
                <p>{help}</p>
            </div>
            <div>{children()}</div>
        </div>
    }
    .into_any()
}

/// Renders a chip for each choice of a setting. `id` is that of its name.
fn choices<T: Copy + PartialEq + Send + Sync + 'static, const N: usize>(
    id: &'static str,
    all: [T; N],
    name: fn(T) -> &'static str,
    chosen: RwSignal<T>,
    choose: fn(T),
) -> AnyView {
    let chips = all.map(|one| {
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || (chosen.get() == one).to_string()
                on:click=move |_| {
                    choose(one);
                    chosen.set(one);
                }
            >
                {name(one)}
            </button>
        }
    });
    view! {
        <div class="chips" role="group" aria-labelledby=id>
            {chips}
        </div>
    }
    .into_any()
}

#[component]
fn ThemeSetting() -> impl IntoView {
    let theme = Console::get().theme;
    view! {
        <Setting name="Theme" help="System follows the setting of your device." id="set-theme">
            {choices("set-theme", Theme::ALL, Theme::name, theme, Theme::choose)}
        </Setting>
    }
}

#[component]
fn DensitySetting() -> impl IntoView {
    let density = RwSignal::new(Density::from_storage());
    view! {
        <Setting name="Density" help="Compact fits more on the screen." id="set-density">
            {choices("set-density", Density::ALL, Density::name, density, Density::choose)}
        </Setting>
    }
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
        <Setting name="Default formats" help="Selected formats in new and cleared forms." id="set-formats">
            <div role="group" aria-labelledby="set-formats">
                <Chips chosen on_toggle/>
            </div>
        </Setting>
    }
    .into_any()
}

#[component]
fn KeySetting() -> impl IntoView {
    let console = Console::get();
    let remember = RwSignal::new(sign_in::is_remembered());
    let on_change = move |on| {
        remember.set(on);
        if let Some(key) = console.key.get_untracked() {
            sign_in::store_key(&key, on);
        }
    };
    let has_key = move || console.key.with(Option::is_some);
    view! {
        <Setting name="API key" help="Sent to this server only, and never part of a URL.">
            {move || match console.key.get() {
                None => view! { <span class="quiet-text">"This server needs no key."</span> }.into_any(),
                Some(key) => view! { <span class="mono">{mask_key(&key)}</span> }.into_any(),
            }}
            <Show when=has_key>
                <Switch id="remember" label="Remember on this device" hint=text::REMEMBER_HELP value=remember on_change/>
                <button class="btn" on:click=move |_| sign_in::sign_out(console)>
                    "Change API key"
                </button>
            </Show>
        </Setting>
    }
    .into_any()
}
