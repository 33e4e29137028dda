//! Which values are encrypted in the database: the webhook secrets of teams, browser profiles, and the parts of requests
//! that may contain credentials ([`PARTS`]). Values are encrypted before they reach an engine and decrypted after they
//! leave it, so engines store text and know nothing of keys.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::cipher::{Cipher, Purpose, key_of, may_contain_sealed};
use crate::error::StoreError;
use crate::job::{JobRow, NewJob};
use crate::lease::Lease;
use crate::limits;
use crate::monitor::{CheckLease, CheckRow, MonitorRow, MonitorUpdate, NewCheck, NewMonitor};
use crate::outbox::DueEvent;
use crate::run::RunRow;
use crate::scrape::ScrapeOrigin;
use crate::secret_key::KeyRing;

/// Parts of a request that are encrypted, at any depth: headers and webhooks may contain tokens, and actions may type
/// passwords.
const PARTS: [&str; 3] = ["webhook", "headers", "actions"];

/// Encrypts and decrypts the values of a store. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Access);

#[derive(Clone, Debug, Default)]
enum Access {
    /// For a command that neither reads nor writes encrypted values.
    #[default]
    None,
    Keys(Arc<KeyRing>),
}

/// Where a value is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// The secret of a team.
    WebhookSecret,
    /// A request, as JSON text.
    Request,
    /// The `webhook` of a request, as JSON text.
    Receiver,
    /// A browser profile.
    Profile,
}

impl Secrets {
    pub(crate) fn new(keys: KeyRing) -> Self {
        Self(Access::Keys(Arc::new(keys)))
    }

    fn keys(&self) -> Result<&KeyRing, StoreError> {
        match &self.0 {
            Access::Keys(keys) => Ok(keys),
            Access::None => Err(StoreError::Setup(
                "this command has no key to encrypt or decrypt stored secrets".to_owned(),
            )),
        }
    }

    pub(crate) fn seal_secret(&self, secret: &str) -> Result<String, StoreError> {
        self.keys()?.seal(Form::WebhookSecret, secret)
    }

    pub(crate) fn open_secret(&self, secret: Option<String>) -> Result<Option<String>, StoreError> {
        let Some(secret) = secret else { return Ok(None) };
        self.keys()?.open(Form::WebhookSecret, secret).map(Some)
    }

    pub(crate) fn seal_profile(&self, state: String) -> Result<String, StoreError> {
        self.keys()?.seal(Form::Profile, &state)
    }

    pub(crate) fn open_profile(&self, state: Option<String>) -> Result<Option<String>, StoreError> {
        let Some(state) = state else { return Ok(None) };
        self.keys()?.open(Form::Profile, state).map(Some)
    }

    pub(crate) fn open_request(&self, request: &str) -> Result<String, StoreError> {
        self.keys()?.open(Form::Request, request.to_owned())
    }

    pub(crate) fn seal_request<T: Requests + Clone>(&self, value: &T) -> Result<T, StoreError> {
        self.seal_owned(value.clone())
    }

    pub(crate) fn seal_owned<T: Requests>(&self, mut value: T) -> Result<T, StoreError> {
        let keys = self.keys()?;
        value.try_each(&mut |form, text| {
            *text = keys.seal(form, text)?;
            Ok(())
        })?;
        Ok(value)
    }

    /// Decrypts requests. One that cannot be decrypted is returned as it is: it fails alone where it is parsed.
    pub(crate) fn open_requests<T: Requests>(&self, mut value: T) -> Result<T, StoreError> {
        let keys = self.keys()?;
        value.try_each(&mut |form, text| {
            match keys.open(form, text.clone()) {
                Ok(opened) => *text = opened,
                Err(error) => tracing::error!(%error, "cannot decrypt a stored request"),
            }
            Ok(())
        })?;
        Ok(value)
    }
}

