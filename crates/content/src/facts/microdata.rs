//! Reads microdata and RDFa in one pass over the elements, with a stack of the items open at each.

use serde_json::{Map, Value};
use url::Url;

use super::text;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links::{image_source, resolve};
use crate::html::tag::Tag;
use crate::limits;

/// An item being read.
struct Item {
    object: Map<String, Value>,
    /// Index of the item that contains it, and the property names.
    holder: Option<(usize, Vec<String>)>,
}

/// Returns the outermost items of a page, with nested ones inside them.
pub(super) fn objects(dom: &Dom, base: &Url) -> Vec<Map<String, Value>> {
    let mut items: Vec<Item> = Vec::new();
    // Open items: index, and the node at which the item ends.
    let mut open: Vec<(usize, NodeId)> = Vec::new();
    for id in 0..dom.len() {
        while open.last().is_some_and(|&(_, end)| id >= end) {
            open.pop();
        }
        if matches!(dom.tag(id), Tag::Text | Tag::Document) || dom.attributes(id).is_empty() {
            continue;
        }
        let names = property_names(dom, id);
        let holder = open.last().map(|&(item, _)| item);
        if is_item(dom, id) {
            if items.len() == limits::FACT_OBJECTS || open.len() == limits::FACT_NESTING {
                continue;
            }
            let mut object = Map::new();
            let types = [attr::ITEMTYPE].into_iter().filter_map(|name| dom.attr(id, name));
            let types = types
                .chain(dom.attr_named(id, "typeof"))
                .flat_map(str::split_ascii_whitespace);
            object.insert("@type".to_owned(), types.map(short_type).collect());
            let held = holder.filter(|_| !names.is_empty()).map(|holder| (holder, names));
            open.push((items.len(), dom.end(id)));
            items.push(Item { object, holder: held });
        } else if let Some(holder) = holder
            && !names.is_empty()
            && let Some(value) = value(dom, base, id)
        {
            for name in names {
                put(&mut items[holder].object, name, Value::from(value.clone()));
            }
        }
    }
    // Items precede those nested in them: processed from the last one, each is complete when it is inserted
    // into its parent.
    let mut outermost = Vec::new();
    while let Some(Item { object, holder }) = items.pop() {
        match holder {
            Some((at, names)) => {
                for name in names {
                    put_first(&mut items[at].object, name, Value::Object(object.clone()));
                }
            }
            None if object.len() > 1 => outermost.push(object),
            None => {}
        }
    }
    outermost.reverse();
    outermost
}

/// Returns a type without the URL of its vocabulary.
pub(super) fn short_type(name: &str) -> Value {
    let name = name.trim().trim_end_matches('/');
    name.rsplit(['/', '#', ':']).next().unwrap_or(name).into()
}

fn is_item(dom: &Dom, id: NodeId) -> bool {
    dom.attr_named(id, "itemscope").is_some() || dom.attr_named(id, "typeof").is_some()
}

/// Returns the names of the properties that an element states, without prefixes.
fn property_names(dom: &Dom, id: NodeId) -> Vec<String> {
    let names = dom
        .attr(id, attr::ITEMPROP)
        .or_else(|| dom.attr(id, attr::PROPERTY));
    let names = names.unwrap_or_default().split_ascii_whitespace().take(4);
    names
        .map(|name| name.rsplit(['/', '#', ':']).next().unwrap_or(name).to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns the value of an element as HTML defines it for microdata; `content` takes precedence everywhere,
/// as in RDFa.
fn value(dom: &Dom, base: &Url, id: NodeId) -> Option<String> {
    let address = |href: &str| resolve(base, href).map(String::from);
    if let Some(content) = dom.attr(id, attr::CONTENT) {
        return Some(crate::html::dom::collapse(content)).filter(|text| !text.is_empty());
    }
    let stated = match dom.tag(id) {
        Tag::A | Tag::Link | Tag::Area => dom.attr(id, attr::HREF).and_then(address),
        Tag::Img => image_source(dom, id).and_then(address),
        Tag::Audio | Tag::Video | Tag::Source | Tag::Iframe | Tag::Embed | Tag::Track => {
            dom.attr(id, attr::SRC).and_then(address)
        }
        Tag::Data | Tag::Meter => dom.attr(id, attr::VALUE).map(str::to_owned),
        Tag::Time => dom.attr(id, attr::DATETIME).map(str::to_owned),
        _ => None,
    };
    stated.or_else(|| text(dom, id))
}

/// Adds a value; several values of one name become a list.
fn put(object: &mut Map<String, Value>, name: String, value: Value) {
    match object.get_mut(&name) {
        None => {
            object.insert(name, value);
        }
        Some(Value::Array(list)) if list.len() < limits::FACT_LIST => list.push(value),
        Some(Value::Array(_)) => {}
        Some(one) => *one = Value::Array(vec![one.take(), value]),
    }
}

/// Adds a value at the front, for values that arrive in reverse order.
fn put_first(object: &mut Map<String, Value>, name: String, value: Value) {
    match object.get_mut(&name) {
        None => {
            object.insert(name, value);
        }
        Some(Value::Array(list)) => {
            list.insert(0, value);
            list.truncate(limits::FACT_LIST);
        }
        Some(one) => *one = Value::Array(vec![value, one.take()]),
    }
}
