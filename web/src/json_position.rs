//! Finds the position of a value in a JSON text by its path, to report errors with line and column.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// A position in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextPosition {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Offset from the start of the text in UTF-16 units, as used by browser selections.
    pub start: u32,
    /// Offset of the end of the line in UTF-16 units.
    pub end: u32,
}

/// Returns the position of the value at a path of names and indexes joined by dots, or of its closest existing
/// ancestor. Returns `None` if the text is not JSON.
pub fn position_of(text: &str, path: &str) -> Option<TextPosition> {
    let mut value: &RawValue = serde_json::from_str(text).ok()?;
    for part in path.split('.') {
        let Some(inner) = child(value, part) else { break };
        value = inner;
    }
    // `value` borrows from `text`, so the difference of the addresses is its offset.
    let offset = value.get().as_ptr().addr() - text.as_ptr().addr();
    let (before, after) = text.split_at(offset);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let start = utf16_len(before);
    Some(TextPosition {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        start,
        end: start + utf16_len(after.lines().next().unwrap_or_default()),
    })
}

/// Returns the value at a name or index.
fn child<'t>(value: &'t RawValue, part: &str) -> Option<&'t RawValue> {
    let text = value.get();
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(items) => items.get(part.parse::<usize>().ok()?).copied(),
        Err(_) => serde_json::from_str::<BTreeMap<String, &RawValue>>(text)
            .ok()?
            .remove(part),
    }
}

fn utf16_len(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_found_by_path() {
        let text = "{\n  \"a\\\"b\": {\"x\": [1, {\"y\": \"},\\\"\"}, []]},\n  \"é\": 12, \"last\": [\"one\", {\"two\": -1e3}]\n}";
        let at = |path: &str| {
            let position = position_of(text, path).unwrap();
            (position.line, position.column)
        };
        assert_eq!(at("a\"b.x.1.y"), (2, 27));
        assert_eq!(at("a\"b.x.2"), (2, 36));
        assert_eq!(at("last"), (3, 20));
        assert_eq!(at("last.1.two"), (3, 36));
        // Missing values resolve to their closest ancestor.
        assert_eq!(at("last.7"), at("last"));
        assert_eq!(at("é.deeper"), (3, 8));
        assert_eq!(at("nothing"), (1, 1));
        let position = position_of(text, "é").unwrap();
        let line: String = text
            .encode_utf16()
            .skip(position.start as usize)
            .take((position.end - position.start) as usize)
            .map(|unit| char::from_u32(unit.into()).unwrap())
            .collect();
        assert!(line.starts_with("12,") && line.ends_with(']'), "{line}");
        assert_eq!(position_of("{\"a\": }", "a"), None);
    }
}
