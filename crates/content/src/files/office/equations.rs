//! Equations of Word and PowerPoint files. `office_oxide` keeps nothing but their characters. So each is replaced
//! with a mark before the file is read, and written as MathML where the mark comes out.

use crate::files::equation::Element;
use crate::files::markup::Markup;
use crate::limits;

/// The first of ten code points that stand for the digits of a mark. None of them is a character.
const FIRST_DIGIT: char = '\u{FDD0}';
const LAST_DIGIT: char = '\u{FDD9}';
const MARK_END: char = '\u{FDDA}';

/// The equations of a file, as MathML.
#[derive(Default)]
pub(super) struct Equations {
    mathml: Vec<String>,
    bytes: usize,
}

impl Equations {
    /// Returns the XML of a part with marks in place of its equations; `None` if it has none.
    pub(super) fn mark(&mut self, xml: &str) -> Option<String> {
        const NAME: &str = "m:oMath";
        const TAG_ENDS: [char; 2] = ['>', ' '];
        let mut out = String::new();
        let (mut copied, mut start, mut is_block) = (0, None, false);
        for (at, _) in xml.match_indices(NAME) {
            let is_start = xml[..at].ends_with('<');
            let is_end = xml[..at].ends_with("</");
            let after = &xml[at + NAME.len()..];
            match after.strip_prefix("Para") {
                Some(rest) if rest.starts_with(TAG_ENDS) => is_block = is_start,
                None if after.starts_with(TAG_ENDS) && is_start => start = Some(at - 1),
                None if after.starts_with('>') && is_end => {
                    let end = at + NAME.len() + 1;
                    if let Some(start) = start.take()
                        && let Some(mark) = self.add(&xml[start..end], is_block)
                    {
                        out.push_str(&xml[copied..start]);
                        out.push_str(&format!("<{NAME}><m:r><m:t>{mark}</m:t></m:r></{NAME}>"));
                        copied = end;
                    }
                }
                _ => {}
            }
        }
        out.push_str(&xml[copied..]);
        (copied > 0).then_some(out)
    }

    /// Adds an equation. Returns its mark.
    fn add(&mut self, xml: &str, is_block: bool) -> Option<String> {
        if xml.len() > limits::EQUATION_BYTES || self.bytes > limits::FILE_HTML_BYTES / 2 {
            return None;
        }
        let mathml = Element::parse(xml)?.mathml(is_block);
        self.bytes += mathml.len();
        self.mathml.push(mathml);
        let number = (self.mathml.len() - 1).to_string();
        let digits = number
            .bytes()
            .map(|digit| u32::from(FIRST_DIGIT) + u32::from(digit - b'0'));
        Some(digits.filter_map(char::from_u32).chain([MARK_END]).collect())
    }

    /// Writes text, and the equations whose marks it has. Each is written once.
    pub(super) fn write(&mut self, html: &mut Markup, text: &str) {
        for part in text.split_inclusive(MARK_END) {
            let start = part.find(|c| (FIRST_DIGIT..=LAST_DIGIT).contains(&c));
            let (before, mark) = part.split_at(start.unwrap_or(part.len()));
            html.text(before);
            let digit = |c: char| u32::from(c).checked_sub(u32::from(FIRST_DIGIT));
            let mut digits = mark.trim_end_matches(MARK_END).chars();
            let number = digits.try_fold(0_usize, |number, c| {
                number.checked_mul(10)?.checked_add(digit(c)? as usize)
            });
            match number.and_then(|number| self.mathml.get_mut(number)) {
                Some(mathml) if !mark.is_empty() => html.raw(&std::mem::take(mathml)),
                _ => html.text(mark),
            };
        }
    }
}
