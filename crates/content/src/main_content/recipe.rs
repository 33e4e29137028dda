//! Keeps the ingredients and the steps of the recipe that a page states in JSON-LD or microdata. The model often takes
//! the short lines of such lists for a part of the site.

use std::ops::Range;

use memchr::memmem;
use serde_json::Value;

use super::block::Block;
use super::decisions::Decisions;
use super::stated;
use super::title;
use crate::html::dom::{Dom, attr};
use crate::html::json_ld;

/// Properties of schema.org that hold ingredients and steps; `ingredients` is an old name.
const PROPERTIES: [&str; 3] = ["recipeIngredient", "ingredients", "recipeInstructions"];
/// Properties of a step or section that hold its text or its steps.
const PARTS: [&str; 2] = ["text", "itemListElement"];
/// Maximum number of ingredients and steps that are read, bytes of each, and blocks that are compared with them.
const MAX_ITEMS: usize = 120;
const MAX_BYTES: usize = 1000;
const MAX_BLOCKS: usize = 3000;
/// Maximum depth of sections.
const MAX_DEPTH: usize = 4;
/// Maximum number of other blocks between two of a list: amounts, names of parts.
const MAX_BETWEEN: usize = 3;
/// Words and share of linked text, in percent, above which such a block is not part of the list.
const MAX_WORDS: i32 = 3;
const MAX_LINKED: i32 = 50;
/// Minimum number of letters and digits of a text that is searched for.
const MIN_LETTERS: usize = 3;
/// Letters and digits from which on a part of an item is recognized, whatever the length of that.
const SURE_LETTERS: usize = 24;

/// Keeps the blocks of a stated recipe, and the headings directly before.
pub(super) fn restore(page: &mut Decisions) {
    let dom = page.dom;
    let items = items(dom);
    if items.is_empty() {
        return;
    }
    let blocks = &page.blocks[..page.blocks.len().min(MAX_BLOCKS)];
    let shown: Vec<Option<usize>> = blocks.iter().map(|block| item_of(dom, block, &items)).collect();
    for list in lists(&shown) {
        let list: Vec<usize> = list.collect();
        if page.is_copy(&list, |at| *shown.get(at)?) {
            continue;
        }
        let is_heading = |at: usize| dom.tag(blocks[at].id).heading_level().is_some();
        let is_between = |block: &Block| block.size() <= MAX_WORDS && block.linked_percent() <= MAX_LINKED;
        let heading = list[0].checked_sub(1).filter(|&at| is_heading(at));
        for at in heading.into_iter().chain(list) {
            if shown[at].is_some() || is_heading(at) || is_between(&blocks[at]) {
                page.keep(at);
            }
        }
    }
}

/// Returns the ranges of blocks, each from one item to another one, of which several follow each other.
fn lists(shown: &[Option<usize>]) -> Vec<Range<usize>> {
    let mut lists: Vec<Range<usize>> = Vec::new();
    for at in (0..shown.len()).filter(|&at| shown[at].is_some()) {
        match lists.last_mut() {
            Some(list) if at - list.end <= MAX_BETWEEN => list.end = at + 1,
            _ => lists.push(at..at + 1),
        }
    }
    lists.retain(|list| list.len() > 1);
    lists.sort_unstable_by_key(|list| (std::cmp::Reverse(list.len()), list.start));
    lists
}

/// Returns the letters and digits of the ingredients and steps of a page.
fn items(dom: &Dom) -> Vec<String> {
    let mut items = Vec::new();
    let is_recipe = |block: &String| PROPERTIES.iter().any(|name| block.contains(name));
    for block in json_ld::blocks(dom).filter(is_recipe) {
        let Ok(value) = serde_json::from_str::<Value>(&block) else {
            continue;
        };
        for object in json_ld::objects(&value) {
            PROPERTIES
                .iter()
                .for_each(|name| add_items(&object[name], 0, &mut items));
        }
    }
    let marked = dom.with_attribute(|a| a.name == attr::ITEMPROP && PROPERTIES.contains(&dom.value(a)));
    items.extend(
        marked
            .take(MAX_ITEMS)
            .map(|id| stated::letters(&dom.text_of(id, MAX_BYTES), MAX_BYTES)),
    );
    items.retain(|item| item.len() >= MIN_LETTERS);
    items.truncate(MAX_ITEMS);
    items
}

fn add_items(value: &Value, depth: usize, items: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let lines = text.lines().take(MAX_ITEMS.saturating_sub(items.len()));
            items.extend(lines.map(|line| stated::letters(line, MAX_BYTES)));
        }
        Value::Array(list) => list.iter().for_each(|value| add_items(value, depth, items)),
        Value::Object(part) if depth < MAX_DEPTH => {
            let values = PARTS.iter().filter_map(|name| part.get(*name));
            values.for_each(|value| add_items(value, depth + 1, items));
        }
        _ => {}
    }
}

/// Returns the item that a block shows, alone or nearly so, or of which it is a large part.
fn item_of(dom: &Dom, block: &Block, items: &[String]) -> Option<usize> {
    let text = title::start_of(dom, block.id);
    let text: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    let contains = |text: &str, part: &str| memmem::find(text.as_bytes(), part.as_bytes()).is_some();
    let is_item = |item: &String| match text.len() <= item.len() {
        true => (text.len() * 2 >= item.len() || text.len() >= SURE_LETTERS) && contains(item, &text),
        false => text.len() <= item.len() * 2 && contains(&text, item),
    };
    (text.len() >= MIN_LETTERS).then(|| items.iter().position(is_item))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn items_are_limited_in_number_and_size() {
        let steps = format!(
            "{}\\n{}",
            "stir ".repeat(MAX_BYTES),
            "Bake it.\\n".repeat(MAX_ITEMS)
        );
        let json = format!("{{\"recipeIngredient\": [\"1 egg\"], \"recipeInstructions\": \"{steps}\"}}");
        let marked = "<i itemprop=ingredients>2 cups</i>".repeat(MAX_ITEMS);
        let page = format!("<script type=application/ld+json>{json}</script>{marked}");
        let items = items(&parse(&page));
        assert_eq!(items.len(), MAX_ITEMS);
        assert_eq!(items[0], "1egg");
        assert_eq!(items[1].len(), MAX_BYTES);
        assert_eq!(items[2], "bakeit");
    }
}
