//! Encodings of the bytes of a file, by the numbers that RTF has for them.

use encoding_rs::Encoding;

/// Returns the encoding of the charset of a font; `None` for that of the document and symbols.
pub(super) fn charset_encoding(number: Option<i32>) -> Option<&'static Encoding> {
    code_page_encoding(match number? {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

/// Returns the encoding of a code page number.
pub(super) fn code_page_encoding(number: i32) -> Option<&'static Encoding> {
    let label = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        10000 => "macintosh".to_owned(),
        65001 => "utf-8".to_owned(),
        866 => "ibm866".to_owned(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label(label.as_bytes())
}
