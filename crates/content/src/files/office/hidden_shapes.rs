//! Shapes of PowerPoint slides that are not shown. `office_oxide` does not return which these are, so they are removed
//! before the file is read.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

const SHAPES: [&str; 5] = ["p:sp", "p:pic", "p:graphicFrame", "p:grpSp", "p:cxnSp"];

/// Returns the XML of a slide without its hidden shapes; `None` if it has none.
pub(super) fn removed(xml: &str) -> Option<String> {
    if !xml.contains(" hidden=\"") {
        return None;
    }
    let hidden = hidden(xml)?;
    let mut out = String::new();
    let mut copied = 0;
    for Range { start, end } in hidden {
        out.push_str(&xml[copied..start]);
        copied = end;
    }
    out.push_str(&xml[copied..]);
    (copied > 0).then_some(out)
}

/// Returns where the hidden shapes are that are in no other one; `None` if the XML is damaged.
fn hidden(xml: &str) -> Option<Vec<Range<usize>>> {
    let mut reader = Reader::from_str(xml);
    let mut hidden: Vec<Range<usize>> = Vec::new();
    // Where each open shape begins, and whether it is hidden.
    let mut open = Vec::new();
    loop {
        let event = reader.read_event().ok()?;
        let end = usize::try_from(reader.buffer_position()).ok()?;
        match event {
            Event::Start(tag) if SHAPES.contains(&tag.name().as_ref()) => {
                open.push((end - tag.len() - "<>".len(), false));
            }
            Event::Start(tag) | Event::Empty(tag) if is_hidden(&tag) => {
                if let Some((_, is_hidden)) = open.last_mut() {
                    *is_hidden = true;
                }
            }
            Event::End(tag) if SHAPES.contains(&tag.name().as_ref()) => {
                if let Some((start, true)) = open.pop() {
                    hidden.retain(|inner| inner.start < start);
                    hidden.push(start..end);
                }
            }
            Event::Eof => return Some(hidden),
            _ => {}
        }
    }
}

fn is_hidden(tag: &BytesStart<'_>) -> bool {
    let attribute = |tag: &BytesStart<'_>| {
        let hidden = tag.try_get_attribute("hidden").ok()??;
        Some(matches!(hidden.value.as_ref(), "1" | "true"))
    };
    tag.name().as_ref() == "p:cNvPr" && attribute(tag) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_shapes_are_removed_with_those_in_them() {
        let properties = |hidden: &str| format!("<p:nvSpPr><p:cNvPr id=\"1\"{hidden}/></p:nvSpPr>");
        let shape = |name: &str, hidden: &str, content: &str| {
            format!("<p:{name}>{}{content}</p:{name}>", properties(hidden))
        };
        let (shown, hidden) = (" hidden=\"0\"", " hidden=\"1\"");
        let kept = shape("sp", shown, "<a:t>é</a:t>");
        let group = shape("grpSp", hidden, &(shape("sp", hidden, "a") + &kept));
        let outer = |inner: &str| format!("<p:spTree>{}</p:spTree>", shape("grpSp", "", inner));
        let slide = outer(&(shape("pic", hidden, "") + &kept + &group));
        assert_eq!(removed(&slide), Some(outer(&kept)));
        assert_eq!(removed(&outer(&kept)), None);
        assert_eq!(removed("<p:sp><p:cNvPr hidden=\"1\"/></p:pic>"), None);
    }
}
