//! Signatures of webhooks.

use harvestman_core::webhook;
use wasm_bindgen::prelude::*;

/// Value of the signature header for exactly these bytes.
#[wasm_bindgen(js_name = signWebhook)]
pub fn sign_webhook(secret: &str, body: &[u8]) -> String {
    webhook::sign(secret.as_bytes(), body)
}

/// Whether a signature header fits these bytes; takes as long for a wrong one as for the right one.
#[wasm_bindgen(js_name = checkWebhook)]
pub fn check_webhook(secret: &str, body: &[u8], signature: &str) -> bool {
    webhook::verify(secret.as_bytes(), body, signature)
}
