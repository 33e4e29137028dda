//! Measures what a page shows without its scripts, and the signs that its scripts would show more. The caller
//! decides whether rendering it in the browser is worthwhile. Start with [`render_signals`]; `scripts`
//! classifies scripts, and `placeholder` detects loaders, skeletons and challenges.

mod placeholder;
mod scripts;
mod walk;

use url::Url;

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links;
use crate::html::tag::Tag;

pub use scripts::Scripts;

/// Weight of main text at which a page can no longer be a placeholder.
pub const ENOUGH_TEXT: usize = 1_000;
/// Weight below which a mount counts as empty.
const EMPTY_WEIGHT: usize = 2;
/// Weight of hints that a mount may show next to a loader.
const HINTS_WEIGHT: usize = 400;
/// Minimum number of images and form fields for a block without text to count as content.
const CONTENT_ITEMS: usize = 3;

/// Measures of a page. A weight is the number of characters other than white space, where an ideograph, kana
/// or hangul counts three. A measure that stopped early has only the start of the main text, and no mount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderSignals {
    /// Weight of the text outside navigation, footers, dialogs, consent walls and loaders.
    pub main_text: usize,
    /// Weight of the headings in it.
    pub headings: usize,
    /// Weight of its paragraphs, list items, cells and the like.
    pub prose: usize,
    /// Images outside navigation and footers.
    pub images: usize,
    /// Form fields outside navigation and footers.
    pub fields: usize,
    /// Frames whose document is on the page's host, a parent domain of it or a subdomain.
    pub frames: usize,
    /// Its scripts.
    pub scripts: Scripts,
    /// The empty element that scripts would most likely fill.
    pub mount: Option<Mount>,
    /// Whether its main text asks the reader to turn on JavaScript.
    pub javascript_request_in_text: bool,
    /// Whether a `noscript` asks for it.
    pub javascript_request_in_noscript: bool,
    /// Spinners and texts such as `Loading...`.
    pub loaders: usize,
    /// Grey boxes in place of content.
    pub skeletons: usize,
    /// Unfilled template expressions such as `{{ title }}`.
    pub templates: usize,
    /// Whether it is a bot challenge that is shown before the page.
    pub challenge: bool,
    /// The start of the main text.
    pub text: String,
}

impl RenderSignals {
    /// Adjusts the measures for a page as rendered in a browser: its scripts have run, including any that
    /// removed itself, and `noscript` is not shown.
    pub fn mark_rendered(&mut self) {
        self.javascript_request_in_noscript = false;
        self.scripts.running = self.scripts.running.max(1);
        self.scripts.writing = self.scripts.writing.max(1);
    }
}

/// Kind of an empty element, most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mount {
    /// Has a name that frameworks use for their root.
    Root,
    /// Is named by an inline script that writes to the page.
    Target,
    /// Is the page's `main`.
    Main,
    /// Is a list or table with a name.
    List,
    /// Is a custom element.
    Element,
}

/// Names that frameworks use for the element they fill.
const ROOT_IDS: &[&str] = &[
    "___gatsby", "__docusaurus", "__next", "__nuxt", "app", "app-container", "app-mount", "app-root",
    "app-wrapper", "application", "approot", "main-app", "mount", "q-app", "react-app", "react-root",
    "reactroot", "root", "root-container", "sapper", "spa", "spa-root", "svelte", "vue-app",
];
/// Names of the page's main part.
const MAIN_IDS: &[&str] = &["content", "main", "main-content", "page-content"];
/// Words in names of custom elements that are not content even when filled.
const SIDE_ELEMENTS: &[&str] = &[
    "analytics", "banner", "consent", "cookie", "dialog", "icon", "menu", "modal", "notification", "popup",
    "search", "share", "snackbar", "spinner", "theme", "toast", "toolbar", "tooltip", "topbar",
];

/// Substrings of names of elements that are shown only on user action.
const ON_DEMAND_NAMES: &[&str] = &[
    "alert", "autocomplete", "d-none", "dropdown", "error", "hidden", "hide", "message", "modal", "notif",
    "overlay", "popup", "search", "status", "suggest", "toast", "tooltip",
];
/// Number of elements checked for such names: the element and its ancestors.
const ON_DEMAND_LEVELS: usize = 4;

/// Measures a page that was loaded from `url` and whose URLs are relative to `base`. Stops when the weight of the main
/// text reaches `enough`.
pub(crate) fn render_signals(dom: &Dom, base: &Url, url: &Url, enough: usize) -> RenderSignals {
    let mut signals = RenderSignals {
        scripts: scripts::scripts(dom),
        frames: frames(dom, base, url),
        ..RenderSignals::default()
    };
    let Some(body) = dom.first(0, Tag::Body) else {
        return signals;
    };
    let (sums, mounts) = walk::walk(dom, body, &mut signals, enough);
    signals.mount = mount(dom, mounts, &sums, &signals);
    signals.javascript_request_in_text = placeholder::is_javascript_request(&signals.text);
    signals.javascript_request_in_noscript = placeholder::has_noscript_request(dom, body);
    signals.challenge = placeholder::is_challenge(dom, &signals);
    signals.templates = placeholder::templates(&signals.text);
    signals
}

