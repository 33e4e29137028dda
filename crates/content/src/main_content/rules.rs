//! Rules that choose the content by names and weights alone. They drop elements with boilerplate names unless those
//! hold much of the page's text, descend from `body` while one child holds nearly all of the weight, and prune blocks
//! of outgoing links.

use super::element_names::{LISTS_SITE, NameHints};
use super::hints::Hint;
use super::kind::PageKind;
use super::marked::{MarkedContent, within};
use super::weights::TextWeights;
use super::{prune, title};
use crate::html::dom::{Dom, NodeId};
use crate::html::tag::Tag;

/// A block with a boilerplate name is kept when it holds this share of the page's weight, in percent.
const KEEP_PERCENT: u64 = 35;
/// The search descends into a child that holds this share of the weight, in percent.
const DESCEND_PERCENT: u64 = 80;
/// The same where the content may be a list of blocks, so that its first blocks are not lost.
const DESCEND_LIST_PERCENT: u64 = 92;
/// A page with this share of text written by readers is a forum, in percent.
const FORUM_PERCENT: u64 = 70;
/// A `main` or `article` is trusted when it holds this share of the weight, in percent.
const TRUSTED_PERCENT: u64 = 45;
/// Chosen text below this size, in bytes, is checked against the whole page.
const MIN_TEXT_BYTES: u32 = 250;

/// Chooses the content by names and weights alone: returns its roots and the kind of the page, and marks in `dropped`
/// what is dropped inside them.
pub(super) fn choose(
    dom: &Dom,
    mut kind: PageKind,
    names: &[NameHints],
    whole_page: &TextWeights,
    dropped: &mut [bool],
) -> (Vec<NodeId>, PageKind) {
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    let page = Page {
        dom,
        body,
        names,
        marked: MarkedContent::of(dom),
    };
    let mut weights = whole_page.clone();
    weights.sum(dom, dropped);
    if kind == PageKind::Other && page.comments_percent(&weights) >= FORUM_PERCENT {
        kind = PageKind::Forum;
    }
    let whole_text = weights.text[body as usize];
    page.mark_boilerplate(kind, &weights, dropped);
    weights.sum(dom, dropped);
    let start = page.search_start(kind, &weights);
    if kind == PageKind::Other && is_prose(&weights, descend(dom, &weights, start, PageKind::Article)) {
        kind = PageKind::Article;
        page.mark_boilerplate(kind, &weights, dropped);
        weights.sum(dom, dropped);
    }
    let root = descend(dom, &weights, page.search_start(kind, &weights), kind);
    prune::prune(dom, root, kind, &mut weights, dropped);
    weights.sum(dom, dropped);
    let chosen = weights.text[root as usize];
    if chosen < MIN_TEXT_BYTES && u64::from(whole_text) > u64::from(chosen) * 3 {
        // Too little text: keep everything that is not clearly boilerplate.
        dropped.fill(false);
        for id in dom.below(body) {
            dropped[id as usize] = matches!(dom.tag(id), Tag::Nav | Tag::Footer | Tag::Dialog)
                || matches!(
                    names[id as usize].hint,
                    Hint::Hidden | Hint::Widget | Hint::Consent
                );
        }
        weights.sum(dom, dropped);
        if weights.text[body as usize] <= chosen.max(20) {
            dropped.fill(false);
        }
        return (vec![body], kind);
    }
    let mut roots = vec![root];
    if kind == PageKind::Article {
        title::drop_repeated(dom, root, &weights, dropped);
    } else if let Some(title) = title::title_outside(dom, body, root, dropped) {
        roots.insert(0, title);
    }
    (roots, kind)
}

/// A page, and what its elements say about themselves.
struct Page<'a> {
    dom: &'a Dom,
    body: NodeId,
    names: &'a [NameHints],
    marked: MarkedContent,
}

