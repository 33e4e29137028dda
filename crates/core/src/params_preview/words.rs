//! The words of a prompt in lower case without punctuation, and what each may refer to.

use url::Url;

/// Names of site sections, with their path pattern and whether the name alone is enough. Other names count only
/// next to a word such as `pages`.
const SECTION_NAMES: &[(&str, &str, bool)] = &[
    ("about", "about", false),
    ("account", "accounts?", false),
    ("api", "api", false),
    ("archive", "archives?", false),
    ("article", "articles?", true),
    ("author", "authors?", false),
    ("blog", "blogs?", true),
    ("career", "careers?", true),
    ("cart", "cart", true),
    ("category", "categor(y|ies)", false),
    ("changelog", "changelogs?", true),
    ("checkout", "checkout", true),
    ("comment", "comments?", false),
    ("contact", "contacts?", false),
    ("course", "courses?", true),
    ("doc", "(docs?|documentation)", true),
    ("documentation", "(docs?|documentation)", true),
    ("download", "downloads?", false),
    ("event", "events?", false),
    ("faq", "faqs?", true),
    ("forum", "forums?", true),
    ("gallery", "galler(y|ies)", false),
    ("glossary", "glossary", true),
    ("guide", "guides?", true),
    ("help", "help", false),
    ("job", "jobs?", false),
    ("learn", "learn", false),
    ("legal", "legal", false),
    ("login", "login", true),
    ("manual", "manuals?", false),
    ("news", "news", true),
    ("podcast", "podcasts?", true),
    ("press", "press", false),
    ("pricing", "pricing", true),
    ("privacy", "privacy", false),
    ("product", "products?", true),
    ("profile", "profiles?", false),
    ("project", "projects?", false),
    ("recipe", "recipes?", true),
    ("reference", "reference", false),
    ("review", "reviews?", true),
    ("search", "search", false),
    ("shop", "shop", true),
    ("signup", "signup", true),
    ("store", "store", false),
    ("support", "support", false),
    ("tag", "tags?", false),
    ("team", "team", false),
    ("tutorial", "tutorials?", true),
    ("user", "users?", false),
    ("video", "videos?", false),
    ("wiki", "wiki", true),
];

/// Languages and their codes in URLs.
const LANGUAGES: &[(&str, &str)] = &[
    ("arabic", "ar"),
    ("chinese", "zh"),
    ("czech", "cs"),
    ("danish", "da"),
    ("dutch", "nl"),
    ("english", "en"),
    ("finnish", "fi"),
    ("french", "fr"),
    ("german", "de"),
    ("greek", "el"),
    ("hebrew", "he"),
    ("hindi", "hi"),
    ("hungarian", "hu"),
    ("indonesian", "id"),
    ("italian", "it"),
    ("japanese", "ja"),
    ("korean", "ko"),
    ("norwegian", "no"),
    ("polish", "pl"),
    ("portuguese", "pt"),
    ("romanian", "ro"),
    ("russian", "ru"),
    ("spanish", "es"),
    ("swedish", "sv"),
    ("thai", "th"),
    ("turkish", "tr"),
    ("ukrainian", "uk"),
    ("vietnamese", "vi"),
];

/// Number words.
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

/// A word, and whether it ends a clause or a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) ends_clause: bool,
    pub(super) ends_sentence: bool,
}

impl Word {
    pub(super) fn is(&self, list: &[&str]) -> bool {
        list.contains(&self.text.as_str())
    }

    /// Returns whether the word starts with one of these, so that `page` matches `pages`.
    pub(super) fn begins(&self, list: &[&str]) -> bool {
        list.iter().any(|begin| self.text.starts_with(begin))
    }

    /// Parses a number in digits or words.
    pub(super) fn number(&self) -> Option<f64> {
        if self.text == "half" {
            return Some(0.5);
        }
        let in_words = NUMBERS.iter().find(|(name, _)| *name == self.text);
        match in_words {
            Some((_, number)) => Some(*number as f64),
            None if self.text.starts_with(|c: char| c.is_ascii_digit()) => {
                let digits = self.text.replace([',', '_'], "");
                let (digits, times) = match digits.strip_suffix('k') {
                    Some(digits) => (digits, 1000.0),
                    None => (digits.as_str(), 1.0),
                };
                let number: f64 = digits.parse().ok()?;
                Some(number * times).filter(|number| number.is_finite())
            }
            None => None,
        }
    }

    /// Returns the path pattern of the site section in this language.
    pub(super) fn language(&self) -> Option<String> {
        let (_, code) = LANGUAGES.iter().find(|(name, _)| *name == self.text)?;
        Some(format!("^/{code}([-_][a-zA-Z]{{2}})?(/|$)"))
    }

    /// Parses a host name, alone or in a URL.
    pub(super) fn host(&self) -> Option<String> {
        match Url::parse(&self.text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url.host_str().map(str::to_owned),
            _ => {
                let host = self.text.split('/').next().unwrap_or_default();
                let is_host = host.contains('.') && host.starts_with(char::is_alphabetic);
                is_host.then(|| host.to_owned())
            }
        }
    }

    /// Parses a path such as `/blog/*`, alone or in a URL.
    pub(super) fn path(&self) -> Option<String> {
        let path = match Url::parse(&self.text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url.path().to_owned(),
            _ => self.text.strip_prefix('/').map(|rest| format!("/{rest}"))?,
        };
        let path = path.trim_end_matches(['*', '/']);
        (!path.is_empty()).then(|| path.to_owned())
    }

    /// Returns the path pattern of the site section with this name, and whether the name alone is enough.
    pub(super) fn section(&self) -> Option<(&'static str, bool)> {
        let known = |text: &str| SECTION_NAMES.iter().find(|(name, ..)| *name == text);
        let found = known(&self.text).or_else(|| known(self.text.strip_suffix('s')?));
        found.map(|(_, pattern, alone)| (*pattern, *alone))
    }
}

/// Splits a text into words. `sitemap-only` is two words.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for raw in text.split_whitespace() {
        let raw = raw.to_lowercase().replace('\u{2019}', "'");
        let trimmed = raw.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '*');
        let ends_sentence = raw
            .trim_end_matches(['"', '\'', ')'])
            .ends_with(['.', ';', '!', '?']);
        let ends_clause = ends_sentence || raw.ends_with([',', ':']);
        let parts: Vec<&str> = if trimmed.contains('/') {
            vec![trimmed]
        } else {
            trimmed.split('-').filter(|part| !part.is_empty()).collect()
        };
        for (at, part) in parts.iter().enumerate() {
            words.push(Word {
                text: (*part).to_owned(),
                ends_clause: ends_clause && at + 1 == parts.len(),
                ends_sentence: ends_sentence && at + 1 == parts.len(),
            });
        }
    }
    words
}