/// Counts the frames that readers with scripts see and whose document is on the page's host, a parent domain
/// of it or a subdomain.
fn frames(dom: &Dom, base: &Url, url: &Url) -> usize {
    let mut hidden = 0;
    let is_frame = |&id: &NodeId| {
        if matches!(dom.tag(id), Tag::Noscript | Tag::Template) {
            hidden = hidden.max(dom.end(id));
        }
        let src = match dom.tag(id) {
            Tag::Iframe | Tag::Frame if id >= hidden => dom.attr(id, attr::SRC),
            _ => None,
        };
        let target = src
            .filter(|src| !src.trim().is_empty())
            .and_then(|src| links::resolve(base, src));
        target.is_some_and(|target| target != *url && is_related(&target, url))
    };
    dom.rare.iter().copied().filter(is_frame).count()
}

fn is_related(one: &Url, other: &Url) -> bool {
    let hosts = one.host_str().zip(other.host_str());
    hosts.is_some_and(|(one, other)| links::is_same_site(one, other))
}

/// Returns the most certain of these elements that has no content.
fn mount(
    dom: &Dom,
    mounts: Vec<(NodeId, Mount)>,
    sums: &walk::Sums,
    signals: &RenderSignals,
) -> Option<Mount> {
    let is_empty = |&(id, kind): &(NodeId, Mount)| {
        let most = match kind {
            Mount::Root if signals.loaders > 0 => HINTS_WEIGHT,
            _ => EMPTY_WEIGHT,
        };
        walk::within(&sums.main, dom, id) < most && walk::within(&sums.media, dom, id) < CONTENT_ITEMS
    };
    mounts.into_iter().filter(is_empty).map(|(_, kind)| kind).min()
}

/// Returns the kind of mount that the element would be if it were empty. Elements that wait for user action, such as
/// the results of a search box, are not mounts.
fn kind_of_mount(dom: &Dom, id: NodeId, scripts: &Scripts) -> Option<Mount> {
    let kind = kind_by_name(dom, id, scripts)?;
    let waits = |id: NodeId| {
        let names = [attr::CLASS, attr::ID]
            .into_iter()
            .filter_map(|name| dom.attr(id, name));
        names.flat_map(str::split_ascii_whitespace).any(|name| {
            ON_DEMAND_NAMES
                .iter()
                .any(|word| name.to_ascii_lowercase().contains(word))
        })
    };
    let is_sure = matches!(kind, Mount::Root | Mount::Main);
    (is_sure || !dom.inclusive_ancestors(id).take(ON_DEMAND_LEVELS).any(waits)).then_some(kind)
}

fn kind_by_name(dom: &Dom, id: NodeId, scripts: &Scripts) -> Option<Mount> {
    let tag = dom.tag(id);
    let name = dom
        .attr(id, attr::ID)
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let has_name =
        |names: &[&str]| name.is_some_and(|name| names.iter().any(|known| name.eq_ignore_ascii_case(known)));
    match tag {
        Tag::Div | Tag::Section | Tag::Main if has_name(ROOT_IDS) => Some(Mount::Root),
        Tag::Other if dom.name(id).contains('-') => {
            let element = dom.name(id);
            let word = |word: &&str| element.split('-').any(|part| part == *word);
            if SIDE_ELEMENTS.iter().any(&word) {
                None
            } else if ["app", "root", "shell"].iter().any(word) {
                Some(Mount::Root)
            } else {
                Some(Mount::Element)
            }
        }
        Tag::Div
        | Tag::Section
        | Tag::Ul
        | Tag::Ol
        | Tag::Tbody
        | Tag::Table
        | Tag::Article
        | Tag::P
        | Tag::Main
            if name.is_some_and(|name| scripts.fills(name)) =>
        {
            Some(Mount::Target)
        }
        Tag::Main => Some(Mount::Main),
        Tag::Div | Tag::Section if has_name(MAIN_IDS) || dom.attr(id, attr::ROLE) == Some("main") => {
            Some(Mount::Main)
        }
        Tag::Ul | Tag::Ol | Tag::Tbody | Tag::Table if name.is_some() => Some(Mount::List),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_frames_of_the_same_site_are_counted() {
        let url = Url::parse("https://www.a.example/docs/").unwrap();
        let count = |html: &str| frames(&crate::html::parse::parse(html), &url, &url);
        assert_eq!(
            count("<iframe src=b></iframe><iframe src='//text.a.example/'></iframe>"),
            2
        );
        assert_eq!(
            count("<frameset><frame src=/nav><frame src='https://b.example/'></frameset>"),
            1
        );
        assert_eq!(
            count(
                "<body><noscript><iframe src=b></iframe></noscript><iframe></iframe><iframe src=''></iframe><iframe src=.></iframe>"
            ),
            0
        );
    }
}
