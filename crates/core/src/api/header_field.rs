//! Header maps in requests: which headers may be sent to a target or added to a webhook delivery.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::api::fields::{FieldType, Schema, Slot};
use crate::api::problem::shorten;
use crate::limits::{MAX_TARGET_HEADER_BYTES, MAX_TARGET_HEADERS};

/// Connection headers (RFC 9110 section 7.6.1) and those that the sender computes.
const REFUSED: &[&str] = &[
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
];

/// Headers of requests or deliveries. Names must be tokens and values strings without control characters;
/// connection headers and `Host` are refused; the number and the total size are bounded.
impl FieldType for BTreeMap<String, String> {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        Schema::Map(Box::new(Schema::Text(0..=usize::MAX)))
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let Value::Object(map) = slot.json() else {
            return slot.map().map(|_| Self::new());
        };
        match check(map) {
            Ok(headers) => Some(headers),
            Err(message) => slot.fail(message),
        }
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

fn check(map: &Map<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let mut headers = BTreeMap::new();
    let mut bytes = 0;
    for (name, value) in map {
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!(
                "has a name that is not an HTTP header name: `{}`",
                shorten(name)
            ));
        }
        if REFUSED.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!(
                "must not contain `{name}`; this header is set by the connection itself"
            ));
        }
        let Value::String(value) = value else {
            return Err(format!(
                "must have strings as values; `{}` has none",
                shorten(name)
            ));
        };
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(format!(
                "must not contain line breaks or control characters; `{}` does",
                shorten(name)
            ));
        }
        bytes += name.len() + value.len() + ": \r\n".len();
        headers.insert(name.clone(), value.clone());
    }
    if headers.len() > MAX_TARGET_HEADERS {
        return Err(format!(
            "must have at most {MAX_TARGET_HEADERS} headers, not {}",
            headers.len()
        ));
    }
    if bytes > MAX_TARGET_HEADER_BYTES {
        return Err(format!(
            "must have at most {MAX_TARGET_HEADER_BYTES} bytes in total, not {bytes}"
        ));
    }
    Ok(headers)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
