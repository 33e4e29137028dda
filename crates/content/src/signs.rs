//! What a page shows without its scripts, and what says that its scripts would show more. Measures only: whether a
//! browser is worth its time is decided by the caller. Start at [`signs`]; scripts are judged in `scripts`, loaders,
//! skeletons and challenges in `placeholder`.

mod placeholder;
mod scripts;

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links;
use crate::html::tag::Tag;
use crate::limits;
use crate::main_content::{self, Aside};

pub use scripts::Scripts;

/// What one character of a script without spaces between words weighs: about as much as half an English word.
const IDEOGRAPH_WEIGHT: usize = 3;
/// A block that only its name calls boilerplate is content when it holds this much of the page's text, in percent.
const MUCH_PERCENT: usize = 60;
/// The same of a block that asks for consent: a page that is nothing else.
const CONSENT_PERCENT: usize = 95;
/// Weight of a text that a loader may show.
const LOADER_WEIGHT: usize = 400;
/// Weight of what a mount may hold and still be empty.
const EMPTY_WEIGHT: usize = 2;
/// Weight of the hints that a mount may show beside a loader.
const HINTS_WEIGHT: usize = 400;
/// Pictures or form fields from which a block without text is content.
const MANY: usize = 3;

/// Measures of a page. Weights count characters other than white space; an ideograph, kana or hangul counts three.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Weight of the text outside navigation, footers, dialogs, consent walls and loaders.
    pub main_text: usize,
    /// Weight of the headings in it.
    pub headings: usize,
    /// Weight of its paragraphs, list items, cells and the like.
    pub prose: usize,
    /// Pictures outside navigation and footers.
    pub pictures: usize,
    /// Form fields outside navigation and footers.
    pub fields: usize,
    /// `iframe` and `frame` elements with an address.
    pub frames: usize,
    /// What scripts it has.
    pub scripts: Scripts,
    /// The element that scripts would most likely fill.
    pub mount: Option<Mount>,
    /// Its main text asks its reader to turn JavaScript on.
    pub asks_in_text: bool,
    /// A `noscript` does.
    pub asks_in_noscript: bool,
    /// Spinners and texts such as `Loading...`.
    pub loaders: usize,
    /// Grey boxes that stand in for content.
    pub skeletons: usize,
    /// Template expressions such as `{{ title }}` that nothing has filled in.
    pub templates: usize,
    /// It checks its visitor before it shows anything.
    pub challenge: bool,
    /// The start of the main text.
    pub text: String,
}

/// An element without content, surest kind first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mount {
    /// Has a name that frameworks give to their root.
    Root,
    /// Is named by a script of the page that writes.
    Target,
    /// Is the page's `main`.
    Main,
    /// Is a list or table with a name.
    List,
    /// Is a custom element.
    Element,
}

/// Names that frameworks give to the element they fill.
const ROOT_IDS: &[&str] = &[
    "___gatsby",
    "__docusaurus",
    "__next",
    "__nuxt",
    "app",
    "app-container",
    "app-mount",
    "app-root",
    "app-wrapper",
    "application",
    "approot",
    "main-app",
    "mount",
    "q-app",
    "react-app",
    "react-root",
    "reactroot",
    "root",
    "root-container",
    "sapper",
    "spa",
    "spa-root",
    "svelte",
    "vue-app",
];
/// Names of a page's main part.
const MAIN_IDS: &[&str] = &["content", "main", "main-content", "page-content"];
/// Words in names of custom elements that are no content when they are full.
const SIDE_ELEMENTS: &[&str] = &[
    "analytics",
    "banner",
    "consent",
    "cookie",
    "dialog",
    "icon",
    "menu",
    "modal",
    "notification",
    "popup",
    "search",
    "share",
    "snackbar",
    "spinner",
    "theme",
    "toast",
    "toolbar",
    "tooltip",
    "topbar",
];

/// Parts of names of elements that show something only when their reader asks for it.
const WAITING: &[&str] = &[
    "alert",
    "autocomplete",
    "d-none",
    "dropdown",
    "error",
    "hidden",
    "hide",
    "message",
    "modal",
    "notif",
    "overlay",
    "popup",
    "search",
    "status",
    "suggest",
    "toast",
    "tooltip",
];
/// Elements whose names are looked at for them: the element and those around it.
const WAITING_LEVELS: usize = 4;

