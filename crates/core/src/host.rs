//! The politeness unit: scheme, host and port of a URL. One robots.txt, one pace.

use std::fmt;
use std::sync::Arc;

use url::Url;

/// `scheme://host[:port]` in normal form, without a trailing slash and without a default port.
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostKey(Arc<str>);

impl HostKey {
    /// The politeness unit of a page. `url` is http or https, so it always has an origin.
    pub fn of(url: &Url) -> Self {
        Self(url.origin().ascii_serialization().into())
    }

    /// Address of this host's robots.txt.
    pub fn robots_url(&self) -> Option<Url> {
        Url::parse(&format!("{}/robots.txt", self.0)).ok()
    }

    /// The key as text, as stored.
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
    /// Reads back what [`HostKey::as_str`] gave.
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}
