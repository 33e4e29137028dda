//! Derives crawl options from a prompt by rules (docs/API.md section 6.3): page limits, depths, paths, subdomains,
//! the whole domain, sitemaps, delays. Ignores what it does not understand, and never proposes options that a crawl
//! would reject, whether they come from the rules or from a model.

mod proposal;
mod words;

use serde_json::Value;
use url::Url;

pub use proposal::proposal_schema;

use crate::api::crawl::{CrawlRequest, EnabledOptions, SitemapMode};
use crate::api::error::ApiError;
use crate::api::fields::{Wire, parse};
use crate::api::page::add_warning;
use crate::api::params_preview::{CrawlParams, ParamsPreview, ParamsPreviewRequest};
use crate::limits::{MAX_CRAWL_DELAY_S, MAX_PATTERN_CHARS, MAX_PROPOSED_PATTERNS};
use crate::scope::{Scope, site_of};

use proposal::own_path;
use words::{Word, words};

const NO_OPTIONS: &str = "No option could be derived from the prompt. Without a language model, this server \
    understands page limits (`at most 50 pages`), depths (`2 levels deep`), paths (`only /blog`, `not the news \
    section`), `subdomains`, `external links`, `the whole domain`, `sitemap only` and delays (`wait 2 seconds`).";

const NEGATIONS: &[&str] = &[
    "not", "no", "don't", "never", "without", "except", "excluding", "exclude", "skip", "skipping", "ignore",
    "ignoring", "avoid", "avoiding", "omit", "nothing",
];
/// Words that turn a following `but` into a negation: `everything but the blog`.
const QUANTIFIERS: &[&str] = &["everything", "all", "anything"];
const AFFIRMATIONS: &[&str] = &[
    "only", "just", "include", "including", "crawl", "follow", "get", "keep", "want", "scrape", "fetch",
    "collect", "but", "use", "allow", "limit", "stop",
];
const COMPARISONS: &[&str] = &["more", "deeper", "further", "larger", "longer", "less", "fewer"];
const PAGES: &[&str] = &[
    "page", "url", "article", "post", "document", "result", "link", "entries",
];
const LEVELS: &[&str] = &["level", "deep", "depth", "hop", "click", "layer"];
const BOUNDS: &[&str] = &["limit", "max", "maximum", "most", "first", "up", "top", "only"];
const SECTIONS: &[&str] = &["section", "director", "folder", "subfolder", "path"];
const SECTION_NEIGHBORS: &[&str] = &[
    "page", "post", "section", "area", "director", "folder", "entries", "center", "centre",
];
const EDITIONS: &[&str] = &[
    "page", "version", "edition", "site", "part", "content", "translation", "only",
];
const WHOLE: &[&str] = &["whole", "entire", "full", "complete", "all"];
const SITES: &[&str] = &["domain", "site", "website", "host"];
/// Words that begin a clause.
const CONJUNCTIONS: &[&str] = &["and", "but", "then", "or"];
/// Words that ask for nothing in particular.
const FILLERS: &[&str] = &[
    "a", "an", "the", "this", "that", "these", "those", "of", "for", "from", "to", "in", "on", "at", "by",
    "with", "i", "we", "me", "my", "our", "please", "crawl", "get", "fetch", "scrape", "collect", "download",
    "want", "need", "would", "like", "all", "every", "everything", "page", "pages", "site", "website", "url",
    "urls", "content", "just", "only", "and", "or", "but", "then", "also", "too", "is", "are", "be", "it",
    "its", "there", "go", "do",
];
const DELAY_WORDS: &[&str] = &["wait", "delay", "pause", "every", "sleep", "between", "apart"];

impl ParamsPreview {
    fn new(data: CrawlParams, ignored: &[String]) -> Self {
        let mut preview = Self {
            success: true,
            warning: None,
            data,
        };
        if !ignored.is_empty() {
            let names: Vec<String> = ignored.iter().map(|name| format!("`{name}`")).collect();
            preview.warn(&format!(
                "Ignored, because a crawl with it would be rejected or find nothing: {}.",
                names.join(", ")
            ));
        }
        preview
    }

