//! Syntax highlighting of JSON and code as escaped HTML: strings, keys, numbers, keywords. Input never becomes a tag.

use crate::limits::{BLOCK_BYTES, HIGHLIGHT_BYTES};

/// Escapes text as HTML.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut html, text);
    html
}

/// Escapes a text in blocks that end with a line where they can. The browser lays out only those near the visible part:
/// in one piece, a long line or rare characters would stop the page for seconds.
pub fn blocks(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while !rest.is_empty() {
        let limit = rest.floor_char_boundary(BLOCK_BYTES);
        let end = match rest[..limit].rfind('\n') {
            Some(line_end) if limit < rest.len() => line_end + 1,
            _ => limit,
        };
        let (block, after) = rest.split_at(end);
        push_span(&mut html, "block", block);
        rest = after;
    }
    html
}

fn push_escaped(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            _ => html.push(c),
        }
    }
}

fn push_span(html: &mut String, class: &str, text: &str) {
    html.push_str("<span class=\"");
    html.push_str(class);
    html.push_str("\">");
    push_escaped(html, text);
    html.push_str("</span>");
}

/// Marks the added and removed lines of a unified diff.
pub fn diff(text: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    // The first two lines name the texts.
    for line in text.lines().skip(2) {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b'@') => "at",
            _ => "same",
        };
        push_span(&mut html, class, line);
    }
    html
}

/// Highlights JSON. Text longer than [`HIGHLIGHT_BYTES`] is only escaped, in [`blocks`].
pub fn json(text: &str) -> String {
    if text.len() > HIGHLIGHT_BYTES {
        return blocks(text);
    }
    let mut html = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => string_end(rest),
            '-' | '0'..='9' => run(rest, |c| {
                c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')
            }),
            'a'..='z' => run(rest, |c| c.is_ascii_alphabetic()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        match first {
            '"' if after.trim_start().starts_with(':') => push_span(&mut html, "k", token),
            '"' => push_span(&mut html, "s", token),
            '0'..='9' | '-' => push_span(&mut html, "n", token),
            'a'..='z' if matches!(token, "true" | "false" | "null") => push_span(&mut html, "n", token),
            _ => push_escaped(&mut html, token),
        }
        rest = after;
    }
    html
}

/// Highlights shell, JavaScript, Python or Rust: quoted strings and a few keywords.
pub fn code(text: &str) -> String {
    const WORDS: [&str; 8] = [
        "curl", "harvestman", "const", "await", "import", "print", "fn", "let",
    ];
    let mut html = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' | '\'' | '`' => string_end(rest),
            c if c.is_ascii_alphabetic() => run(rest, |c| c.is_ascii_alphanumeric() || c == '_'),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        match first {
            '"' | '\'' | '`' => push_span(&mut html, "s", token),
            _ if WORDS.contains(&token) => push_span(&mut html, "k", token),
            _ => push_escaped(&mut html, token),
        }
        rest = after;
    }
    html
}

fn run(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// Returns the end of the string literal that `text` starts with; the end of the text if it is not closed.
fn string_end(text: &str) -> usize {
    let quote = text.chars().next();
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if Some(c) == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_strings_and_numbers_have_own_classes() {
        assert_eq!(
            json(r#"{"limit": 5, "x": "a\"<b"}"#),
            "{<span class=\"k\">&quot;limit&quot;</span>: <span class=\"n\">5</span>, \
             <span class=\"k\">&quot;x&quot;</span>: <span class=\"s\">&quot;a\\&quot;&lt;b&quot;</span>}"
        );
    }

    #[test]
    fn blocks_end_with_lines_and_are_the_whole_text() {
        let line = "é<b>&\n".repeat(200);
        let long_line = "é".repeat(3 * BLOCK_BYTES);
        for text in [
            "",
            "\n\n",
            "short",
            &line.repeat(20),
            &long_line,
            &(line.clone() + &long_line),
        ] {
            let html = blocks(text);
            let blocks: Vec<&str> = html.split("<span class=\"block\">").skip(1).collect();
            let inner = |block: &&str| block.strip_suffix("</span>").unwrap().to_owned();
            assert_eq!(blocks.iter().map(inner).collect::<String>(), escape(text));
        }
        let html = blocks(&line.repeat(20));
        assert!(html.matches("\n</span>").count() > 2);
        assert_eq!(html.matches("\n</span>").count(), html.matches("</span>").count());
    }

    #[test]
    fn markup_in_the_input_stays_text() {
        for text in ["<script>", "\"<img onerror=x>", "'</pre>'", "é\"", "-", "\""] {
            assert!(
                !json(text)
                    .replace("<span class=\"", "")
                    .replace("</span>", "")
                    .contains('<'),
                "{text}"
            );
            let plain = code(&format!("curl x -d '{text}"));
            assert!(
                !plain
                    .replace("<span class=\"", "")
                    .replace("</span>", "")
                    .contains('<'),
                "{text}"
            );
        }
    }
}
