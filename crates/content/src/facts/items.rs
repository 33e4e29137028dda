//! Microdata and RDFa: one pass over the elements, with the items that are open at each.

use serde_json::{Map, Value};
use url::Url;

use super::text;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links::{image_source, resolve};
use crate::html::tag::Tag;
use crate::limits;

/// An item while it is read.
struct Item {
    object: Map<String, Value>,
    /// The item that holds it, and under which names.
    holder: Option<(usize, Vec<String>)>,
}

/// Items of a page, outermost ones; what they hold is inside them.
pub(super) fn objects(dom: &Dom, base: &Url) -> Vec<Map<String, Value>> {
    let mut items: Vec<Item> = Vec::new();
    // The items that are open: their index and where they end.
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
    // An item comes before those that it holds: from the last one, each is whole when it is put into its holder.
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

/// A type without the address of its vocabulary.
pub(super) fn short_type(name: &str) -> Value {
    let name = name.trim().trim_end_matches('/');
    name.rsplit(['/', '#', ':']).next().unwrap_or(name).into()
}

fn is_item(dom: &Dom, id: NodeId) -> bool {
    dom.attr_named(id, "itemscope").is_some() || dom.attr_named(id, "typeof").is_some()
}

/// Names of the properties that an element states, without prefixes.
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

/// What an element states, as HTML says for microdata; `content` counts everywhere, as in RDFa.
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

/// Adds a value; several of one name are a list.
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

/// The same at the front, for values that come from the last to the first.
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
