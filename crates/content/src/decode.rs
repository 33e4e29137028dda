//! Decodes bytes to text as browsers do: by byte order mark, `Content-Type`, `meta` or XML declaration in the first
//! bytes, or else a statistical guess. Unlike browsers, it also recognizes UTF-16 that nothing declares, as files have
//! it. Never fails: what cannot be decoded becomes U+FFFD, and the text never contains
//! NUL.
//!
//! The tables of all charsets are large. A build without the feature `charsets` decodes only bodies for which
//! [`needs_charsets`] returns false, and any other body as windows-1252.

#[cfg(any(test, not(feature = "charsets")))]
mod small;

use std::borrow::Cow;

#[cfg(feature = "charsets")]
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use crate::limits;

/// A decoded body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText<'b> {
    /// The text, without byte order mark and without NUL. It borrows bytes that are valid UTF-8.
    pub text: Cow<'b, str>,
    /// The WHATWG name of the encoding, such as `UTF-8` or `windows-1252`.
    pub encoding: &'static str,
}

/// Decodes a body with the help of its `Content-Type` header value, if it has one.
pub fn decode<'b>(bytes: &'b [u8], content_type: Option<&str>) -> DecodedText<'b> {
    let (encoding, body) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, &bytes[length..]),
        None => (sniff(bytes, content_type), bytes),
    };
    let text = text(encoding, body);
    let text = match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{FFFD}")),
        false => text,
    };
    DecodedText {
        text,
        encoding: encoding.name(),
    }
}

#[cfg(feature = "charsets")]
fn text<'b>(encoding: &'static Encoding, body: &'b [u8]) -> Cow<'b, str> {
    encoding.decode_without_bom_handling(body).0
}

#[cfg(not(feature = "charsets"))]
fn text<'b>(encoding: &'static Encoding, body: &'b [u8]) -> Cow<'b, str> {
    small::text(encoding, body)
}

/// Returns whether [`decode`] needs the feature `charsets` for a body: one that is not ASCII and declares a charset
/// other than UTF-8, UTF-16 and windows-1252 (which includes ISO-8859-1), or declares none and is not UTF-8.
pub fn needs_charsets(bytes: &[u8], content_type: Option<&str>) -> bool {
    if Encoding::for_bom(bytes).is_some() {
        return false;
    }
    match declared(bytes, content_type) {
        Some(encoding) if [UTF_8, UTF_16LE, UTF_16BE, WINDOWS_1252].contains(&encoding) => false,
        Some(encoding) => !(encoding.is_ascii_compatible() && bytes.is_ascii()),
        None => std::str::from_utf8(bytes).is_err(),
    }
}

/// Returns the encoding that [`decode`] guesses for a body that does not declare one by its byte order mark,
/// its `Content-Type` or a `meta` at its start. `None` for a body that declares it, and for plain ASCII,
/// which is the same in every encoding used for pages.
pub fn undeclared_charset(bytes: &[u8], content_type: Option<&str>) -> Option<&'static str> {
    let is_declared =
        bytes.is_ascii() || Encoding::for_bom(bytes).is_some() || declared(bytes, content_type).is_some();
    (!is_declared).then(|| sniff(bytes, content_type).name())
}

fn declared(bytes: &[u8], content_type: Option<&str>) -> Option<&'static Encoding> {
    content_type
        .and_then(charset_parameter)
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .or_else(|| {
            let start = &bytes[..bytes.len().min(limits::META_PRESCAN_BYTES)];
            prescan(start).or_else(|| xml_declaration(start))
        })
}

/// Returns the encoding that an XML declaration at the start names.
fn xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let mut at = 0;
    while let Some((name, value, next)) = attribute(declaration, at) {
        if name == "encoding" {
            return Encoding::for_label(value.as_bytes()).map(ascii_compatible);
        }
        at = next;
    }
    None
}

/// Returns the encoding of bytes whose declaration was read as ASCII.
fn ascii_compatible(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        // The bytes are not UTF-16.
        e if e.name().starts_with("UTF-16") => UTF_8,
        e if e == X_USER_DEFINED => WINDOWS_1252,
        e => e,
    }
}

