//! A path pattern with `*` and `$`, matched from left to right: each literal between stars matches at its
//! first occurrence, so matching never backtracks.

use memchr::memmem;

/// A normalized pattern: non-ASCII bytes are percent-encoded, and the hex digits of percent-encodings
/// are upper case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pattern(Box<[u8]>);

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
        Self(text.into())
    }

    /// Returns the normalized pattern. Its length is its precedence.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns whether the pattern matches a prefix of `path`, or all of it if it ends in `$`.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let (body, anchored) = match self.0.strip_suffix(b"$") {
            Some(body) => (body, true),
            None => (&*self.0, false),
        };
        let mut pieces = body.split(|byte| *byte == b'*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else {
            return false;
        };
        let Some(mut piece) = pieces.next() else {
            return !anchored || rest.is_empty();
        };
        for next in pieces {
            match memmem::find(rest, piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
            piece = next;
        }
        if anchored {
            rest.ends_with(piece)
        } else {
            memmem::find(rest, piece).is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

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
            let matched = Pattern::new(pattern.as_bytes()).matches(path.as_bytes());
            assert_eq!(matched, expected, "{pattern} {path}");
        }
    }
}
