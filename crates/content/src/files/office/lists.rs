//! Lists of Word documents. `office_oxide` makes each run of paragraphs of one list definition a list of its own. This
//! module builds the lists that a reader sees, from the place of each item.

use std::collections::HashMap;
use std::hash::Hash;
use std::iter::Peekable;

use office_oxide::ir::{DocumentIR, Element, List, ListItem};

/// Maximum level of an item.
pub(super) const MAX_LEVEL: u8 = 15;

/// The place of an item in the lists of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Place {
    /// The list definition that it belongs to.
    pub(super) list: u32,
    pub(super) level: u8,
    pub(super) is_numbered: bool,
    /// Its number; `None` if it has no marker, like another paragraph of the item before.
    pub(super) number: Option<u32>,
}

/// Counts the items of lists.
#[derive(Default)]
pub(super) struct Counter<K>(HashMap<K, Vec<Option<u32>>>);

impl<K: Eq + Hash> Counter<K> {
    /// Returns the number of the next item of a list. Deeper levels begin again after it.
    pub(super) fn next(&mut self, list: K, level: u8, start: u32) -> u32 {
        let level = usize::from(level.min(MAX_LEVEL));
        let numbers = self.0.entry(list).or_default();
        numbers.resize(level + 1, None);
        let number = numbers[level].map_or(start, |last| last.saturating_add(1));
        numbers[level] = Some(number);
        number
    }
}

/// The places of the items among some blocks.
#[derive(Default)]
pub(super) struct Places {
    pub(super) items: Vec<Place>,
    /// Those in the cells and text boxes among the blocks, in order.
    pub(super) inner: Vec<Places>,
}

/// The places of all items of a document.
#[derive(Default)]
pub(super) struct DocumentPlaces {
    pub(super) text: Places,
    /// Those in notes, by their numbers.
    pub(super) footnotes: HashMap<u32, Places>,
    pub(super) endnotes: HashMap<u32, Places>,
}

/// Builds the lists of a document again. Leaves those as they are of whose items these are not all places.
pub(super) fn rebuild(places: &DocumentPlaces, ir: &mut DocumentIR) {
    let sections = ir.sections.iter_mut();
    let mut blocks: Vec<&mut Vec<Element>> = sections.map(|section| &mut section.elements).collect();
    for element in blocks.iter_mut().flat_map(|blocks| blocks.iter_mut()) {
        let (note, places) = match element {
            Element::Footnote(note) => (note, &places.footnotes),
            Element::Endnote(note) => (note, &places.endnotes),
            _ => continue,
        };
        if let Some(places) = places.get(&note.id) {
            rebuild_blocks(&mut [&mut note.content], places);
        }
    }
    rebuild_blocks(&mut blocks, &places.text);
}

/// Builds the lists among blocks again, and in their cells and text boxes.
fn rebuild_blocks(blocks: &mut [&mut Vec<Element>], places: &Places) {
    let elements = || blocks.iter().flat_map(|blocks| blocks.iter());
    let inner = elements().map(|element| match element {
        Element::Table(table) => table.rows.iter().map(|row| row.cells.len()).sum(),
        Element::TextBox(_) => 1,
        _ => 0,
    });
    if inner.sum::<usize>() == places.inner.len() {
        let mut inner = places.inner.iter();
        let mut rebuild = |content: &mut Vec<Element>| {
            if let Some(places) = inner.next() {
                rebuild_blocks(&mut [content], places);
            }
        };
        for element in blocks.iter_mut().flat_map(|blocks| blocks.iter_mut()) {
            match element {
                Element::Table(table) => {
                    let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells);
                    cells.for_each(|cell| rebuild(&mut cell.content));
                }
                Element::TextBox(text) => rebuild(&mut text.content),
                _ => {}
            }
        }
    }
    let elements = blocks.iter().flat_map(|blocks| blocks.iter());
    let lists = elements.map(|element| match element {
        Element::List(list) => count(list),
        _ => 0,
    });
    if places.items.is_empty() || lists.sum::<usize>() != places.items.len() {
        return;
    }
    let mut places = places.items.iter().copied();
    for blocks in blocks {
        let mut contents = Vec::new();
        let mut rebuilt = Vec::new();
        for mut element in std::mem::take(*blocks) {
            if let Element::List(list) = &mut element {
                flatten(std::mem::take(list), &mut contents);
                continue;
            }
            rebuilt.extend(build_all(&mut places, &mut contents));
            rebuilt.push(element);
        }
        rebuilt.extend(build_all(&mut places, &mut contents));
        **blocks = rebuilt;
    }
}