fn sniff(bytes: &[u8], content_type: Option<&str>) -> &'static Encoding {
    if let Some(encoding) = declared(bytes, content_type) {
        return encoding;
    }
    if let Some(encoding) = utf_16(bytes) {
        return encoding;
    }
    // Non-ASCII text that is valid UTF-8 is UTF-8; ASCII decodes the same either way.
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    // A late declaration is better than a guess. Browsers find it too, and load the page again.
    prescan(&bytes[..bytes.len().min(limits::LATE_META_BYTES)]).unwrap_or_else(|| guess(bytes))
}

/// Returns the variant of UTF-16 of text without a byte order mark: the ASCII characters in it, at least one in eight,
/// have a zero byte, on the same side each.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = bytes[..bytes.len().min(limits::UTF_16_BYTES)].as_chunks::<2>();
    let count = |at: usize| pairs.iter().filter(|pair| pair[at] == 0).count();
    let enough = (pairs.len() / 8).max(4);
    match (count(0), count(1)) {
        (0, zeros) if zeros >= enough => Some(UTF_16LE),
        (zeros, 0) if zeros >= enough => Some(UTF_16BE),
        _ => None,
    }
}

#[cfg(feature = "charsets")]
fn guess(bytes: &[u8]) -> &'static Encoding {
    let sample = &bytes[..bytes.len().min(limits::DETECTION_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(not(feature = "charsets"))]
fn guess(_bytes: &[u8]) -> &'static Encoding {
    WINDOWS_1252
}

/// Returns the value of `charset=` in a `Content-Type` or `meta content` value.
fn charset_parameter(value: &str) -> Option<&str> {
    let lower = value.to_ascii_lowercase();
    let mut from = 0;
    loop {
        let at = from + lower[from..].find("charset")? + "charset".len();
        let rest = value[at..].trim_start();
        let Some(rest) = rest.strip_prefix('=') else {
            from = at;
            continue;
        };
        let rest = rest.trim_start();
        return match rest.chars().next()? {
            quote @ ('"' | '\'') => rest[1..].split(quote).next(),
            _ => rest.split(|c: char| c == ';' || c.is_ascii_whitespace()).next(),
        };
    }
}

/// Finds the first `meta` that names a charset, skipping comments and other tags (the WHATWG prescan
/// algorithm).
fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            // The end may share its dashes with the start, as in `<!-->`.
            at += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
        } else if starts_with_word(rest, b"<meta") {
            let (found, next) = meta(bytes, at + 5);
            if found.is_some() {
                return found;
            }
            at = next;
        } else if rest[0] == b'<' && rest.get(1).is_some_and(|&b| b.is_ascii_alphabetic() || b == b'/') {
            at += 1;
            while at < bytes.len() && !bytes[at].is_ascii_whitespace() && bytes[at] != b'>' {
                at += 1;
            }
            while let Some((_, _, next)) = attribute(bytes, at) {
                at = next;
            }
        } else if rest[0] == b'<' && rest.get(1).is_some_and(|&b| b == b'!' || b == b'?') {
            at += memchr::memchr(b'>', rest)?;
        }
        at += 1;
    }
    None
}

fn starts_with_word(bytes: &[u8], word: &[u8]) -> bool {
    bytes.len() > word.len()
        && bytes[..word.len()].eq_ignore_ascii_case(word)
        && (bytes[word.len()].is_ascii_whitespace() || bytes[word.len()] == b'/')
}

fn meta(bytes: &[u8], mut at: usize) -> (Option<&'static Encoding>, usize) {
    let (mut pragma, mut needs_pragma, mut label) = (false, None, None::<String>);
    while let Some((name, value, next)) = attribute(bytes, at) {
        at = next;
        match name.as_str() {
            "http-equiv" => pragma |= value.eq_ignore_ascii_case("content-type"),
            "content" if label.is_none() => {
                if let Some(found) = charset_parameter(&value) {
                    label = Some(found.to_owned());
                    needs_pragma = Some(true);
                }
            }
            "charset" => {
                label = Some(value);
                needs_pragma = Some(false);
            }
            _ => {}
        }
    }
    let encoding = match needs_pragma {
        Some(needed) if !needed || pragma => label.and_then(|label| Encoding::for_label(label.as_bytes())),
        _ => None,
    };
    (encoding.map(ascii_compatible), at)
}