/// What a text weighs.
fn weight(text: &str) -> usize {
    text.chars()
        .map(|c| match c {
            _ if c.is_whitespace() => 0,
            '\u{2E80}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7AF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{3FFFF}' => IDEOGRAPH_WEIGHT,
            _ => 1,
        })
        .sum()
}

/// Sums by node, so that what a subtree holds is the difference of two of them.
struct Sums {
    text: Vec<u32>,
    /// Text of the main part, without loaders.
    main: Vec<u32>,
    pictures: Vec<u32>,
    fields: Vec<u32>,
}

impl Sums {
    fn within(sums: &[u32], dom: &Dom, id: NodeId) -> usize {
        (sums[dom.end(id) as usize] - sums[id as usize]) as usize
    }
}

/// Measures a page.
pub(crate) fn signs(dom: &Dom) -> Signs {
    let Some(body) = dom.first(0, Tag::Body) else {
        let frames = (0..dom.len()).filter(|&id| is_frame(dom, id)).count();
        return Signs {
            frames,
            ..Signs::default()
        };
    };
    let mut signs = Signs {
        scripts: scripts::scripts(dom),
        ..Signs::default()
    };
    let mut sums = Sums {
        text: text_sums(dom, body),
        main: Vec::new(),
        pictures: Vec::new(),
        fields: Vec::new(),
    };
    let mounts = walk(dom, body, &mut sums, &mut signs);
    signs.mount = mount(dom, mounts, &sums, &signs);
    signs.asks_in_text = placeholder::is_request(&signs.text);
    signs.asks_in_noscript = placeholder::asks_in_noscript(dom, body);
    signs.challenge = placeholder::is_challenge(dom, &signs);
    signs.templates = placeholder::templates(&signs.text);
    signs
}

fn is_passed(dom: &Dom, tag: Tag) -> bool {
    dom.is_never_text(tag) || matches!(tag, Tag::Select | Tag::Textarea)
}

/// Sums of the weight of all text of the body.
fn text_sums(dom: &Dom, body: NodeId) -> Vec<u32> {
    let mut sums = vec![0; dom.nodes.len() + 1];
    let (mut sum, mut passed) = (0u32, 0);
    for id in 0..dom.len() {
        if id >= passed && is_passed(dom, dom.tag(id)) && id != 0 && id > body {
            passed = dom.end(id);
        }
        sums[id as usize] = sum;
        if id > body && id < dom.end(body) && id >= passed {
            sum = sum.saturating_add(weight(dom.text(id)) as u32);
        }
    }
    sums[dom.nodes.len()] = sum;
    sums
}

/// One pass over the body: everything that is counted. Returns what would be a mount if it were empty.
fn walk(dom: &Dom, body: NodeId, sums: &mut Sums, signs: &mut Signs) -> Vec<(NodeId, Mount)> {
    let nodes = dom.nodes.len() + 1;
    (sums.main, sums.pictures, sums.fields) = (vec![0; nodes], vec![0; nodes], vec![0; nodes]);
    let whole = Sums::within(&sums.text, dom, body).max(1);
    let (mut main, mut pictures, mut fields) = (0u32, 0u32, 0u32);
    let (mut passed, mut inside_main, mut heading, mut prose) = (0, 0, 0, 0);
    let (mut names, mut mounts) = (Vec::new(), Vec::new());
    for id in 0..dom.len() {
        sums.main[id as usize] = main;
        sums.pictures[id as usize] = pictures;
        sums.fields[id as usize] = fields;
        if id <= body || id >= dom.end(body) {
            continue;
        }
        if is_frame(dom, id) {
            signs.frames += 1;
        }
        if id < passed {
            continue;
        }
        let tag = dom.tag(id);
        if tag == Tag::Text {
            let text = dom.text(id);
            let weight = weight(text);
            if weight == 0 {
                continue;
            }
            if placeholder::is_loading_text(text) {
                signs.loaders += 1;
                continue;
            }
            main = main.saturating_add(weight as u32);
            signs.main_text += weight;
            if id < heading {
                signs.headings += weight;
            } else if id < prose {
                signs.prose += weight;
            }
            keep_text(&mut signs.text, text);
            continue;
        }
        if is_passed(dom, tag) {
            fields += u32::from(matches!(tag, Tag::Select | Tag::Textarea));
            signs.fields += usize::from(matches!(tag, Tag::Select | Tag::Textarea));
            passed = dom.end(id);
            continue;
        }
        let held = Sums::within(&sums.text, dom, id);
        if held == 0 && placeholder::is_skeleton(dom, id) {
            signs.skeletons += 1;
        }
        let is_much = |percent: usize| held * 100 >= whole * percent;
        let is_aside = match main_content::aside(dom, id, &mut names) {
            Aside::No => false,
            Aside::Always => true,
            Aside::Consent => !is_much(CONSENT_PERCENT),
            Aside::Named => !is_much(MUCH_PERCENT),
            Aside::Header => id >= inside_main && !is_much(MUCH_PERCENT),
        };
        if !is_aside && let Some(kind) = kind_of_mount(dom, id, &signs.scripts) {
            mounts.push((id, kind));
        }
        let is_loader = !is_aside && held <= LOADER_WEIGHT && placeholder::is_loader(dom, id);
        signs.loaders += usize::from(is_loader);
        if is_aside || is_loader {
            passed = dom.end(id);
            continue;
        }
        match tag {
            Tag::Main | Tag::Article => inside_main = inside_main.max(dom.end(id)),
            Tag::P | Tag::Li | Tag::Td | Tag::Th | Tag::Dd | Tag::Pre | Tag::Blockquote | Tag::Figcaption => {
                prose = prose.max(dom.end(id));
            }
            Tag::Img if links::image_source(dom, id).is_some() => {
                pictures += 1;
                signs.pictures += 1;
            }
            Tag::Input if dom.attr(id, attr::TYPE) != Some("hidden") => {
                fields += 1;
                signs.fields += 1;
            }
            _ if tag.heading_level().is_some() => heading = dom.end(id),
            _ => {}
        }
    }
    let last = dom.nodes.len();
    (sums.main[last], sums.pictures[last], sums.fields[last]) = (main, pictures, fields);
    mounts
}

