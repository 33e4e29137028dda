//! Corrects the model's decisions where the structure of the page says more than one block can: keeps what
//! is surrounded by kept text, and everything if the page has no distinct main part.

use super::block::Block;
use super::decisions::Decisions;
use super::kind::PageKind;
use crate::hash::HashMap;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Expected score of the best cut, in millionths, below which the main content is unclear.
pub(super) const MIN_EXPECTED: i64 = 350_000;
/// Minimum probability of a heading that introduces kept text, in per mille.
const MIN_HEADING_PROBABILITY: i32 = 100;
/// The same for a block next to the paragraphs of a `main` or `article`.
const MIN_BESIDE_PROBABILITY: i32 = 200;
/// The same for the heading of a section if most of its words are kept.
const MIN_SECTION_PROBABILITY: i32 = 50;
/// Maximum ancestors that are searched for the list or table of a text, and then for the largest element around that
/// which has no other text.
const MAX_LEVELS: usize = 6;
/// Words that announce what follows, and bytes of their text that are read.
const MIN_ANNOUNCEMENT_WORDS: i32 = 3;
const MAX_ANNOUNCEMENT_BYTES: usize = 2000;
/// Maximum number of words of a quote. Old pages indent their whole text so.
const MAX_QUOTE_WORDS: i32 = 300;
/// Minimum number of words of the paragraphs in a part of the text, and the share of linked text in each, in percent.
const MIN_PART_WORDS: i32 = 40;
const MAX_PART_LINKS: i32 = 30;
/// Blocks of a section that are read, and words of it that must be kept.
const SECTION_BLOCKS: usize = 40;
const MIN_SECTION_WORDS: i32 = 4;

/// Keeps blocks that belong to kept content.
pub(super) fn restore(page: &mut Decisions) {
    restore_terms(page);
    restore_parts(page);
    let (dom, blocks) = (page.dom, page.blocks);
    let keep: Vec<bool> = (0..blocks.len()).map(|at| page.is_kept(at)).collect();
    let is_kept = |at: Option<usize>| at.and_then(|at| keep.get(at)).is_some_and(|&kept| kept);
    // Backwards, so that a heading can introduce one that introduces text.
    for (at, block) in blocks.iter().enumerate().rev() {
        // A heading outside the content is kept only with text that is outside too, such as a comment.
        let is_apart =
            block.is_named_beside() && blocks.get(at + 1).is_none_or(|next| !next.is_named_beside());
        if keep[at] || block.leads_away || is_apart {
            continue;
        }
        // Text is below every heading.
        let level = |at: usize| dom.tag(blocks[at].id).heading_level().map_or(7, u32::from);
        let introduces = (2..7).contains(&level(at))
            && page.probabilities[at] >= MIN_HEADING_PROBABILITY
            && at + 1 < blocks.len()
            && page.is_kept(at + 1)
            && level(at + 1) > level(at);
        let among = is_kept(at.checked_sub(1)) && is_kept(Some(at + 1));
        let beside = block.is_within_main() && page.probabilities[at] >= MIN_BESIDE_PROBABILITY;
        if introduces
            || !block.is_named_beside() && (block.in_contents || block.among_paragraphs && (among || beside))
        {
            page.keep(at);
        }
    }
    // A discussion has no sections: what is between its posts belongs to the site.
    if page.kind != PageKind::Forum {
        restore_headings(page);
    }
    restore_structures(page);
    restore_lists(page);
}

