//! A page as text for clients that cannot see it: its accessibility tree, one element per line, with
//! references for the elements that can be acted on.
//!
//! `- heading "Title" [level=1, ref=e1]`, `- textbox "Email" [ref=e2]: value`, `- paragraph: text`: the
//! accessible name is in quotes, the value or text after the colon. This module formats the trees that it is
//! given; it never talks to a browser.

mod tree;

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use serde_json::Value;

use crate::limits;
pub(crate) use tree::{AxNode, AxTree};

/// Roles that take input: always referenced, and the only ones in an interactive snapshot.
const INTERACTIVE: [&str; 24] = [
    "button", "checkbox", "combobox", "gridcell", "link", "listbox", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox",
    "treeitem", "ColorWell", "Date", "DateTime", "DisclosureTriangle", "DisclosureTriangleGrouped",
    "InputTime",
];
/// Roles that get a reference if they have a name.
const CONTENT: [&str; 9] = [
    "article", "cell", "columnheader", "heading", "image", "main", "navigation", "region", "rowheader",
];
/// Roles that mean nothing without a name: replaced by their children.
const PLAIN: [&str; 12] = [
    "Document", "LabelText", "LayoutTable", "LayoutTableCell", "LayoutTableRow", "MenuListPopup",
    "RootWebArea", "WebArea", "document", "generic", "none", "rowgroup",
];
/// Roles of inline markup.
const INLINE: [&str; 11] = [
    "Abbr", "code", "deletion", "emphasis", "insertion", "mark", "strong", "subscript", "superscript",
    "time", "MathMLIdentifier",
];
/// States that are shown, in this order.
const STATES: [&str; 8] = [
    "level", "checked", "pressed", "expanded", "selected", "disabled", "required", "readonly",
];

/// A page as text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// The tree, one element per line; cut at [`limits::SNAPSHOT_BYTES`].
    pub text: String,
    /// The elements with references: `e1` is the first.
    pub elements: Vec<SnapshotElement>,
}

/// An element that can be acted on.
#[derive(Clone, PartialEq, Debug)]
pub struct SnapshotElement {
    /// Role, such as `button`.
    pub role: String,
    /// Accessible name; may be empty.
    pub name: String,
    /// Value, such as the text of a field.
    pub value: Option<String>,
    /// Index of its frame in the snapshot.
    pub(crate) frame: usize,
    /// Backend node id.
    pub(crate) node: i64,
}

/// The tree of one frame and its position in the page.
pub(crate) struct FrameTree {
    /// Index of the parent frame, and the backend node id of the frame element there; `None` for the main
    /// frame.
    pub(crate) owner: Option<(usize, i64)>,
    pub(crate) tree: AxTree,
    /// Elements that are clickable although their role does not say so.
    pub(crate) clickable: HashSet<i64>,
}

/// One line of the snapshot, with its children.
struct SnapshotLine {
    role: String,
    name: String,
    states: Vec<String>,
    reference: Option<usize>,
    /// Value of a field, or the text of an element that contains nothing else.
    value: Option<String>,
    children: Vec<SnapshotLine>,
}

impl Snapshot {
    /// Formats trees, the main frame's first; with `interactive` only elements that take input.
    pub(crate) fn of(frames: &[FrameTree], interactive: bool) -> Snapshot {
        let child_frames = frames
            .iter()
            .enumerate()
            .filter_map(|(at, frame)| Some((frame.owner?, at)))
            .collect();
        let mut builder = SnapshotBuilder {
            frames,
            child_frames,
            interactive,
            elements: Vec::new(),
        };
        let mut lines = Vec::new();
        builder.frame(0, 0, &mut lines);
        let mut text = String::new();
        let mut omitted = 0;
        for one in &lines {
            write_line(one, 0, &mut text, &mut omitted);
        }
        if omitted > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "... ({omitted} more lines)");
        }
        Snapshot {
            text,
            elements: builder.elements,
        }
    }
}

struct SnapshotBuilder<'a> {
    frames: &'a [FrameTree],
    /// The frame that each frame element contains.
    child_frames: HashMap<(usize, i64), usize>,
    interactive: bool,
    elements: Vec<SnapshotElement>,
}

/// Where a node is.
#[derive(Clone, Copy)]
struct Position<'a> {
    /// Index of its frame.
    frame: usize,
    /// The name that an element above it already shows.
    covered: &'a str,
    depth: usize,
}

impl<'a> Position<'a> {
    fn below(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    fn covered_by(self, covered: &'a str) -> Self {
        Self { covered, ..self }
    }
}

impl SnapshotBuilder<'_> {
    fn frame(&mut self, frame: usize, depth: usize, into: &mut Vec<SnapshotLine>) {
        let Some(FrameTree { tree, .. }) = self.frames.get(frame) else {
            return;
        };
        if let Some(root) = tree.root() {
            let position = Position {
                frame,
                covered: "",
                depth,
            };
            self.node(root, position, into);
        }
    }

