//! Keeps the name and the price of the product that a page offers, and of the products that it lists; leaves out the cards
//! of other products. Name and price stand among pictures and buttons, so the model takes them for a part of the site.

use memchr::memmem;

use super::block::Block;
use super::decisions::Decisions;
use super::hints;
use super::kind::PageKind;
use super::stated;
use super::title;
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::json_ld;
use crate::html::tag::Tag;

/// Words and share of linked text, in percent, from which on a text may be the name of another product, and maximum size
/// of its card.
const MIN_NAME_WORDS: i32 = 3;
pub(super) const MIN_LINKED: i32 = 90;
pub(super) const MAX_CARD_BYTES: i32 = 400;
/// Blocks after the name, and before it, of which one may be the price.
const MAX_AFTER: usize = 40;
const MAX_BEFORE: usize = 8;
/// Prices that stand together: before and after a discount.
const MAX_PRICES: usize = 3;
/// Maximum size of a price with what belongs to it, such as the tax.
const MAX_WORDS: i32 = 12;
const MAX_BYTES: usize = 120;
/// Maximum number of stretches of text in a price: its parts are often marked up.
const MAX_TEXTS: usize = 20;
/// Elements around a price, itself included, of which one may have a name that says so.
const NAMED: usize = 3;
/// Maximum number of headings that may be the name.
const MAX_HEADINGS: usize = 50;
/// Maximum number of prices that are read from a block of JSON-LD, and from microdata, and bytes of each.
const MAX_STATED: usize = 100;
const MAX_STATED_BYTES: usize = 40;

/// Words in names of elements that hold a price.
const PRICE_NAMES: [&str; 12] = [
    "cena", "hinta", "preco", "precio", "preis", "prezzo", "price", "prices", "pricing", "prijs", "pris",
    "prix",
];
/// What stands next to the number in a price, in lower case.
const SIGNS: [char; 18] = [
    '$', '£', '¥', '฿', '₦', '₩', '₪', '₫', '€', '₱', '₴', '₵', '₸', '₹', '₺', '₼', '₽', '₾',
];
const CURRENCIES: [&str; 65] = [
    "aed", "ars", "aud", "bgn", "brl", "byn", "cad", "chf", "clp", "cny", "czk", "din", "dkk", "egp", "eur",
    "ft", "gbp", "hkd", "huf", "idr", "ils", "inr", "jpy", "kes", "kn", "kr", "krw", "kzt", "kč", "lei",
    "lkr", "mxn", "myr", "ngn", "nok", "nzd", "pkr", "pln", "r$", "rm", "ron", "rp", "rs.", "rs", "s/",
    "sar", "sek", "sgd", "thb", "tl", "twd", "uah", "us$", "usd", "vnd", "zar", "zł", "грн", "лв", "р.",
    "руб", "тг", "元", "円", "원",
];
/// Properties of `meta` that state what the page is about, and its price.
const TYPE: [&str; 1] = ["og:type"];
const PRICE: [&str; 4] = [
    "og:price", "og:price:amount", "product:price", "product:price:amount",
];

/// Returns the probabilities with those of the cards of other products set to 0. A card is one of several like elements
/// with little text, among it a link: the name of the product.
pub(super) fn without_cards(blocks: &[Block], probabilities: &[i32]) -> Vec<i32> {
    let is_name = |block: &Block| block.linked_percent() >= MIN_LINKED && block.size() >= MIN_NAME_WORDS;
    let mut own = probabilities.to_vec();
    let mut at = 0;
    for card in cards(blocks) {
        if is_card(card) && card.iter().any(is_name) {
            own[at..at + card.len()].fill(0);
        }
        at += card.len();
    }
    own
}

/// Keeps the name, the price and the attributes of the product that a page is about.
pub(super) fn restore(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    if page.kind != PageKind::Product && !meta(dom, &TYPE).any(|stated| stated.ends_with("product")) {
        return;
    }
    restore_attributes(page);
    let Some(name) = name(dom) else {
        return;
    };
    // Blocks stand where their first text is, so not all are in the order of their elements.
    let is_name = |block: &Block| (name..dom.end(name)).contains(&block.id);
    let from = blocks.iter().position(is_name).unwrap_or(blocks.len());
    // What is inside a heading with text of its own is a button.
    let to = match blocks.get(from) {
        Some(block) if block.id == name => from + 1,
        _ => from + blocks[from..].iter().take_while(|block| is_name(block)).count(),
    };
    let stated = stated_prices(dom);
    // Cards of other products have the probability 0.
    let price_at =
        |at: usize| price_of(dom, page.weights, &blocks[at]).filter(|_| page.probabilities[at] > 0);
    let is_price = |&at: &usize| price_at(at).is_some();
    let is_stated = |&at: &usize| price_at(at).is_some_and(|text| shows_one(&text, &stated));
    let near = || {
        (to..blocks.len())
            .take(MAX_AFTER)
            .chain((0..from).rev().take(MAX_BEFORE))
    };
    let first = near().find(is_stated).or_else(|| near().find(is_price));
    let prices: Vec<usize> = first
        .into_iter()
        .flat_map(|first| (first..blocks.len()).take(MAX_PRICES).take_while(is_price))
        .collect();
    (from..to).chain(prices).for_each(|at| page.keep(at));
}

