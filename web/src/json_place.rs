//! Where in a JSON text the value of a path stands, so that what is wrong with it can be told with line and column.

/// A place in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// Characters, from 1.
    pub column: usize,
    /// From the beginning of the text to the place, in the units of a browser's selections.
    pub start: u32,
    /// The same to the end of the line.
    pub end: u32,
}

/// The place of the value at a path of names and indexes joined by dots, or of as much of the path as there is; none
/// in a text that is no JSON.
pub fn place_of(text: &str, path: &str) -> Option<Place> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    let mut scanner = Scanner { text, at: 0 };
    let at = scanner.find(path.split('.'));
    let (before, after) = text.split_at(at);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let start = units(before);
    Some(Place {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        start,
        end: start + units(after.lines().next().unwrap_or_default()),
    })
}

fn units(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX)
}

/// Reads a text that is known to be JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Goes down a path as far as there is something, and tells where that begins.
    fn find<'p>(&mut self, path: impl Iterator<Item = &'p str>) -> usize {
        let mut found = self.next();
        for part in path {
            if !self.enter(part) {
                break;
            }
            found = self.next();
        }
        found
    }

    /// Goes to the value of a name or an index in the value that begins here.
    fn enter(&mut self, part: &str) -> bool {
        let opened = self.peek();
        if opened != b'{' && opened != b'[' {
            return false;
        }
        let mut index = 0_usize;
        loop {
            self.at += 1;
            if matches!(self.next_byte(), b'}' | b']') {
                return false;
            }
            let is_it = match opened {
                b'{' => {
                    let name = self.string();
                    self.next();
                    self.at += 1;
                    serde_json::from_str::<String>(name).is_ok_and(|name| name == part)
                }
                _ => part.parse() == Ok(index),
            };
            if is_it {
                return true;
            }
            self.skip();
            index += 1;
            if self.next_byte() != b',' {
                return false;
            }
        }
    }

    /// Passes the value that follows.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.next_byte() {
                b'"' => _ = self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    while !matches!(self.peek(), b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' | 0) {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Passes the string that begins here.
    fn string(&mut self) -> &'a str {
        let begin = self.at;
        self.at += 1;
        while self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        &self.text[begin..self.at]
    }

    /// Passes white space.
    fn next(&mut self) -> usize {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        self.at
    }

    fn next_byte(&mut self) -> u8 {
        self.next();
        self.peek()
    }

    /// The byte here; 0 at the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_place() {
        let text = "{\n  \"a\\\"b\": {\"x\": [1, {\"y\": \"},\\\"\"}, []]},\n  \"é\": 12, \"last\": [\"one\", {\"two\": -1e3}]\n}";
        let at = |path: &str| {
            let place = place_of(text, path).unwrap();
            (place.line, place.column)
        };
        assert_eq!(at("a\"b.x.1.y"), (2, 27));
        assert_eq!(at("a\"b.x.2"), (2, 36));
        assert_eq!(at("last"), (3, 20));
        assert_eq!(at("last.1.two"), (3, 36));
        // As much of the path as there is.
        assert_eq!(at("last.7"), at("last"));
        assert_eq!(at("é.deeper"), (3, 8));
        assert_eq!(at("nothing"), (1, 1));
        let place = place_of(text, "é").unwrap();
        let line: String = text
            .encode_utf16()
            .skip(place.start as usize)
            .take((place.end - place.start) as usize)
            .map(|unit| char::from_u32(unit.into()).unwrap())
            .collect();
        assert!(line.starts_with("12,") && line.ends_with(']'), "{line}");
        assert_eq!(place_of("{\"a\": }", "a"), None);
    }
}
