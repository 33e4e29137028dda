//! Detects what a page shows in place of content that scripts add later: loaders, skeletons, requests to turn
//! on JavaScript, bot challenges, unfilled templates.

use super::{ENOUGH_TEXT, RenderSignals};
use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::name_set::NameSet;
use crate::html::tag::Tag;
use crate::limits;

/// Maximum characters of a loading text.
const LOADING_CHARS: usize = 400;
/// Maximum characters of a text that only starts with a loading word.
const SHORT_LOADING_CHARS: usize = 80;
/// Characters around the word JavaScript that are searched for a request.
const REQUEST_CHARS: usize = 160;

/// Loading texts, and the first words of longer ones.
const LOADING: &[&str] = &[
    "loading", "please wait", "one moment", "just a moment", "hang on", "initializing", "initialising",
    "wird geladen", "lädt", "laden", "bitte warten", "chargement", "veuillez patienter", "cargando",
    "espere por favor", "carregando", "aguarde", "caricamento", "attendere", "загрузка", "подождите",
    "ładowanie", "yükleniyor", "読み込み中", "ロード中", "加载中", "正在加载", "載入中", "로딩",
    "불러오는 중",
];

/// Words in the names of loaders.
static LOADER_NAMES: NameSet = NameSet::of(&[
    "loader", "loading", "spinner", "preloader", "splash", "splashscreen", "loadingspinner", "lds",
    "progressbar",
]);

/// Words in the names of skeletons.
static SKELETON_NAMES: NameSet = NameSet::of(&["skeleton", "skeletons", "shimmer", "skel", "contentloader"]);

/// Words that, near "JavaScript", ask the reader to turn it on, in several languages.
const REQUEST_WORDS: &[&str] = &[
    "enable", "required", "requires", "require", "need", "turn on", "turned on", "activate", "disabled",
    "switched off", "without", "support", "aktivier", "eingeschaltet", "erforderlich", "benötig", "activer",
    "activez", "désactivé", "nécessaire", "habilit", "activar", "activa", "necesita", "ativ", "abilita",
    "attiva", "включ", "włącz", "etkinleştir", "有効", "必要", "启用", "啟用", "开启", "활성화",
];

/// Prefixes of titles of bot challenges.
const CHALLENGE_TITLES: &[&str] = &[
    "just a moment",
    "attention required! | cloudflare",
    "ddos-guard",
    "checking your browser",
    "checking if the site connection",
    "verifying you are human",
    "human verification",
    "security check",
    "robot check",
    "bot verification",
    "pardon our interruption",
    "one moment, please",
    "making sure you're not a bot",
    "please wait while",
    "vercel security checkpoint",
];

/// Returns true for a text that only says that the page is loading.
pub(super) fn is_loading_text(text: &str) -> bool {
    // A longer text cannot match, nor one that begins with other letters, so skip the work.
    if text.len() > LOADING_CHARS * 4 || !may_begin_loading(text) {
        return false;
    }
    let text = collapse(text).to_lowercase();
    let chars = text.chars().count();
    let bare = text.trim_end_matches(['.', '…', '!', '。', '⋯', ' ']);
    let waits = text.contains("...") || text.contains('…') || text.contains("please wait");
    LOADING.contains(&bare)
        || LOADING.iter().any(|word| {
            text.strip_prefix(word).is_some_and(|rest| {
                let begins_so = rest.starts_with(['.', '…']) && chars <= LOADING_CHARS;
                begins_so || (waits && chars <= SHORT_LOADING_CHARS && rest.starts_with([' ', ',']))
            })
        })
}

/// Returns whether the first two letters of a text begin a loading text, or are not both ASCII.
fn may_begin_loading(text: &str) -> bool {
    match text.trim_start().as_bytes() {
        [first, second, ..] if first.is_ascii() && second.is_ascii() => {
            let start = [first.to_ascii_lowercase(), second.to_ascii_lowercase()];
            LOADING.iter().any(|word| word.as_bytes().starts_with(&start))
        }
        [first] => !first.is_ascii(),
        start => !start.is_empty(),
    }
}

/// Returns whether a word of `class` or `id` is in the list.
fn is_named(dom: &Dom, id: NodeId, names: &NameSet) -> bool {
    let values = [attr::CLASS, attr::ID]
        .into_iter()
        .filter_map(|name| dom.attr(id, name));
    values
        .flat_map(|value| value.split_ascii_whitespace().take(24))
        .any(|token| {
            token
                .split(|c: char| !c.is_ascii_alphanumeric())
                .any(|word| names.contains(word))
        })
}

