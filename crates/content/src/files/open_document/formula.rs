//! Formulas: objects that contain MathML.

use crate::files::markup::Markup;
use crate::files::xml::{self, Node};
use crate::limits;

const ELEMENTS: [&str; 24] = [
    "math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mphantom", "mprescripts",
    "mroot", "mrow", "ms", "msqrt", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder",
    "munderover", "none",
];
const ATTRIBUTES: [&str; 5] = ["fence", "linethickness", "mathvariant", "notation", "stretchy"];

/// Returns the formula in an object of a document; `None` if it is another object.
pub(super) fn mathml(xml: &str) -> Option<String> {
    if xml.len() > limits::EQUATION_BYTES {
        return None;
    }
    let mut html = Markup::default();
    let mut open = Vec::new();
    xml::walk(xml, |node| match node {
        Node::Start(name, attributes) => {
            let name = name.rsplit(':').next().unwrap_or_default();
            let name = ELEMENTS
                .iter()
                .find(|known| **known == name)
                .copied()
                .unwrap_or_default();
            if !name.is_empty() {
                html.raw("<").raw(name);
                for attribute in ATTRIBUTES {
                    if let Some(value) = attributes.find(attribute) {
                        html.raw(" ").raw(attribute).raw("=\"").text(value).raw("\"");
                    }
                }
                html.raw(">");
            }
            open.push(name);
        }
        Node::Text(text) if matches!(open.last(), Some(&("mi" | "mn" | "mo" | "ms" | "mtext"))) => {
            html.text(&text);
        }
        Node::Text(_) => {}
        Node::End(_) => {
            if let Some(name) = open.pop().filter(|name| !name.is_empty()) {
                html.raw("</").raw(name).raw(">");
            }
        }
    })
    .ok()?;
    Some(html.into_html()).filter(|html| html.starts_with("<math>"))
}
