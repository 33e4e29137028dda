//! Formulas: written as TeX. The page has the TeX, as an annotation, in a script or as text that a script replaces, or it
//! is made from the MathML. MathML without fractions, scripts or roots is written as plain characters.

use super::Walk;
use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;
use crate::limits;

/// Where a page has the TeX of its formulas, apart from MathML.
#[derive(Clone, Copy, Default)]
pub(super) struct TexSource {
    /// In scripts, which MathJax 2 puts behind what it shows.
    scripts: bool,
    /// In the text: a script of MathJax or KaTeX replaces it.
    text: bool,
}

impl TexSource {
    pub(super) fn of(dom: &Dom) -> TexSource {
        let mut source = TexSource::default();
        for id in dom.all(Tag::Script) {
            source.scripts |= is_tex_script(dom, id);
            let address = dom.attr(id, attr::SRC).unwrap_or("").to_ascii_lowercase();
            source.text |= ["mathjax", "katex"].iter().any(|name| address.contains(name));
        }
        source
    }
}

/// Delimiters of TeX in the text of a page, with those of Markdown.
const DELIMITERS: [(&str, &str, &str); 3] = [("\\(", "\\)", "$"), ("\\[", "\\]", "$$"), ("$$", "$$", "$$")];

/// Maximum delimiters without an end that are skipped before a formula.
const MAX_UNCLOSED: usize = 64;

/// Classes of elements whose text is TeX.
const TEX_CLASSES: [&str; 3] = ["arithmatex", "math", "math-container"];

impl Walk<'_> {
    /// Writes a formula as TeX. Returns false when it is written as plain characters.
    pub(super) fn formula(&mut self, id: NodeId) -> bool {
        let Some(tex) = self.tex(id).or_else(|| from_mathml(self.dom, id)) else {
            return false;
        };
        let is_block = self.dom.attr(id, attr::DISPLAY) == Some("block");
        self.write_tex(&tex, if is_block { "$$" } else { "$" });
        true
    }

    /// Writes the TeX of a script. Returns false when it has none.
    pub(super) fn tex_script(&mut self, id: NodeId) -> bool {
        let Some(kind) = self
            .dom
            .attr(id, attr::TYPE)
            .filter(|_| is_tex_script(self.dom, id))
        else {
            return false;
        };
        let mark = if kind.contains("display") { "$$" } else { "$" };
        let tex = collapse(self.dom.below(id).next().map_or("", |text| self.dom.text(text)));
        if is_tex(&tex) {
            self.write_tex(&tex, mark);
        }
        true
    }

    /// Returns true for a copy of what is written: KaTeX repeats the MathML as HTML, MathJax 2 the script, and Python's
    /// documentation has a button that hides prompts.
    pub(super) fn is_copy(&self, id: NodeId) -> bool {
        ["katex-html", "copybutton"]
            .iter()
            .any(|class| self.dom.has_class(id, class))
            || self.is_rendered_tex(id)
    }

    /// Returns true for what MathJax 2 shows in place of a script.
    pub(super) fn is_rendered_tex(&self, id: NodeId) -> bool {
        self.tex.scripts
            && self.dom.classes(id).any(|class| {
                let rest = class.strip_prefix("MathJax");
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            })
    }

    /// Writes page text, and the formulas in it.
    pub(super) fn words(&mut self, id: NodeId, text: &str) {
        let parent = self.dom.parent(id);
        if !text.bytes().any(|byte| matches!(byte, b'\\' | b'$')) {
            return self.inline.text(text);
        }
        let is_tex_only = self.dom.classes(parent).any(|class| TEX_CLASSES.contains(&class));
        let mut rest = text;
        while (self.tex.text || is_tex_only)
            && let Some((before, tex, mark, after)) = next_formula(rest, is_tex_only)
        {
            self.inline.text(before);
            self.write_tex(&collapse(tex), mark);
            rest = after;
        }
        self.inline.text(rest);
    }

    fn write_tex(&mut self, tex: &str, mark: &str) {
        let tex = match self.inline.cell {
            true => tex.replace('|', "\\|"),
            false => tex.to_owned(),
        };
        self.inline.raw(&format!("{mark}{tex}{mark}"));
    }

    fn tex(&self, id: NodeId) -> Option<String> {
        let dom = self.dom;
        let annotation = dom.below(id).find(|&n| {
            dom.tag(n) == Tag::Annotation
                && dom
                    .attr(n, attr::ENCODING)
                    .is_some_and(|kind| kind.to_ascii_lowercase().contains("tex"))
        });
        let text = match annotation {
            Some(annotation) => dom.text_of(annotation, limits::FORMULA_BYTES),
            None => dom
                .attr(id, attr::ALTTEXT)
                .or_else(|| dom.attr(dom.parent(id), attr::DATA_ENTRY))?
                .to_owned(),
        };
        Some(collapse(&text)).filter(|text| is_tex(text))
    }
}

fn is_tex(text: &str) -> bool {
    !text.is_empty() && text.len() <= limits::FORMULA_BYTES && !text.contains('$')
}

fn is_tex_script(dom: &Dom, id: NodeId) -> bool {
    dom.attr(id, attr::TYPE)
        .is_some_and(|kind| kind.starts_with("math/tex"))
}