/// Returns true for a spinner or another loader, by names and attributes.
pub(super) fn is_loader(dom: &Dom, id: NodeId) -> bool {
    if dom.attributes(id).is_empty()
        || matches!(dom.tag(id), Tag::Body | Tag::Html | Tag::Main | Tag::Img | Tag::A)
    {
        return false;
    }
    is_named(dom, id, &LOADER_NAMES)
        || dom.attr(id, attr::ROLE) == Some("progressbar")
        || dom.attr_named(id, "aria-busy") == Some("true")
}

/// Returns true for a skeleton box, by its names.
pub(super) fn is_skeleton(dom: &Dom, id: NodeId) -> bool {
    if dom.attributes(id).is_empty() || matches!(dom.tag(id), Tag::Body | Tag::Html) {
        return false;
    }
    is_named(dom, id, &SKELETON_NAMES)
        || dom
            .classes(id)
            .any(|class| matches!(class, "animate-pulse" | "placeholder-glow" | "placeholder-wave"))
        || dom
            .classes(id)
            .any(|class| class.to_ascii_lowercase().contains("skeleton"))
}

/// Returns whether a `noscript` of the page asks the reader to turn on JavaScript.
pub(super) fn has_noscript_request(dom: &Dom, body: NodeId) -> bool {
    let mut end = 0;
    dom.all(Tag::Noscript).any(|id| {
        if !dom.below(body).contains(&id) || id < end {
            return false;
        }
        end = dom.end(id);
        is_javascript_request(&dom.text_of(id, limits::MAIN_TEXT_BYTES))
    })
}

/// Returns whether a text asks the reader to turn on JavaScript.
pub(super) fn is_javascript_request(text: &str) -> bool {
    // Few texts contain the word, so most need not be copied.
    let bytes = text.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at..at + 4)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"java"))
    };
    if !memchr::memchr2_iter(b'j', b'J', bytes).any(is_word) {
        return false;
    }
    let text = text.to_lowercase().replace("java script", "javascript");
    let word = "javascript";
    text.match_indices(word).any(|(at, _)| {
        let boundary = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(at.saturating_sub(REQUEST_CHARS));
        let end = boundary((at + word.len() + REQUEST_CHARS).min(text.len()));
        REQUEST_WORDS
            .iter()
            .any(|request| text[start..end].contains(request))
    })
}

/// Returns whether the page is a bot challenge.
pub(super) fn is_challenge(dom: &Dom, signals: &RenderSignals) -> bool {
    let title = dom
        .all(Tag::Title)
        .next()
        .map(|id| collapse(&dom.text_of(id, limits::MAIN_TEXT_BYTES)).to_lowercase());
    signals.scripts.challenge
        || signals.scripts.reloads && signals.headings == 0 && signals.main_text < ENOUGH_TEXT
        || title.is_some_and(|title| CHALLENGE_TITLES.iter().any(|known| title.starts_with(known)))
}

/// Counts unfilled template expressions.
pub(super) fn templates(text: &str) -> usize {
    text.split("{{")
        .skip(1)
        .filter(|rest| rest.find("}}").is_some_and(|end| end > 0 && end <= 120))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loading_texts_are_detected() {
        for text in [
            "Loading",
            " Loading... ",
            "Loading…",
            "Loading the app, please wait",
            "Please wait...",
            "読み込み中…",
            "Cargando...",
            "Loading... If this takes long, check your connection.",
        ] {
            assert!(is_loading_text(text), "{text}");
        }
        for text in [
            "Loading docks and ramps",
            "Loading bays: see the map of the site.",
            "",
            "The page is loading...",
            "Ladenburg",
        ] {
            assert!(!is_loading_text(text), "{text}");
        }
    }

    #[test]
    fn javascript_requests_are_detected_by_nearby_words() {
        for text in [
            "You need to enable JavaScript to run this app.",
            "Bitte aktivieren Sie JavaScript.",
            "请启用 JavaScript",
            "This site requires Javascript",
        ] {
            assert!(is_javascript_request(text), "{text}");
        }
        assert!(!is_javascript_request(
            "A short history of JavaScript and its engines"
        ));
        assert!(!is_javascript_request("Enable cookies"));
    }

    #[test]
    fn unfilled_templates_are_counted() {
        assert_eq!(templates("{{ a.title }} and {{b}} but {{}} and {{ open"), 2);
    }
}