impl KeyRing {
    /// Encrypts a value with the current key. Without a key it stays as it is.
    pub(crate) fn seal(&self, form: Form, text: &str) -> Result<String, StoreError> {
        let Some(cipher) = &self.current else {
            return Ok(text.to_owned());
        };
        match form {
            Form::WebhookSecret => cipher.seal(Purpose::WebhookSecret, text.as_bytes()),
            Form::Profile => {
                let compressed = zstd::bulk::compress(text.as_bytes(), limits::ZSTD_LEVEL)
                    .map_err(|error| StoreError::io("cannot compress a profile", &error))?;
                cipher.seal(Purpose::Profile, &compressed)
            }
            Form::Receiver => {
                let sealed = cipher.seal(Purpose::Request, text.as_bytes())?;
                Ok(Json::from(sealed).to_string())
            }
            Form::Request => change_parts(text, &mut |part| {
                let sealed = cipher.seal(Purpose::Request, part.to_string().as_bytes())?;
                Ok(Some(Json::from(sealed)))
            }),
        }
    }

    /// Decrypts a value with the key that encrypted it. A value that is not encrypted stays as it is.
    pub(crate) fn open(&self, form: Form, text: String) -> Result<String, StoreError> {
        if !may_contain_sealed(&text) {
            return Ok(text);
        }
        let utf8 = |bytes| String::from_utf8(bytes).map_err(|_| unreadable());
        match form {
            Form::WebhookSecret => match self.decrypt(Purpose::WebhookSecret, &text)? {
                Some(secret) => utf8(secret),
                None => Ok(text),
            },
            Form::Profile => match self.decrypt(Purpose::Profile, &text)? {
                Some(compressed) => {
                    let most = usize::try_from(limits::DOCUMENT_BYTES).unwrap_or(usize::MAX);
                    let size = zstd::zstd_safe::get_frame_content_size(&compressed);
                    let size = size.ok().flatten().and_then(|size| usize::try_from(size).ok());
                    let size = size.filter(|size| *size <= most).ok_or_else(unreadable)?;
                    utf8(zstd::bulk::decompress(&compressed, size).map_err(|_| unreadable())?)
                }
                None => Ok(text),
            },
            Form::Receiver => match serde_json::from_str(&text) {
                Ok(Json::String(sealed)) => match self.decrypt(Purpose::Request, &sealed)? {
                    Some(webhook) => utf8(webhook),
                    None => Ok(text),
                },
                _ => Ok(text),
            },
            Form::Request => change_parts(&text, &mut |part| {
                let Json::String(sealed) = part else {
                    return Ok(None);
                };
                let Some(opened) = self.decrypt(Purpose::Request, sealed)? else {
                    return Ok(None);
                };
                serde_json::from_slice(&opened)
                    .map(Some)
                    .map_err(|_| unreadable())
            }),
        }
    }

    /// Returns the value encrypted with the current key; `None` if it already is, or needs no encryption.
    pub(crate) fn renew(&self, form: Form, text: &str) -> Result<Option<String>, StoreError> {
        if self.is_renewed(form, text)? {
            return Ok(None);
        }
        let opened = self.open(form, text.to_owned())?;
        self.seal(form, &opened).map(Some)
    }

    /// Returns a request whose parts that cannot be decrypted are `null`, and the others encrypted with the current key.
    pub(crate) fn without_lost_parts(&self, request: &str) -> Result<String, StoreError> {
        let kept = change_parts(request, &mut |part| {
            let is_lost = |sealed| self.decrypt(Purpose::Request, sealed).is_err();
            Ok(part.as_str().is_some_and(is_lost).then_some(Json::Null))
        })?;
        Ok(self.renew(Form::Request, &kept)?.unwrap_or(kept))
    }

    fn is_renewed(&self, form: Form, text: &str) -> Result<bool, StoreError> {
        let current = self.current.as_ref().map(Cipher::id);
        let mut renewed = true;
        match form {
            Form::WebhookSecret | Form::Profile => renewed = key_of(text) == current,
            Form::Receiver => {
                let sealed: Json = serde_json::from_str(text).map_err(|_| unreadable())?;
                renewed = sealed.as_str().and_then(key_of) == current;
            }
            Form::Request => {
                change_parts(text, &mut |part| {
                    renewed &= part.as_str().and_then(key_of) == current;
                    Ok(None)
                })?;
            }
        }
        Ok(renewed)
    }

