//! Decoding without tables of charsets: UTF-8, UTF-16, and windows-1252 for everything else.

use std::borrow::Cow;
use std::char::{REPLACEMENT_CHARACTER, decode_utf16};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// What windows-1252 has instead of the control characters from U+0080 to U+009F.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// Returns the text of a body without its byte order mark.
pub(super) fn text<'b>(encoding: &'static Encoding, body: &'b [u8]) -> Cow<'b, str> {
    match encoding {
        encoding if encoding == UTF_8 => String::from_utf8_lossy(body),
        encoding if encoding == UTF_16LE => utf_16(body, u16::from_le_bytes).into(),
        encoding if encoding == UTF_16BE => utf_16(body, u16::from_be_bytes).into(),
        _ => match std::str::from_utf8(body) {
            Ok(text) if body.is_ascii() => text.into(),
            _ => body
                .iter()
                .map(|byte| windows_1252(*byte))
                .collect::<String>()
                .into(),
        },
    }
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..0xA0 => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn utf_16(body: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = body.as_chunks();
    let units = pairs.iter().map(|pair| unit(*pair));
    let text = decode_utf16(units).map(|found| found.unwrap_or(REPLACEMENT_CHARACTER));
    // Half a unit at the end is a separate error, unless it follows half of a pair.
    let half_pair = pairs
        .last()
        .is_some_and(|pair| matches!(unit(*pair), 0xD800..0xDC00));
    text.chain((!rest.is_empty() && !half_pair).then_some(REPLACEMENT_CHARACTER))
        .collect()
}

#[cfg(test)]
mod tests {
    use encoding_rs::WINDOWS_1252;

    use super::*;

    #[track_caller]
    fn check(encoding: &'static Encoding, body: &[u8]) {
        let (expected, _) = encoding.decode_without_bom_handling(body);
        assert_eq!(text(encoding, body), expected, "{} {body:02x?}", encoding.name());
    }

    #[test]
    fn the_text_equals_that_of_the_full_decoder() {
        let every_byte: Vec<u8> = (0..=255).collect();
        check(WINDOWS_1252, &every_byte);
        check(WINDOWS_1252, b"plain");
        let utf_8: [&[u8]; 6] = [
            "grüße 🕷".as_bytes(),
            b"\xFF\xC3\xA4\xC3",
            b"\xE2\x82a\xE2\x82",
            b"\xF0\x9F\x95",
            b"\xED\xA0\x80\xC0\x80\xF5\x80\x80\x80",
            &every_byte,
        ];
        for body in utf_8 {
            check(UTF_8, body);
        }
        let utf_16: [&[u8]; 6] = [
            b"a\0\xE4\0\x3D\xD8\x77\xDD", b"\x3D\xD8a\0", b"\x77\xDD\x3D\xD8", b"a\0b", b"\x3D\xD8b",
            &every_byte,
        ];
        for body in utf_16 {
            check(UTF_16LE, body);
            check(UTF_16BE, body);
        }
    }
}
