//! Finds the main content of a page. Returns roots and marks what is dropped inside them; never changes the
//! page.
//!
//! First, `rules` choose a part. Their result is one of the features from which the model in `classifier` decides on
//! every block, or on all blocks that look alike together (`alike`). `restore` corrects these decisions where the
//! structure of the page says more.
//! Start with [`choose`].

mod alike;
mod apply;
mod block;
mod block_text;
mod classifier;
mod containers;
mod cues;
mod decisions;
mod description;
mod element_names;
mod faq;
mod features;
mod hints;
mod kind;
mod landmarks;
mod link_target;
mod marked;
mod notes;
mod offer;
mod open_elements;
mod post_list;
mod product_list;
mod prune;
mod recipe;
mod recipe_sections;
mod repeats;
mod restore;
mod rules;
mod skipped;
mod stated;
mod technical;
#[cfg(test)]
mod test_page;
mod title;
mod weights;
mod widgets;
mod words;

use url::Url;

use self::block::Block;
use self::decisions::Decisions;
use self::hints::Hint;
use self::kind::PageKind;
use self::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;
use crate::markdown::{code, shape};

/// How much recall counts in articles compared with precision, in per mille: often, much text follows an article.
const ARTICLE_RECALL: i64 = 750;
/// Minimum words of a page for [`ARTICLE_RECALL`] to apply.
const ARTICLE_WORDS: i64 = 200;
/// If the model keeps fewer words than this, the choice of the rules is used.
const MIN_WORDS: i64 = 12;
/// If fewer words of a product are kept without the cards of others, the cards are judged like all blocks.
const MIN_PRODUCT_WORDS: i64 = 40;
/// Probability below which a block is unlikely, in per mille; expected score, in millionths, and words from which on the
/// main content is clear without such blocks.
const MIN_LIKELY: i32 = 200;
const MIN_LIKELY_EXPECTED: i64 = 500_000;
const MIN_LIKELY_WORDS: i64 = 40;

/// Returns the roots of the main content in document order, and marks what is dropped inside them in
/// `dropped`.
pub(crate) fn choose(dom: &Dom, url: &Url, dropped: &mut [bool]) -> Vec<NodeId> {
    let (roots, in_widget) = choose_blocks(dom, url, dropped);
    // Names of spans in code describe the code, not the page. Only the lines that mdBook hides from readers are
    // dropped.
    let mut code_end = 0;
    for id in 0..dom.len() {
        match dom.tag(id) {
            _ if code::is_block(dom, id) => code_end = code_end.max(dom.end(id)),
            Tag::Span if id < code_end => dropped[id as usize] = dom.has_class(id, "boring"),
            _ => dropped[id as usize] |= in_widget[id as usize],
        }
    }
    roots
}

/// Returns the roots, and by node whether it is in a widget.
fn choose_blocks(dom: &Dom, url: &Url, dropped: &mut [bool]) -> (Vec<NodeId>, Vec<bool>) {
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    let RuleChoice {
        roots,
        kind,
        kept,
        weights,
        in_widget,
        blocks,
    } = measure(dom, url, dropped);
    let mut probabilities = classifier::probabilities(kind, &blocks);
    let repeated = roots
        .last()
        .and_then(|&root| title::repeated_title(dom, root, kind, &weights));
    let chosen = blocks.iter().find(|block| block.is_chosen_heading());
    // Articles are read without their titles.
    let is_chapter = kind != PageKind::Article && dom.first(0, Tag::H1).is_none();
    let chapter = blocks.iter().find(|block| is_chapter && block.is_chosen_title());
    let title = chosen
        .or(chapter)
        .map(|block| block.id)
        .filter(|&id| !title::names_site(dom, id));
    for (probability, block) in probabilities.iter_mut().zip(&blocks) {
        // A heading has few words, so the cut hardly counts it; whether it belongs to the content is decided
        // separately.
        if Some(block.id) == repeated || in_widget[block.id as usize] {
            *probability = 0;
        } else if Some(block.id) == title || shape::is_doxygen_title(dom, block.id) {
            *probability = 1000;
        } else if block.is_title() && *probability < 500 {
            *probability = 0;
        }
    }
    let is_marked = landmarks::adjust(dom, body, kind, &blocks, &mut probabilities);
    let mut best = BestCut::of(kind, &blocks, &probabilities);
    if kind == PageKind::Product {
        let own = offer::without_cards(&blocks, &probabilities);
        let best_of_own = BestCut::of(kind, &blocks, &own);
        if best_of_own.words >= MIN_PRODUCT_WORDS {
            (probabilities, best) = (own, best_of_own);
        }
    }
    if best.expected < restore::MIN_EXPECTED {
        best = BestCut::of_likely_blocks(kind, &blocks, &probabilities).unwrap_or(best);
    }
    if best.words < MIN_WORDS && best.all_words > MIN_WORDS && !is_marked {
        return (roots, in_widget);
    }
    let mut page = Decisions {
        dom,
        kind,
        weights: &weights,
        in_widget: &in_widget,
        blocks: &blocks,
        probabilities,
        cut: best.cut,
    };
    if !restore::keep_all_if_unclear(&mut page, best.expected) {
        restore::restore(&mut page);
        faq::restore(&mut page);
    }
    if matches!(kind, PageKind::Article | PageKind::Other) {
        post_list::restore(&mut page, url);
        product_list::restore(&mut page);
    }
    recipe::restore(&mut page);
    recipe_sections::restore(&mut page);
    repeats::drop_repeated(&mut page);
    offer::restore(&mut page);
    notes::restore(&mut page);
    match apply::apply(&page, &kept, dropped) {
        true => (vec![body], in_widget),
        false => (roots, in_widget),
    }
}