/// Returns the text before the next formula, its TeX, its delimiter in Markdown, and the text after it. Single dollars
/// delimit TeX only in an element that has nothing else.
fn next_formula(text: &str, is_tex_only: bool) -> Option<(&str, &str, &'static str, &str)> {
    let mut unclosed = 0;
    for (start, _) in text.match_indices(['\\', '$']) {
        let Some(&(open, close, mark)) = DELIMITERS
            .iter()
            .find(|(open, ..)| text[start..].starts_with(open))
        else {
            continue;
        };
        let inner = &text[start + open.len()..];
        let near = &inner.as_bytes()[..inner.len().min(limits::FORMULA_BYTES)];
        if let Some(end) = near.windows(2).position(|two| two == close.as_bytes())
            && is_tex(inner[..end].trim())
        {
            return Some((&text[..start], inner[..end].trim(), mark, &inner[end + 2..]));
        }
        unclosed += 1;
        if unclosed > MAX_UNCLOSED {
            return None;
        }
    }
    let tex = text.trim().strip_prefix('$')?.strip_suffix('$')?;
    (is_tex_only && is_tex(tex)).then_some(("", tex, "$", ""))
}

/// Work that is left in the conversion of MathML.
enum Part {
    Node(NodeId),
    Text(&'static str),
}

/// Returns the TeX of MathML, unless plain characters say the same.
fn from_mathml(dom: &Dom, math: NodeId) -> Option<String> {
    const STRUCTURES: [&str; 9] = [
        "mfrac", "mover", "mroot", "msqrt", "msub", "msubsup", "msup", "munder", "munderover",
    ];
    let mut inside = dom.below(math).take(limits::FORMULA_BYTES);
    if !inside.any(|id| STRUCTURES.contains(&name_of(dom, id))) {
        return None;
    }
    let mut out = String::new();
    let mut left = vec![Part::Node(math)];
    while let Some(part) = left.pop() {
        if out.len() > limits::FORMULA_BYTES {
            return None;
        }
        let id = match part {
            Part::Node(id) => id,
            Part::Text(text) => {
                out.push_str(text);
                continue;
            }
        };
        if dom.tag(id) == Tag::Text {
            push_token(&mut out, &collapse(dom.text(id)));
            continue;
        }
        if matches!(dom.tag(id), Tag::Annotation | Tag::AnnotationXml) {
            continue;
        }
        let is_text = name_of(dom, id) == "mtext";
        let children: Vec<NodeId> = dom
            .children(id)
            .filter(|&child| dom.tag(child) != Tag::Text || !dom.text(child).trim().is_empty())
            .collect();
        let start = left.len();
        match (template(name_of(dom, id)), children.as_slice()) {
            (Some((open, marks)), parts) if parts.len() == marks.len() => {
                // A base of one token needs no braces.
                let bare = usize::from(open == "{" && dom.end(parts[0]) <= parts[0] + 2);
                left.push(Part::Text(&open[bare..]));
                for (at, (&part, &mark)) in parts.iter().zip(marks).enumerate() {
                    let skipped = if at == 0 { bare } else { 0 };
                    left.extend([Part::Node(part), Part::Text(&mark[skipped..])]);
                }
            }
            _ => {
                if is_text {
                    left.push(Part::Text("\\text{"));
                }
                for &child in &children {
                    left.push(Part::Node(child));
                    match name_of(dom, child) {
                        "mtd" => left.push(Part::Text(" & ")),
                        "mtr" => left.push(Part::Text(" \\\\ ")),
                        _ => {}
                    }
                }
                match name_of(dom, id) {
                    "msqrt" => {
                        left.insert(start, Part::Text("\\sqrt{"));
                        left.push(Part::Text("}"));
                    }
                    // No separator after the last cell or row.
                    "mtr" | "mtable" if matches!(left[start..].last(), Some(Part::Text(_))) => {
                        left.pop();
                    }
                    "mtext" => left.push(Part::Text("}")),
                    _ => {}
                }
            }
        }
        left[start..].reverse();
    }
    Some(out.trim().to_owned()).filter(|tex| is_tex(tex))
}

/// Returns the name of an element; empty for text.
fn name_of(dom: &Dom, id: NodeId) -> &str {
    match dom.tag(id) {
        Tag::Text => "",
        _ => dom.name(id),
    }
}

/// Returns what an element's TeX starts with, and what follows each of its children.
fn template(name: &str) -> Option<(&'static str, &'static [&'static str])> {
    Some(match name {
        "mfrac" => ("\\frac{", &["}{", "}"]),
        "mroot" => ("{", &["}^{1/", "}"]),
        "msub" | "munder" => ("{", &["}_{", "}"]),
        "msup" | "mover" => ("{", &["}^{", "}"]),
        "msubsup" | "munderover" => ("{", &["}_{", "}^{", "}"]),
        _ => return None,
    })
}

/// Appends characters of a formula. Names of several letters are set apart.
fn push_token(out: &mut String, token: &str) {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_name = token.chars().take(2).count() == 2;
    if is_name && is_letter(out.chars().next_back()) && is_letter(token.chars().next()) {
        out.push(' ');
    }
    for c in token.chars() {
        match c {
            '{' | '}' | '%' | '#' | '&' | '_' => out.extend(['\\', c]),
            // Invisible operators.
            '\u{2061}'..='\u{2064}' => {}
            _ => out.push(c),
        }
    }
}
