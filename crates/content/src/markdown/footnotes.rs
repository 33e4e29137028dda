//! Footnotes: detects which links are references, which blocks are their notes, and which links in a note
//! lead back. Runs before the walk; a reference without a note stays an ordinary link.

use crate::hash::{HashMap, HashSet};
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Maximum bytes of text of a note; a longer target is a section.
const NOTE_BYTES: usize = 4000;

/// Prefixes of the ids of notes that no link leads to; a number follows.
const NOTE_ID_PREFIXES: [&str; 6] = ["footnote-", "footnote", "fn-", "fn", "fn:", "note-"];

/// Starts of the fragments of links to notes.
const NOTE_FRAGMENTS: [&str; 10] = [
    "fn", "footnote", "note", "cite_note", "_ftn", "ftn", "user-content-fn", "sdfootnote", "endnote", "_edn",
];

/// The footnotes of a page.
#[derive(Default)]
pub(crate) struct Footnotes {
    /// References, by their `a` or `sup`, with the number of their note from 1.
    references: HashMap<NodeId, usize>,
    /// Blocks of the notes with the labels that the page gives them, by number.
    notes: Vec<(NodeId, String)>,
    /// Nodes that the walk skips: notes in place, their labels, back links, the title of their section.
    skipped: HashSet<NodeId>,
}

impl Footnotes {
    /// Finds the footnotes of a page.
    pub(crate) fn of(dom: &Dom) -> Footnotes {
        let mut out = Footnotes::default();
        let (mut candidates, mut raised) = (Vec::new(), Vec::new());
        for id in 0..dom.len() {
            match dom.tag(id) {
                Tag::A if is_reference(dom, id) => candidates.push(id),
                Tag::Sup if is_unlinked_reference(dom, id) => raised.push(id),
                _ => {}
            }
        }
        candidates.append(&mut raised);
        if candidates.is_empty() {
            return out;
        }
        let mut targets: HashMap<&str, NodeId> = HashMap::default();
        for id in 0..dom.len() {
            for name in [attr::ID, attr::NAME] {
                if let Some(value) = dom.attr(id, name) {
                    targets.entry(value).or_insert(id);
                }
            }
        }
        // Word does not name targets: the note is the place that links back.
        let back_links: HashMap<&str, NodeId> = (0..dom.len())
            .filter(|&id| dom.tag(id) == Tag::A)
            .filter_map(|id| Some((word_number(fragment(dom, id)?, "ref")?, id)))
            .collect();
        let mut found: HashMap<NodeId, Option<(NodeId, Option<NodeId>)>> = HashMap::default();
        let mut numbers: HashMap<NodeId, usize> = HashMap::default();
        let mut labels: HashSet<String> = HashSet::default();
        let mut has_links = false;
        for reference in candidates {
            let is_link = dom.tag(reference) == Tag::A;
            // On a page that links to its notes, another raised number is an exponent.
            if has_links && !is_link {
                break;
            }
            let target = match fragment(dom, reference) {
                Some(fragment) => targets
                    .get(fragment)
                    .or_else(|| back_links.get(word_number(fragment, "")?)),
                None => {
                    let number = label(dom, reference);
                    let named = |start: &&str| targets.get(format!("{start}{number}").as_str());
                    NOTE_ID_PREFIXES.iter().find_map(named)
                }
            };
            let at = target.and_then(|&target| *found.entry(target).or_insert_with(|| note_at(dom, target)));
            let Some((note, heading)) = at else {
                continue;
            };
            if note < reference || holds(dom, note, reference) {
                continue;
            }
            let number = *numbers.entry(note).or_insert_with(|| {
                let own = label(dom, reference);
                let usable = own.chars().all(|c| c.is_ascii_alphanumeric()) && !labels.contains(&own);
                let name = if usable {
                    own
                } else {
                    format!("n{}", out.notes.len() + 1)
                };
                labels.insert(name.clone());
                out.notes.push((note, name));
                out.skipped.insert(note);
                out.skipped.extend(heading);
                skip_label(dom, note, &label(dom, reference), &mut out.skipped);
                out.notes.len()
            });
            out.references.insert(reference, number);
            has_links |= is_link;
        }
        out.skip_sections(dom);
        out
    }

    /// Returns the references in document order, each with the block of its note.
    pub(crate) fn links(&self) -> Vec<(NodeId, NodeId)> {
        let note = |number: usize| self.notes[number - 1].0;
        let mut links: Vec<_> = self
            .references
            .iter()
            .map(|(&id, &number)| (id, note(number)))
            .collect();
        links.sort_unstable();
        links
    }

    /// Returns the number of the note that an element refers to.
    pub(super) fn reference(&self, id: NodeId) -> Option<usize> {
        self.references.get(&id).copied()
    }