/// Keeps tables of attributes, which have two cells in each row and no links to other pages, with the heading before.
fn restore_attributes(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let is_cell = |&id: &NodeId| matches!(dom.tag(id), Tag::Td | Tag::Th);
    let is_pair = |row: NodeId| dom.children(row).filter(is_cell).count() == 2;
    let is_beside =
        |block: &Block| block.leads_away || block.is_named_beside() || block.linked_percent() > 50;
    let is_heading = |&at: &usize| {
        dom.tag(blocks[at].id)
            .heading_level()
            .is_some_and(|level| level > 1)
    };
    let mut end = 0;
    for table in (0..dom.len()).filter(|&id| dom.tag(id) == Tag::Table) {
        if table < end {
            continue;
        }
        end = dom.end(table);
        let from = blocks.partition_point(|block| block.id < table);
        let to = blocks.partition_point(|block| block.id < end);
        let mut rows = dom.below(table).filter(|&id| dom.tag(id) == Tag::Tr);
        if from < to && rows.all(is_pair) && !blocks[from..to].iter().any(is_beside) {
            let heading = from.checked_sub(1).filter(is_heading);
            heading.into_iter().chain(from..to).for_each(|at| page.keep(at));
        }
    }
}

/// Returns the blocks of each repeated element, and those between.
fn cards(blocks: &[Block]) -> impl Iterator<Item = &[Block]> {
    blocks.chunk_by(|a, b| a.repeated() == b.repeated())
}

fn is_card(blocks: &[Block]) -> bool {
    blocks[0].repeated() > 0 && blocks[0].around.repeated_text <= MAX_CARD_BYTES
}

/// Returns the heading that names the product: the only `h1`, or the first with most of its words in the page's title.
fn name(dom: &Dom) -> Option<NodeId> {
    let title = title::of_page(dom);
    let in_title = |&id: &NodeId| {
        let text = title::of_heading(dom, id);
        let words = || {
            text.split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
        };
        words().filter(|word| title.contains(word)).count() * 2 > words().count()
    };
    let headings: Vec<NodeId> = dom.all(Tag::H1).take(MAX_HEADINGS).collect();
    match headings[..] {
        [name] => Some(name),
        [] => (0..dom.len())
            .filter(|&id| dom.tag(id).heading_level().is_some())
            .take(MAX_HEADINGS)
            .find(in_title),
        _ => headings.into_iter().find(in_title),
    }
}

/// Returns the text of a block that is a price, by its currency or its name.
pub(super) fn price_of(dom: &Dom, weights: &TextWeights, block: &Block) -> Option<String> {
    if block.size() > MAX_WORDS || block.linked_percent() >= 50 || block.leads_away {
        return None;
    }
    let own = dom
        .below(block.id)
        .filter(|&id| dom.tag(id) == Tag::Text && weights.block(id) == block.id);
    let texts: Vec<&str> = own.map(|id| dom.text(id)).take(MAX_TEXTS).collect();
    if !texts.iter().any(|text| text.bytes().any(|b| b.is_ascii_digit())) {
        return None;
    }
    let text = collapse(&texts.concat()).to_lowercase();
    let is_price = text.len() <= MAX_BYTES && (starts_with_amount(&text) || is_named_price(dom, block.id));
    is_price.then_some(text)
}

/// Returns true for a text that starts with a number and its currency, in either order, after one word at most.
pub(super) fn starts_with_amount(text: &str) -> bool {
    let is_amount = |text: &str| match without_currency(text) {
        Some(rest) => rest.trim_start().starts_with(|c: char| c.is_ascii_digit()),
        None => {
            let rest = text.trim_start_matches(is_in_number);
            rest.len() < text.len() && without_currency(rest).is_some()
        }
    };
    is_amount(text) || text.split_once(' ').is_some_and(|(_, rest)| is_amount(rest))
}

/// Returns true for digits and what divides them.
fn is_in_number(c: char) -> bool {
    c.is_ascii_digit() || " .,'\u{a0}\u{202f}".contains(c)
}

/// Returns what follows the currency at the start of a text.
fn without_currency(text: &str) -> Option<&str> {
    let name = || CURRENCIES.iter().find_map(|name| text.strip_prefix(name));
    text.strip_prefix(SIGNS).or_else(name)
}

/// Returns true if an element near the text is called a price.
fn is_named_price(dom: &Dom, id: NodeId) -> bool {
    let mut is_price = false;
    for id in dom.inclusive_ancestors(id).take(NAMED) {
        for name in [attr::CLASS, attr::ID, attr::ITEMPROP] {
            hints::each_word(dom.attr(id, name).unwrap_or_default(), &mut |word| {
                is_price |= PRICE_NAMES.contains(&word);
            });
        }
    }
    is_price
}

