//! Data tables: rows under column names. A table of two columns without column names is read as label-value
//! pairs.

use url::Url;

use super::{FactCell, FactTable, text};
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links::resolve;
use crate::html::tag::Tag;
use crate::limits;
use crate::markdown::table::{cells, rows};

/// Returns the data tables of a page, and the pairs of two-column tables.
pub(super) fn tables(dom: &Dom, base: &Url) -> (Vec<FactTable>, Vec<(String, String)>) {
    let (mut tables, mut pairs) = (Vec::new(), Vec::new());
    let mut budget = limits::FACT_CELLS;
    let mut heading = String::new();
    for id in 0..dom.len() {
        if dom.tag(id).heading_level().is_some() {
            heading = text(dom, id).unwrap_or_default();
        }
        let outer = dom.tag(id) == Tag::Table && dom.first(id, Tag::Table).is_none();
        if !outer || tables.len() == limits::FACT_TABLES {
            continue;
        }
        let read = read(dom, base, id, &heading, &mut budget);
        if read.columns.is_empty() {
            let two = read
                .rows
                .into_iter()
                .filter_map(|row| match <[FactCell; 2]>::try_from(row) {
                    Ok([label, value]) => label_of(&label.text).map(|label| (label, value.text)),
                    Err(_) => None,
                });
            pairs.extend(two.filter(|(_, value)| !value.is_empty()));
        } else if !read.rows.is_empty() {
            tables.push(read);
        }
    }
    (tables, pairs)
}

fn read(dom: &Dom, base: &Url, table: NodeId, heading: &str, budget: &mut usize) -> FactTable {
    let caption = dom.children(table).find(|&id| dom.tag(id) == Tag::Caption);
    let mut read = FactTable {
        caption: caption
            .and_then(|id| text(dom, id))
            .unwrap_or_else(|| heading.to_owned()),
        ..FactTable::default()
    };
    for (at, row) in rows(dom, table).into_iter().take(limits::FACT_ROWS).enumerate() {
        let all: Vec<NodeId> = cells(dom, row).take(limits::FACT_COLUMNS).collect();
        *budget = budget.saturating_sub(all.len());
        if *budget == 0 {
            break;
        }
        let spans = all.iter().any(|&cell| {
            dom.attr(cell, attr::COLSPAN)
                .is_some_and(|span| span.trim() != "1")
        });
        let is_head = all.len() > 1
            && (all.iter().all(|&cell| dom.tag(cell) == Tag::Th) || dom.tag(dom.parent(row)) == Tag::Thead);
        if is_head && !spans && at < 2 && read.rows.is_empty() {
            read.columns = all
                .iter()
                .map(|&cell| text(dom, cell).unwrap_or_default())
                .collect();
            continue;
        }
        let row: Vec<FactCell> = all.iter().map(|&id| cell(dom, base, id)).collect();
        let fits = read.columns.is_empty() || row.len() <= read.columns.len();
        if !spans && fits && row.len() > 1 {
            read.rows.push(row);
        }
    }
    read
}

fn cell(dom: &Dom, base: &Url, id: NodeId) -> FactCell {
    let link = dom.below(id).find_map(|below| match dom.tag(below) {
        Tag::A => dom.attr(below, attr::HREF),
        _ => None,
    });
    FactCell {
        text: text(dom, id).unwrap_or_default(),
        link: link.and_then(|href| resolve(base, href)).map(String::from),
    }
}

/// Returns a text as a label, without its colon, if it is short enough.
pub(super) fn label_of(text: &str) -> Option<String> {
    let label = text.trim().trim_end_matches([':', '：']).trim();
    let fits = !label.is_empty()
        && label.chars().count() <= limits::FACT_LABEL_CHARS
        && label.split_whitespace().count() <= limits::FACT_LABEL_WORDS
        && label.contains(char::is_alphabetic);
    fits.then(|| label.to_owned())
}
