//! Splits Rich Text Format into tokens, without allocation.

/// One token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A control word with its parameter.
    Word(&'a str, Option<i32>),
    /// A control symbol.
    Symbol(u8),
    /// `\'hh`: a byte in the code page.
    Byte(u8),
    /// Plain bytes, also in the code page.
    Text(&'a [u8]),
}

/// Iterator over the tokens of a file.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Tokens { rest: body }
    }

    /// Skips bytes, for example binary data.
    pub(super) fn skip_bytes(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes.min(self.rest.len())..];
    }

    fn word(&mut self) -> Option<Token<'a>> {
        let after = &self.rest[1..];
        let first = *after.first()?;
        if !first.is_ascii_alphabetic() {
            if first == b'\'' {
                let digits = after.get(1..3).and_then(|two| std::str::from_utf8(two).ok());
                let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
                self.skip_bytes(if byte.is_some() { 4 } else { 2 });
                return Some(Token::Byte(byte.unwrap_or(b'?')));
            }
            self.skip_bytes(2);
            return Some(Token::Symbol(first));
        }
        let letters = after.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let name = std::str::from_utf8(&after[..letters]).unwrap_or_default();
        let number = &after[letters..];
        let sign = usize::from(number.first() == Some(&b'-'));
        let digits = number[sign..].iter().take_while(|b| b.is_ascii_digit()).count();
        let text = std::str::from_utf8(&number[..sign + digits]).unwrap_or_default();
        let parameter = if digits > 0 { text.parse().ok() } else { None };
        let used = letters + if digits > 0 { sign + digits } else { 0 };
        // One space after a control word belongs to it.
        let space = usize::from(after.get(used) == Some(&b' '));
        self.skip_bytes(1 + used + space);
        Some(Token::Word(name, parameter))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            match *self.rest.first()? {
                b'{' => {
                    self.skip_bytes(1);
                    return Some(Token::Open);
                }
                b'}' => {
                    self.skip_bytes(1);
                    return Some(Token::Close);
                }
                b'\\' => return self.word(),
                b'\r' | b'\n' | 0 => self.skip_bytes(1),
                _ => {
                    let length = self
                        .rest
                        .iter()
                        .take_while(|b| !matches!(b, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0))
                        .count();
                    let text = &self.rest[..length];
                    self.skip_bytes(length);
                    return Some(Token::Text(text));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_split_into_tokens() {
        let tokens: Vec<_> = Tokens::new(b"{\\rtf1\\b0 a\\'e9\\~b\r\n\\u-12?}").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Word("rtf", Some(1)),
                Token::Word("b", Some(0)),
                Token::Text(b"a"),
                Token::Byte(0xE9),
                Token::Symbol(b'~'),
                Token::Text(b"b"),
                Token::Word("u", Some(-12)),
                Token::Text(b"?"),
                Token::Close,
            ]
        );
        assert_eq!(Tokens::new(b"\\").count(), 0);
    }
}
