//! The URL rule of docs/API.md section 3: http and https only; `https://` is added if there is no scheme; no
//! credentials, no empty host, no control characters inside; at most 8192 characters. Whether the URL may be fetched
//! is not decided here.

use std::borrow::Cow;

use url::Url;

use crate::api::body::{Node, ToNode};
use crate::api::fields::{FieldType, Schema, Slot};
use crate::api::problem::shorten;
use crate::limits::MAX_URL_CHARS;

/// URL that a caller requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetUrl {
    /// Parsed URL: http or https, with a host, without credentials.
    pub url: Url,
    /// Whether the caller gave no scheme: `https` is a guess, and `http` is tried if it fails.
    pub scheme_guessed: bool,
    text: String,
}

impl TargetUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// The reason, as the rest of a sentence that begins with the name of the field.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > MAX_URL_CHARS {
            return Err(format!("must have at most {MAX_URL_CHARS} characters"));
        }
        let text = trim_spaces(text);
        if text.is_empty() {
            return Err(format!("must not be empty: give {}", Self::HINT));
        }
        // URL parsers silently drop some of these characters and encode others (WHATWG URL, 4.4).
        if let Some((at, found)) = text.chars().enumerate().find(|(_, c)| c.is_control()) {
            let code = u32::from(found);
            return Err(format!(
                "must not contain control characters: character {} is U+{code:04X}; percent-encode what belongs to the URL",
                at + 1
            ));
        }
        let scheme_guessed = match scheme(text) {
            None => true,
            Some(scheme) if ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) => false,
            Some(scheme) => {
                return Err(format!(
                    "must begin with http:// or https://; the scheme `{}` is not fetched",
                    shorten(scheme)
                ));
            }
        };
        let full = with_scheme(text);
        let after = full.split_once(':').map_or("", |(_, rest)| rest);
        let host_part = after
            .strip_prefix("//")
            .ok_or("must begin with http:// or https://")?;
        if host_part.is_empty() || host_part.starts_with(['/', '\\', '?', '#', ':']) {
            return Err("must name a host, as in https://example.com/page".to_owned());
        }
        let url = Url::parse(&full)
            .map_err(|error| format!("is not a valid URL ({error}): `{}`", shorten(text)))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "must not contain a user name or password; send an Authorization header instead".to_owned(),
            );
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err("must name a host, as in https://example.com/page".to_owned());
        }
        Ok(Self {
            url,
            scheme_guessed,
            text: text.to_owned(),
        })
    }

    /// Returns the URL to try if `https` was a guess and the connection failed.
    pub fn http_fallback(&self) -> Option<Url> {
        let mut url = self.url.clone();
        (self.scheme_guessed && url.set_scheme("http").is_ok()).then_some(url)
    }

    /// Returns the URL as the caller sent it.
    pub fn as_sent(&self) -> &str {
        &self.text
    }
}

impl From<Url> for TargetUrl {
    fn from(url: Url) -> Self {
        let text = url.as_str().to_owned();
        Self {
            url,
            scheme_guessed: false,
            text,
        }
    }
}

impl ToNode for TargetUrl {
    fn to_node(&self) -> Node {
        self.text.to_node()
    }
}

impl FieldType for TargetUrl {
    type Bounds = ();

    const HINT: &'static str = "a URL such as https://example.com";

    fn schema((): ()) -> Schema {
        Schema::Formatted("uri-reference")
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let Some(text) = slot.json().as_str() else {
            return slot.wrong_type(Self::HINT);
        };
        match Self::parse(text) {
            Ok(url) => Some(url),
            Err(message) => slot.fail(message),
        }
    }

    fn placeholder() -> Self {
        let url = Url::parse("https://placeholder.invalid/").expect("a constant URL");
        Self::from(url)
    }
}

impl FieldType for Url {
    type Bounds = ();

    const HINT: &'static str = TargetUrl::HINT;

    fn schema((): ()) -> Schema {
        TargetUrl::schema(())
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        Some(TargetUrl::from_slot(slot, ())?.url)
    }

