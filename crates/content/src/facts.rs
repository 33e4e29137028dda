//! The data that a page states: objects of JSON-LD, microdata and RDFa, `meta` values, tables, lists, and
//! label-value pairs. Their meaning to the caller is not decided here, and nothing is guessed from prose.

mod json_ld;
mod lists;
mod microdata;
mod pairs;
mod table;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;
use crate::limits;

/// The facts of a page, each kind in document order.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Objects of JSON-LD, then of microdata and RDFa. Nested objects are inside the object that holds them.
    /// `@type` is a list of names without the URL of their vocabulary. Values are as written, with white
    /// space collapsed.
    pub objects: Vec<Map<String, Value>>,
    /// `meta` values by property or name, in lower case.
    pub meta: Vec<(String, String)>,
    /// Data tables.
    pub tables: Vec<FactTable>,
    /// Labels, without their colon, and their values.
    pub pairs: Vec<(String, String)>,
    /// Headings and the items of the list below each.
    pub lists: Vec<(String, Vec<String>)>,
    /// The title of the article, else of the page.
    pub title: Option<String>,
}

/// A table with a row of column names.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FactTable {
    /// Its caption, or else the heading above it; may be empty.
    pub caption: String,
    /// Names of the columns; may be empty.
    pub columns: Vec<String>,
    /// The rows; none is longer than `columns`.
    pub rows: Vec<Vec<FactCell>>,
}

/// A cell of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FactCell {
    /// Its text, with white space collapsed.
    pub text: String,
    /// URL of its first link, absolute.
    pub link: Option<String>,
}

/// Collects the facts of a page.
pub(crate) fn facts(dom: &Dom, base: &Url) -> Facts {
    let mut objects = json_ld::objects(dom);
    objects.extend(microdata::objects(dom, base));
    objects.truncate(limits::FACT_OBJECTS);
    let (tables, mut pairs) = table::tables(dom, base);
    pairs.extend(pairs::pairs(dom));
    pairs.truncate(limits::FACT_PAIRS);
    Facts {
        objects,
        meta: meta(dom),
        tables,
        pairs,
        lists: lists::lists(dom),
        title: crate::html::json_ld::article_metadata(dom).title,
    }
}

fn meta(dom: &Dom) -> Vec<(String, String)> {
    let named = dom.all(Tag::Meta);
    named
        .filter_map(|id| {
            let name = dom
                .attr(id, attr::PROPERTY)
                .or_else(|| dom.attr(id, attr::NAME))?;
            let content = collapse(dom.attr(id, attr::CONTENT)?);
            let fits = !content.is_empty() && content.len() <= limits::FACT_TEXT_BYTES;
            fits.then(|| (name.trim().to_ascii_lowercase(), content))
        })
        .take(limits::METADATA_KEYS)
        .collect()
}

/// Returns the text below a node, with white space collapsed and cut at the limit; `None` when it is empty.
fn text(dom: &Dom, id: NodeId) -> Option<String> {
    let mut text = collapse(&dom.text_of(id, limits::FACT_TEXT_BYTES));
    text.truncate(text.floor_char_boundary(limits::FACT_TEXT_BYTES));
    (!text.is_empty()).then_some(text)
}

/// Returns whether a node is in navigation, a footer, or an element that never shows text.
fn is_around(dom: &Dom, id: NodeId) -> bool {
    dom.ancestors(id)
        .any(|up| matches!(dom.tag(up), Tag::Nav | Tag::Footer) || dom.is_never_text(up))
}

#[cfg(test)]
mod tests;
