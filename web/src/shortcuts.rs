//! Global keyboard shortcuts: `/` focuses the URL field, Ctrl or Cmd with Enter runs the request, Esc stops it or
//! leaves a field, Ctrl or Cmd with `k` opens the palette, `g` and a letter opens a screen, `?` lists the shortcuts.
//! In a field, only Esc and the shortcuts with Ctrl or Cmd apply.

use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::browser;
use crate::console::{Access, Console};
use crate::limits::CHORD_MS;
use crate::route::Screen;

/// Handles the shortcuts while the console is open.
pub fn listen(console: Console) {
    let navigate = use_navigate();
    let chord_until = StoredValue::new(0.0_f64);
    let handle = window_event_listener(leptos::ev::keydown, move |event: KeyboardEvent| {
        let key = event.key();
        if key == "Enter" && (event.ctrl_key() || event.meta_key()) {
            press(&event, "[data-run]");
            return;
        }
        if key.eq_ignore_ascii_case("k") && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            if console.access.get_untracked() == Access::Granted {
                console.palette_open.update(|open| *open = !*open);
            }
            return;
        }
        if key == "Escape" {
            leave_field();
            press(&event, "[data-stop]");
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || is_typing(&event) || dialog_is_open() {
            return;
        }
        if browser::now_ms() < chord_until.get_value() {
            chord_until.set_value(0.0);
            if let Some(screen) = Screen::all().find(|screen| screen.letter() == key) {
                event.prevent_default();
                navigate(screen.path(), Default::default());
            }
            return;
        }
        match key.as_str() {
            "g" => chord_until.set_value(browser::now_ms() + CHORD_MS),
            "?" => console.shortcuts_open.set(true),
            "/" => {
                event.prevent_default();
                match browser::find("[data-url]") {
                    Some(input) => _ = input.focus(),
                    None => {
                        navigate(Screen::Scrape.path(), Default::default());
                        set_timeout(
                            || browser::focus_soon("[data-url]"),
                            std::time::Duration::from_millis(50),
                        );
                    }
                }
            }
            _ => {}
        }
    });
    on_cleanup(move || handle.remove());
}

/// Clicks a button, unless a dialog covers it.
fn press(event: &KeyboardEvent, selector: &str) {
    if !dialog_is_open()
        && let Some(button) = browser::find(selector)
    {
        event.prevent_default();
        button.click();
    }
}

fn leave_field() {
    let active = document().active_element();
    if let Some(element) = active.and_then(|element| element.dyn_into::<HtmlElement>().ok())
        && is_field(&element)
    {
        let _ = element.blur();
    }
}

fn is_typing(event: &KeyboardEvent) -> bool {
    let target = event
        .target()
        .and_then(|target| target.dyn_into::<HtmlElement>().ok());
    target.is_some_and(|element| is_field(&element))
}

fn is_field(element: &HtmlElement) -> bool {
    match element.tag_name().as_str() {
        "INPUT" => !matches!(
            element.get_attribute("type").as_deref(),
            Some("checkbox" | "radio")
        ),
        "TEXTAREA" | "SELECT" => true,
        _ => false,
    }
}

fn dialog_is_open() -> bool {
    browser::find("dialog[open]").is_some()
}
