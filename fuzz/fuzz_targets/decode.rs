//! Decoding of bytes to text. The first byte selects the `Content-Type`; the text never contains a NUL.
#![no_main]

use libfuzzer_sys::fuzz_target;

const CONTENT_TYPES: &[&str] = &[
    "text/html; charset=utf-8",
    "text/html; charset=iso-2022-jp",
    "text/html; charset=gb18030",
    "text/html; charset=\"utf-16le\"",
    "text/html;charset=x-user-defined",
    "text/html; charset=",
    "charsetcharset='windows-1252",
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first() else {
        return;
    };
    let content_type = CONTENT_TYPES
        .get(usize::from(*choice) % (CONTENT_TYPES.len() + 1))
        .copied();
    let decoded = harvestman_content::decode(body, content_type);
    assert!(!decoded.text.contains('\0'));
    assert!(decoded.text.len() <= body.len() * 3 + 3);
    // Decoding the resulting UTF-8 again returns the same text.
    let again = harvestman_content::decode(decoded.text.as_bytes(), Some("text/html; charset=utf-8"));
    assert_eq!(
        again.text,
        decoded.text.strip_prefix('\u{FEFF}').unwrap_or(&decoded.text)
    );
});
