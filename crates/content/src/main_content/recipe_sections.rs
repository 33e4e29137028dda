//! Keeps the ingredients and the steps of a recipe below their headings. Where the page does not state its recipe, the
//! model takes such short lines for a part of the site, above all next to the text.

use std::sync::LazyLock;

use super::block::{Block, tag_code};
use super::decisions::Decisions;
use super::stated;
use crate::hash::HashMap;
use crate::html::dom::Dom;
use crate::html::tag::Tag;

/// What headings of ingredients begin with: letters and digits alone, in lower case.
const INGREDIENTS: &str = "ingredien ingrédien ingrediën benodigdheden zutaten hozzávalók υλικά συστατικά składniki \
    suroviny přísady ainekset ainesosat ингредиент інгредієнт съставки sastojci sestavine malzemeler nguyênliệu \
    bahanbahan المكونات المقادير מצרכים רכיבים ส่วนผสม";
/// Whole headings of ingredients and of steps, written in the same way.
const WHOLE_INGREDIENTS: &str = "材料 食材 用料 재료";
const STEPS: &str = "instructions directions method preparation bereiding bereidingswijze zubereitung préparation \
    preparación elaboración preparo mododepreparo preparação preparazione procedimento elkészítés elkészítése εκτέλεση \
    przygotowanie sposóbprzygotowania wykonanie postup fremgangsmåde fremgangsmåte görsåhär tillagning valmistus \
    приготовление приготування начиннаприготвяне priprema priprava moddepreparare hazırlanışı yapılışı 作り方 做法 步骤 \
    만드는법 cáchlàm caramembuat طريقةالتحضير אופןההכנה วิธีทำ";
/// Maximum number of words and bytes of such a heading.
const MAX_HEADING_WORDS: i32 = 5;
const MAX_HEADING_BYTES: i32 = 60;
/// Maximum number of such headings that are read of a page.
const MAX_HEADINGS: usize = 100;
/// Level of a heading that is not marked as one.
const UNMARKED_LEVEL: u8 = 4;
/// Maximum number of blocks below a heading, and of elements around it that are searched for them.
const MAX_BLOCKS: usize = 80;
const MAX_LEVELS: usize = 6;
/// Minimum number of blocks and words of ingredients and of steps, and maximum number of words of a block.
const INGREDIENT_SIZES: (usize, i32, i32) = (3, 6, 40);
const STEP_SIZES: (usize, i32, i32) = (1, 12, 200);
/// Maximum share of linked text of a block, in percent.
const MAX_LINKED: i32 = 70;
/// Minimum share of ingredients with a digit, in percent, where they are no list.
const MIN_AMOUNTS: usize = 30;
const MAX_AMOUNT_BYTES: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Ingredients,
    Steps,
}

struct Heading {
    text: &'static str,
    /// Whether a heading only begins with the text.
    is_start: bool,
    part: Part,
}

/// The headings by their first two letters.
static HEADINGS: LazyLock<HashMap<&str, Vec<Heading>>> = LazyLock::new(|| {
    let mut by_start: HashMap<&str, Vec<Heading>> = HashMap::default();
    for (texts, is_start, part) in [
        (INGREDIENTS, true, Part::Ingredients),
        (WHOLE_INGREDIENTS, false, Part::Ingredients),
        (STEPS, false, Part::Steps),
    ] {
        for text in texts.split(' ') {
            let heading = Heading { text, is_start, part };
            by_start
                .entry(start(text).unwrap_or_default())
                .or_default()
                .push(heading);
        }
    }
    by_start
});

/// Returns the first two letters of a text.
fn start(text: &str) -> Option<&str> {
    let (second, letter) = text.char_indices().nth(1)?;
    text.get(..second + letter.len_utf8())
}

