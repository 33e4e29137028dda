//! The unit of politeness: scheme, host and port of a URL. Each has one robots.txt and one pace.

use std::fmt;
use std::sync::Arc;

use url::{Position, Url};

/// `scheme://host[:port]` in normal form, without a trailing slash and without a default port.
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostKey(Arc<str>);

impl HostKey {
    /// Returns the host key of an `http` or `https` URL.
    pub fn of(url: &Url) -> Self {
        match url.username().is_empty() && url.password().is_none() {
            true => Self(url[..Position::BeforePath].into()),
            false => Self(url.origin().ascii_serialization().into()),
        }
    }

    /// Returns the URL of this host's robots.txt.
    pub fn robots_url(&self) -> Option<Url> {
        Url::parse(&format!("{}/robots.txt", self.0)).ok()
    }

    /// Returns the key as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for HostKey {
    /// Restores a key from the output of [`HostKey::as_str`].
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}