    /// Returns `None` if the text is not encrypted.
    fn decrypt(&self, purpose: Purpose, text: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let ciphers = self.current.iter().chain(&self.earlier);
        match ciphers.filter_map(|cipher| cipher.open(purpose, text)).next() {
            Some(opened) => opened.map(Some),
            None if key_of(text).is_some() => Err(StoreError::UnknownKey),
            None => Ok(None),
        }
    }
}

/// Returns the parts of the stored request of a job or monitor that were discarded because their key is lost.
pub fn discarded_parts(request: &str) -> Vec<&'static str> {
    let Ok(request) = serde_json::from_str::<Json>(request) else {
        return Vec::new();
    };
    let targets = request["targets"].as_array().into_iter().flatten();
    let objects: Vec<&Json> = targets
        .chain([&request])
        .flat_map(|object| [object, &object["scrapeOptions"]])
        .collect();
    let is_discarded = |part: &&str| objects.iter().any(|object| object.get(part) == Some(&Json::Null));
    PARTS.into_iter().filter(is_discarded).collect()
}

fn unreadable() -> StoreError {
    StoreError::Unreadable("a value that was encrypted".to_owned())
}

/// What [`change_parts`] does with a part: returns its new value, or `None` to leave it.
type Change<'a> = dyn FnMut(&Json) -> Result<Option<Json>, StoreError> + 'a;

/// Changes every part of a request. A request without parts, or that is not JSON, is returned as it is.
fn change_parts(text: &str, change: &mut Change<'_>) -> Result<String, StoreError> {
    if !PARTS.iter().any(|part| text.contains(part)) {
        return Ok(text.to_owned());
    }
    let Ok(mut request) = serde_json::from_str(text) else {
        return Ok(text.to_owned());
    };
    match change_below(&mut request, change)? {
        true => Ok(request.to_string()),
        false => Ok(text.to_owned()),
    }
}

