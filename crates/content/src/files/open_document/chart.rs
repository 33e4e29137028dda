//! Charts: objects that contain a table of their values.

use crate::files::markup::Markup;
use crate::files::xml::{self, Node};
use crate::limits;

/// Returns the values of a chart as a table with its title; `None` if it is another object.
pub(super) fn table(xml: &str) -> Option<String> {
    if xml.len() > limits::FILE_HTML_BYTES / 2 {
        return None;
    }
    let mut title = String::new();
    let mut rows = Markup::default();
    let mut text = String::new();
    let mut open: Vec<String> = Vec::new();
    xml::walk(xml, |node| match node {
        Node::Start(name, _) => {
            match name.as_str() {
                "table:table-row" => {
                    rows.open("tr");
                }
                "table:table-cell" | "chart:title" => text.clear(),
                _ => {}
            }
            open.push(name);
        }
        Node::Text(more) => {
            if matches!(open.last().map(String::as_str), Some("text:p" | "text:span")) {
                text.push_str(&more);
            }
        }
        Node::End(name) => {
            open.pop();
            let is_in = |parent| open.iter().any(|name| name == parent);
            match name.as_str() {
                // Axes have titles, too.
                "chart:title" if !is_in("chart:axis") => title = std::mem::take(&mut text),
                "table:table-cell" => {
                    let name = if is_in("table:table-header-rows") {
                        "th"
                    } else {
                        "td"
                    };
                    rows.element(name, if text == "NaN" { "" } else { &text });
                }
                "table:table-row" => {
                    rows.close("tr");
                }
                _ => {}
            }
        }
    })
    .ok()?;
    let rows = Some(rows.into_html()).filter(|rows| !rows.is_empty())?;
    let mut html = Markup::default();
    html.open("table");
    if !title.is_empty() {
        html.element("caption", &title);
    }
    html.raw(&rows).close("table");
    Some(html.into_html())
}
