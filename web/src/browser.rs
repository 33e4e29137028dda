//! Thin wrappers around browser APIs: document, clock, focus and scrolling, clipboard, file downloads.

use std::time::Duration;

use harvestman_core::time::Timestamp;
use leptos::ev::SubmitEvent;
use leptos::prelude::{document, request_animation_frame, set_timeout, window};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Blob, BlobPropertyBag, Element, HtmlAnchorElement, HtmlElement, MediaQueryList, ResizeObserver, Url,
};

/// Removes the page outline that is shown until the wasm has loaded.
pub fn remove_boot_outline() {
    if let Some(boot) = document().get_element_by_id("boot") {
        boot.remove();
    }
}

/// Returns `https://host:port` of this page, which is also the API server.
pub fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// Returns whether the address bar shows this path with a query. The router shows a new screen before its URL.
fn shows_query_of(path: &str) -> bool {
    let location = window().location();
    location.pathname().is_ok_and(|shown| shown == path)
        && location.search().is_ok_and(|query| !query.is_empty())
}

/// Returns the text that was stored with this entry of the history, if it is one of `path` with a query.
pub fn history_state(path: &str) -> Option<String> {
    let state = window().history().and_then(|history| history.state()).ok()?;
    state.as_string().filter(|_| shows_query_of(path))
}

/// Stores a text with this entry of the history, if it is one of `path` with a query. Errors (too large, too often) are
/// ignored.
pub fn set_history_state(path: &str, text: &str) {
    if let Ok(history) = window().history()
        && shows_query_of(path)
    {
        let _ = history.replace_state(&text.into(), "");
    }
}

/// Returns the IANA name of the user's time zone; UTC if the browser does not know it.
pub fn time_zone() -> String {
    let options =
        js_sys::Intl::DateTimeFormat::new(&js_sys::Array::new(), &js_sys::Object::new()).resolved_options();
    let name = js_sys::Reflect::get(&options, &"timeZone".into()).ok();
    name.and_then(|name| name.as_string())
        .unwrap_or_else(|| "UTC".to_owned())
}

/// Returns `host:port` of the server.
pub fn host() -> String {
    window().location().host().unwrap_or_default()
}

/// Returns the milliseconds since 1970.
pub fn now_ms() -> f64 {
    js_sys::Date::now()
}

/// Returns the seconds until a time, 0 once it has passed.
pub fn seconds_until(time: Timestamp) -> f64 {
    ((time.0 as f64 - now_ms()) / 1000.0).max(0.0)
}

/// Waits for `ms` milliseconds.
pub async fn sleep(ms: u32) {
    let delay = i32::try_from(ms).unwrap_or(i32::MAX);
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        // If the timer cannot be set, the promise never resolves; every browser has timers.
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, delay);
    });
    let _ = wasm_bindgen_futures::JsFuture::from(promise).await;
}

/// Returns whether the page is in a hidden tab.
pub fn is_hidden() -> bool {
    document().hidden()
}

/// Calls `callback` whenever the page becomes visible again or the network comes back, for the lifetime of the page.
pub fn on_return(callback: impl Fn() + 'static) {
    let listener = Closure::<dyn Fn()>::new(move || {
        if !is_hidden() {
            callback();
        }
    });
    let listener = listener.into_js_value();
    // Without these events the next regular poll notices the change.
    let _ = window().add_event_listener_with_callback("online", listener.unchecked_ref());
    for event in ["visibilitychange", "resume"] {
        let _ = document().add_event_listener_with_callback(event, listener.unchecked_ref());
    }
}

/// Returns the listener of a form that calls `submit` instead of loading a page.
pub fn on_submit(submit: impl Fn() + 'static) -> impl Fn(SubmitEvent) + 'static {
    move |event| {
        event.prevent_default();
        submit();
    }
}

/// Calls a function with every change of an element's size, until it is dropped.
pub struct SizeObserver {
    observer: ResizeObserver,
    _changed: Closure<dyn Fn()>,
}

impl SizeObserver {
    /// Starts with the current size; `None` if the browser cannot observe sizes.
    pub fn new(element: &Element, changed: impl Fn() + 'static) -> Option<Self> {
        let changed = Closure::new(changed);
        let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self {
            observer,
            _changed: changed,
        })
    }
}

