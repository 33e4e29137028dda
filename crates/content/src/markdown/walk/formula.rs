//! Formulas: written as TeX. The page has the TeX, as an annotation, in a script or as text that a script replaces, or it
//! is made from the MathML. MathML without fractions, scripts or roots is written as plain characters.

mod mathml;

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
        let Some(tex) = self
            .tex(id)
            .or_else(|| mathml::tex(self.dom, id).filter(|tex| is_tex(tex)))
        else {
            return false;
        };
        let is_block = self.dom.attr(id, attr::DISPLAY) == Some("block");
        self.write_tex(&tex, if is_block && !self.inline.cell { "$$" } else { "$" });
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
