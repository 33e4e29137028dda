//! What `blockAds` keeps out of pages: requests to advertisers and trackers, by filter lists, and consent banners.

use std::sync::{Arc, OnceLock};

use url::Url;

use crate::filter_list::{FilterLists, ResourceType};

/// The embedded lists; `blocker/LICENCE.md` describes them.
const EMBEDDED: [&str; 2] = [
    include_str!("blocker/easylist.txt"),
    include_str!("blocker/easyprivacy.txt"),
];

/// Keeps advertisements, trackers and consent banners out of pages. Cheap to clone.
#[derive(Clone, Default)]
pub struct Blocker {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Texts of the operator's lists.
    lists: Vec<String>,
    /// Script that answers the banners of consent tools.
    consent_script: Option<String>,
    compiled: OnceLock<FilterLists>,
}

impl Blocker {
    /// Creates a blocker with the embedded filter lists and `lists`: the texts of more lists, in the syntax of Adblock
    /// Plus or with one host name per line. Without a `consent_script` (autoconsent's standalone script) banners are hidden
    /// instead of answered.
    pub fn new(lists: Vec<String>, consent_script: Option<String>) -> Blocker {
        Blocker {
            shared: Arc::new(Shared {
                lists,
                consent_script,
                compiled: OnceLock::new(),
            }),
        }
    }

    pub(crate) fn consent_script(&self) -> Option<&str> {
        self.shared.consent_script.as_deref()
    }

    /// Compiles the lists on another thread, unless that is done.
    pub(crate) async fn prepare(&self) {
        if self.shared.compiled.get().is_some() {
            return;
        }
        let blocker = self.clone();
        let compiling = tokio::task::spawn_blocking(move || _ = blocker.lists());
        if let Err(error) = compiling.await {
            tracing::error!(%error, "cannot compile the filter lists");
        }
    }

    /// Returns whether a page at `document` must not have a frame with the document `url`.
    pub async fn blocks_frame(&self, url: &Url, document: &Url) -> bool {
        self.prepare().await;
        self.blocks(url, document, ResourceType::SUBDOCUMENT)
    }

    /// Returns whether a page at `document` must not request `url`.
    pub(crate) fn blocks(&self, url: &Url, document: &Url, of: ResourceType) -> bool {
        self.lists().blocks(url, document, of)
    }

    fn lists(&self) -> &FilterLists {
        self.shared.compiled.get_or_init(|| {
            let mut compiled = FilterLists::default();
            let own = self.shared.lists.iter().map(String::as_str);
            EMBEDDED
                .into_iter()
                .chain(own)
                .for_each(|list| compiled.add(list));
            compiled
        })
    }
}

impl std::fmt::Debug for Blocker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_lists_block_known_advertisers_and_trackers() {
        let blocker = Blocker::new(vec!["||own.test^".to_owned()], None);
        let check = |url: &str, expected: bool| {
            let document = "https://news.test/story".parse().unwrap();
            let found = blocker.blocks(&url.parse().unwrap(), &document, ResourceType::SCRIPT);
            assert_eq!(found, expected, "{url}");
        };
        check("https://securepubads.g.doubleclick.net/tag/js/gpt.js", true);
        check("https://www.google-analytics.com/analytics.js", true);
        check("https://static.hotjar.com/c/hotjar-1.js", true);
        check("https://static.criteo.net/js/ld/ld.js", true);
        check("https://own.test/a.js", true);
        check("https://cdn.jsdelivr.net/npm/vue@3/dist/vue.global.js", false);
        check(
            "https://ajax.googleapis.com/ajax/libs/jquery/3.7.1/jquery.min.js",
            false,
        );
        check("https://news.test/app.js", false);
    }
}
