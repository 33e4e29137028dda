//! Declarative shadow roots (HTML section 4.12.3.1): moves the children of a host into the slots of its
//! shadow tree.

use super::build::arena::{Arena, NONE};
use super::tag::Tag;
use crate::hash::HashMap;

/// Moves the children of the host of `shadow` into the slots that name them. `shadow` must be the host's only
/// shadow root. A slot without children keeps its default content; a child without a slot stays after the
/// shadow tree, so that no text is lost.
pub(super) fn fill_slots(arena: &mut Arena, shadow: u32) {
    let host = arena.nodes[shadow as usize].parent;
    if host == NONE {
        return;
    }
    let slots = slots(arena, shadow);
    let mut filled = vec![false; slots.len()];
    let mut child = arena.first(host);
    while child != NONE {
        let next = arena.next(child);
        let wanted = arena.attr(child, "slot").unwrap_or("").trim();
        // White space alone does not replace the default content of a slot.
        if child != shadow
            && let Some(&(slot, index)) = slots.get(wanted)
            && (filled[index] || !arena.is_blank(child))
        {
            if !std::mem::replace(&mut filled[index], true) {
                clear(arena, slot);
            }
            arena.append(slot, child);
        }
        child = next;
    }
}

/// Returns the first slot of each name in a shadow tree, with its number. Nested shadow trees are not
/// searched.
fn slots(arena: &mut Arena, shadow: u32) -> HashMap<String, (u32, usize)> {
    let mut slots = HashMap::default();
    let mut at = arena.first(shadow);
    while at != NONE {
        if arena.nodes[at as usize].tag == Tag::Slot {
            let name = arena.attr(at, "name").unwrap_or("").trim();
            let number = slots.len();
            slots.entry(name.to_owned()).or_insert((at, number));
        }
        let mut next = if arena.is_shadow(at) {
            NONE
        } else {
            arena.first(at)
        };
        let mut up = at;
        while next == NONE && up != shadow {
            next = arena.next(up);
            up = arena.nodes[up as usize].parent;
        }
        at = next;
    }
    slots
}

fn clear(arena: &mut Arena, id: u32) {
    loop {
        let first = arena.first(id);
        if first == NONE {
            return;
        }
        arena.detach(first);
    }
}

#[cfg(test)]
mod tests {
    use super::super::dom::collapse;
    use super::super::parse::parse;

    #[track_caller]
    fn check(html: &str, text: &str) {
        let dom = parse(html);
        assert_eq!(collapse(&dom.text_of(0, usize::MAX)), text, "{html}");
    }

    #[test]
    fn children_move_to_their_named_slots() {
        check(
            "<x-card><template shadowrootmode=open><h2><slot name=title>No title</slot></h2><slot></slot><p>Foot</p>\
             </template><p>Body</p><span slot=title>Title</span> tail</x-card>",
            "Title Body tail Foot",
        );
    }

    #[test]
    fn an_empty_slot_keeps_its_default_and_no_text_is_lost() {
        check(
            "<x-a><template shadowrootmode=closed><slot>Default</slot></template> </x-a>",
            "Default",
        );
        check(
            "<x-a><template shadowrootmode=open><p>Shadow</p></template><p>Light</p></x-a>",
            "Shadow Light",
        );
    }

    #[test]
    fn shadow_trees_nest() {
        check(
            "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open>[<slot></slot>]</template>\
             <slot></slot></x-b></template>Text</x-a>",
            "[Text]",
        );
    }

    #[test]
    fn other_templates_are_not_shown() {
        check("<p>a<template><p>b</template>", "a");
    }
}
