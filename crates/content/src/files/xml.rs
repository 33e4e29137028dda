//! Reads XML as a flat sequence of events, with element names as written, the five predefined entities only,
//! and limited depth.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use super::FileError;
use crate::limits;

/// One event.
#[derive(Debug)]
pub(super) enum Node {
    /// Start of an element.
    Start(String, Attributes),
    /// End of the innermost open element.
    End(String),
    /// Text.
    Text(String),
}

/// The attributes of an element.
#[derive(Debug, Default)]
pub(super) struct Attributes(HashMap<String, String>);

impl Attributes {
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns an attribute as a number.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.find(name)?.parse().ok()
    }

    /// Returns an attribute as a number between 1 and `most`; 1 when it is missing or invalid.
    pub(super) fn count(&self, name: &str, most: usize) -> usize {
        self.find(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(1)
            .clamp(1, most)
    }
}

/// Reads a document from start to end; every `Start` has its `End`.
///
/// # Errors
///
/// Fails for markup that is not well-formed, or too deeply nested.
pub(super) fn walk(xml: &str, mut visit: impl FnMut(Node)) -> Result<(), FileError> {
    let mut reader = Reader::from_str(xml);
    let mut depth = 0_usize;
    loop {
        let event = reader
            .read_event()
            .map_err(|error| FileError::Damaged(format!("its XML is not well-formed: {error}")))?;
        match event {
            Event::Start(start) => {
                depth += 1;
                if depth > limits::XML_DEPTH {
                    return Err(FileError::TooLarge(format!(
                        "its XML is nested more than {} deep",
                        limits::XML_DEPTH
                    )));
                }
                visit(Node::Start(start.name().as_ref().to_owned(), attributes(&start)));
            }
            Event::Empty(start) => {
                let name = start.name().as_ref().to_owned();
                visit(Node::Start(name.clone(), attributes(&start)));
                visit(Node::End(name));
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                visit(Node::End(end.name().as_ref().to_owned()));
            }
            Event::Text(text) => visit(Node::Text(text.to_string())),
            Event::CData(data) => visit(Node::Text(data.to_string())),
            Event::GeneralRef(entity) => {
                let text = match entity.resolve_char_ref() {
                    Ok(Some(c)) => c.to_string(),
                    _ => resolve_xml_entity(&entity).unwrap_or_default().to_owned(),
                };
                visit(Node::Text(text));
            }
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn attributes(start: &BytesStart<'_>) -> Attributes {
    let mut found = Attributes::default();
    for attribute in start.attributes().with_checks(false).flatten() {
        let value = match quick_xml::escape::unescape(&attribute.value) {
            Ok(value) => value.into_owned(),
            Err(_) => attribute.value.clone().into_owned(),
        };
        found.0.insert(attribute.key.as_ref().to_owned(), value);
    }
    found
}
