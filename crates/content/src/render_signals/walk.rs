//! One pass over the body of a page that separates main text from placeholders.

use std::cell::OnceCell;

use super::{CONTENT_ITEMS, Mount, RenderSignals, kind_of_mount, placeholder};
use crate::hash::HashMap;
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
    /// Weight of the main text.
    pub(super) main: Vec<u32>,
    /// Images and form fields; embedded media count [`CONTENT_ITEMS`].
    pub(super) media: Vec<u32>,
}

/// Returns the sum of a subtree.
pub(super) fn within(sums: &[u32], dom: &Dom, id: NodeId) -> usize {
    (sums[dom.end(id) as usize] - sums[id as usize]) as usize
}

/// Returns the weight of a text node; 0 for other nodes.
fn weight(dom: &Dom, id: NodeId) -> u32 {
    if dom.is_ascii(id) {
        return dom.ink(id);
    }
    let weigh = |c: char| match c {
        _ if c.is_whitespace() => 0,
        '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => IDEOGRAPH_WEIGHT,
        _ => 1,
    };
    dom.text(id).chars().map(weigh).sum()
}

/// Measures the body until the weight of the main text reaches `enough`. Returns the sums, and the elements that
/// would be mounts if they were empty; no elements if it stopped early.
pub(super) fn walk(
    dom: &Dom,
    body: NodeId,
    signals: &mut RenderSignals,
    enough: usize,
) -> (Sums, Vec<(NodeId, Mount)>) {
    let nodes = dom.nodes.len() + 1;
    let mut walk = Walk {
        dom,
        body,
        signals,
        sums: Sums {
            main: Vec::with_capacity(nodes),
            media: Vec::with_capacity(nodes),
        },
        texts: OnceCell::new(),
        mounts: Vec::new(),
        main: 0,
        media: 0,
        skip_end: 0,
        main_end: 0,
        heading_end: 0,
        prose_end: 0,
        classes: HashMap::default(),
    };
    for id in 0..dom.len() {
        if walk.signals.main_text >= enough {
            walk.mounts.clear();
            break;
        }
        walk.record_sums();
        if id <= body || id >= dom.end(body) || id < walk.skip_end {
            continue;
        }
        match dom.tag(id) {
            Tag::Text => walk.text(id),
            tag if is_skipped(dom, id) => walk.skip_element(id, tag),
            tag => walk.element(id, tag),
        }
    }
    walk.record_sums();
    (walk.sums, walk.mounts)
}

fn is_skipped(dom: &Dom, id: NodeId) -> bool {
    dom.is_never_text(id) || matches!(dom.tag(id), Tag::Select | Tag::Textarea)
}

/// Returns the running weight of all text in the body.
fn text_sums(dom: &Dom, body: NodeId) -> Vec<u32> {
    let mut sums = vec![0; dom.nodes.len() + 1];
    let (mut sum, mut at) = (0u32, body + 1);
    while at < dom.end(body) {
        sums[at as usize] = sum;
        let mut next = at + 1;
        match dom.tag(at) {
            Tag::Text => sum = sum.saturating_add(weight(dom, at)),
            _ if is_skipped(dom, at) => {
                next = dom.end(at);
                sums[at as usize..next as usize].fill(sum);
            }
            _ => {}
        }
        at = next;
    }
    sums[at as usize..].fill(sum);
    sums
}

struct Walk<'d> {
    dom: &'d Dom,
    body: NodeId,
    signals: &'d mut RenderSignals,
    sums: Sums,
    /// Running weight of all text, computed for the first element whose names make its text matter.
    texts: OnceCell<Vec<u32>>,
    mounts: Vec<(NodeId, Mount)>,
    main: u32,
    media: u32,
    /// First node after the skipped element, and after the open elements of each kind.
    skip_end: NodeId,
    main_end: NodeId,
    heading_end: NodeId,
    prose_end: NodeId,
    /// Results for elements without a name other than a class, by tag, whether they have no attributes, and class.
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
    /// Records the sums before the next node.
    fn record_sums(&mut self) {
        self.sums.main.push(self.main);
        self.sums.media.push(self.media);
    }

    /// Returns the weight of all text of a subtree.
    fn text_weight(&self, id: NodeId) -> usize {
        let texts = self.texts.get_or_init(|| text_sums(self.dom, self.body));
        within(texts, self.dom, id)
    }

    fn text(&mut self, id: NodeId) {
        let text = self.dom.text(id);
        let weight = weight(self.dom, id);
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
        let names = self.names(id, tag);
        if names.is_skeleton && self.text_weight(id) == 0 {
            self.signals.skeletons += 1;
        }
        if self.is_aside(id, names.aside) {
            self.skip_end = self.dom.end(id);
            return;
        }
        if let Some(kind) = kind_of_mount(self.dom, id, &self.signals.scripts) {
            self.mounts.push((id, kind));
        }
        if names.is_loader && self.text_weight(id) <= LOADER_WEIGHT {
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
            aside: main_content::aside(self.dom, id),
            is_skeleton: placeholder::is_skeleton(self.dom, id),
            is_loader: placeholder::is_loader(self.dom, id),
        }
    }

    /// Returns whether an element is next to the main content.
    fn is_aside(&self, id: NodeId, aside: Aside) -> bool {
        let is_most =
            |percent: usize| self.text_weight(id) * 100 >= self.text_weight(self.body).max(1) * percent;
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
    use crate::html::parse::parse;

    #[test]
    fn ideographs_weigh_more_than_letters() {
        let weight = |text: &str| {
            let dom = parse(text);
            (0..dom.len()).map(|id| super::weight(&dom, id)).sum::<u32>()
        };
        assert_eq!(weight("a b\n\u{e9}"), 3);
        assert_eq!(weight("東京 가"), 9);
        assert_eq!(weight(&"a ".repeat(1000)), 1000);
    }
}