    /// Appends the lines of a node.
    fn node(&mut self, node: &AxNode, position: Position<'_>, into: &mut Vec<SnapshotLine>) {
        if position.depth > limits::SNAPSHOT_DEPTH {
            return;
        }
        let clickable = &self.frames[position.frame].clickable;
        let is_clickable = node.backend.is_some_and(|number| clickable.contains(&number));
        if is_clickable && !node.takes_input() {
            return self.clickable(node, position, into);
        }
        match node.role() {
            "InlineTextBox" => {}
            "LineBreak" => add_text(into, " "),
            role if node.ignored || INLINE.contains(&role) => {
                self.children(node, position, into);
            }
            "StaticText" if self.interactive || position.covered.contains(&one_line(&node.name())) => {}
            "StaticText" => add_text(into, &node.name()),
            _ if self.is_transparent(node, position.frame) => {
                let before = into.len();
                let mut inside = Vec::new();
                self.children(node, position, &mut inside);
                into.append(&mut inside);
                // Block boundary: the next text starts a new line.
                if into.len() > before {
                    into.push(boundary());
                }
            }
            _ => self.element(node, position, into),
        }
    }

    /// Returns whether a node has no line of its own, only its children.
    fn is_transparent(&self, node: &AxNode, frame: usize) -> bool {
        let role = node.role();
        if takes_input(node) {
            return false;
        }
        let is_plain =
            PLAIN.contains(&role) && (role.ends_with("WebArea") || one_line(&node.name()).is_empty());
        is_plain || (self.interactive && self.child_frame(node, frame).is_none())
    }

    /// Returns the frame that a frame element contains.
    fn child_frame(&self, node: &AxNode, frame: usize) -> Option<usize> {
        self.child_frames.get(&(frame, node.backend?)).copied()
    }

    /// Appends the line of an element, with its children, unless there is nothing to show.
    fn element(&mut self, node: &AxNode, position: Position<'_>, into: &mut Vec<SnapshotLine>) {
        let role = node.role();
        let name = one_line(&node.name());
        let mut value = node
            .value()
            .map(|value| one_line(&value))
            .filter(|value| !value.is_empty() && *value != name);
        let is_referenced =
            takes_input(node) || (CONTENT.contains(&role) && !name.is_empty() && !self.interactive);
        let reference = node
            .backend
            .filter(|_| is_referenced)
            .and_then(|number| self.add_reference(role, &name, value.clone(), (position.frame, number)));
        let mut children = Vec::new();
        match self.child_frame(node, position.frame) {
            Some(child_frame) => self.frame(child_frame, position.depth + 1, &mut children),
            // The text inside a field is its value.
            None if value.is_some() && matches!(role, "textbox" | "searchbox" | "spinbutton") => {}
            None => {
                let position = match name.is_empty() {
                    true => position,
                    false => position.covered_by(&name),
                };
                self.children(node, position, &mut children);
            }
        }
        children.retain(|child| !child.is_boundary() && !child.is_empty());
        if value.is_none() && children.len() == 1 && children[0].is_text() {
            value = children.pop().and_then(|text| text.value);
        }
        let is_bare = name.is_empty() && value.is_none() && children.is_empty() && reference.is_none();
        if !is_bare {
            into.push(SnapshotLine {
                role: role.to_owned(),
                name,
                states: states(node),
                reference,
                value,
                children,
            });
        }
    }

    /// Appends a clickable element without a meaningful role; its text is its name.
    fn clickable(&mut self, node: &AxNode, position: Position<'_>, into: &mut Vec<SnapshotLine>) {
        let mut name = node.name();
        if name.is_empty() {
            self.text_of(node, position, &mut name);
        }
        let name = one_line(&name);
        let reference = node
            .backend
            .and_then(|number| self.add_reference("clickable", &name, None, (position.frame, number)));
        let mut children = Vec::new();
        self.children(node, position.covered_by(&name), &mut children);
        children.retain(|child| !child.is_boundary() && !child.is_text());
        into.push(SnapshotLine {
            role: "clickable".to_owned(),
            name,
            states: Vec::new(),
            reference,
            value: None,
            children,
        });
    }

    /// Appends the text below a node.
    fn text_of(&self, node: &AxNode, position: Position<'_>, to: &mut String) {
        if position.depth > limits::SNAPSHOT_DEPTH || to.len() > limits::SNAPSHOT_NAME_CHARS {
            return;
        }
        if node.role() == "StaticText" {
            to.push_str(&node.name());
            return;
        }
        for child in self.frames[position.frame].tree.children(node) {
            self.text_of(child, position.below(), to);
        }
        if !node.ignored && !INLINE.contains(&node.role()) {
            to.push(' ');
        }
    }