    /// Returns true when a reference is below the element.
    pub(super) fn has_reference(&self, dom: &Dom, id: NodeId) -> bool {
        !self.references.is_empty() && dom.below(id).take(8).any(|n| self.references.contains_key(&n))
    }

    /// Returns true for nodes that the walk skips.
    pub(super) fn is_skipped(&self, id: NodeId) -> bool {
        !self.skipped.is_empty() && self.skipped.contains(&id)
    }

    /// Returns the label of the note with this number.
    pub(super) fn label(&self, number: usize) -> &str {
        number
            .checked_sub(1)
            .and_then(|at| self.notes.get(at))
            .map_or("", |(_, label)| label)
    }

    /// Returns the numbers of all notes.
    pub(super) fn numbers(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.notes.len()
    }

    /// Returns the block of the note with this number.
    pub(super) fn note(&self, number: usize) -> Option<NodeId> {
        self.notes.get(number.checked_sub(1)?).map(|(note, _)| *note)
    }

    /// Skips sections that contain only notes and a title.
    fn skip_sections(&mut self, dom: &Dom) {
        let Some(&(first, _)) = self.notes.first() else {
            return;
        };
        let mut at = first;
        for _ in 0..4 {
            let parent = dom.parent(at);
            if matches!(
                dom.tag(parent),
                Tag::Body | Tag::Article | Tag::Main | Tag::Document | Tag::Td
            ) {
                break;
            }
            let only_notes = dom.children(parent).all(|child| {
                self.skipped.contains(&child)
                    || dom.tag(child) == Tag::Hr
                    || dom.tag(child).heading_level().is_some()
                    || dom.text_of(child, 64).trim().len() < 24
            });
            if !only_notes {
                break;
            }
            self.skipped.insert(parent);
            at = parent;
        }
        // A title directly before the notes belongs to them.
        let parent = dom.parent(at);
        let before = dom
            .children(parent)
            .take_while(|&child| child < at)
            .filter(|&n| !dom.text_of(n, 16).trim().is_empty())
            .last();
        if let Some(title) = before
            && dom.tag(title).heading_level().is_some()
        {
            let text = dom.text_of(title, 64).trim().to_lowercase();
            if ["footnotes", "notes", "endnotes", "references", "footnote"].contains(&text.as_str()) {
                self.skipped.insert(title);
            }
        }
    }
}

/// Returns the fragment of a link. If its target is found, the link points to this page.
fn fragment(dom: &Dom, id: NodeId) -> Option<&str> {
    let (_, fragment) = dom.attr(id, attr::HREF)?.trim().rsplit_once('#')?;
    Some(fragment).filter(|fragment| !fragment.is_empty())
}

/// Returns the number in Word's `_ftn1`, or with the infix `ref` in `_ftnref1`.
fn word_number<'a>(fragment: &'a str, infix: &str) -> Option<&'a str> {
    let rest = fragment
        .strip_prefix("_ftn")
        .or_else(|| fragment.strip_prefix("_edn"))?;
    let number = rest.strip_prefix(infix)?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(number)
}

/// Returns the text of a reference or label without its brackets.
fn label(dom: &Dom, id: NodeId) -> String {
    let text = dom.text_of(id, 64);
    text.trim()
        .trim_matches(|c: char| matches!(c, '[' | ']' | '(' | ')' | '^' | '.' | ':') || c.is_whitespace())
        .to_owned()
}

/// Returns true for a short link within the page that looks like a footnote reference by its position, class,
/// role or target.
fn is_reference(dom: &Dom, id: NodeId) -> bool {
    let Some(fragment) = fragment(dom, id) else {
        return false;
    };
    let raised = dom.ancestors(id).take(2).any(|n| dom.tag(n) == Tag::Sup)
        || dom.below(id).take(3).any(|n| dom.tag(n) == Tag::Sup);
    let classed = dom.classes(id).any(|class| {
        matches!(
            class,
            "footnote-ref"
                | "footnote-reference"
                | "footnote"
                | "noteref"
                | "fn-ref"
                | "footnote-anchor"
                | "footref"
        )
    }) || dom.attr(id, attr::ROLE) == Some("doc-noteref");
    let named = NOTE_FRAGMENTS.iter().any(|start| {
        fragment
            .get(..start.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(start))
    });
    // Most links of a page end here, before their text is read.
    if !(classed || raised || named) {
        return false;
    }
    let text = label(dom, id);
    let is_number = text.chars().all(|c| c.is_ascii_digit());
    let is_short = !text.is_empty()
        && text.chars().count() <= 4
        && (is_number || text.chars().all(|c| !c.is_alphanumeric()) || text.len() <= 2);
    if !is_short || matches!(text.as_str(), "↩" | "↑" | "¶" | "#" | "↵") || is_back_link(dom, id) {
        return false;
    }
    classed || raised || is_number || dom.text_of(id, 16).trim().starts_with('[')
}

