//! A path pattern with `*` and `$`, matched from left to right: each literal between stars matches at its
//! first occurrence, so matching never backtracks.

use memchr::{memchr, memmem};

/// A normalized pattern: non-ASCII bytes are percent-encoded, and the hex digits of percent-encodings
/// are upper case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pattern {
    text: Box<[u8]>,
    /// Bytes that a matching path contains.
    bytes: ByteSet,
}

/// A set of ASCII bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ByteSet(u128);

impl ByteSet {
    /// Collects the ASCII bytes of a text.
    pub(super) fn of(text: &[u8]) -> Self {
        let ascii = text.iter().filter(|byte| byte.is_ascii());
        Self(ascii.fold(0, |set, byte| set | 1 << byte))
    }

    fn contains_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

impl Pattern {
    /// Normalizes the value of an `Allow` or `Disallow` line.
    pub(super) fn new(value: &[u8]) -> Self {
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        let mut text = Vec::with_capacity(value.len());
        for (i, &byte) in value.iter().enumerate() {
            let in_escape = |back: usize| {
                i >= back
                    && value[i - back] == b'%'
                    && value.get(i - back + 1).is_some_and(u8::is_ascii_hexdigit)
                    && value.get(i - back + 2).is_some_and(u8::is_ascii_hexdigit)
            };
            if byte >= 0x80 {
                text.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            } else if in_escape(1) || in_escape(2) {
                text.push(byte.to_ascii_uppercase());
            } else {
                text.push(byte);
            }
        }
        let body = text.strip_suffix(b"$").unwrap_or(&text);
        Self {
            bytes: ByteSet(ByteSet::of(body).0 & !ByteSet::of(b"*").0),
            text: text.into(),
        }
    }

    /// Returns the normalized pattern. Its length is its precedence.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Returns the path that matches, without the end anchor, if there are no wildcards.
    pub(super) fn literal(&self) -> Option<(&[u8], bool)> {
        let (body, anchored) = self.split_anchor();
        (!body.contains(&b'*')).then_some((body, anchored))
    }

    /// Returns whether a path with these bytes can match.
    pub(super) fn may_match(&self, path_bytes: ByteSet) -> bool {
        path_bytes.contains_all(self.bytes)
    }

    fn split_anchor(&self) -> (&[u8], bool) {
        match self.text.strip_suffix(b"$") {
            Some(body) => (body, true),
            None => (&self.text, false),
        }
    }

    /// Returns whether the pattern matches a prefix of `path`, or all of it if it ends in `$`.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let (body, anchored) = self.split_anchor();
        let mut pieces = body.split(|byte| *byte == b'*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else {
            return false;
        };
        let Some(mut piece) = pieces.next() else {
            return !anchored || rest.is_empty();
        };
        for next in pieces {
            match find(rest, piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
            piece = next;
        }
        if anchored {
            rest.ends_with(piece)
        } else {
            find(rest, piece).is_some()
        }
    }
}

/// Returns where `piece` first occurs.
fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    match piece {
        [byte] => memchr(*byte, text),
        _ => memmem::find(text, piece),
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteSet, Pattern};

    #[test]
    fn stars_and_end_anchors_match() {
        for (pattern, path, expected) in [
            ("/a*b$", "/a-b", true),
            ("/a*b$", "/ab", true),
            ("/a*b$", "/abc", false),
            ("/ab*b$", "/ab", false),
            ("*", "/", true),
            ("/*$", "/x", true),
            ("/a$b", "/a$b", true),
            ("/caf\u{e9}%c3", "/caf%C3%A9%C3", true),
            ("/%zz", "/%zz", true),
        ] {
            let pattern = Pattern::new(pattern.as_bytes());
            let matched = pattern.matches(path.as_bytes());
            assert_eq!(matched, expected, "{pattern:?} {path}");
            assert!(
                !matched || pattern.may_match(ByteSet::of(path.as_bytes())),
                "{pattern:?} {path}"
            );
        }
    }
}
