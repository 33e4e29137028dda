//! Signs and verifies webhooks.

use harvestman_core::webhook;
use wasm_bindgen::prelude::*;

/// Returns the value of the signature header for exactly these bytes.
#[wasm_bindgen(js_name = signWebhook)]
pub fn sign_webhook(secret: &[u8], body: &[u8]) -> String {
    webhook::sign(secret, body)
}

/// Verifies a signature header for exactly these bytes in constant time.
#[wasm_bindgen(js_name = checkWebhook)]
pub fn check_webhook(secret: &[u8], body: &[u8], signature: &str) -> bool {
    webhook::verify(secret, body, signature)
}
