//! The npm package, loaded into this page from this server when a tool first needs it. Tools run locally; their input
//! never leaves the page.

use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::text;

/// The element in which the build states the URL of the package.
const ENTRY_SELECTOR: &str = "meta[name=package]";

#[wasm_bindgen(module = "/assets/package.js")]
extern "C" {
    #[wasm_bindgen(js_name = load)]
    fn load_from(entry: &str) -> js_sys::Promise;

    #[wasm_bindgen(catch, js_name = run)]
    fn run_tool(package: &JsValue, tool: &str, input: &str) -> Result<String, JsValue>;
}

/// The package and its load state.
#[derive(Clone, Copy)]
pub struct Package {
    /// Loaded, or the error message; none while loading.
    pub state: RwSignal<Option<Result<(), String>>>,
    module: StoredValue<JsValue, LocalStorage>,
}

impl Package {
    /// Creates the package and starts loading it.
    pub fn load_now() -> Self {
        let package = Self::unloaded();
        package.load();
        package
    }

    /// Creates the package without loading it; call [`Package::load`] when it is needed.
    pub fn unloaded() -> Self {
        Self {
            state: RwSignal::new(None),
            module: StoredValue::new_local(JsValue::NULL),
        }
    }

    /// Loads the package, or retries after an error.
    pub fn load(self) {
        self.state.set(None);
        leptos::task::spawn_local(async move {
            let loaded = match entry_url() {
                Some(entry) => JsFuture::from(load_from(&entry))
                    .await
                    .map_err(|error| error_message(&error)),
                None => Err(text::PACKAGE_NOT_BUILT.to_owned()),
            };
            let state = loaded.map(|module| _ = self.module.try_set_value(module));
            self.state.try_set(Some(state));
        });
    }

    /// Runs a tool. Returns `None` until the package is loaded.
    ///
    /// # Errors
    /// The inner result is the error message of the package.
    pub fn run(self, tool: &str, input: &Value) -> Option<Result<Value, String>> {
        self.state.with(|state| matches!(state, Some(Ok(())))).then(|| {
            let response = self
                .module
                .with_value(|module| run_tool(module, tool, &input.to_string()));
            let response = response.map_err(|error| error_message(&error))?;
            serde_json::from_str(&response).map_err(|error| error.to_string())
        })
    }
}

fn entry_url() -> Option<String> {
    let element = document().query_selector(ENTRY_SELECTOR).ok().flatten()?;
    element
        .get_attribute("content")
        .filter(|entry_url| entry_url.starts_with('/'))
}

fn error_message(error: &JsValue) -> String {
    let message = js_sys::Reflect::get(error, &JsValue::from_str("message")).ok();
    message
        .and_then(|message| message.as_string())
        .unwrap_or_else(|| format!("{error:?}"))
}