/// Keeps the paragraphs of a text that the page divides into elements of the same class, with other things between, and
/// those of a section between kept ones.
fn restore_parts(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let is_paragraph = |block: &Block| dom.tag(block.id) == Tag::P && block.linked_percent() < MAX_PART_LINKS;
    // By node: words of its paragraphs, all and those kept.
    let mut parts = vec![(0, 0); dom.nodes.len()];
    let mut all = 0;
    for (at, block) in blocks.iter().enumerate() {
        let kept = if page.is_kept(at) { block.size() } else { 0 };
        all += kept;
        if is_paragraph(block) {
            let part = &mut parts[dom.parent(block.id) as usize];
            *part = (part.0 + block.size(), part.1 + kept);
        }
    }
    let class = |id: NodeId| dom.attr(id, attr::CLASS);
    let look = |id: NodeId| Some((class(id)?, class(dom.parent(id)), dom.ancestors(id).count()));
    let sibling_look = |id: NodeId| (dom.parent(id), dom.tag(id), class(id));
    // The look of the elements with most of the kept words, by a majority vote: words of other looks cancel its words.
    let (mut text, mut lead) = (None, 0);
    // By siblings of the same class: the first and the last of which most is kept.
    let mut siblings = HashMap::default();
    let kept_parts = || (0..dom.len()).zip(&parts).filter(|(_, (_, kept))| *kept > 0);
    for (id, &(words, kept)) in kept_parts() {
        lead = match look(id) {
            look if look == text => lead + kept,
            look if kept > lead => {
                text = look;
                kept - lead
            }
            _ => lead - kept,
        };
        if kept * 2 >= words {
            siblings.entry(sibling_look(id)).or_insert((id, id)).1 = id;
        }
    }
    let of_text = kept_parts().filter(|&(id, _)| look(id) == text);
    text = text.filter(|_| of_text.map(|(_, &(_, kept))| kept).sum::<i32>() * 2 > all);
    let is_part = |id: NodeId| {
        let between = siblings
            .get(&sibling_look(id))
            .is_some_and(|&(first, last)| first < id && id < last);
        between || text.is_some() && look(id) == text
    };
    let is_lost = |id: NodeId| {
        let (words, kept) = parts[id as usize];
        kept * 2 < words && words >= MIN_PART_WORDS && is_part(id)
    };
    for (at, block) in blocks.iter().enumerate() {
        if is_paragraph(block) && is_lost(dom.parent(block.id)) {
            page.keep(at);
        }
    }
}

/// Keeps a term if most words of its definition are kept.
fn restore_terms(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let is_term = |at: usize| dom.tag(blocks[at].id) == Tag::Dt;
    for at in (0..blocks.len()).rev().filter(|&at| is_term(at)) {
        let mut around = dom.ancestors(blocks[at].id).take(MAX_LEVELS);
        let end = around
            .find(|&up| dom.tag(up) == Tag::Dl)
            .map_or(0, |list| dom.end(list));
        let definition = (at + 1..blocks.len()).take_while(|&next| blocks[next].id < end && !is_term(next));
        let (all, kept) = page.words(definition);
        if kept > 0 && kept * 2 >= all {
            page.keep(at);
        }
    }
}

/// Keeps the heading of a section or card if most of its words are kept.
fn restore_headings(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let level = |at: usize| dom.tag(blocks[at].id).heading_level().map_or(7, u32::from);
    for at in (0..blocks.len()).rev() {
        let may_introduce = (2..7).contains(&level(at))
            && (MIN_SECTION_PROBABILITY..page.cut).contains(&page.probabilities[at])
            && !blocks[at].leads_away
            && !blocks[at].is_named_beside();
        if !may_introduce {
            continue;
        }
        let section = (at + 1..blocks.len())
            .take(SECTION_BLOCKS)
            .take_while(|&next| level(next) > level(at));
        let (all, kept) = page.words(section);
        if kept >= MIN_SECTION_WORDS && kept * 2 >= all {
            page.keep(at);
        }
    }
}

