//! Runs of digits with the separators that people write between them, shared by phone numbers and cards.

/// Largest number of groups in one run; longer ones are cut.
const MAX_GROUPS: usize = 4096;
/// Largest number of separators between two groups, such as `) - `.
const MAX_SEPARATORS: usize = 3;

/// Digits without a separator among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Group {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Groups of digits with at most a few separators between them.
#[derive(Debug)]
pub(super) struct Run<'t> {
    text: &'t str,
    /// Offset of the first character: a plus sign, a parenthesis or a digit.
    pub(super) start: usize,
    pub(super) groups: Vec<Group>,
}

impl Group {
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }
}

impl Run<'_> {
    pub(super) fn first(&self) -> char {
        self.text[self.start..].chars().next().unwrap_or(' ')
    }

    /// Returns the text of a group.
    pub(super) fn digits(&self, index: usize) -> &str {
        let group = self.groups[index];
        &self.text[group.start..group.end]
    }

    /// Returns what separates a group from the one before.
    pub(super) fn separator(&self, index: usize) -> &str {
        &self.text[self.groups[index - 1].end..self.groups[index].start]
    }

    /// Returns the number of digits in the first `groups`.
    pub(super) fn count(&self, groups: usize) -> usize {
        self.groups[..groups].iter().map(|group| group.len()).sum()
    }

    /// Returns how many groups from the first have at most `digits` together.
    pub(super) fn groups_within(&self, digits: usize) -> usize {
        let mut count = 0;
        self.groups
            .iter()
            .take_while(|group| {
                count += group.len();
                count <= digits
            })
            .count()
    }

    /// Returns whether a letter or digit follows a group directly.
    pub(super) fn continues_after(&self, index: usize) -> bool {
        let rest = &self.text[self.groups[index].end..];
        rest.chars()
            .next()
            .is_some_and(|c| c.is_alphanumeric() || c == '_')
    }
}

/// Calls `each` with every run of a text.
pub(super) fn runs(text: &str, mut each: impl FnMut(&Run<'_>)) {
    let bytes = text.as_bytes();
    let mut groups = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !matches!(bytes[at], b'0'..=b'9' | b'+' | b'(') || follows_word(text, at) {
            at += 1;
            continue;
        }
        let start = at;
        groups.clear();
        let mut position = start;
        loop {
            let first = skip_separators(text, position, groups.is_empty());
            let end = first + digits_at(&bytes[first..]);
            if end == first || groups.len() == MAX_GROUPS {
                break;
            }
            groups.push(Group { start: first, end });
            position = end;
        }
        at = position.max(start + 1);
        if !groups.is_empty() {
            let run = Run {
                text,
                start,
                groups: std::mem::take(&mut groups),
            };
            each(&run);
            groups = run.groups;
        }
    }
}

fn follows_word(text: &str, at: usize) -> bool {
    let last = text[..at].chars().next_back();
    last.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

fn digits_at(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the offset after the separators at a position. A plus sign only starts a run.
fn skip_separators(text: &str, position: usize, is_start: bool) -> usize {
    let rest = &text[position..];
    let separators = rest
        .chars()
        .take_while(|c| is_separator(*c) || (is_start && *c == '+'));
    position + separators.take(MAX_SEPARATORS).map(char::len_utf8).sum::<usize>()
}

fn is_separator(c: char) -> bool {
    matches!(
        c,
        ' ' | '-' | '.' | '/' | '(' | ')' | '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{2010}'..='\u{2013}'
    )
}