/// Returns true for a superscript number without a link; such pages open the note by script.
fn is_unlinked_reference(dom: &Dom, id: NodeId) -> bool {
    let text = label(dom, id);
    (1..=3).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_digit())
        && !dom
            .below(id)
            .any(|n| dom.tag(n) == Tag::A && fragment(dom, n).is_some())
}

/// Returns the block of a target: itself, or the nearest block around an anchor.
fn note_of(dom: &Dom, target: NodeId) -> Option<NodeId> {
    let is_note = |id: NodeId| {
        matches!(
            dom.tag(id),
            Tag::Li | Tag::P | Tag::Div | Tag::Aside | Tag::Dd | Tag::Section
        )
    };
    let note = if is_note(target) {
        target
    } else {
        dom.ancestors(target)
            .take(4)
            .find(|&id| is_note(id) || dom.tag(id).is_block())?
    };
    if !is_note(note) || dom.text_of(note, 64).trim().len() < 3 {
        return None;
    }
    // Several notes in one block cannot be distinguished.
    let references = dom
        .below(note)
        .filter(|&n| dom.tag(n) == Tag::A && dom.attr(n, attr::NAME).is_some())
        .take(3)
        .count();
    (references <= 1).then_some(note)
}

/// Returns the block of the note at a target, and its label if that is a heading.
fn note_at(dom: &Dom, target: NodeId) -> Option<(NodeId, Option<NodeId>)> {
    let below = note_below(dom, target).map(|(heading, note)| (note, Some(heading)));
    let (note, heading) = below.or_else(|| Some((note_of(dom, target)?, None)))?;
    (dom.text_of(note, NOTE_BYTES + 1).len() <= NOTE_BYTES).then_some((note, heading))
}

/// Returns the label and the text of a note whose label is a heading, as Texinfo writes it. A text of several paragraphs
/// cannot be distinguished from what follows the note.
fn note_below(dom: &Dom, target: NodeId) -> Option<(NodeId, NodeId)> {
    let is_heading = |&id: &NodeId| dom.tag(id).heading_level().is_some();
    let heading = std::iter::once(target)
        .chain(dom.ancestors(target).take(2))
        .find(is_heading)?;
    let end = dom.end(dom.parent(heading));
    let in_parent = |id: NodeId| Some(id).filter(|&id| id < end);
    let mut next = std::iter::successors(in_parent(dom.end(heading)), |&id| in_parent(dom.end(id)))
        .filter(|&id| dom.tag(id) != Tag::Text || !dom.text(id).trim().is_empty());
    let note = next.next().filter(|&id| dom.tag(id) == Tag::P)?;
    let is_short = (1..=4).contains(&label(dom, heading).len());
    (is_short && next.next().is_none_or(|after| is_heading(&after))).then_some((heading, note))
}

fn holds(dom: &Dom, node: NodeId, inside: NodeId) -> bool {
    inside >= node && inside < dom.end(node)
}

/// Returns true for a link in a note that leads back to its reference.
pub(super) fn is_back_link(dom: &Dom, id: NodeId) -> bool {
    let classed = dom.classes(id).any(|class| {
        matches!(
            class,
            "footnote-backref"
                | "footnote-back"
                | "reversefootnote"
                | "footnote-return"
                | "data-footnote-backref"
                | "backref"
                | "fn-backref"
                | "mw-cite-backlink"
        )
    });
    if classed || dom.attr(id, attr::ROLE) == Some("doc-backlink") {
        return true;
    }
    let text = dom.text_of(id, 32);
    let text = text.trim().trim_end_matches('\u{fe0e}');
    let back = fragment(dom, id).is_some_and(|f| {
        let lower = f.to_ascii_lowercase();
        [
            "fnref", "footnote-ref", "cite_ref", "_ftnref", "user-content-fnref", "ref", "footnote-anchor",
            "fr", "fndef",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
    });
    matches!(text, "↩" | "↩︎" | "↑" | "↵" | "⏎" | "^" | "⤴" | "🔙") || (back && text.len() <= 8)
}

/// Skips the label at the start of a note, and the back links in it.
fn skip_label(dom: &Dom, note: NodeId, reference: &str, skipped: &mut HashSet<NodeId>) {
    for id in dom.below(note) {
        if dom.tag(id) == Tag::A && is_back_link(dom, id) {
            skipped.insert(id);
        }
    }
    for id in dom.below(note).take(8) {
        match dom.tag(id) {
            Tag::Text if dom.text(id).trim().is_empty() => {}
            Tag::A | Tag::Sup | Tag::Span | Tag::B | Tag::Strong | Tag::Td | Tag::Dt
                if label(dom, id) == reference =>
            {
                skipped.insert(id);
                return;
            }
            Tag::P | Tag::Span | Tag::Div | Tag::Cite => {}
            _ => return,
        }
    }
}
