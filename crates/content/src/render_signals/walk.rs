//! One pass over the body of a page that separates main text from placeholders.

use std::collections::HashMap;

use super::{CONTENT_ITEMS, Mount, RenderSignals, kind_of_mount, placeholder};
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links;
use crate::html::tag::Tag;
use crate::limits;
use crate::main_content::{self, Aside};

/// Weight of a character in scripts without spaces between words: about half an English word.
const IDEOGRAPH_WEIGHT: u32 = 3;
/// A block that only its name marks as boilerplate counts as content when it holds this share of the page's
/// text, in percent.
const MAIN_SHARE_PERCENT: usize = 60;
/// The same share for a consent dialog: the page consists of nothing else.
const CONSENT_PERCENT: usize = 95;
/// Maximum weight of the text in a loader.
const LOADER_WEIGHT: usize = 400;

/// Running sums by node: the sum of a subtree is the difference of two of them ([`within`]).
pub(super) struct Sums {
    /// Weight of all text.
    text: Vec<u32>,
    /// Weight of the main text.
    pub(super) main: Vec<u32>,
    /// Images and form fields; embedded media count [`CONTENT_ITEMS`].
    pub(super) media: Vec<u32>,
}

/// Returns the sum of a subtree.
pub(super) fn within(sums: &[u32], dom: &Dom, id: NodeId) -> usize {
    (sums[dom.end(id) as usize] - sums[id as usize]) as usize
}

/// Returns the weight of a text.
fn weight(text: &str) -> u32 {
    if text.is_ascii() {
        let is_space = |byte: u8| matches!(byte, b' ' | b'\t'..=b'\r');
        return text.bytes().map(|byte| u32::from(!is_space(byte))).sum();
    }
    let weigh = |c: char| match c {
        _ if c.is_whitespace() => 0,
        '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => IDEOGRAPH_WEIGHT,
        _ => 1,
    };
    text.chars().map(weigh).sum()
}

/// Measures the body until the main text has the weight `enough`. Returns the sums, and the elements that would be
/// mounts if they were empty; none if it stopped.
pub(super) fn walk(
    dom: &Dom,
    body: NodeId,
    signals: &mut RenderSignals,
    enough: usize,
) -> (Sums, Vec<(NodeId, Mount)>) {
    let nodes = dom.nodes.len() + 1;
    let mut walk = Walk {
        dom,
        signals,
        sums: Sums {
            text: text_sums(dom, body),
            main: vec![0; nodes],
            media: vec![0; nodes],
        },
        mounts: Vec::new(),
        whole: 0,
        main: 0,
        media: 0,
        skip_end: 0,
        main_end: 0,
        heading_end: 0,
        prose_end: 0,
        words: Vec::new(),
        classes: HashMap::new(),
    };
    walk.whole = within(&walk.sums.text, dom, body).max(1);
    for id in 0..dom.len() {
        if walk.signals.main_text >= enough {
            walk.mounts.clear();
            break;
        }
        walk.record_sums(id);
        if id <= body || id >= dom.end(body) || id < walk.skip_end {
            continue;
        }
        match dom.tag(id) {
            Tag::Text => walk.text(id),
            tag if is_skipped(dom, tag) => walk.skip_element(id, tag),
            tag => walk.element(id, tag),
        }
    }
    walk.record_sums(dom.len());
    (walk.sums, walk.mounts)
}

fn is_skipped(dom: &Dom, tag: Tag) -> bool {
    dom.is_never_text(tag) || matches!(tag, Tag::Select | Tag::Textarea)
}

/// Returns the running weight of all text in the body.
fn text_sums(dom: &Dom, body: NodeId) -> Vec<u32> {
    let mut sums = vec![0; dom.nodes.len() + 1];
    let (mut sum, mut skip_end) = (0u32, 0);
    for id in 0..dom.len() {
        sums[id as usize] = sum;
        if id <= body || id >= dom.end(body) || id < skip_end {
            continue;
        }
        if is_skipped(dom, dom.tag(id)) {
            skip_end = dom.end(id);
        }
        sum = sum.saturating_add(weight(dom.text(id)));
    }
    sums[dom.nodes.len()] = sum;
    sums
}

struct Walk<'d> {
    dom: &'d Dom,
    signals: &'d mut RenderSignals,
    sums: Sums,
    mounts: Vec<(NodeId, Mount)>,
    /// Weight of all text of the body.
    whole: usize,
    main: u32,
    media: u32,
    /// First node after the skipped element, and after the open elements of each kind.
    skip_end: NodeId,
    main_end: NodeId,
    heading_end: NodeId,
    prose_end: NodeId,
    /// Buffer for the names of one element.
    words: Vec<String>,
    /// What the names of elements say that have no other names than a class, by tag, whether they have no
    /// attributes, and class.
    classes: HashMap<(Tag, bool, &'d str), ElementNames>,
}

/// What the names of an element say.
#[derive(Clone, Copy)]
struct ElementNames {
    aside: Aside,
    is_skeleton: bool,
    is_loader: bool,
}