    /// Derives a proposal from a prompt by rules.
    pub fn from_prompt(request: &ParamsPreviewRequest, enabled: EnabledOptions) -> Self {
        let derived = propose(&request.url.url, request.url.as_sent(), &request.prompt);
        let (mut data, ignored) = match serde_json::to_value(&derived) {
            Ok(Value::Object(proposal)) => CrawlParams::accept(&request.url, &proposal, enabled),
            _ => (without_options(request.url.as_sent()), Vec::new()),
        };
        data.max_depth = derived.max_depth;
        let mut preview = Self::new(data, &ignored);
        if derived == without_options(request.url.as_sent()) {
            preview.warn(NO_OPTIONS);
        }
        preview
    }

    /// Validates a model's proposal and keeps its valid options. Returns `None` if there are none.
    pub fn from_proposal(
        request: &ParamsPreviewRequest,
        proposal: &Value,
        enabled: EnabledOptions,
    ) -> Option<Self> {
        let (data, ignored) = CrawlParams::accept(&request.url, proposal.as_object()?, enabled);
        let preview = Self::new(data, &ignored);
        (preview.data != without_options(request.url.as_sent())).then_some(preview)
    }

    /// Adds a sentence to the warning.
    pub fn warn(&mut self, sentence: &str) {
        add_warning(&mut self.warning, sentence);
    }
}

impl CrawlRequest {
    /// Parses a request body and fills the fields it leaves out from a proposal. Explicit fields win.
    ///
    /// # Errors
    /// 400 if the result is invalid.
    pub fn from_json_with_defaults(bytes: &[u8], proposal: &CrawlParams) -> Result<Self, ApiError> {
        let Value::Object(mut body) = parse(bytes)? else {
            return Self::from_json(bytes);
        };
        proposal.fill(&mut body);
        let request = Self::from_value(Value::Object(body))?;
        Scope::compile(&request)?;
        Ok(request)
    }
}

fn without_options(url: &str) -> CrawlParams {
    CrawlParams {
        url: url.to_owned(),
        ..CrawlParams::default()
    }
}

/// Returns the clauses of a prompt from which the rules derive no option, without clauses of filler words alone.
pub fn clauses_not_understood(request: &ParamsPreviewRequest) -> Vec<String> {
    let words = words(&request.prompt);
    let mut understood = vec![false; words.len()];
    read(&request.url.url, request.url.as_sent(), &words, |at| {
        understood[at] = true
    });
    let (mut clauses, mut start) = (Vec::new(), 0);
    for at in 0..words.len() {
        let is_last = words[at].ends_clause || words.get(at + 1).is_none_or(|next| next.is(CONJUNCTIONS));
        if is_last {
            let clause = &words[start..=at];
            let says_something = clause.iter().any(|word| !word.is(FILLERS) && !word.is(NEGATIONS));
            if says_something && !understood[start..=at].contains(&true) {
                let clause: Vec<&str> = clause.iter().map(|word| word.text.as_str()).collect();
                clauses.push(clause.join(" "));
            }
            start = at + 1;
        }
    }
    clauses
}

fn propose(start: &Url, given: &str, prompt: &str) -> CrawlParams {
    read(start, given, &words(prompt), |_| {}).finish()
}