/// Changes the parts below a value and returns whether there were any. The parser limits its depth.
fn change_below(value: &mut Json, change: &mut Change<'_>) -> Result<bool, StoreError> {
    let mut changed = false;
    match value {
        Json::Object(fields) => {
            for (name, field) in fields {
                if !PARTS.contains(&name.as_str()) {
                    changed |= change_below(field, change)?;
                } else if !field.is_null()
                    && let Some(new) = change(field)?
                {
                    *field = new;
                    changed = true;
                }
            }
        }
        Json::Array(items) => {
            for item in items {
                changed |= change_below(item, change)?;
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
    Ok(changed)
}

/// A value that contains requests.
pub(crate) trait Requests {
    /// Calls `change` with each request.
    fn try_each(
        &mut self,
        change: &mut dyn FnMut(Form, &mut String) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
}

macro_rules! requests {
    ($($kind:ty: $form:ident $($field:ident).+;)+) => {
        $(impl Requests for $kind {
            fn try_each(
                &mut self,
                change: &mut dyn FnMut(Form, &mut String) -> Result<(), StoreError>,
            ) -> Result<(), StoreError> {
                change(Form::$form, &mut self.$($field).+)
            }
        })+
    };
}

requests! {
    NewJob: Request request;
    JobRow: Request request;
    Lease: Request request;
    RunRow: Request request;
    ScrapeOrigin: Request request;
    NewMonitor: Request request;
    MonitorUpdate: Request request;
    MonitorRow: Request request;
    NewCheck: Request job.request;
    CheckLease: Request request;
    CheckRow: Request request;
    DueEvent: Receiver webhook;
}

impl<T: Requests> Requests for Option<T> {
    fn try_each(
        &mut self,
        change: &mut dyn FnMut(Form, &mut String) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.iter_mut().try_for_each(|value| value.try_each(change))
    }
}

impl<T: Requests> Requests for Vec<T> {
    fn try_each(
        &mut self,
        change: &mut dyn FnMut(Form, &mut String) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.iter_mut().try_for_each(|value| value.try_each(change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SecretKey;

    const REQUEST: &str = r#"{"actions":[{"text":"password","type":"write"}],"formats":[{"schema":{"properties":{"headers":{"type":"string"}}}}],"scrapeOptions":{"headers":{"Authorization":"Bearer token"}},"url":"http://site.test/","webhook":{"headers":{"X":"1"},"url":"http://r.test/"}}"#;

    fn keys(current: Option<&str>, earlier: &[&str]) -> KeyRing {
        let cipher = |text: &str| Cipher::new(&SecretKey::parse(text).unwrap()).unwrap();
        KeyRing {
            current: current.map(cipher),
            earlier: earlier.iter().map(|text| cipher(text)).collect(),
        }
    }

    #[test]
    fn credentials_in_requests_are_encrypted() {
        let keys = keys(Some("0123456789abcdef"), &[]);
        let sealed = keys.seal(Form::Request, REQUEST).unwrap();
        assert!(sealed.contains(r#""url":"http://site.test/""#), "{sealed}");
        for secret in [
            "password",
            "Bearer",
            "r.test",
            "schema\":{\"properties\":{\"headers\":{",
        ] {
            assert!(!sealed.contains(secret), "{secret}: {sealed}");
        }
        assert_eq!(keys.open(Form::Request, sealed.clone()).unwrap(), REQUEST);
        assert_eq!(keys.renew(Form::Request, &sealed).unwrap(), None);
        // The receiver gets the webhook from the encrypted request, or from one before encryption.
        let request: Json = serde_json::from_str(&sealed).unwrap();
        for webhook in [
            request["webhook"].to_string(),
            r#"{"url":"http://r.test/"}"#.to_owned(),
        ] {
            let opened = keys.open(Form::Receiver, webhook).unwrap();
            assert!(opened.contains(r#""url":"http://r.test/""#), "{opened}");
        }
        for plain in [
            "",
            "{}",
            "not JSON with headers",
            r#"{"url":"http://site.test/","webhook":null}"#,
        ] {
            assert_eq!(keys.seal(Form::Request, plain).unwrap(), plain);
            assert_eq!(keys.renew(Form::Request, plain).unwrap(), None, "{plain}");
        }
    }

    #[test]
    fn values_of_each_form_are_renewed_with_the_current_key() {
        let (old, none) = (keys(Some("an old secret key"), &[]), keys(None, &[]));
        let both = keys(Some("0123456789abcdef"), &["an old secret key"]);
        let other = keys(Some("0123456789abcdef"), &[]);
        for (form, text) in [
            (Form::WebhookSecret, "hush"),
            (Form::Request, REQUEST),
            (Form::Receiver, r#"{"url":"http://r.test/"}"#),
            (Form::Profile, r#"{"cookies":[]}"#),
        ] {
            assert_eq!(none.seal(form, text).unwrap(), text);
            assert_eq!(none.renew(form, text).unwrap(), None, "{form:?}");
            let sealed = old.seal(form, text).unwrap();
            for before in [text, &sealed] {
                let renewed = both.renew(form, before).unwrap().unwrap();
                assert_eq!(other.open(form, renewed.clone()).unwrap(), text);
                assert_eq!(other.renew(form, &renewed).unwrap(), None, "{form:?}");
            }
            assert_eq!(
                other.renew(form, &sealed),
                Err(StoreError::UnknownKey),
                "{form:?}"
            );
            assert_eq!(none.renew(form, &sealed), Err(StoreError::UnknownKey), "{form:?}");
        }
    }

    #[test]
    fn discarded_parts_are_named() {
        let lost = keys(Some("the lost secret key"), &[])
            .seal(Form::Request, REQUEST)
            .unwrap();
        let kept = keys(Some("0123456789abcdef"), &[])
            .without_lost_parts(&lost)
            .unwrap();
        assert_eq!(discarded_parts(&kept), PARTS);
        let monitor = r#"{"targets":[{"scrapeOptions":{"headers":null}}],"notification":{"actions":null}}"#;
        assert_eq!(discarded_parts(monitor), ["headers"]);
        for request in [
            REQUEST,
            "{}",
            "no JSON",
            r#"{"formats":[{"schema":{"default":{"headers":null}}}]}"#,
        ] {
            assert_eq!(discarded_parts(request), Vec::<&str>::new(), "{request}");
        }
    }

    #[test]
    fn a_command_without_keys_writes_nothing_in_clear() {
        assert!(Secrets::default().seal_secret("hush").is_err());
        assert!(Secrets::default().seal_profile("hush".to_owned()).is_err());
    }
}
