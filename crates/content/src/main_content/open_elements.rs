//! The elements around each block: what their names and tags say, how deep they are, and how often they repeat.

use crate::hash::HashMap;

use super::element_names::{LISTS_SITE, NameHints};
use super::hints::Hint;
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

pub(super) const NAV: u32 = 1;
pub(super) const FOOTER: u32 = 1 << 1;
pub(super) const HEADER: u32 = 1 << 2;
const ASIDE: u32 = 1 << 3;
const FORM: u32 = 1 << 4;
pub(super) const MAIN: u32 = 1 << 5;
pub(super) const ARTICLE: u32 = 1 << 6;
const LIST: u32 = 1 << 7;
const TABLE: u32 = 1 << 8;
const SECTION: u32 = 1 << 9;
const DEFINITIONS: u32 = 1 << 10;
const BOILERPLATE: u32 = 1 << 11;
pub(super) const AMBIGUOUS: u32 = 1 << 12;
const NAMED_FORM: u32 = 1 << 13;
pub(super) const CONSENT: u32 = 1 << 14;
const REVIEWS: u32 = 1 << 15;
const COMMENTS: u32 = 1 << 16;
const BYLINE: u32 = 1 << 17;
pub(super) const HIDDEN: u32 = 1 << 18;
const OTHER_ROLE: u32 = 1 << 19;
const FIGURE: u32 = 1 << 20;
const TEXT_PROPERTY: u32 = 1 << 21;
const SECONDARY_PROPERTY: u32 = 1 << 22;
/// Number of flags.
pub(super) const FLAGS: u32 = 23;
/// Flags of secondary content.
const BESIDE: u32 =
    NAV | FOOTER | ASIDE | FORM | BOILERPLATE | AMBIGUOUS | CONSENT | REVIEWS | COMMENTS | HIDDEN;

/// Siblings that look alike from which on they count as repeated.
const MIN_REPEATS: u16 = 3;
/// More than the number of tags.
const TAGS: usize = u8::MAX as usize + 1;

/// What is around a block, its own element included.
#[derive(Clone, Copy, Default)]
pub(super) struct Surroundings {
    end: NodeId,
    pub(super) flags: u32,
    /// Flags of secondary content, unless the longest text is inside.
    pub(super) beside: u32,
    pub(super) depth: i32,
    /// The innermost repeated element, or 0; how often it repeats, and its bytes of text.
    pub(super) repeated: NodeId,
    pub(super) repeats: i32,
    pub(super) repeated_text: i32,
    /// Position of the outermost `article` among those of the page, from 1; 0 outside.
    pub(super) article: i32,
}

/// The elements that are open at a place of a page.
pub(super) struct OpenElements<'a> {
    dom: &'a Dom,
    names: &'a [NameHints],
    weights: &'a TextWeights,
    /// An element of the content: neither it nor an element around it counts as secondary.
    content: Option<NodeId>,
    /// By node: how many children of its parent look the same.
    repeats: Vec<u16>,
    open: Vec<Surroundings>,
    next: NodeId,
    articles: i32,
}

impl<'a> OpenElements<'a> {
    /// Starts before the first element.
    pub(super) fn of(
        dom: &'a Dom,
        names: &'a [NameHints],
        weights: &'a TextWeights,
        content: Option<NodeId>,
    ) -> Self {
        OpenElements {
            dom,
            names,
            weights,
            content,
            repeats: repeats(dom, weights),
            open: Vec::new(),
            next: 1,
            articles: 0,
        }
    }

    /// Advances to an element and returns what is around it. A block whose first text is after the end of an inner
    /// block gets what is around that one.
    pub(super) fn around(&mut self, id: NodeId) -> Surroundings {
        while self.next <= id {
            while self.open.last().is_some_and(|open| open.end <= self.next) {
                self.open.pop();
            }
            if self.dom.tag(self.next) != Tag::Text {
                let opened = self.surroundings_of(self.next);
                self.open.push(opened);
            }
            self.next += 1;
        }
        self.open.last().copied().unwrap_or_default()
    }

