//! Converts pages in any charset to UTF-8.

use wasm_bindgen::prelude::*;

/// Decodes the bytes of a page as a browser does, by the value of `Content-Type`, a BOM, its `meta` tags, or its
/// content. Returns them in UTF-8 with a BOM, which takes precedence over what they declare.
#[wasm_bindgen(js_name = toUtf8)]
pub fn to_utf_8(body: &[u8], content_type: Option<String>) -> Vec<u8> {
    let text = harvestman_content::decode(body, content_type.as_deref()).text;
    format!("\u{FEFF}{text}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bom_wins_over_the_declared_charset() {
        let page = b"<meta charset=shift_jis><p>\x82\xA0";
        let converted = to_utf_8(page, None);
        assert!(!harvestman_content::needs_charsets(&converted, None));
        let text = harvestman_content::decode(&converted, Some("text/html; charset=shift_jis")).text;
        assert_eq!(text, "<meta charset=shift_jis><p>あ");
    }
}
