//! Keeps the names and prices of the products that a page lists.

use super::block::Block;
use super::decisions::Decisions;
use super::hints;
use super::kind::PageKind;
use super::offer::{self, MAX_CARD_BYTES, MIN_LINKED};
use super::weights::TextWeights;
use crate::hash::HashMap;
use crate::html::dom::{Dom, NodeId, attr};

/// Minimum cards of a list of products, and of cards that are named products.
const MIN_GOODS: usize = 6;
const MIN_NAMED: usize = 3;
/// Words that follow or precede `product` in the name of a card.
const CARD_NAMES: [&str; 12] = [
    "box", "card", "inner", "item", "layout", "miniature", "small", "thumb", "tile", "type", "wrap",
    "wrapper",
];

/// Keeps names and prices in the cards of a page that lists products: most of its prices are in cards with a link, or the
/// cards are named products and no price is before them. An article beside which products stand lists none. On other
/// pages, prices stay with kept names.
pub(super) fn restore(page: &mut Decisions) {
    let (dom, weights, blocks) = (page.dom, page.weights, page.blocks);
    let prices: Vec<Option<String>> = blocks
        .iter()
        .map(|block| offer::price_of(dom, weights, block))
        .collect();
    let products = named_products(dom, weights);
    let card_of = |block: &Block| {
        let next = products.partition_point(|&id| id <= block.id);
        let named = next.checked_sub(1).map(|at| products[at]);
        match named.filter(|&id| block.id < dom.end(id)) {
            Some(product) => (product, true),
            None => (block.repeated(), false),
        }
    };
    let mut goods: Vec<usize> = Vec::new();
    let (mut found, mut named, mut priced, mut end) = (0, 0, 0, 0);
    let mut is_offer = false;
    for card in blocks.chunk_by(|a, b| card_of(a) == card_of(b)) {
        let start = end;
        end += card.len();
        let (id, is_named) = card_of(&card[0]);
        let in_card = || start..start + card.len();
        let is_heading = |at: usize| dom.tag(blocks[at].id).heading_level().is_some();
        let name = in_card()
            .filter(|&at| id > 0 && blocks[at].linked_percent() >= MIN_LINKED && !blocks[at].leads_away)
            .max_by_key(|&at| (is_heading(at), blocks[at].size()));
        let Some(name) = name else {
            let is_amount = |at: usize| prices[at].as_deref().is_some_and(offer::starts_with_amount);
            is_offer |= named == 0 && in_card().any(|at| is_amount(at) && !blocks[at].is_of_site());
            continue;
        };
        let prices: Vec<usize> = in_card().filter(|&at| prices[at].is_some()).collect();
        if page.is_kept(name) && page.kind != PageKind::Article {
            prices.iter().for_each(|&at| page.keep(at));
        }
        let is_small = weights.text[id as usize] <= MAX_CARD_BYTES as u32;
        if is_named || is_small && !prices.is_empty() {
            found += 1;
            named += usize::from(is_named);
            priced += prices.len();
            goods.push(name);
            goods.extend(prices);
        }
    }
    let (listed, _) = page.words(goods.iter().copied());
    let (_, kept) = page.words(0..blocks.len());
    let all_prices = prices.iter().flatten().count();
    let is_list = named >= MIN_NAMED && !is_offer || found >= MIN_GOODS && priced * 2 > all_prices;
    if is_list && (page.kind != PageKind::Article || listed * 2 > kept) {
        goods.into_iter().for_each(|at| page.keep(at));
    }
}

