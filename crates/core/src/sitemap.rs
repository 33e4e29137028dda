//! Sitemaps: XML, indexes, text.

use url::Url;

/// One parsed sitemap file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Page addresses in file order.
    pub pages: Vec<Url>,
    /// Further sitemaps named by an index.
    pub children: Vec<Url>,
}