/// Reads words in order. Calls `on_option` with the index of each word that yields an option.
fn read<'w>(
    start: &'w Url,
    given: &str,
    words: &'w [Word],
    mut on_option: impl FnMut(usize),
) -> PromptParser<'w> {
    let mut parser = PromptParser {
        words,
        start,
        params: without_options(given),
        include: Vec::new(),
        exclude: Vec::new(),
    };
    let mut negated = false;
    for at in 0..words.len() {
        let word = &words[at];
        let before = at.checked_sub(1).map(|at| &words[at]);
        let next_is = |list: &[&str]| words.get(at + 1).is_some_and(|next| next.is(list));
        let is_but = word.is(&["but"]) && before.is_some_and(|before| before.is(QUANTIFIERS));
        let is_leave_out = word.begins(&["leav"]) && next_is(&["out"]);
        if is_but || is_leave_out || (word.is(NEGATIONS) && !next_is(COMPARISONS)) {
            negated = true;
        } else if word.is(&["outside"]) {
            // "Nothing outside X" means "X".
            negated = !negated;
        } else if word.is(AFFIRMATIONS) && !before.is_some_and(|before| before.is(NEGATIONS)) {
            negated = false;
        }
        let before = (parser.params.clone(), parser.include.len() + parser.exclude.len());
        parser.word(at, negated);
        if (&parser.params, parser.include.len() + parser.exclude.len()) != (&before.0, before.1) {
            on_option(at);
        }
        negated &= !word.ends_sentence;
    }
    parser
}

