//! Headers of the requests to the OpenTelemetry collector.

use std::fmt;

use http::{HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;

/// Headers that the server sets itself.
const OWN: [&str; 3] = ["content-type", "content-length", "host"];

/// Names and values of headers, such as one with an API key.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct CollectorHeaders(Vec<(String, String)>);

impl CollectorHeaders {
    /// Parses `NAME=VALUE,...` with percent-encoded values, as the specification of OpenTelemetry defines it (OTLP
    /// Exporter Configuration, "Specifying headers via environment variables"). The message never contains a value.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let entries = text.split(',').zip(1u32..);
        let headers = entries.map(|(entry, number)| {
            header(entry).map_err(|why| format!("entry {number} {why}; write NAME=VALUE,NAME=VALUE"))
        });
        headers.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (String, String)> + use<'_> {
        self.0.iter().cloned()
    }
}

fn header(entry: &str) -> Result<(String, String), &'static str> {
    let (name, value) = entry.split_once('=').ok_or("has no `=`")?;
    let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| "has no valid header name")?;
    if OWN.contains(&name.as_str()) {
        return Err("names a header that the server sets itself");
    }
    let value = value.trim();
    let is_escape = |rest: &str| {
        rest.get(..2)
            .is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    if !value.split('%').skip(1).all(is_escape) {
        return Err("has a `%` without two hexadecimal digits: write `%` as %25");
    }
    let value = percent_decode_str(value)
        .decode_utf8()
        .map_err(|_| "has a value that is not UTF-8")?;
    match HeaderValue::from_str(&value) {
        Ok(_) => Ok((name.as_str().to_owned(), value.into_owned())),
        Err(_) => Err("has a value with characters that are not allowed in a header"),
    }
}

/// Hides the values.
impl fmt::Debug for CollectorHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}
