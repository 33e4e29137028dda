//! Characters by which the texts of blocks and lines are compared, and those that mark list items.

/// Returns whether a character counts when texts are compared: any but white space and what may be a marker.
pub(super) fn is_letter(c: char) -> bool {
    !c.is_whitespace() && !is_bullet(c) && !is_dash(c)
}

/// Returns the characters of a text that count.
pub(super) fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| is_letter(*c))
}

/// Returns whether a character is a dash, which also marks list items.
pub(super) fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2013}' | '\u{2014}')
}

/// Returns whether a character is a bullet wherever it begins a line. Check marks are not: they say something.
pub(super) fn is_bullet(c: char) -> bool {
    match c {
        _ if is_check_mark(c) => false,
        // Geometric shapes, dingbats, and characters for private use.
        '\u{25A0}'..='\u{25FF}' | '\u{2700}'..='\u{27BF}' | '\u{E000}'..='\u{F8FF}' => true,
        c => matches!(c, '•' | '‣' | '⁃' | '∙' | '·' | '⬤' | '⚫'),
    }
}

/// Returns whether a character is a check mark or a cross.
pub(super) fn is_check_mark(c: char) -> bool {
    matches!(c, '\u{2713}'..='\u{2718}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullets_do_not_count_but_marks_with_a_meaning_do() {
        let counted: String = letters("• ▪ \u{F0B7} – ➢ - ✓ ✗ ★ a1.").collect();
        assert_eq!(counted, "✓✗★a1.");
    }
}
