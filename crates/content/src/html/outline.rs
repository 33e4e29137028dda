//! The tree of a page as lines, to compare parsers.

use super::dom::Dom;
use super::tag::Tag;

/// Adds text to the last line if that is text at the same depth, else as a new line.
pub(super) fn push_text(lines: &mut Vec<(usize, String)>, depth: usize, text: &str) {
    match lines.last_mut() {
        Some((last, line)) if *last == depth && line.starts_with('"') => {
            line.pop();
            line.push_str(text);
            line.push('"');
        }
        _ => lines.push((depth, format!("\"{text}\""))),
    }
}

/// Returns a line with its depth for each element, each attribute (sorted by name) and each run of text.
pub(crate) fn outline(dom: &Dom) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut ends = Vec::new();
    for id in 1..dom.len() {
        while ends.last().is_some_and(|&end| end <= id) {
            ends.pop();
        }
        let depth = ends.len();
        if dom.tag(id) == Tag::Text {
            push_text(&mut lines, depth, dom.text(id));
            continue;
        }
        ends.push(dom.end(id));
        lines.push((depth, format!("<{}>", dom.name(id))));
        let attributes = dom.attributes(id).iter();
        let mut attributes: Vec<_> = attributes
            .map(|attribute| {
                let name = dom.names.get(attribute.name);
                (depth + 1, format!("{name}=\"{}\"", dom.value(attribute)))
            })
            .collect();
        attributes.sort();
        lines.append(&mut attributes);
    }
    lines
}