struct PromptParser<'w> {
    words: &'w [Word],
    start: &'w Url,
    params: CrawlParams,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl<'w> PromptParser<'w> {
    /// Returns up to `count` following words of the same sentence, nearest first.
    fn after(&self, at: usize, count: usize) -> impl Iterator<Item = &'w Word> + use<'w> {
        let mut ended = self.words[at].ends_sentence;
        self.words[at + 1..].iter().take(count).take_while(move |word| {
            let continues = !ended;
            ended |= word.ends_sentence;
            continues
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
        if word.host().is_some_and(|host| self.is_other_host(&host)) {
            self.params.allow_subdomains = Some(!negated);
            return;
        }
        if let Some(path) = word.path() {
            let anywhere = self.after(at, 3).any(|word| word.is(&["path", "url", "address"]));
            let start = if anywhere { "" } else { "^" };
            let pattern = format!("{start}{}(/|$)", regex::escape(&path));
            return self.pattern(pattern, negated);
        }
        if let Some(pattern) = word.language() {
            if self.after(at, 3).any(|word| word.begins(EDITIONS)) {
                self.pattern(pattern, negated);
            }
        } else if word.is(&["pdf", "pdfs"]) {
            self.pattern("\\.pdf$".to_owned(), negated);
        } else if word.begins(&["robots"]) {
            self.params.ignore_robots_txt = negated.then_some(true);
        } else if word.begins(&["link"]) && self.after(at, 3).any(|word| word.is(&["directly"])) {
            self.params.max_discovery_depth = Some(1);
        } else if word.begins(&["subdomain"]) {
            self.params.allow_subdomains = Some(!negated);
        } else if word.begins(&["external", "outbound"]) {
            self.params.allow_external_links = Some(!negated);
        } else if word.begins(&["sitemap"]) {
            let is_skipped = negated || self.after(at, 1).any(|word| word.is(&["skip", "off"]));
            self.params.sitemap = match is_skipped {
                true => Some(SitemapMode::Skip),
                false => self
                    .near(at, &["only", "just", "solely"])
                    .then_some(SitemapMode::Only),
            };
        } else if word.begins(&["query"]) {
            let is_same = self.after(at, 5).any(|word| word.is(&["same", "identical"]));
            if negated || is_same {
                self.params.ignore_query_parameters = Some(true);
            }
        } else if word.is(SITES) || word.is(&["sites", "domains", "websites"]) {
            let is_outside = |word: &Word| word.is(&["other", "foreign"]) || word.begins(&["leav"]);
            if self.before(at, 2).any(is_outside) {
                self.params.allow_external_links = Some(!negated);
            } else if self.before(at, 1).any(|word| word.is(WHOLE)) && !negated {
                self.params.crawl_entire_domain = Some(true);
            }
        } else if self.is_front_page(at) && !negated {
            if self.before(at, 2).any(|word| word.is(&["only", "just"])) {
                self.params.limit = Some(1);
            }
        } else if word.is(&["release"]) && self.after(at, 1).any(|word| word.is(&["notes"])) {
            self.pattern("/release-?notes(/|$)".to_owned(), negated);
        } else if let Some((pattern, alone)) = word.section() {
            if self.names_section(at, alone) {
                self.pattern(format!("/{pattern}(/|$)"), negated);
            }
        } else if word.begins(SECTIONS)
            && let Some(name) = self.before(at, 1).next()
            && name.section().is_none()
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

    /// Returns whether this is another host of the start URL's site.
    fn is_other_host(&self, host: &str) -> bool {
        let own = self.start.host_str().unwrap_or_default();
        let site = site_of(self.start);
        host != own && (host == site || host.ends_with(&format!(".{site}")))
    }

    fn is_front_page(&self, at: usize) -> bool {
        let word = &self.words[at];
        let before_page = self.after(at, 1).any(|word| word.begins(&["page"]));
        word.begins(&["homepage"]) || (word.is(&["home", "start", "front"]) && before_page)
    }

    /// Returns whether a word that can name a section of a site does so here: some always do, others only next
    /// to certain words.
    fn names_section(&self, at: usize, alone: bool) -> bool {
        let word = &self.words[at];
        let is_counted = self.before(at, 2).any(|word| word.number().is_some());
        let follows_section = self.before(at, 1).any(|word| word.section().is_some());
        if word.begins(PAGES) && (is_counted || follows_section) {
            // `20 articles` and `blog articles` mean pages anywhere.
            return false;
        }
        let next = self
            .after(at, 4)
            .find(|word| !word.is(&["and", "or"]) && word.section().is_none());
        let is_neighbor = |word: &Word| word.begins(SECTION_NEIGHBORS);
        let of_api = (word.is(&["api"]) && self.after(at, 1).any(|word| word.is(&["reference", "docs"])))
            || (word.is(&["reference"]) && self.before(at, 1).any(|word| word.is(&["api"])));
        alone || next.is_some_and(is_neighbor) || of_api
    }

    fn number(&mut self, at: usize, number: f64) {
        let following: Vec<&Word> = self
            .after(at, 3)
            .take_while(|word| word.number().is_none())
            .collect();
        let follows = |list: &[&str]| following.iter().position(|word| word.begins(list));
        let preceded_by = |list: &[&str]| {
            let mut before = self.before(at, 3).take_while(|word| word.number().is_none());
            before.any(|word| word.begins(list))
        };
        let is_integer = number.fract() == 0.0 && number >= 0.0;
        let unit = following.first();
        let seconds = match unit {
            Some(word) if word.begins(&["millisecond"]) || word.text == "ms" => Some(number / 1000.0),
            Some(word) if word.begins(&["sec"]) || word.text == "s" => Some(number),
            Some(word) if word.begins(&["minute"]) => Some(number * 60.0),
            _ => None,
        };
        let is_depth = match (follows(LEVELS), follows(PAGES)) {
            (Some(levels), Some(pages)) => levels < pages,
            (levels, pages) => levels.is_some() || (pages.is_none() && preceded_by(&["depth"])),
        };
        if let Some(seconds) = seconds {
            let is_delay = preceded_by(DELAY_WORDS) || follows(DELAY_WORDS).is_some();
            if is_delay && seconds > 0.0 && seconds <= MAX_CRAWL_DELAY_S {
                self.params.delay = Some(seconds.ceil() as u32);
            }
        } else if is_integer && is_depth {
            self.params.max_discovery_depth = u32::try_from(number as u64).ok();
        } else if is_integer
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

    /// Completes the options so that the start page matches the patterns and their paths are in scope.
    fn finish(mut self) -> CrawlParams {
        if !self.include.is_empty() {
            let path = self.start.path().trim_end_matches('/');
            let below = |pattern: &String| {
                !path.is_empty() && pattern.starts_with(&format!("^{}", regex::escape(path)))
            };
            if !path.is_empty() && !self.include.iter().all(below) {
                self.params.crawl_entire_domain.get_or_insert(true);
            }
            let start_pattern = own_path(path);
            if start_pattern.chars().count() <= MAX_PATTERN_CHARS {
                self.include.insert(0, start_pattern);
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
mod prompts;
#[cfg(test)]
mod tests;