/// Returns the prices that a page states in JSON-LD, `meta` and microdata, in hundredths.
fn stated_prices(dom: &Dom) -> Vec<String> {
    let mut prices = Vec::new();
    for block in json_ld::blocks(dom) {
        for key in ["\"price\"", "\"lowPrice\""] {
            for at in memmem::find_iter(block.as_bytes(), key).take(MAX_STATED) {
                let rest = &block[at + key.len()..];
                let number = || rest.trim_start_matches([' ', ':']).split([',', '}']).next();
                prices.extend(stated::string_after(rest).or_else(number).map(hundredths));
            }
        }
    }
    let properties =
        dom.with_attribute(|a| a.name == attr::ITEMPROP && ["price", "lowPrice"].contains(&dom.value(a)));
    let properties = properties.filter_map(|id| dom.attr(id, attr::CONTENT));
    let contents = meta(dom, &PRICE).chain(properties).take(MAX_STATED);
    prices.extend(contents.map(hundredths));
    prices.retain(|price| price.len() <= MAX_STATED_BYTES);
    prices
}

/// Returns the contents of the `meta` elements with one of these properties.
fn meta<'d>(dom: &'d Dom, properties: &'static [&str]) -> impl Iterator<Item = &'d str> {
    let names = |id| [attr::PROPERTY, attr::NAME].map(|name| dom.attr(id, name));
    let has_property = move |&id: &NodeId| names(id).iter().flatten().any(|name| properties.contains(name));
    dom.all(Tag::Meta)
        .filter(has_property)
        .filter_map(|id| dom.attr(id, attr::CONTENT))
}

/// Returns the digits of a number with two digits after its point.
fn hundredths(number: &str) -> String {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let number = number.trim();
    match number.rfind(['.', ',']).filter(|at| number.len() - at <= 3) {
        Some(at) => digits(&number[..at]) + &format!("{:0<2}", digits(&number[at..])),
        None => digits(number) + "00",
    }
}

/// Returns true for a text that shows one of some prices in hundredths, with or without those.
fn shows_one(text: &str, prices: &[String]) -> bool {
    text.split(|c| !is_in_number(c)).any(|number| {
        let digits: String = number.chars().filter(char::is_ascii_digit).collect();
        !digits.is_empty()
            && prices
                .iter()
                .any(|price| *price == digits || price.strip_suffix("00") == Some(&digits))
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_page::TestPage;
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn a_price_starts_with_an_amount() {
        for text in [
            "£450", "€ 119,01 inkl. mwst.", "eur15.99", "49 890 тг.", "30,000원~", "alkaen 74,95 €",
            "3.36 byn /шт.", "r$ 10",
        ] {
            assert!(starts_with_amount(text), "{text}");
        }
        for text in [
            "free delivery over £50", "4.5 stars", "5% off", "price on request", "€",
        ] {
            assert!(!starts_with_amount(text), "{text}");
        }
    }

    #[test]
    fn a_link_after_a_paragraph_is_not_part_of_it() {
        let paragraphs = "<p>The harbour was closed for three days after the storm.</p>".repeat(3);
        let page = TestPage::of(
            PageKind::Product,
            &format!("<section>{paragraphs}<a href=/a>Lamp of 1960</a></section>"),
        );
        let probabilities = page.decisions(|_| 600).probabilities;
        assert_eq!(without_cards(&page.blocks, &probabilities), probabilities);
    }

    #[test]
    fn tables_of_attributes_are_kept() {
        for (table, kept) in [
            (
                "<h2>Details</h2><table><tr><th>Size<td>L, M<tr><th>Color<td>Red</table>",
                5,
            ),
            (
                "<h2>Sizes</h2><table><tr><th>S<td>1<td>2<tr><th>M<td>3<td>4</table>",
                0,
            ),
            (
                "<h2>More</h2><table><tr><td>Lamp<td><a href=/a>Lamp of 1960</a></table>",
                0,
            ),
        ] {
            let page = TestPage::of(PageKind::Product, table);
            let mut decisions = page.decisions(|_| 100);
            restore_attributes(&mut decisions);
            assert_eq!(decisions.kept().count(), kept, "{table}");
        }
    }

    #[test]
    fn stated_prices_are_read_wherever_they_stand() {
        let dom = parse(
            "<meta property=product:price:amount content=1.299,5><meta name=og:price content='30,000원~'>\
             <i itemprop=price content=12.5></i><script type=application/ld+json>{\"price\": \"71.91\", \"offers\": \
             {\"lowPrice\":450}, \"price\": null}</script>",
        );
        let prices = stated_prices(&dom);
        for (text, is_shown) in [
            ("£450", true),
            ("71,91 € 79,90 €", true),
            ("1.299,50 €", true),
            ("17334 lei", false),
            ("30,000원~", true),
            ("12", false),
            ("null", false),
        ] {
            assert_eq!(shows_one(text, &prices), is_shown, "{text} {prices:?}");
        }
    }
}