/// Keeps a table that is between kept paragraphs or ends a `main` with them, and what a kept paragraph announces with a
/// colon.
fn restore_structures(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let mut at = 1;
    while at < blocks.len() {
        let (before, id) = (&blocks[at - 1], blocks[at].id);
        let is_structure =
            |&up: &NodeId| matches!(dom.tag(up), Tag::Table | Tag::Ul | Tag::Ol | Tag::Dl | Tag::Pre);
        let apart = |&up: &NodeId| up > before.id;
        let around = dom.inclusive_ancestors(id).take(MAX_LEVELS + 1);
        let Some(structure) = around.take_while(apart).filter(is_structure).last() else {
            at += 1;
            continue;
        };
        let inside = |block: &&Block| block.id < dom.end(structure);
        let end = at + blocks[at..].iter().take_while(inside).count();
        let next = blocks.get(end).map_or(dom.len(), |block| block.id);
        let alone = |&up: &NodeId| up > before.id && dom.end(up) <= next;
        let around = dom.ancestors(structure).take(MAX_LEVELS).take_while(alone);
        let whole = around.last().unwrap_or(structure);
        let is_last = || {
            let next = blocks.get(end);
            blocks[at].is_within_main() && next.is_none_or(|next| !next.is_within_main())
        };
        let belongs = dom.tag(structure) == Tag::Table
            && before.among_paragraphs
            && (end < blocks.len() && page.is_kept(end) || is_last());
        if dom.parent(before.id) == dom.parent(whole)
            && page.is_kept(at - 1)
            && (belongs || is_announcement(dom, before))
        {
            for (inside, block) in (at..end).zip(&blocks[at..]) {
                if !block.leads_away && !block.is_named_beside() {
                    page.keep(inside);
                }
            }
        }
        at = end;
    }
}

/// Returns true for a text that ends with a colon.
fn is_announcement(dom: &Dom, block: &Block) -> bool {
    block.size() >= MIN_ANNOUNCEMENT_WORDS
        && !block.leads_away
        && dom
            .text_of(block.id, MAX_ANNOUNCEMENT_BYTES)
            .trim_end()
            .ends_with([':', '：'])
}

/// Keeps the items of a list and of those inside it, and the texts of a quote, together when half of their words are kept.
fn restore_lists(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let list_of = |id: NodeId| match dom.tag(id) {
        Tag::Li | Tag::Dt | Tag::Dd => {
            let mut list = dom.parent(id);
            while dom.tag(dom.parent(list)) == Tag::Li {
                list = dom.parent(dom.parent(list));
            }
            Some(list)
        }
        _ => {
            let mut around = dom.inclusive_ancestors(id).take(MAX_LEVELS + 1);
            around.find(|&up| dom.tag(up) == Tag::Blockquote)
        }
    };
    let mut by_list: Vec<(u32, usize)> = (0..blocks.len())
        .filter_map(|at| Some((list_of(blocks[at].id)?, at)))
        .collect();
    by_list.sort_unstable();
    for items in by_list.chunk_by(|a, b| a.0 == b.0) {
        let (all, kept) = page.words(items.iter().map(|&(_, at)| at));
        if dom.tag(items[0].0) == Tag::Blockquote && all > MAX_QUOTE_WORDS {
            continue;
        }
        if kept * 2 >= all {
            for &(_, at) in items {
                if !blocks[at].is_named_beside() {
                    page.keep(at);
                }
            }
        }
    }
}

/// Keeps all text except navigation, headers and footers when the best cut is not expected to be right.
/// Returns whether it did.
pub(super) fn keep_all_if_unclear(page: &mut Decisions, expected: i64) -> bool {
    if expected >= MIN_EXPECTED || page.blocks.iter().all(Block::is_of_site) {
        return false;
    }
    page.cut = 1000;
    let probability = |block: &Block| if block.is_of_site() { 0 } else { 1000 };
    page.probabilities = page.blocks.iter().map(probability).collect();
    true
}

#[cfg(test)]
mod tests {
    use super::super::test_page::TestPage;
    use super::*;

    const TEXT: &str =
        "<p>The harbour was closed for three days after the storm, and the ferries stayed at the quay.";