/// Keeps lists that are mostly lost, and their headings.
pub(super) fn restore(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    let headings: Vec<(usize, Part)> = (0..blocks.len())
        .filter_map(|at| Some((at, part_of(dom, &blocks[at])?)))
        .take(MAX_HEADINGS)
        .collect();
    if headings.iter().all(|&(_, part)| part == Part::Steps) {
        return;
    }
    for (number, &(heading, part)) in headings.iter().enumerate() {
        let next = headings.get(number + 1).map_or(blocks.len(), |&(at, _)| at);
        let list = list(dom, &blocks[..next], heading, part);
        let (all, kept) = page.words(list.iter().copied());
        if kept * 2 > all || list.is_empty() || page.is_copy(&list, |at| Some(blocks[at].hash)) {
            continue;
        }
        for at in list.into_iter().chain([heading]) {
            page.keep(at);
        }
    }
}

/// Returns the part of a recipe that a block is the heading of.
fn part_of(dom: &Dom, block: &Block) -> Option<Part> {
    // An item of a list leads to the part below.
    let is_item = block.look.tag == tag_code(Tag::Li);
    if is_item
        || block.size() > MAX_HEADING_WORDS
        || block.bytes() > MAX_HEADING_BYTES
        || block.linked_percent() > 0
    {
        return None;
    }
    let text = dom.text_of(block.id, MAX_HEADING_BYTES as usize * 2);
    let text = stated::letters(&text, MAX_HEADING_BYTES as usize);
    HEADINGS.get(start(&text)?)?.iter().find_map(|heading| {
        let is_heading = match heading.is_start {
            true => text.starts_with(heading.text),
            false => text == heading.text,
        };
        is_heading.then_some(heading.part)
    })
}

/// Returns the blocks of the list below a heading: up to the next heading of its level, in the smallest element around
/// with enough of them. None if they do not look like ingredients or steps.
fn list(dom: &Dom, blocks: &[Block], heading: usize, part: Part) -> Vec<usize> {
    let level = |at: usize| dom.tag(blocks[at].id).heading_level();
    let own_level = level(heading).unwrap_or(UNMARKED_LEVEL);
    let (least, least_words, most_words) = match part {
        Part::Ingredients => INGREDIENT_SIZES,
        Part::Steps => STEP_SIZES,
    };
    let items: Vec<usize> = (heading + 1..blocks.len())
        .take(MAX_BLOCKS)
        .take_while(|&at| level(at).is_none_or(|level| level > own_level))
        .filter(|&at| blocks[at].size() <= most_words && blocks[at].linked_percent() <= MAX_LINKED)
        .filter(|&at| !blocks[at].is_of_site())
        .collect();
    let words = |items: &[usize]| items.iter().map(|&at| blocks[at].size()).sum::<i32>();
    let mut around = blocks[heading].id;
    for _ in 0..MAX_LEVELS {
        around = dom.parent(around);
        let inside = items.partition_point(|&at| blocks[at].id < dom.end(around));
        let mut items = items[..inside].to_vec();
        if part == Part::Steps
            && let Some(&first) = items.first()
        {
            let look = |at: usize| (blocks[at].look.tag, blocks[at].look.depth);
            items.retain(|&at| look(at) == look(first));
        }
        if items.len() >= least && words(&items) >= least_words {
            let is_list = part == Part::Steps || has_amounts(dom, blocks, &items);
            return if is_list { items } else { Vec::new() };
        }
    }
    Vec::new()
}

/// Returns true for the items of a list, and for texts of which many have a digit.
fn has_amounts(dom: &Dom, blocks: &[Block], items: &[usize]) -> bool {
    let is_item = |at: usize| blocks[at].look.tag == tag_code(Tag::Li);
    let has_digit = |text: String| text.contains(char::is_numeric);
    let amounts = items
        .iter()
        .filter(|&&at| is_item(at) || has_digit(dom.text_of(blocks[at].id, MAX_AMOUNT_BYTES)));
    amounts.count() * 100 >= items.len() * MIN_AMOUNTS
}
