//! Lists below a heading, for example ingredients, features, steps.

use super::table::label_of;
use super::{is_around, text};
use crate::html::dom::Dom;
use crate::html::tag::Tag;
use crate::limits;

/// Returns the items of each list, with the nearest heading before it.
pub(super) fn lists(dom: &Dom) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut heading: Option<String> = None;
    let mut at = 0;
    while at < dom.len() && found.len() < limits::FACT_LISTS {
        let tag = dom.tag(at);
        if tag.heading_level().is_some() {
            heading = text(dom, at).as_deref().and_then(label_of);
        } else if matches!(tag, Tag::Ul | Tag::Ol) && !is_around(dom, at) {
            if let Some(heading) = &heading {
                let items = dom.children(at).filter(|&item| dom.tag(item) == Tag::Li);
                let items: Vec<String> = items
                    .take(limits::FACT_LIST)
                    .filter_map(|item| text(dom, item))
                    .collect();
                if !items.is_empty() {
                    found.push((heading.clone(), items));
                }
            }
            at = dom.end(at);
            continue;
        }
        at += 1;
    }
    found
}
