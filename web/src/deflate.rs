//! Compression by the browser, which needs no code in the wasm.

use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/assets/deflate.js")]
extern "C" {
    #[wasm_bindgen(js_name = deflate)]
    async fn deflate_in_browser(text: &str) -> JsValue;
}

/// Compresses a text to raw deflate data (RFC 1951). Returns `None` if the browser cannot, or if the text would not
/// become smaller.
pub async fn deflate(text: &str) -> Option<Vec<u8>> {
    let compressed: Uint8Array = deflate_in_browser(text).await.dyn_into().ok()?;
    ((compressed.length() as usize) < text.len()).then(|| compressed.to_vec())
}