impl Drop for SizeObserver {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Calls a function when the system changes between light and dark, until it is dropped.
pub struct SchemeObserver {
    scheme: MediaQueryList,
    changed: Closure<dyn Fn()>,
}

impl SchemeObserver {
    /// Starts observing; `None` if the browser does not report the scheme.
    pub fn new(changed: impl Fn() + 'static) -> Option<Self> {
        let scheme = window().match_media("(prefers-color-scheme: dark)").ok()??;
        let changed = Closure::new(changed);
        let listener = changed.as_ref().unchecked_ref();
        scheme.add_event_listener_with_callback("change", listener).ok()?;
        Some(Self { scheme, changed })
    }
}

impl Drop for SchemeObserver {
    fn drop(&mut self) {
        let listener = self.changed.as_ref().unchecked_ref();
        let _ = self
            .scheme
            .remove_event_listener_with_callback("change", listener);
    }
}

/// Returns the first element that matches a selector.
pub fn find(selector: &str) -> Option<HtmlElement> {
    document()
        .query_selector(selector)
        .ok()
        .flatten()?
        .dyn_into()
        .ok()
}

/// Runs a callback once the next frame is shown, in a task of its own.
pub fn after_next_frame(callback: impl FnOnce() + 'static) {
    request_animation_frame(move || {
        set_timeout(callback, Duration::ZERO);
    });
}

/// Focuses the first element that matches a selector after the next render.
pub fn focus_soon(selector: &'static str) {
    request_animation_frame(move || {
        if let Some(element) = find(selector) {
            let _ = element.focus();
        }
    });
}

/// Scrolls to the first element that matches a selector if its top is out of view, as for a result below the form
/// on a phone.
pub fn reveal_soon(selector: &'static str) {
    request_animation_frame(move || {
        let Some(element) = find(selector) else { return };
        let top = element.get_bounding_client_rect().top();
        let height = window().inner_height().ok().and_then(|height| height.as_f64());
        if top < 0.0 || height.is_some_and(|height| top > height * 0.7) {
            element.scroll_into_view();
        }
    });
}

/// Scrolls the parent of the first element that matches a selector sideways until the element is in view.
pub fn scroll_into_parent(selector: &str) {
    let Some(item) = find(selector) else { return };
    let Some(row) = item.parent_element() else { return };
    let (inner, outer) = (item.get_bounding_client_rect(), row.get_bounding_client_rect());
    let before = (inner.left() - outer.left()).min(0.0);
    let after = (inner.right() - outer.right()).max(0.0);
    if before + after != 0.0 {
        row.set_scroll_left(row.scroll_left() + (before + after).round() as i32);
    }
}

/// Reads a file as UTF-8. Returns `None` if the browser cannot read it.
pub async fn read_text(file: &Blob) -> Option<String> {
    wasm_bindgen_futures::JsFuture::from(file.text())
        .await
        .ok()?
        .as_string()
}

/// Compiles a regular expression of the browser. Returns `None` if it does not support the pattern.
pub fn regex(pattern: &str) -> Option<js_sys::RegExp> {
    let constructor: js_sys::Function = js_sys::Reflect::get(&js_sys::global(), &"RegExp".into())
        .ok()?
        .dyn_into()
        .ok()?;
    let arguments = js_sys::Array::of1(&pattern.into());
    js_sys::Reflect::construct(&constructor, &arguments)
        .ok()?
        .dyn_into()
        .ok()
}

/// Copies text to the clipboard. Returns false if the browser refuses.
pub async fn copy(text: &str) -> bool {
    let clipboard = js_sys::Reflect::get(&window().navigator(), &JsValue::from_str("clipboard"));
    if clipboard.is_ok_and(|clipboard| clipboard.is_undefined()) {
        return false;
    }
    let written = window().navigator().clipboard().write_text(text);
    wasm_bindgen_futures::JsFuture::from(written).await.is_ok()
}

/// Saves text as a file. Returns `None` if the browser does not allow it.
pub fn download(name: &str, kind: &str, text: &str) -> Option<()> {
    let parts = FileParts::default();
    parts.push_text(text);
    parts.save(name, kind)
}

/// A file under construction; the browser holds its parts.
#[derive(Default)]
pub struct FileParts(js_sys::Array);

impl FileParts {
    /// Appends text.
    pub fn push_text(&self, text: &str) {
        self.0.push(&JsValue::from_str(text));
    }

    /// Appends bytes.
    pub fn push_bytes(&self, bytes: &[u8]) {
        self.0.push(&js_sys::Uint8Array::from(bytes));
    }

    /// Saves the file. Returns `None` if the browser does not allow it.
    pub fn save(&self, name: &str, kind: &str) -> Option<()> {
        let options = BlobPropertyBag::new();
        options.set_type(kind);
        let blob = Blob::new_with_blob_sequence_and_options(&self.0, &options).ok()?;
        let object_url = Url::create_object_url_with_blob(&blob).ok()?;
        let link: HtmlAnchorElement = document().create_element("a").ok()?.dyn_into().ok()?;
        link.set_href(&object_url);
        link.set_download(name);
        link.click();
        Url::revoke_object_url(&object_url).ok()
    }
}

/// Returns host and path of a URL as a file name of at most 80 characters.
pub fn file_name(url: &str) -> String {
    let name = crate::display::short_url(url).chars();
    let name = name.map(|c| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    });
    let name: String = name.take(80).collect();
    name.trim_matches(['-', '.']).to_owned()
}