/// Attributes that say nothing about the purpose of an element.
const SILENT_ATTRIBUTES: &[u32] = &[
    attr::HREF,
    attr::SRC,
    attr::TITLE,
    attr::REL,
    attr::ALT,
    attr::COLSPAN,
    attr::ROWSPAN,
];

impl Walk<'_> {
    fn record_sums(&mut self, id: NodeId) {
        self.sums.main[id as usize] = self.main;
        self.sums.media[id as usize] = self.media;
    }

    fn text(&mut self, id: NodeId) {
        let text = self.dom.text(id);
        let weight = self.sums.text[id as usize + 1] - self.sums.text[id as usize];
        if weight == 0 {
            return;
        }
        if placeholder::is_loading_text(text) {
            self.signals.loaders += 1;
            return;
        }
        self.main = self.main.saturating_add(weight);
        let weight = weight as usize;
        self.signals.main_text += weight;
        if id < self.heading_end {
            self.signals.headings += weight;
        } else if id < self.prose_end {
            self.signals.prose += weight;
        }
        append_text(&mut self.signals.text, text);
    }

    /// Counts a skipped element, which holds no text of the page.
    fn skip_element(&mut self, id: NodeId, tag: Tag) {
        self.skip_end = self.dom.end(id);
        match tag {
            Tag::Select | Tag::Textarea => {
                self.media += 1;
                self.signals.fields += 1;
            }
            Tag::Iframe | Tag::Video | Tag::Object => self.media += CONTENT_ITEMS as u32,
            _ => {}
        }
    }

    fn element(&mut self, id: NodeId, tag: Tag) {
        let text_weight = within(&self.sums.text, self.dom, id);
        let names = self.names(id, tag);
        if text_weight == 0 && names.is_skeleton {
            self.signals.skeletons += 1;
        }
        if self.is_aside(id, names.aside, text_weight) {
            self.skip_end = self.dom.end(id);
            return;
        }
        if let Some(kind) = kind_of_mount(self.dom, id, &self.signals.scripts) {
            self.mounts.push((id, kind));
        }
        if text_weight <= LOADER_WEIGHT && names.is_loader {
            self.signals.loaders += 1;
            self.skip_end = self.dom.end(id);
            return;
        }
        let end = self.dom.end(id);
        match tag {
            Tag::Main | Tag::Article => self.main_end = self.main_end.max(end),
            Tag::P | Tag::Li | Tag::Td | Tag::Th | Tag::Dd | Tag::Pre | Tag::Blockquote | Tag::Figcaption => {
                self.prose_end = self.prose_end.max(end);
            }
            Tag::Img if links::image_source(self.dom, id).is_some() => {
                self.media += 1;
                self.signals.images += 1;
            }
            Tag::Input if self.dom.attr(id, attr::TYPE) != Some("hidden") => {
                self.media += 1;
                self.signals.fields += 1;
            }
            _ if tag.heading_level().is_some() => self.heading_end = end,
            _ => {}
        }
    }

    /// Returns what the names of an element say. Elements of the same class are read once.
    fn names(&mut self, id: NodeId, tag: Tag) -> ElementNames {
        let dom = self.dom;
        let attributes = dom.attributes(id);
        let decides = |name: u32| name != attr::CLASS && !SILENT_ATTRIBUTES.contains(&name);
        if attributes.iter().any(|attribute| decides(attribute.name)) || tag == Tag::Other {
            return self.read_names(id);
        }
        let key = (
            tag,
            attributes.is_empty(),
            dom.attr(id, attr::CLASS).unwrap_or_default(),
        );
        if let Some(names) = self.classes.get(&key) {
            return *names;
        }
        let names = self.read_names(id);
        self.classes.insert(key, names);
        names
    }

    fn read_names(&mut self, id: NodeId) -> ElementNames {
        ElementNames {
            aside: main_content::aside(self.dom, id, &mut self.words),
            is_skeleton: placeholder::is_skeleton(self.dom, id),
            is_loader: placeholder::is_loader(self.dom, id),
        }
    }

    /// Returns whether an element with text of this weight is next to the main content.
    fn is_aside(&self, id: NodeId, aside: Aside, text_weight: usize) -> bool {
        let is_most = |percent: usize| text_weight * 100 >= self.whole * percent;
        match aside {
            Aside::No => false,
            Aside::Always => true,
            Aside::Consent => !is_most(CONSENT_PERCENT),
            Aside::Named => !is_most(MAIN_SHARE_PERCENT),
            Aside::Header => id >= self.main_end && !is_most(MAIN_SHARE_PERCENT),
        }
    }
}

/// Appends to the kept start of the main text.
fn append_text(kept: &mut String, text: &str) {
    let mut end = text.len().min(limits::MAIN_TEXT_BYTES.saturating_sub(kept.len()));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end > 0 {
        kept.push_str(&text[..end]);
        kept.push(' ');
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
