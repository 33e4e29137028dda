//! Browser storage. Names start with `harvestman:` and end with a version, so that a newer console ignores values of
//! an older format. The API key is stored separately, see [`crate::sign_in`].

use leptos::prelude::window;
use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::Storage;

const PREFIX: &str = "harvestman:";
const VERSION: u32 = 1;

/// Returns the storage that outlives the tab.
pub fn device() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// Returns the storage that ends with the tab.
pub fn session() -> Option<Storage> {
    window().session_storage().ok().flatten()
}

/// Reads a value. Returns `None` if it is missing or has another shape.
pub fn read<T: DeserializeOwned>(name: &str) -> Option<T> {
    let text = device()?.get_item(&full_name(name)).ok()??;
    serde_json::from_str(&text).ok()
}

/// Stores a value. Errors (storage full or disabled) are ignored.
pub fn write(name: &str, value: &impl Serialize) {
    if let (Some(storage), Ok(text)) = (device(), serde_json::to_string(value)) {
        let _ = storage.set_item(&full_name(name), &text);
    }
}

/// Reads a value of this tab, else the last one of any tab.
pub fn read_of_tab<T: DeserializeOwned>(name: &str) -> Option<T> {
    let own = session().and_then(|storage| storage.get_item(&full_name(name)).ok()?);
    own.and_then(|text| serde_json::from_str(&text).ok())
        .or_else(|| read(name))
}

/// Stores a value for this tab, and for tabs that are opened later.
pub fn write_of_tab(name: &str, value: &impl Serialize) {
    if let (Some(storage), Ok(text)) = (session(), serde_json::to_string(value)) {
        let _ = storage.set_item(&full_name(name), &text);
    }
    write(name, value);
}

/// Removes everything that the console has stored in this browser.
pub fn clear() {
    for storage in [device(), session()].into_iter().flatten() {
        let count = storage.length().unwrap_or(0);
        let names: Vec<String> = (0..count)
            .filter_map(|index| storage.key(index).ok().flatten())
            .collect();
        for name in names.iter().filter(|name| name.starts_with(PREFIX)) {
            let _ = storage.remove_item(name);
        }
    }
}

fn full_name(name: &str) -> String {
    format!("{PREFIX}{name}:{VERSION}")
}
