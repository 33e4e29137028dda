//! Converts inline Markdown to visible text. Each lookahead stops where the next one would as well, so that the whole
//! conversion takes one pass.

/// Returns the text of one block on one line, without emphasis, link targets, tags and escapes.
pub(super) fn plain(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    loop {
        let (literal, more) = rest.split_at(literal_bytes(rest.as_bytes()));
        out.push_str(literal);
        let Some(c) = more.chars().next() else { break };
        let after = &more[c.len_utf8()..];
        rest = match c {
            '\\' => match after.chars().next().filter(char::is_ascii_punctuation) {
                Some(escaped) => {
                    out.push(escaped);
                    &after[1..]
                }
                None => {
                    space(&mut out);
                    after
                }
            },
            '!' if after.starts_with('[') => after,
            '[' => after.strip_prefix('^').map_or(after, footnote),
            ']' => target(after).unwrap_or(after),
            '<' => match tag(after) {
                Some(after) => after,
                None => {
                    out.push('<');
                    after
                }
            },
            '&' => {
                let (text, after) = entity(after).unwrap_or(('&', after));
                out.push(text);
                after
            }
            '*' | '`' => after,
            '~' if after.starts_with('~') => &after[1..],
            // Within a word it is not markup.
            '_' if !(out.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)) => {
                after
            }
            c if c.is_whitespace() => {
                space(&mut out);
                after
            }
            c => {
                out.push(c);
                after
            }
        };
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns the number of bytes at the start that are copied as they are: words with single spaces between them.
fn literal_bytes(bytes: &[u8]) -> usize {
    let is_literal = |at: usize| {
        bytes.get(at).is_some_and(|byte| {
            byte.is_ascii_graphic()
                && !matches!(
                    byte,
                    b'\\' | b'!' | b'[' | b']' | b'<' | b'&' | b'*' | b'`' | b'~' | b'_'
                )
        })
    };
    let mut end = 0;
    while is_literal(end) || (end > 0 && bytes.get(end) == Some(&b' ') && is_literal(end + 1)) {
        end += 1;
    }
    end
}

fn space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

/// Skips a footnote reference.
fn footnote(after: &str) -> &str {
    match after.find([']', '[', ' ', '\n']) {
        Some(end) if after[end..].starts_with(']') => &after[end + 1..],
        _ => after,
    }
}

/// Skips the target of a link, after its text.
fn target(after: &str) -> Option<&str> {
    let inner = after.strip_prefix('(')?;
    if let Some(pointed) = inner.strip_prefix('<') {
        let end = pointed.find(['>', '<', '\n'])?;
        let rest = pointed[end..].strip_prefix('>')?;
        return title_end(rest);
    }
    let mut depth = 0_usize;
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(&inner[at + 1..]),
            ')' => depth -= 1,
            '[' | ']' => return None,
            c if c.is_whitespace() => return title_end(&inner[at..]),
            _ => {}
        }
    }
    None
}

/// Skips `"title")` or `)`.
fn title_end(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', '\n']);
    if let Some(after) = rest.strip_prefix(')') {
        return Some(after);
    }
    let quoted = rest.strip_prefix('"')?;
    let end = quoted.find(['"', '['])?;
    quoted[end..].strip_prefix("\")")
}

/// Skips a tag or an autolink.
fn tag(after: &str) -> Option<&str> {
    if !after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!')) {
        return None;
    }
    let end = after.find(['>', '<'])?;
    after[end..].strip_prefix('>')
}

/// Decodes an entity; returns its character and the rest.
fn entity(after: &str) -> Option<(char, &str)> {
    const ENTITIES: &[(&str, char)] = &[
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("quot;", '"'),
        ("nbsp;", ' '),
        ("#124;", '|'),
    ];
    ENTITIES
        .iter()
        .find_map(|(name, c)| Some((*c, after.strip_prefix(name)?)))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn markup_is_removed_and_text_is_kept() {
        let check = |markdown: &str, text: &str| assert_eq!(plain(markdown), text, "{markdown}");
        check("**Bold** and *it* `code` ~~gone~~", "Bold and it code gone");
        check("snake_case _emphasis_ 2 \\* 3", "snake_case emphasis 2 * 3");
        check("[text](https://a.test/x_(y)) after", "text after");
        check("[text](<a b> \"title\") ![alt](data:x) end", "text alt end");
        check("[a](b \"t\"), [c] (d)", "a, c (d)");
        check("one  \ntwo\\\nthree<br>four", "one two threefour");
        check("a &lt; b &amp;&amp; c < d & e", "a < b && c < d & e");
        check("see <https://a.test/>[^2].", "see .");
    }
}
