//! Recorder: turns what the user does in the live view into actions or code, and picks selectors of elements.

use js_sys::{Function, JSON, Reflect};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::MessageEvent;

use super::{SessionScreen, State};
use crate::components::button::IconButton;
use crate::components::code::{Code, copy};
use crate::components::icon::Glyph;
use crate::draft::Endpoint;
use crate::recording::{self, Step};
use crate::{browser, highlight, text};

/// State of the recorder.
#[derive(Clone, Copy)]
pub struct Recording {
    /// Whether steps are recorded.
    recording: RwSignal<bool>,
    /// Whether the next click picks an element.
    picking: RwSignal<bool>,
    steps: RwSignal<Vec<Step>>,
    /// Whether the steps are shown as code.
    as_code: RwSignal<bool>,
    /// URL of the page that the steps began on; empty for an empty page.
    start: RwSignal<String>,
    /// Selector of the picked element.
    selector: RwSignal<String>,
}

/// A message of the live view.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum ViewMessage {
    Began { url: String },
    Step { step: Step },
    Picked { selector: String },
}

impl Recording {
    /// Creates the signals and listens to the live view until the screen is left.
    pub fn new() -> Self {
        let recording = Self {
            recording: RwSignal::new(false),
            picking: RwSignal::new(false),
            steps: RwSignal::new(Vec::new()),
            as_code: RwSignal::new(false),
            start: RwSignal::new(String::new()),
            selector: RwSignal::new(String::new()),
        };
        let listener = window_event_listener(leptos::ev::message, move |event| recording.receive(&event));
        on_cleanup(move || listener.remove());
        recording
    }

    fn receive(self, event: &MessageEvent) {
        let data = event.data();
        let from = Reflect::get(&data, &"from".into())
            .ok()
            .and_then(|from| from.as_string());
        if event.origin() != browser::origin() || from.as_deref() != Some("live-view") {
            return;
        }
        let text = JSON::stringify(&data).map(String::from).unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(ViewMessage::Began { url }) if self.steps.with_untracked(Vec::is_empty) => self.start.set(url),
            Ok(ViewMessage::Began { .. }) => {}
            Ok(ViewMessage::Step { step }) => self.steps.update(|steps| recording::add(steps, step)),
            Ok(ViewMessage::Picked { selector }) => {
                self.picking.set(false);
                self.selector.set(selector);
            }
            Err(_) => {}
        }
    }

    /// Sends the state of both switches to the live view.
    pub fn sync(self) {
        for (kind, on) in [
            ("record", self.recording.get_untracked()),
            ("pick", self.picking.get_untracked()),
        ] {
            post(kind, on);
        }
    }
}

/// Sends a message to the live view.
fn post(kind: &str, on: bool) -> Option<()> {
    let frame = browser::find(".live-frame")?;
    let view = Reflect::get(&frame, &"contentWindow".into()).ok()?;
    let post: Function = Reflect::get(&view, &"postMessage".into()).ok()?.dyn_into().ok()?;
    let message = js_sys::Object::new();
    Reflect::set(&message, &"type".into(), &kind.into()).ok()?;
    Reflect::set(&message, &"on".into(), &on.into()).ok()?;
    let origin = JsValue::from(browser::origin());
    post.call2(&view, &message, &origin).ok().map(drop)
}

/// Switches recording or picking. Taking control loads another view, which receives the switches when it has loaded.
fn toggle(screen: SessionScreen, switch: RwSignal<bool>) {
    switch.update(|on| *on = !*on);
    match switch.get_untracked() && !screen.has_control.get_untracked() {
        true => screen.has_control.set(true),
        false => screen.recorder.sync(),
    }
}

/// Renders the panel of the recorder.
#[component]
pub fn Recorder(screen: SessionScreen) -> impl IntoView {
    let Recording {
        recording,
        steps,
        start,
        ..
    } = screen.recorder;
    let navigate = StoredValue::new_local(use_navigate());
    let use_in_scrape = move |_| {
        let start = start.get_untracked();
        let body = steps.with_untracked(|steps| recording::scrape(&start, steps));
        let path = Endpoint::Scrape.fill_form(&body);
        navigate.with_value(|navigate| navigate(path, Default::default()));
    };
    let clear = move |_| {
        steps.set(Vec::new());
        // The next step begins on the page that is shown then.
        screen.recorder.sync();
    };
    let has_steps = move || steps.with(|steps| !steps.is_empty());
    view! {
        <div class="pad gap recorder">
            <p class="send">
                <button
                    type="button"
                    class="btn primary"
                    disabled=move || screen.state.get() != State::Live
                    on:click=move |_| toggle(screen, recording)
                >
                    {move || if recording.get() { "Stop recording" } else { "Start recording" }}
                </button>
                <Show when=has_steps>
                    <button type="button" class="btn" on:click=use_in_scrape>
                        "Use in scrape"
                    </button>
                    <button type="button" class="btn" on:click=clear>
                        "Clear steps"
                    </button>
                </Show>
            </p>
            <Show when=has_steps fallback=|| view! { <p class="hint">{text::RECORDER_EMPTY}</p> }>
                <Steps screen/>
            </Show>
            <SelectorPicker screen/>
        </div>
    }
    .into_any()
}

/// Renders the recorded steps, as actions or as code.
#[component]
fn Steps(screen: SessionScreen) -> impl IntoView {
    let steps = screen.recorder.steps;
    let as_code = screen.recorder.as_code;
    let code = Memo::new(move |_| {
        steps.with(|steps| match as_code.get() {
            true => recording::playwright(steps),
            false => serde_json::to_string_pretty(&recording::actions(steps)).unwrap_or_default(),
        })
    });
    let html = Signal::derive(move || match as_code.get() {
        true => code.with(|code| highlight::code(code)),
        false => code.with(|code| highlight::json(code)),
    });
    let choice = move |label: &'static str, is_code: bool| {
        view! {
            <button
                type="button"
                class="btn small"
                aria-pressed=move || (as_code.get() == is_code).to_string()
                on:click=move |_| as_code.set(is_code)
            >
                {label}
            </button>
        }
    };
    view! {
        <div class="send" role="group" aria-label="Step format">
            {choice("Actions", false)}
            {choice("Playwright", true)}
            <span class="grow"></span>
            <IconButton label="Copy steps" glyph=Glyph::Copy on_click=Callback::new(move |()| copy(screen.console, code.get_untracked()))/>
        </div>
        <Code html label="Recorded steps" wrap=true/>
    }
    .into_any()
}

/// Renders the selector of the picked element.
#[component]
fn SelectorPicker(screen: SessionScreen) -> impl IntoView {
    let Recording {
        picking, selector, ..
    } = screen.recorder;
    view! {
        <div class="field">
            <label class="field-name" for="picked-selector">"Selector"</label>
            <p class="send">
                <input
                    class="input mono grow"
                    id="picked-selector"
                    type="text"
                    spellcheck="false"
                    placeholder="#id"
                    bind:value=selector
                />
                <button
                    type="button"
                    class="btn"
                    disabled=move || screen.state.get() != State::Live
                    on:click=move |_| toggle(screen, picking)
                >
                    {move || if picking.get() { "Cancel picking" } else { "Pick element" }}
                </button>
                <IconButton label="Copy selector" glyph=Glyph::Copy on_click=Callback::new(move |()| copy(screen.console, selector.get_untracked()))/>
            </p>
            <p class="hint" role="status">
                {move || if picking.get() { text::PICKING } else { text::SELECTOR_HELP }}
            </p>
        </div>
    }
    .into_any()
}
