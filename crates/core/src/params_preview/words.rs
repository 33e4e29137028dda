//! Words of a prompt: lower case, without marks around them, each with what it may stand for.

use url::Url;

/// What a path may be called, and its pattern. Those that also mean something else count as a path only
/// beside a word such as `pages`.
const PLACES: &[(&str, &str, bool)] = &[
    ("about", "about", false),
    ("api", "api", false),
    ("article", "articles?", true),
    ("blog", "blogs?", true),
    ("career", "careers?", true),
    ("category", "categor(y|ies)", false),
    ("changelog", "changelogs?", true),
    ("contact", "contacts?", false),
    ("doc", "(docs?|documentation)", true),
    ("documentation", "(docs?|documentation)", true),
    ("event", "events?", false),
    ("faq", "faqs?", true),
    ("forum", "forums?", true),
    ("guide", "guides?", true),
    ("help", "help", false),
    ("job", "jobs?", false),
    ("legal", "legal", false),
    ("login", "login", true),
    ("news", "news", true),
    ("press", "press", false),
    ("pricing", "pricing", true),
    ("privacy", "privacy", false),
    ("product", "products?", true),
    ("reference", "reference", false),
    ("shop", "shop", false),
    ("store", "store", false),
    ("support", "support", false),
    ("tag", "tags?", false),
    ("team", "team", false),
    ("tutorial", "tutorials?", true),
];

/// Numbers in words.
const NUMBERS: &[(&str, u64)] = &[
    ("one", 1),
    ("single", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("twenty", 20),
    ("fifty", 50),
    ("hundred", 100),
    ("thousand", 1000),
];

/// A word and whether a sentence ends with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) ends_sentence: bool,
}

impl Word {
    pub(super) fn is(&self, list: &[&str]) -> bool {
        list.contains(&self.text.as_str())
    }

    /// Starts like one of these: `page` is also `pages`.
    pub(super) fn begins(&self, list: &[&str]) -> bool {
        list.iter().any(|begin| self.text.starts_with(begin))
    }

    /// A number in digits or as a word.
    pub(super) fn number(&self) -> Option<f64> {
        let digits = self.text.replace([',', '_'], "");
        let spelt = NUMBERS.iter().find(|(name, _)| *name == self.text);
        match spelt {
            Some((_, number)) => Some(*number as f64),
            None if self.text.starts_with(|c: char| c.is_ascii_digit()) => {
                digits.parse().ok().filter(|number: &f64| number.is_finite())
            }
            None => None,
        }
    }

    /// A path as it stands: `/blog/*` or a whole address.
    pub(super) fn path(&self) -> Option<String> {
        let path = match Url::parse(&self.text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url.path().to_owned(),
            _ => self.text.strip_prefix('/').map(|rest| format!("/{rest}"))?,
        };
        let path = path.trim_end_matches(['*', '/']);
        (!path.is_empty()).then(|| path.to_owned())
    }

    /// The pattern of a path that has this name, and whether the name alone says so.
    pub(super) fn place(&self) -> Option<(&'static str, bool)> {
        let known = |text: &str| PLACES.iter().find(|(name, ..)| *name == text);
        let found = known(&self.text).or_else(|| known(self.text.strip_suffix('s')?));
        found.map(|(_, pattern, alone)| (*pattern, *alone))
    }
}

/// The words of a text. `sitemap-only` is two of them.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for raw in text.split_whitespace() {
        let raw = raw.to_lowercase().replace('\u{2019}', "'");
        let bare = raw.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '*');
        let ends_sentence = raw
            .trim_end_matches(['"', '\'', ')'])
            .ends_with(['.', ';', '!', '?']);
        let parts: Vec<&str> = if bare.contains('/') {
            vec![bare]
        } else {
            bare.split('-').filter(|part| !part.is_empty()).collect()
        };
        for (at, part) in parts.iter().enumerate() {
            words.push(Word {
                text: (*part).to_owned(),
                ends_sentence: ends_sentence && at + 1 == parts.len(),
            });
        }
    }
    words
}