/// Returns the outermost of the elements that are named products, like others at the same depth, in document order. A page
/// with a larger element of such a name before them is about one product.
fn named_products(dom: &Dom, weights: &TextWeights) -> Vec<NodeId> {
    let classed = dom.with_attribute(|a| a.name == attr::CLASS && dom.value(a).contains("product"));
    let mut alike: HashMap<(usize, &str), Vec<NodeId>> = HashMap::default();
    for id in classed.filter(|&id| weights.text[id as usize] > 0) {
        if let Some(name) = dom.classes(id).find(|class| names_product(class)) {
            let depth = dom.ancestors(id).count();
            alike.entry((depth, name)).or_default().push(id);
        }
    }
    let (many, few): (Vec<_>, Vec<_>) = alike.into_values().partition(|ids| ids.len() >= MIN_NAMED);
    let mut cards = many.concat();
    cards.sort_unstable();
    let mut end = 0;
    cards.retain(|&id| {
        let is_outer = id >= end;
        end = end.max(dom.end(id));
        is_outer
    });
    let first = cards.first().copied().unwrap_or(0);
    let is_large = |id: NodeId| weights.text[id as usize] > MAX_CARD_BYTES as u32;
    let is_own = |id: NodeId| dom.end(id) <= first && is_large(id);
    if few.into_iter().flatten().any(is_own) {
        return Vec::new();
    }
    cards
}

/// Returns true for classes such as `product`, `product-card` and `type-product`.
fn names_product(class: &str) -> bool {
    let (mut is_product, mut others) = (false, 0);
    hints::each_word(class, &mut |word| match word {
        "product" => is_product = true,
        word if CARD_NAMES.contains(&word) => {}
        _ => others += 1,
    });
    is_product && others == 0
}

#[cfg(test)]
mod tests {
    use super::super::test_page::TestPage;
    use super::*;
    use crate::html::tag::Tag;

    const TEXT: &str =
        "<p>The harbour was closed for three days after the storm, and the ferries stayed at the quay.</p>";

    /// Returns how many blocks are kept of a page whose list has the probability 100.
    fn kept(kind: PageKind, html: &str) -> usize {
        let page = TestPage::of(kind, html);
        let dom = &page.dom;
        let in_list = |block: &Block| dom.ancestors(block.id).any(|up| dom.tag(up) == Tag::Ul);
        let is_strong = |block: &Block| dom.below(block.id).any(|id| dom.tag(id) == Tag::Strong);
        let probability = |block: &Block| {
            if in_list(block) && !is_strong(block) {
                100
            } else {
                600
            }
        };
        let mut decisions = page.decisions(probability);
        restore(&mut decisions);
        decisions.kept().count()
    }

    #[test]
    fn names_and_prices_of_listed_products_are_kept() {
        let card = "<li><a href=/a><img src=a></a><h3><a href=/a>Lamp</a></h3><p>£20</p><p><a href=/b>Compare</a></p></li>";
        for (kind, cards, texts, is_kept) in [
            (PageKind::Other, 6, 1, true),
            (PageKind::Other, 5, 1, false),
            (PageKind::Article, 12, 1, true),
            (PageKind::Article, 6, 9, false),
        ] {
            let html = format!("{}<ul>{}</ul>", TEXT.repeat(texts), card.repeat(cards));
            let of_cards = if is_kept { 2 * cards } else { 0 };
            assert_eq!(kept(kind, &html), texts + of_cards, "{kind:?} {cards} {texts}");
        }
    }

    #[test]
    fn cards_named_products_are_kept_without_prices() {
        let card = "<li class='item product-card'><h3><a href=/a>Lamp</a></h3><ul><li>In stock</ul></li>";
        let list = |cards| format!("<ul>{}</ul>", card.repeat(cards));
        let own = format!("<div class=product>{}</div>", TEXT.repeat(6));
        assert_eq!(kept(PageKind::Other, &list(3)), 3);
        assert_eq!(kept(PageKind::Other, &list(2)), 0);
        assert_eq!(kept(PageKind::Other, &(own + &list(3))), 6);
        assert_eq!(kept(PageKind::Other, &format!("<p>£30</p>{}", list(3))), 1);
    }

    #[test]
    fn a_price_stays_with_a_kept_name() {
        let card = |name: &str| format!("<li><h3><a href=/a>{name}</a></h3><p>£20</p></li>");
        let cards = card("<strong>Lamp</strong>") + &card("Chair").repeat(3);
        assert_eq!(kept(PageKind::Other, &format!("<ul>{cards}</ul>")), 2);
    }
}
