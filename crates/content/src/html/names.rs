//! Names of elements and attributes by number. Common names have fixed numbers and need no memory; others are
//! numbered as they occur.

use super::attr;
use super::name_hash::hash;
use super::tag::{self, Tag};
use crate::hash::HashMap;

const FIXED_TAGS: u32 = attr::NAMES.len() as u32;
const FIXED: u32 = FIXED_TAGS + tag::NAMES.len() as u32;

/// Slots of the attribute table; a power of two, several times the number of names.
const SLOTS: usize = 512;
/// Attribute names by their hash, with linear probing: number plus one, 0 is an empty slot.
static ATTRIBUTES: [u8; SLOTS] = attributes();

const fn attributes() -> [u8; SLOTS] {
    let mut table = [0; SLOTS];
    let mut number = 0;
    while number < attr::NAMES.len() {
        let mut slot = hash(attr::NAMES[number]) as usize % SLOTS;
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        number += 1;
        table[slot] = number as u8;
    }
    table
}

/// The names of a page.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Names without a fixed number.
    others: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Names {
    /// Returns the name with this number.
    pub(crate) fn get(&self, number: impl Into<u32>) -> &str {
        let number = number.into();
        let at = number as usize;
        if number < FIXED_TAGS {
            attr::NAMES[at]
        } else if number < FIXED {
            tag::NAMES[at - FIXED_TAGS as usize]
        } else {
            &self.others[at - FIXED as usize]
        }
    }

    /// Returns true for the number of a common attribute name, none of which foreign content changes.
    pub(super) fn is_common_attribute(number: u32) -> bool {
        number < FIXED_TAGS
    }

    /// Returns the number of an element name. If a page has more than 65,535 names, the further ones share a number.
    pub(super) fn element(&mut self, name: &str, tag: Tag) -> u16 {
        let number = match tag {
            Tag::Other => self.other(name),
            tag => FIXED_TAGS + tag as u32,
        };
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// Returns the number of an attribute name with this [`hash`].
    pub(super) fn attribute(&mut self, name: &str, hash: u32) -> u32 {
        let mut slot = hash as usize % SLOTS;
        loop {
            match u32::from(ATTRIBUTES[slot]) {
                0 => return self.other(name),
                next if attr::NAMES[next as usize - 1] == name => return next - 1,
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }

    fn other(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = FIXED + self.others.len() as u32;
        self.others.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixed_name_is_found_under_its_number() {
        let mut names = Names::default();
        for (number, name) in attr::NAMES.iter().enumerate() {
            assert_eq!(names.attribute(name, hash(name)), number as u32, "{name}");
            assert_eq!(names.get(number as u32), *name);
        }
        for name in &tag::NAMES[Tag::Other as usize + 1..] {
            let tag = Tag::parse(name, hash(name));
            assert_ne!(tag, Tag::Other, "{name}");
            let number = names.element(name, tag);
            assert_eq!(names.get(number), *name);
        }
    }

    #[test]
    fn other_names_are_numbered_once() {
        let mut names = Names::default();
        let number = names.attribute("data-x", hash("data-x"));
        assert_eq!(u32::from(names.element("data-x", Tag::Other)), number);
        assert_ne!(u32::from(names.element("x-app", Tag::Other)), number);
        assert_eq!(names.get(number), "data-x");
    }

    #[test]
    fn elements_share_a_name_beyond_the_limit() {
        let mut names = Names::default();
        let numbers: Vec<u16> = (0..70_000)
            .map(|n| names.element(&format!("x-{n}"), Tag::Other))
            .collect();
        assert_eq!(names.get(numbers[1000]), "x-1000");
        assert_eq!(numbers[69_998], numbers[69_999]);
        assert!(names.get(numbers[69_999]).starts_with("x-6"));
    }
}