    fn surroundings_of(&mut self, id: NodeId) -> Surroundings {
        let outer = self.open.last().copied().unwrap_or_default();
        let flags = flags(self.dom, self.names, id);
        let end = self.dom.end(id);
        let holds_content = self.content.is_some_and(|content| (id..end).contains(&content));
        let (repeated, repeats, repeated_text) = match self.repeats[id as usize] {
            ..MIN_REPEATS => (outer.repeated, outer.repeats, outer.repeated_text),
            repeats => (
                id,
                i32::from(repeats),
                self.weights.text[id as usize].min(100_000) as i32,
            ),
        };
        let article = match outer.article {
            0 if self.dom.tag(id) == Tag::Article => {
                self.articles += 1;
                self.articles
            }
            outer => outer,
        };
        Surroundings {
            end,
            flags: outer.flags | flags,
            beside: outer.beside | if holds_content { 0 } else { flags & BESIDE },
            depth: outer.depth + 1,
            repeated,
            repeats,
            repeated_text,
            article,
        }
    }
}

fn flags(dom: &Dom, names: &[NameHints], id: NodeId) -> u32 {
    let names = names[id as usize];
    let tag = match dom.tag(id) {
        Tag::Nav => NAV,
        _ if names.words & LISTS_SITE != 0 => NAV,
        Tag::Footer => FOOTER,
        Tag::Header => HEADER,
        Tag::Aside => ASIDE,
        Tag::Form => FORM,
        Tag::Main => MAIN,
        Tag::Article => ARTICLE,
        Tag::Ul | Tag::Ol => LIST,
        Tag::Table => TABLE,
        Tag::Section => SECTION,
        Tag::Dl | Tag::Details => DEFINITIONS,
        Tag::Figure => FIGURE,
        _ => 0,
    };
    let hint = match names.hint {
        Hint::None => 0,
        Hint::Boilerplate => BOILERPLATE,
        Hint::Ambiguous => AMBIGUOUS,
        Hint::Form => NAMED_FORM,
        Hint::Consent => CONSENT,
        Hint::Reviews => REVIEWS,
        Hint::Comments => COMMENTS,
        Hint::Byline => BYLINE,
        Hint::Hidden | Hint::Widget => HIDDEN,
    };
    let role = match dom.attr(id, attr::ROLE) {
        Some("main") => MAIN,
        Some(_) => OTHER_ROLE,
        None => 0,
    };
    let property = match dom.attr(id, attr::ITEMPROP) {
        Some("articleBody" | "text" | "description") => TEXT_PROPERTY,
        Some("comment" | "review" | "reviewBody" | "author" | "offers") => SECONDARY_PROPERTY,
        _ => 0,
    };
    tag | hint | role | property
}

/// Returns by node how many children of its parent have the same tag and first class.
fn repeats(dom: &Dom, weights: &TextWeights) -> Vec<u16> {
    let (looks, number) = numbered_looks(dom);
    let mut out = vec![0u16; dom.nodes.len()];
    let mut counts = vec![0u16; number];
    for parent in 0..dom.len() {
        if dom.tag(parent) == Tag::Text || dom.end(parent) - parent < 4 || weights.text[parent as usize] == 0
        {
            continue;
        }
        let elements = || dom.children(parent).filter(|&child| dom.tag(child) != Tag::Text);
        let mut most = 0;
        for child in elements().filter(|&child| weights.text[child as usize] > 0) {
            let count = &mut counts[looks[child as usize]];
            *count = count.saturating_add(1);
            most = most.max(*count);
        }
        if most >= MIN_REPEATS {
            for child in elements() {
                out[child as usize] = counts[looks[child as usize]];
            }
        }
        for child in elements() {
            counts[looks[child as usize]] = 0;
        }
    }
    out
}

/// Returns by node a number that stands for its tag and first class, and how many numbers there are.
fn numbered_looks(dom: &Dom) -> (Vec<usize>, usize) {
    let mut numbers: HashMap<(Tag, &str), usize> = HashMap::default();
    let number = |id: NodeId| match dom.classes(id).next() {
        // Most elements have no class. These numbers stand for their tags alone.
        None => dom.tag(id) as usize,
        Some(class) => {
            let next = TAGS + numbers.len();
            *numbers.entry((dom.tag(id), class)).or_insert(next)
        }
    };
    let looks = (0..dom.len()).map(number).collect();
    (looks, TAGS + numbers.len())
}
