//! Crawl options from a description in words, by rules (contract section 6.3): page counts, depths, paths,
//! subdomains, the whole domain, sitemaps, pauses. What is not understood is left out; nothing is ever
//! proposed that a crawl would refuse.

mod words;

use serde_json::Value;
use url::Url;

use crate::api::crawl::{CrawlRequest, SitemapMode};
use crate::api::error::ApiError;
use crate::api::fields::{Wire, parse};
use crate::api::params_preview::{CrawlParams, ParamsPreview, ParamsPreviewRequest};
use crate::limits::{MAX_CRAWL_DELAY_S, MAX_PATTERN_CHARS, MAX_PROPOSED_PATTERNS};

use words::{Word, words};

const NOTHING_UNDERSTOOD: &str = "Nothing in the prompt was understood. Without a language model this server knows page counts (`at most 50 pages`), depths (`2 levels deep`), paths (`only /blog`, `not the news section`), `subdomains`, `external links`, `the whole domain`, `sitemap only` and pauses (`wait 2 seconds`).";

const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "don't",
    "never",
    "without",
    "except",
    "excluding",
    "exclude",
    "skip",
    "skipping",
    "ignore",
    "ignoring",
    "avoid",
    "avoiding",
    "omit",
    "leave",
];
const AFFIRMATIONS: &[&str] = &[
    "only",
    "just",
    "include",
    "including",
    "crawl",
    "follow",
    "get",
    "keep",
    "want",
    "scrape",
    "fetch",
    "collect",
    "but",
    "use",
    "allow",
    "limit",
    "stop",
];
const COMPARISONS: &[&str] = &["more", "deeper", "further", "larger", "longer", "less", "fewer"];
const PAGES: &[&str] = &[
    "page", "url", "article", "post", "document", "result", "link", "entries",
];
const LEVELS: &[&str] = &["level", "deep", "depth", "hop", "click", "layer"];
const BOUNDS: &[&str] = &["limit", "max", "maximum", "most", "first", "up", "top", "only"];
const SECTIONS: &[&str] = &["section", "director", "folder", "subfolder", "path"];
const PLACES_BESIDE: &[&str] = &["page", "post", "section", "area", "director", "folder", "entries"];
const WHOLE: &[&str] = &["whole", "entire", "full", "complete", "all"];
const SITES: &[&str] = &["domain", "site", "website", "host"];
const PAUSES: &[&str] = &["wait", "delay", "pause", "every", "sleep", "between", "apart"];

impl ParamsPreview {
    /// The proposal for a description.
    pub fn of(request: &ParamsPreviewRequest) -> Self {
        let data = propose(&request.url.url, request.url.given(), &request.prompt);
        let nothing = data == bare(request.url.given());
        Self {
            success: true,
            warning: nothing.then(|| NOTHING_UNDERSTOOD.to_owned()),
            data,
        }
    }
}

impl CrawlRequest {
    /// Reads a request body; what its `prompt` asks for is filled in where the body sets nothing itself.
    /// Errors: 400 with every problem in `details`.
    pub fn from_json_with_prompt(bytes: &[u8]) -> Result<Self, ApiError> {
        let request = Self::from_json(bytes)?;
        let (Some(prompt), Value::Object(mut body)) = (&request.prompt, parse(bytes)?) else {
            return Ok(request);
        };
        propose(&request.url.url, request.url.given(), prompt).fill(&mut body);
        Self::from_value(Value::Object(body))
    }
}

fn bare(url: &str) -> CrawlParams {
    CrawlParams {
        url: url.to_owned(),
        ..CrawlParams::default()
    }
}

fn propose(start: &Url, given: &str, prompt: &str) -> CrawlParams {
    let words = words(prompt);
    let mut reading = Reading {
        words: &words,
        params: bare(given),
        include: Vec::new(),
        exclude: Vec::new(),
    };
    let mut negated = false;
    for at in 0..words.len() {
        let word = &words[at];
        let before = at.checked_sub(1).map(|at| &words[at]);
        if word.is(NEGATIONS) && !words.get(at + 1).is_some_and(|next| next.is(COMPARISONS)) {
            negated = true;
        } else if word.is(AFFIRMATIONS) && !before.is_some_and(|before| before.is(NEGATIONS)) {
            negated = false;
        }
        reading.word(at, negated);
        negated &= !word.ends_sentence;
    }
    reading.finish(start)
}