    /// Returns which of `words` are kept in a page whose blocks with one of them are below the cut.
    fn kept_words<'a>(kind: PageKind, html: &str, words: &[&'a str]) -> Vec<&'a str> {
        let page = TestPage::of(kind, &html.replace("TEXT", TEXT));
        let has = |block: &Block, word: &str| page.dom.text_of(block.id, 200).contains(word);
        let is_low = |block: &Block| words.iter().any(|word| has(block, word));
        let mut decisions = page.decisions(|block| if is_low(block) { 150 } else { 600 });
        restore(&mut decisions);
        let kept: Vec<&Block> = decisions.kept().collect();
        let is_kept = |word: &&&str| kept.iter().any(|block| has(block, word));
        words.iter().filter(is_kept).copied().collect()
    }

    #[test]
    fn a_term_stays_with_its_definition() {
        let page = "TEXT<dl><div><dt>One<dd><p>The first of them</div><div><dt>Two<dd>No</div></dl>";
        assert_eq!(kept_words(PageKind::Other, page, &["One", "Two", "No"]), ["One"]);
    }

    #[test]
    fn what_a_paragraph_announces_stays() {
        for (structure, is_kept) in [
            ("<p>You need two parts:<ul><li>Alpha<li>Beta</ul>", true),
            (
                "<p>You need two parts:<div class=ad><table><tr><td>Alpha<td>Beta</table></div>",
                false,
            ),
            (
                "<p>You need two parts:<div><div><table><tr><td>Alpha<td>Beta</table></div></div>",
                true,
            ),
            ("<p>You need two parts.<ul><li>Alpha<li>Beta</ul>", false),
            ("<p>Parts:<ul><li>Alpha<li>Beta</ul>", false),
        ] {
            let words = ["Alpha", "Beta"];
            let expected = if is_kept { &words[..] } else { &[] };
            assert_eq!(
                kept_words(PageKind::Other, &format!("TEXT{structure}"), &words),
                expected,
                "{structure}"
            );
        }
    }

    #[test]
    fn a_table_in_a_frame_stays_between_paragraphs() {
        let page = "TEXT<div><div><table><tr><td>Alpha<td>Beta</table></div></div>TEXT";
        assert_eq!(
            kept_words(PageKind::Other, page, &["Alpha", "Beta"]),
            ["Alpha", "Beta"]
        );
    }

    #[test]
    fn a_lost_part_of_many_equal_ones_stays() {
        let part = |class: &str, text: &str| format!("<div class=row><div class={class}>{text}</div></div>");
        let long = |word: &str| format!("<p>{}</p>", format!("{word} berth ").repeat(20));
        let page = [
            part("body", "TEXT").repeat(4),
            part("body", &format!("{}{}TEXT", long("Alpha"), long("Beta"))),
            part("body", &format!("<p>Gamma</p>{}TEXT", "TEXT".repeat(4))),
            part("promo", &long("Delta")),
        ];
        assert_eq!(
            kept_words(
                PageKind::Article,
                &page.concat(),
                &["Alpha", "Beta", "Gamma", "Delta"]
            ),
            ["Alpha", "Beta"]
        );
    }

    #[test]
    fn a_lost_section_between_kept_ones_stays() {
        let section = |text: &str| {
            format!(
                "<section><h3>{text}</h3><p>{}</p></section>",
                format!("{text} berth ").repeat(20)
            )
        };
        let page = ["Kept", "Alpha", "Kept", "Beta"].map(section).concat();
        let words = ["Alpha", "Beta"];
        assert_eq!(
            kept_words(PageKind::Other, &format!("<div>{page}</div>"), &words),
            ["Alpha"]
        );
    }

    #[test]
    fn a_heading_stays_where_everything_is_named_secondary() {
        let page = "<div class=sidebar><h2>Alpha</h2>TEXT</div>";
        assert_eq!(kept_words(PageKind::Other, page, &["Alpha"]), ["Alpha"]);
        let beside = "TEXT TEXT<div class=sidebar><h2>Alpha</h2></div>TEXT";
        assert!(kept_words(PageKind::Other, beside, &["Alpha"]).is_empty());
    }
}