    /// Gives an element a reference, up to the limit.
    fn add_reference(
        &mut self,
        role: &str,
        name: &str,
        value: Option<String>,
        (frame, node): (usize, i64),
    ) -> Option<usize> {
        if self.elements.len() >= limits::SNAPSHOT_ELEMENTS {
            return None;
        }
        self.elements.push(SnapshotElement {
            role: role.to_owned(),
            name: name.to_owned(),
            value,
            frame,
            node,
        });
        Some(self.elements.len())
    }

    fn children(&mut self, node: &AxNode, position: Position<'_>, into: &mut Vec<SnapshotLine>) {
        let frames = self.frames;
        for child in frames[position.frame].tree.children(node) {
            self.node(child, position.below(), into);
        }
    }
}

impl SnapshotLine {
    fn is_text(&self) -> bool {
        self.role == "text"
    }

    fn is_boundary(&self) -> bool {
        self.role.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.is_text() && self.value.as_ref().is_none_or(|text| text.trim().is_empty())
    }
}

/// Returns whether an element always has a reference.
fn takes_input(node: &AxNode) -> bool {
    INTERACTIVE.contains(&node.role()) || node.takes_input()
}

fn text(words: &str) -> SnapshotLine {
    SnapshotLine {
        role: "text".to_owned(),
        name: String::new(),
        states: Vec::new(),
        reference: None,
        value: Some(words.to_owned()),
        children: Vec::new(),
    }
}

/// Returns a marker for the end of a line of text.
fn boundary() -> SnapshotLine {
    SnapshotLine {
        role: String::new(),
        value: None,
        ..text("")
    }
}

/// Appends to the preceding line of text, or starts a new one.
fn add_text(into: &mut Vec<SnapshotLine>, more: &str) {
    match into.last_mut() {
        Some(SnapshotLine {
            role,
            value: Some(before),
            ..
        }) if role == "text" => before.push_str(more),
        _ => into.push(text(more)),
    }
}

fn states(node: &AxNode) -> Vec<String> {
    let states = STATES.iter().filter_map(|state| {
        let value = node.property(state)?;
        match value {
            Value::Bool(false) if !matches!(*state, "checked" | "expanded" | "pressed") => None,
            Value::Bool(true) if !matches!(*state, "checked" | "expanded" | "pressed") => {
                Some((*state).to_owned())
            }
            Value::String(word) if word == "false" && *state == "pressed" => None,
            Value::String(word) => Some(format!("{state}={word}")),
            other => Some(format!("{state}={other}")),
        }
    });
    states.collect()
}

/// Writes a line and its children, within the size limit; counts the lines beyond it.
fn write_line(snapshot_line: &SnapshotLine, depth: usize, text: &mut String, omitted: &mut usize) {
    if snapshot_line.is_boundary() || snapshot_line.is_empty() {
        return;
    }
    let mut line = format!(
        "{}- {}",
        "  ".repeat(depth.min(limits::SNAPSHOT_INDENTS)),
        snapshot_line.role
    );
    if !snapshot_line.name.is_empty() {
        line.push(' ');
        line.push_str(&Value::from(snapshot_line.name.as_str()).to_string());
    }
    let reference = snapshot_line.reference.map(|number| format!("ref=e{number}"));
    let marks: Vec<&str> = snapshot_line
        .states
        .iter()
        .chain(&reference)
        .map(String::as_str)
        .collect();
    if !marks.is_empty() {
        let _ = write!(line, " [{}]", marks.join(", "));
    }
    if let Some(value) = &snapshot_line.value {
        let _ = write!(line, ": {}", one_line(value));
    }
    line.push('\n');
    if *omitted > 0 || text.len() + line.len() > limits::SNAPSHOT_BYTES {
        *omitted += 1;
    } else {
        text.push_str(&line);
    }
    for child in &snapshot_line.children {
        write_line(child, depth + 1, text, omitted);
    }
}

/// Returns a text in one line, without invisible characters, cut at [`limits::SNAPSHOT_NAME_CHARS`].
fn one_line(text: &str) -> String {
    let seen = |c: &char| !matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}');
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        let start = line.len();
        if start > 0 {
            line.push(' ');
            chars += 1;
        }
        let before = line.len();
        for c in word.chars().filter(seen) {
            if chars == limits::SNAPSHOT_NAME_CHARS {
                line.push('…');
                return line;
            }
            line.push(c);
            chars += 1;
        }
        if line.len() == before {
            line.truncate(start);
        }
    }
    line
}

#[cfg(test)]
mod tests;