struct Reading<'w> {
    words: &'w [Word],
    params: CrawlParams,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl<'w> Reading<'w> {
    /// The words around one, nearest first, up to the end of the sentence.
    fn after(&self, at: usize, count: usize) -> impl Iterator<Item = &'w Word> + use<'w> {
        let mut ended = self.words[at].ends_sentence;
        self.words[at + 1..].iter().take(count).take_while(move |word| {
            let goes_on = !ended;
            ended |= word.ends_sentence;
            goes_on
        })
    }

    fn before(&self, at: usize, count: usize) -> impl Iterator<Item = &'w Word> + use<'w> {
        let words = self.words[..at].iter().rev().take(count);
        words.take_while(|word| !word.ends_sentence)
    }

    fn near(&self, at: usize, list: &[&str]) -> bool {
        self.before(at, 2)
            .chain(self.after(at, 2))
            .any(|word| word.is(list))
    }

    fn word(&mut self, at: usize, negated: bool) {
        let word = &self.words[at];
        if let Some(number) = word.number() {
            return self.number(at, number);
        }
        if let Some(path) = word.path() {
            let pattern = format!("^{}(/|$)", regex::escape(&path));
            return self.pattern(pattern, negated);
        }
        if word.begins(&["subdomain"]) {
            self.params.allow_subdomains = Some(!negated);
        } else if word.begins(&["external", "outbound"]) {
            self.params.allow_external_links = Some(!negated);
        } else if word.begins(&["sitemap"]) {
            self.params.sitemap = match negated {
                true => Some(SitemapMode::Skip),
                false => self
                    .near(at, &["only", "just", "solely"])
                    .then_some(SitemapMode::Only),
            };
        } else if word.begins(&["query"]) && negated {
            self.params.ignore_query_parameters = Some(true);
        } else if word.is(SITES) || word.is(&["sites", "domains", "websites"]) {
            if self.before(at, 2).any(|word| word.is(&["other", "foreign"])) {
                self.params.allow_external_links = Some(!negated);
            } else if self.before(at, 1).any(|word| word.is(WHOLE)) && !negated {
                self.params.crawl_entire_domain = Some(true);
            }
        } else if word.begins(&["homepage", "start"])
            && !negated
            && self.before(at, 2).any(|word| word.is(&["only", "just"]))
        {
            self.params.limit = Some(1);
        } else if let Some((pattern, alone)) = word.place() {
            let beside = |word: &Word| word.begins(PLACES_BESIDE);
            if alone || self.after(at, 1).any(beside) {
                self.pattern(format!("/{pattern}(/|$)"), negated);
            }
        } else if word.begins(SECTIONS)
            && let Some(name) = self.before(at, 1).next()
            && name.place().is_none()
            && !name.is(&[
                "the", "this", "that", "a", "an", "each", "every", "any", "same", "these", "those",
            ])
            && name.text.chars().all(char::is_alphanumeric)
            && name.number().is_none()
        {
            let pattern = format!("/{}(/|$)", regex::escape(&name.text));
            self.pattern(pattern, negated);
        }
    }

    fn number(&mut self, at: usize, number: f64) {
        let following: Vec<&Word> = self
            .after(at, 3)
            .take_while(|word| word.number().is_none())
            .collect();
        let follows = |list: &[&str]| following.iter().position(|word| word.begins(list));
        let led_by = |list: &[&str]| self.before(at, 3).any(|word| word.begins(list));
        let whole = number.fract() == 0.0 && number >= 0.0;
        let unit = following.first();
        let seconds = match unit {
            Some(word) if word.begins(&["millisecond"]) || word.text == "ms" => Some(number / 1000.0),
            Some(word) if word.begins(&["sec"]) || word.text == "s" => Some(number),
            Some(word) if word.begins(&["minute"]) => Some(number * 60.0),
            _ => None,
        };
        let is_depth = match (follows(LEVELS), follows(PAGES)) {
            (Some(levels), Some(pages)) => levels < pages,
            (levels, pages) => levels.is_some() || (pages.is_none() && led_by(&["depth"])),
        };
        if let Some(seconds) = seconds {
            let paused = led_by(PAUSES) || follows(PAUSES).is_some();
            if paused && seconds > 0.0 && seconds <= MAX_CRAWL_DELAY_S {
                self.params.delay = Some(seconds.ceil() as u32);
            }
        } else if whole && is_depth {
            self.params.max_discovery_depth = u32::try_from(number as u64).ok();
        } else if whole
            && number >= 1.0
            && (follows(PAGES).is_some() || self.before(at, 3).any(|word| word.is(BOUNDS)))
        {
            self.params.limit = Some(number as u64);
        }
    }

    fn pattern(&mut self, pattern: String, negated: bool) {
        let known = self.include.len() + self.exclude.len();
        let list = if negated {
            &mut self.exclude
        } else {
            &mut self.include
        };
        let fits = known < MAX_PROPOSED_PATTERNS && pattern.chars().count() <= MAX_PATTERN_CHARS;
        if fits && !list.contains(&pattern) {
            list.push(pattern);
        }
    }

    /// The start page has to pass the patterns too, and what they name may lie beside it.
    fn finish(mut self, start: &Url) -> CrawlParams {
        if !self.include.is_empty() {
            let path = start.path().trim_end_matches('/');
            let below = |pattern: &String| {
                !path.is_empty() && pattern.starts_with(&format!("^{}", regex::escape(path)))
            };
            if !path.is_empty() && !self.include.iter().all(below) {
                self.params.crawl_entire_domain.get_or_insert(true);
            }
            let own = format!("^{}/?$", regex::escape(path));
            if own.chars().count() <= MAX_PATTERN_CHARS {
                self.include.insert(0, own);
            }
            self.params.include_paths = Some(self.include);
        }
        if !self.exclude.is_empty() {
            self.params.exclude_paths = Some(self.exclude);
        }
        self.params
    }
}

#[cfg(test)]
mod tests;