/// Reads one attribute of a tag: lower-case name, value, and the position after it. `None` at the end of the
/// tag.
fn attribute(bytes: &[u8], mut at: usize) -> Option<(String, String, usize)> {
    while bytes
        .get(at)
        .is_some_and(|&b| b.is_ascii_whitespace() || b == b'/')
    {
        at += 1;
    }
    if *bytes.get(at)? == b'>' {
        return None;
    }
    let text = |from: usize, to: usize| String::from_utf8_lossy(&bytes[from..to]).into_owned();
    let start = at;
    while at < bytes.len() && !matches!(bytes[at], b'>' | b'/' | b'=') && !bytes[at].is_ascii_whitespace() {
        at += 1;
    }
    if at == start {
        at += 1; // a lone `=`
    }
    let name = text(start, at.min(bytes.len())).to_ascii_lowercase();
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    if bytes.get(at) != Some(&b'=') {
        return Some((name, String::new(), at));
    }
    at += 1;
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    let quote = *bytes.get(at)?;
    if quote == b'"' || quote == b'\'' {
        let end = at + 1 + memchr::memchr(quote, &bytes[at + 1..])?;
        return Some((name, text(at + 1, end), end + 1));
    }
    let start = at;
    while at < bytes.len() && bytes[at] != b'>' && !bytes[at].is_ascii_whitespace() {
        at += 1;
    }
    Some((name, text(start, at), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], content_type: Option<&str>, encoding: &str, text: &str) {
        let decoded = decode(bytes, content_type);
        assert_eq!((decoded.encoding, &*decoded.text), (encoding, text));
    }

    #[test]
    fn the_byte_order_mark_takes_precedence_over_the_header() {
        check(
            b"\xEF\xBB\xBF\xC3\xA4",
            Some("text/html; charset=iso-8859-1"),
            "UTF-8",
            "ä",
        );
        check(b"\xFF\xFEa\0", None, "UTF-16LE", "a");
    }

    #[test]
    fn the_header_takes_precedence_over_meta() {
        check(
            b"<meta charset=utf-8>\xE4",
            Some("text/html; Charset=\"latin1\""),
            "windows-1252",
            "<meta charset=utf-8>ä",
        );
        check(
            b"\x82\xA0",
            Some("text/html;charset=Shift_JIS"),
            "Shift_JIS",
            "あ",
        );
    }

    #[test]
    fn meta_is_found_where_browsers_find_it() {
        check(
            b"<META\ncharset = 'koi8-r'>\xC1",
            None,
            "KOI8-R",
            "<META\ncharset = 'koi8-r'>а",
        );
        let pragma = b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\xE0";
        assert_eq!(decode(pragma, None).encoding, "windows-1251");
        assert_eq!(
            decode(b"<!-- <meta charset=koi8-r> -->\xC3\xA4", None).encoding,
            "UTF-8"
        );
        assert_eq!(
            decode(b"<a title='<meta charset=koi8-r>'>\xC3\xA4", None).encoding,
            "UTF-8"
        );
        assert_eq!(
            decode(b"<meta content='text/html; charset=koi8-r'>\xC3\xA4", None).encoding,
            "UTF-8"
        );
        assert_eq!(decode(b"<meta charset=utf-16>\xC3\xA4", None).encoding, "UTF-8");
        let late = [vec![b' '; 1024], b"<meta charset=koi8-r>\xC3\xA4".to_vec()].concat();
        assert_eq!(decode(&late, None).encoding, "UTF-8");
        let late = [vec![b' '; 1024], b"<meta charset=koi8-r>\xC1".to_vec()].concat();
        assert_eq!(decode(&late, None).encoding, "KOI8-R");
    }

    #[test]
    fn undeclared_charsets_are_detected() {
        assert_eq!(
            decode("Привет, как дела? Всё хорошо".as_bytes(), None).encoding,
            "UTF-8"
        );
        let (bytes, ..) = encoding_rs::WINDOWS_1251.encode("Привет, как дела? Всё хорошо, спасибо за вопрос");
        assert_eq!(decode(&bytes, None).encoding, "windows-1251");
        assert_eq!(decode(b"plain", None).encoding, "UTF-8");
    }

    #[test]
    fn utf_16_without_a_byte_order_mark_is_detected() {
        for text in [
            "size,kind\n5,grey",
            "Größe,Art\n5,grau",
            "Размер, вид\n5, серая\n6, белая",
        ] {
            let units: Vec<u16> = text.encode_utf16().collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            check(&little, None, "UTF-16LE", text);
            check(&big, Some("text/csv"), "UTF-16BE", text);
        }
        assert_eq!(
            decode(b"some \0text \0and \0more text than zeros\0", None).encoding,
            "UTF-8"
        );
    }

    #[test]
    fn an_xml_declaration_names_the_charset() {
        let body = b"<?xml version='1.0' encoding=\"iso-8859-2\"?><p>\xB1";
        assert_eq!(decode(body, None).encoding, "ISO-8859-2");
        assert_eq!(decode(body, Some("text/xml; charset=koi8-r")).encoding, "KOI8-R");
        let meta = [&body[..], b"<meta charset=koi8-r>"].concat();
        assert_eq!(decode(&meta, None).encoding, "KOI8-R");
        assert_eq!(
            decode(b"<?xml encoding='utf-16'?>\xC3\xA4", None).encoding,
            "UTF-8"
        );
        assert_eq!(
            decode(b"<p><?xml encoding='koi8-r'?>\xC3\xA4", None).encoding,
            "UTF-8"
        );
    }

    #[test]
    fn undeclared_charset_is_returned_only_when_none_is_declared() {
        let html = Some("text/html");
        assert_eq!(undeclared_charset("<p>grüße".as_bytes(), html), Some("UTF-8"));
        let (bytes, ..) =
            encoding_rs::SHIFT_JIS.encode("<p>東京の天気は晴れのち曇りでしょう。明日は雨です。");
        assert_eq!(undeclared_charset(&bytes, html), Some("Shift_JIS"));
        for (body, content_type) in [
            ("<p>plain", html),
            ("<p>grüße", Some("text/html; charset=utf-8")),
            ("<meta charset=utf-8><p>grüße", html),
            ("\u{FEFF}<p>grüße", html),
        ] {
            assert_eq!(undeclared_charset(body.as_bytes(), content_type), None, "{body}");
        }
    }

    #[test]
    fn only_bodies_in_other_charsets_need_their_tables() {
        let html = Some("text/html");
        for (body, content_type) in [
            (&b"<p>plain"[..], html),
            ("<p>gr\u{fc}\u{df}e".as_bytes(), html),
            (b"<p>gr\xFC\xDFe", Some("text/html; charset=iso-8859-1")),
            (b"<meta charset=windows-1252><p>gr\xFC\xDFe", html),
            (b"<p>plain", Some("text/html; charset=shift_jis")),
            (b"\xFF\xFEa\0", None),
            (b"a\0", Some("text/html; charset=utf-16le")),
            (b"\xEF\xBB\xBF\xC3\xA4", Some("text/html; charset=koi8-r")),
        ] {
            assert!(!needs_charsets(body, content_type), "{body:?} {content_type:?}");
        }
        for (body, content_type) in [
            (&b"\x82\xA0"[..], Some("text/html; charset=shift_jis")),
            (b"<meta charset=koi8-r>\xC1", html),
            (b"\x1B$B$\"\x1B(B", Some("text/html; charset=iso-2022-jp")),
            (b"<p>gr\xFC\xDFe", html),
        ] {
            assert!(needs_charsets(body, content_type), "{body:?} {content_type:?}");
        }
    }

    #[test]
    fn nul_is_replaced() {
        check(b"a\0b", None, "UTF-8", "a\u{FFFD}b");
        check(b"\xFFa", Some("text/plain; charset=utf-8"), "UTF-8", "\u{FFFD}a");
    }
}