    fn placeholder() -> Self {
        TargetUrl::placeholder().url
    }
}

/// Returns `text` without leading and trailing spaces and C0 control characters, such as line ends (WHATWG URL, 4.4).
pub(crate) fn trim_spaces(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ' || (c.is_whitespace() && !c.is_control()))
}

/// Returns a typed URL with a scheme: `https` if it has none, as `host:8080`.
pub fn with_scheme(text: &str) -> Cow<'_, str> {
    match scheme(text) {
        Some(_) => Cow::Borrowed(text),
        None => Cow::Owned(format!("https://{}", text.trim_start_matches("//"))),
    }
}

/// Returns the scheme of a URL; `host:8080` has none.
fn scheme(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once(':')?;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !valid {
        return None;
    }
    if rest.starts_with("//") {
        return Some(name);
    }
    let port = rest.split(['/', '?', '#']).next().unwrap_or("");
    let is_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    (!is_port && !name.contains('.')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_without_a_scheme_are_https_by_guess() {
        let check = |text: &str, expected: &str, guessed: bool| {
            let target = TargetUrl::parse(text).unwrap();
            assert_eq!(
                (target.url.as_str(), target.scheme_guessed),
                (expected, guessed),
                "{text}"
            );
        };
        check("https://example.com", "https://example.com/", false);
        check("HTTP://Example.com:80/A", "http://example.com/A", false);
        check("example.com", "https://example.com/", true);
        check("  example.com/a b ", "https://example.com/a%20b", true);
        check("\n\thttps://example.com/\r\n\0", "https://example.com/", false);
        check("//example.com/a", "https://example.com/a", true);
        check("localhost:3000/x", "https://localhost:3000/x", true);
        check("example.com:8080", "https://example.com:8080/", true);
        check("127.0.0.1", "https://127.0.0.1/", true);
        check("[::1]:8080/x", "https://[::1]:8080/x", true);
        check(
            "example.com/?u=http://other.test",
            "https://example.com/?u=http://other.test",
            true,
        );
        check("münchen.de", "https://xn--mnchen-3ya.de/", true);
        let fallback = TargetUrl::parse("example.com").unwrap().http_fallback();
        assert_eq!(fallback.unwrap().as_str(), "http://example.com/");
        assert_eq!(
            TargetUrl::parse("https://example.com").unwrap().http_fallback(),
            None
        );
    }

    #[test]
    fn control_characters_inside_are_refused() {
        for (text, at) in [
            ("https://exam\tple.com/", "character 13 is U+0009"),
            ("ht\rtps://example.com/", "character 3 is U+000D"),
            ("https://example.com/a\0b", "character 22 is U+0000"),
            ("  example.com/a?b=\u{1f}#c", "character 17 is U+001F"),
            ("example.com/#\u{7f}", "character 14 is U+007F"),
            ("example.com/\u{85}", "character 13 is U+0085"),
        ] {
            let refused = TargetUrl::parse(text).unwrap_err();
            assert!(refused.contains(at), "{text:?}: {refused}");
        }
        let encoded = TargetUrl::parse("https://example.com/a%0Ab?c=%00").unwrap();
        assert_eq!(encoded.url.as_str(), "https://example.com/a%0Ab?c=%00");
    }

    #[test]
    fn other_schemes_credentials_and_empty_hosts_are_refused() {
        let long = format!("https://example.com/{}", "a".repeat(MAX_URL_CHARS));
        for text in [
            "",
            "   ",
            "ftp://example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "mailto:a@b.c",
            "data:text/html,x",
            "http://",
            "https:///path",
            "http:example.com",
            "https://?q",
            "http://:80/",
            "https://user@example.com/",
            "https://user:pw@example.com/",
            "user:pw@example.com",
            "http://exa mple.com/",
            "https://example.com:99999/",
            "https://[::1/",
            long.as_str(),
        ] {
            assert!(TargetUrl::parse(text).is_err(), "{text:.80}");
        }
    }
}