/// The probability from which on blocks are kept.
struct BestCut {
    cut: i32,
    /// Expected score, in millionths.
    expected: i64,
    /// Words of the blocks from the cut on, and of all that may be kept.
    words: i64,
    all_words: i64,
}

impl BestCut {
    fn of(kind: PageKind, blocks: &[Block], probabilities: &[i32]) -> BestCut {
        let mut sized: Vec<(i32, i64)> = probabilities
            .iter()
            .zip(blocks)
            .map(|(&probability, block)| (probability, i64::from(block.size())))
            .collect();
        let all_words = sized.iter().map(|&(_, words)| words).sum();
        let recall = match kind {
            PageKind::Article if all_words >= ARTICLE_WORDS => ARTICLE_RECALL,
            _ => 1000,
        };
        let (cut, expected) = classifier::cut(&mut sized, recall);
        let kept = sized.iter().filter(|&&(probability, _)| probability >= cut);
        BestCut {
            cut,
            expected,
            words: kept.map(|&(_, words)| words).sum(),
            all_words,
        }
    }

    /// Returns the cut that is clear when unlikely blocks count nothing. The words of a thousand comments outweigh
    /// those of the article above them, although each comment is unlikely.
    fn of_likely_blocks(kind: PageKind, blocks: &[Block], probabilities: &[i32]) -> Option<BestCut> {
        let likely: Vec<i32> = probabilities
            .iter()
            .map(|&probability| if probability < MIN_LIKELY { 0 } else { probability })
            .collect();
        let best = BestCut::of(kind, blocks, &likely);
        (best.expected >= MIN_LIKELY_EXPECTED && best.words >= MIN_LIKELY_WORDS).then_some(best)
    }
}

/// What the rules chose, and the blocks of the whole page.
struct RuleChoice {
    roots: Vec<NodeId>,
    kind: PageKind,
    /// By node: whether the choice contains it.
    kept: Vec<bool>,
    weights: TextWeights,
    /// By node: whether it is in an element that is known not to be content.
    in_widget: Vec<bool>,
    blocks: Vec<Block>,
}

/// Applies the rules, which mark in `dropped` what they drop, and measures all blocks.
fn measure(dom: &Dom, url: &Url, dropped: &mut [bool]) -> RuleChoice {
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    let mut names = element_names::read(dom);
    let weights = TextWeights::of(dom, &vec![false; dom.nodes.len()]);
    let kind = kind::kind(dom, url);
    technical::correct(dom, url, kind, &weights, &mut names);
    let (roots, kind) = rules::choose(dom, kind, &names, &weights, dropped);
    let kept = kept_nodes(dom, &roots, dropped);
    let host = url.host_str().unwrap_or("");
    let blocks = features::measure(dom, host, body, kind, &names, &weights, &kept);
    RuleChoice {
        roots,
        kind,
        kept,
        in_widget: element_names::within_widgets(dom, body, &names, &weights),
        weights,
        blocks,
    }
}

/// Whether an element is next to the main content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aside {
    /// It is part of the main content, or may be.
    No,
    /// Navigation, a footer, a dialog, or a hidden element.
    Always,
    /// A consent dialog.
    Consent,
    /// Only its name says so.
    Named,
    /// A `header`: that of the page, unless it is inside an article.
    Header,
}

/// Returns whether the names of an element put it next to the main content.
pub(crate) fn aside(dom: &Dom, id: NodeId) -> Aside {
    let lists = [attr::CLASS, attr::ID].map(|name| hints::lists_of(dom.attr(id, name).unwrap_or_default()));
    match (hints::hint(dom, id, lists[0] | lists[1]), dom.tag(id)) {
        (Hint::Hidden, _) => Aside::Always,
        (Hint::Consent, _) => Aside::Consent,
        (Hint::Boilerplate, Tag::Nav | Tag::Footer | Tag::Dialog | Tag::Aside) => Aside::Always,
        (Hint::Boilerplate, _) => Aside::Named,
        (Hint::Ambiguous, Tag::Header) => Aside::Header,
        _ => Aside::No,
    }
}

/// Uses other trees than those of the project. Returns false when trees are in use already.
pub(crate) fn replace_trees(file: &[u8]) -> bool {
    classifier::replace(file)
}

/// Returns the text and the features of each block, to train the trees of the model.
pub(crate) fn samples(dom: &Dom, url: &Url) -> Vec<(String, Vec<i32>)> {
    let RuleChoice { weights, blocks, .. } = measure(dom, url, &mut vec![false; dom.nodes.len()]);
    let mut texts = vec![String::new(); dom.nodes.len()];
    let mut at = 1;
    while at < dom.len() {
        let tag = dom.tag(at);
        if skipped::is_skipped(dom, at) {
            at = dom.end(at);
            continue;
        }
        let text = if tag == Tag::Br { " " } else { dom.text(at) };
        texts[weights.block(at) as usize].push_str(text);
        at += 1;
    }
    blocks
        .into_iter()
        .map(|block| (std::mem::take(&mut texts[block.id as usize]), block.features))
        .collect()
}

/// Returns by node whether the choice of the rules contains it.
fn kept_nodes(dom: &Dom, roots: &[NodeId], dropped: &[bool]) -> Vec<bool> {
    let mut kept = vec![false; dom.nodes.len()];
    for &root in roots {
        let mut at = root;
        while at < dom.end(root) {
            if dropped[at as usize] {
                at = dom.end(at);
                continue;
            }
            kept[at as usize] = true;
            at += 1;
        }
    }
    kept
}