/// Returns the number of items of a list and the lists in it.
fn count(list: &List) -> usize {
    let nested = list.items.iter().filter_map(|item| item.nested.as_ref());
    list.items.len() + nested.map(count).sum::<usize>()
}

/// Collects the contents of all items.
fn flatten(list: List, contents: &mut Vec<Vec<Element>>) {
    for ListItem { content, nested } in list.items {
        contents.push(content);
        if let Some(nested) = nested {
            flatten(nested, contents);
        }
    }
}

/// Builds lists with bullets from the levels and contents of their items.
pub(super) fn bulleted(items: impl Iterator<Item = (u8, Vec<Element>)>) -> impl Iterator<Item = Element> {
    let place = |level: u8| Place {
        level: level.min(MAX_LEVEL),
        ..Place::default()
    };
    build(
        &mut items.map(|(level, content)| (place(level), content)).peekable(),
        0,
    )
    .into_iter()
    .map(Element::List)
}

/// Builds the lists of adjacent items.
fn build_all(
    places: &mut impl Iterator<Item = Place>,
    contents: &mut Vec<Vec<Element>>,
) -> impl Iterator<Item = Element> {
    let contents = std::mem::take(contents);
    let places = places.take(contents.len()).collect::<Vec<_>>();
    build(&mut places.into_iter().zip(contents).peekable(), 0)
        .into_iter()
        .map(Element::List)
}

/// Builds lists from items of a level and deeper.
fn build(items: &mut Peekable<impl Iterator<Item = (Place, Vec<Element>)>>, level: u8) -> Vec<List> {
    let mut lists: Vec<List> = Vec::new();
    let mut last = Place::default();
    while let Some((place, content)) = items.next_if(|(place, _)| place.level >= level) {
        let mut nested = build(items, place.level + 1);
        let item = lists.last_mut().and_then(|list| list.items.last_mut());
        if let Some(item) = item.filter(|_| place.number.is_none() && place.list != last.list) {
            item.content.extend(item.nested.take().map(Element::List));
            item.content.extend(content);
            item.content.extend(nested.into_iter().map(Element::List));
            continue;
        }
        if lists.is_empty() || (place.list, place.is_numbered) != (last.list, last.is_numbered) {
            lists.push(List {
                ordered: place.is_numbered,
                start_number: place.number,
                ..List::default()
            });
            last = place;
        }
        let mut item = ListItem {
            content,
            nested: None,
        };
        if nested.len() == 1 {
            item.nested = nested.pop();
        } else {
            item.content.extend(nested.into_iter().map(Element::List));
        }
        if let Some(list) = lists.last_mut() {
            list.items.push(item);
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_put_in_the_lists_of_their_places() {
        let mut counter = Counter::default();
        let mut lists = |items: &[(u32, u8, bool)]| {
            let mut places = items.iter().map(|(list, level, is_numbered)| Place {
                list: *list,
                level: *level,
                is_numbered: *is_numbered,
                number: Some(counter.next(*list, *level, 1)),
            });
            let mut contents = vec![Vec::new(); items.len()];
            let lists = build_all(&mut places, &mut contents).map(|element| {
                let Element::List(list) = &element else {
                    unreachable!("{element:?}")
                };
                let nested = list
                    .items
                    .iter()
                    .map(|item| item.nested.as_ref().map_or(0, count));
                (
                    list.ordered,
                    list.start_number.unwrap(),
                    nested.collect::<Vec<_>>(),
                )
            });
            lists.collect::<Vec<_>>()
        };
        let (bullet, inner, number) = ((1, 0, false), (1, 1, true), (2, 0, true));
        assert_eq!(
            lists(&[bullet, inner, inner, bullet, number]),
            [(false, 1, vec![2, 0]), (true, 1, vec![0])]
        );
        assert_eq!(lists(&[number]), [(true, 2, vec![0])], "an interrupted list");
        assert_eq!(lists(&[inner, bullet]), [(true, 1, vec![0]), (false, 3, vec![0])]);
    }
}
