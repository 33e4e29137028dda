//! Character styles of code in Word documents. `office_oxide` does not return the styles of characters. So those whose
//! text is code are changed before the file is read: to a distance between characters that no document has.

use office_oxide::ir::TextSpan;

use super::CODE_TEXT_STYLES;

const DISTANCE: i32 = -1_000_000;
const END: &str = "</w:style>";

/// Returns whether the text has a style that was marked.
pub(super) fn is_marked(span: &TextSpan) -> bool {
    span.char_spacing_half_pt == Some(DISTANCE)
}

/// Returns the styles of a document with marks; `None` if the XML has no style to mark.
pub(super) fn mark(xml: &str) -> Option<String> {
    if !xml.contains("<w:styles") {
        return None;
    }
    let mut out = String::new();
    for style in xml.split_inclusive(END) {
        match style.strip_suffix(END).filter(|style| is_code(style)) {
            Some(style) => {
                out.push_str(style);
                out.push_str(&format!("<w:rPr><w:spacing w:val=\"{DISTANCE}\"/></w:rPr>{END}"));
            }
            None => out.push_str(style),
        }
    }
    (out.len() > xml.len()).then_some(out)
}

fn is_code(xml: &str) -> bool {
    let style = || {
        let (_, style) = xml.rsplit_once("<w:style ")?;
        let (attributes, content) = style.split_once('>')?;
        let (_, name) = content.split_once("<w:name w:val=\"")?;
        let is_of_characters = attributes.contains("w:type=\"character\"");
        is_of_characters.then(|| name.split('"').next())?
    };
    let name = style().unwrap_or_default().to_ascii_lowercase();
    CODE_TEXT_STYLES.iter().any(|word| name.contains(word))
}