fn is_frame(dom: &Dom, id: NodeId) -> bool {
    matches!(dom.tag(id), Tag::Iframe | Tag::Frame)
        && dom.attr(id, attr::SRC).is_some_and(|src| !src.trim().is_empty())
}

/// Keeps the start of the main text.
fn keep_text(kept: &mut String, text: &str) {
    if kept.len() >= limits::MAIN_TEXT_BYTES {
        return;
    }
    let mut end = text.len().min(limits::MAIN_TEXT_BYTES - kept.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    kept.push_str(&text[..end]);
    kept.push(' ');
}

/// The surest of these elements that has no content.
fn mount(dom: &Dom, mounts: Vec<(NodeId, Mount)>, sums: &Sums, signs: &Signs) -> Option<Mount> {
    let is_empty = |&(id, kind): &(NodeId, Mount)| {
        let most = match kind {
            Mount::Root if signs.loaders > 0 => HINTS_WEIGHT,
            _ => EMPTY_WEIGHT,
        };
        Sums::within(&sums.main, dom, id) < most
            && Sums::within(&sums.pictures, dom, id) < MANY
            && Sums::within(&sums.fields, dom, id) < MANY
            && !dom
                .below(id)
                .any(|node| matches!(dom.tag(node), Tag::Iframe | Tag::Video | Tag::Object))
    };
    mounts.into_iter().filter(is_empty).map(|(_, kind)| kind).min()
}

/// What kind of mount the element would be if it were empty. What waits for its reader, such as the results of a search
/// box, is none.
fn kind_of_mount(dom: &Dom, id: NodeId, scripts: &Scripts) -> Option<Mount> {
    let kind = kind_by_name(dom, id, scripts)?;
    let waits = |id: NodeId| {
        let names = [attr::CLASS, attr::ID]
            .into_iter()
            .filter_map(|name| dom.attr(id, name));
        names.flat_map(str::split_ascii_whitespace).any(|name| {
            WAITING
                .iter()
                .any(|word| name.to_ascii_lowercase().contains(word))
        })
    };
    let is_sure = matches!(kind, Mount::Root | Mount::Main);
    (is_sure
        || !std::iter::once(id)
            .chain(dom.ancestors(id))
            .take(WAITING_LEVELS)
            .any(waits))
    .then_some(kind)
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
            if SIDE_ELEMENTS.iter().any(|side| word(&side)) {
                None
            } else if ["app", "root", "shell"].iter().any(|root| word(&root)) {
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
    fn ideographs_weigh_more_than_letters() {
        assert_eq!(weight("a b\n\u{e9}"), 3);
        assert_eq!(weight("東京 가"), 9);
    }
}