impl Page<'_> {
    /// Returns the share of the page's weight in text written by readers, in percent.
    fn comments_percent(&self, weights: &TextWeights) -> u64 {
        let dom = self.dom;
        let mut sum = 0;
        let mut at = self.body + 1;
        while at < dom.end(self.body) {
            if dom.tag(at) != Tag::Text
                && self.names[at as usize].hint == Hint::Comments
                && !self.marked.has_main_below(dom, at)
            {
                sum += weights.weight(at);
                at = dom.end(at);
            } else {
                at += 1;
            }
        }
        sum * 100 / weights.weight(self.body).max(1)
    }

    /// Drops elements by the hints of their names where that costs little text.
    fn mark_boilerplate(&self, kind: PageKind, weights: &TextWeights, dropped: &mut [bool]) {
        let Self { dom, body, names, .. } = *self;
        let whole = weights.weight(body).max(1);
        let mut at = body + 1;
        while at < dom.end(body) {
            let tag = dom.tag(at);
            if tag == Tag::Pre || tag == Tag::Svg || tag == Tag::Math {
                at = dom.end(at);
                continue;
            }
            let share = weights.weight(at) * 100 / whole;
            let short = weights.text[at as usize] < 200;
            let has_no_main = || !self.marked.has_main_below(dom, at);
            let drop = match names[at as usize].hint {
                Hint::None => false,
                Hint::Hidden | Hint::Widget => share < 60,
                Hint::Boilerplate if names[at as usize].words & LISTS_SITE != 0 => true,
                Hint::Boilerplate => share < KEEP_PERCENT && has_no_main(),
                Hint::Ambiguous => {
                    share < KEEP_PERCENT
                        && has_no_main()
                        && (weights.linked_percent(at) > 40
                            || (short && is_furniture(dom, at, weights, kind)))
                }
                Hint::Form => share < 12 && has_no_main(),
                Hint::Consent => share < 95 && has_no_main(),
                Hint::Reviews => kind == PageKind::Product && share < 90 && has_no_main(),
                Hint::Comments => kind != PageKind::Forum && share < 90 && has_no_main(),
                Hint::Byline => {
                    share < 20
                        && (kind == PageKind::Article && (short || weights.linked_percent(at) > 30)
                            || kind == PageKind::Forum && short)
                }
            };
            if drop {
                dropped[at as usize] = true;
                at = dom.end(at);
            } else {
                at += 1;
            }
        }
    }

    /// Returns where the search starts: `main`, the one large `article`, or `body`.
    fn search_start(&self, kind: PageKind, weights: &TextWeights) -> NodeId {
        let Self {
            dom, body, marked, ..
        } = self;
        let heaviest = |nodes: &[NodeId], above: NodeId| {
            let nodes = within(dom, nodes, above).iter().copied();
            nodes.max_by_key(|&n| (weights.weight(n), std::cmp::Reverse(n)))
        };
        let holds = |node: NodeId, within: NodeId, percent: u64| {
            weights.weight(node) * 100 >= weights.weight(within) * percent
        };
        let mut root = *body;
        if let Some(main) = heaviest(&marked.texts, *body)
            && holds(main, *body, TRUSTED_PERCENT)
        {
            root = main;
        }
        if kind != PageKind::Forum
            && let Some(article) = heaviest(&marked.articles, root)
            && holds(article, root, if kind == PageKind::Article { 60 } else { 75 })
        {
            root = article;
        }
        root
    }
}

/// Returns true for a short block with an ambiguous name in an article, unless it contains a heading.
fn is_furniture(dom: &Dom, id: NodeId, weights: &TextWeights, kind: PageKind) -> bool {
    kind == PageKind::Article
        && weights.prose[id as usize] == 0
        && !dom.below(id).any(|n| dom.tag(n).heading_level().is_some())
}

/// Descends while one child holds nearly all of the weight.
fn descend(dom: &Dom, weights: &TextWeights, from: NodeId, kind: PageKind) -> NodeId {
    let percent = if kind == PageKind::Article {
        DESCEND_PERCENT
    } else {
        DESCEND_LIST_PERCENT
    };
    let mut root = from;
    loop {
        let weight = weights.weight(root);
        let next = dom
            .children(root)
            .max_by_key(|&child| (weights.weight(child), std::cmp::Reverse(child)));
        match next {
            Some(child)
                if is_container(dom.tag(child)) && weights.weight(child) * 100 >= weight * percent =>
            {
                root = child
            }
            _ => return root,
        }
    }
}

/// Returns true for elements that may be a root; lists and tables keep their own element.
fn is_container(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Div
            | Tag::Section
            | Tag::Article
            | Tag::Main
            | Tag::Form
            | Tag::Center
            | Tag::Body
            | Tag::Span
            | Tag::Other
            | Tag::Font
            | Tag::Table
            | Tag::Tbody
            | Tag::Tr
            | Tag::Td
    )
}

fn is_prose(weights: &TextWeights, root: NodeId) -> bool {
    let at = root as usize;
    weights.prose[at] > 1200 && u64::from(weights.prose[at]) * 100 >= u64::from(weights.text[at]) * 65
}
