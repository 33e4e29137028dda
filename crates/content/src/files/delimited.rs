//! Reads delimited text: values separated by commas, semicolons, tabs or bars (RFC 4180 and common deviations, among them
//! quotes that are escaped with a backslash, as MySQL writes them).

use std::str::Chars;

use super::markup::Markup;
use super::{FileDocument, FilePage};
use crate::limits;

/// Number of lines used to detect the separator.
const SAMPLE_LINES: usize = 20;

/// Reads a table. `tabs`: the separator is known to be a tab.
pub(super) fn read(body: &[u8], tabs: bool) -> FileDocument {
    let text = crate::decode(body, None).text;
    let (separator, text) = match stated_separator(&text) {
        Some((stated, text)) => (Some(stated), text),
        None => (tabs.then_some('\t'), &*text),
    };
    let mut rows = Rows::detect(text, separator);
    let mut html = Markup::default();
    let mut cells = 0;
    let mut name = "th";
    html.open("table");
    for row in rows.by_ref() {
        html.open("tr");
        for value in &row {
            html.open(name);
            for (index, line) in value.trim().lines().enumerate() {
                html.raw(if index > 0 { "<br>" } else { "" }).text(line);
            }
            html.close(name);
        }
        html.close("tr");
        name = "td";
        cells += row.len();
        if cells > limits::FILE_CELLS || html.len() > limits::FILE_HTML_BYTES / 2 {
            break;
        }
    }
    html.close("table");
    let mut document = FileDocument::default();
    if cells > 0 {
        document.pages.push(FilePage {
            number: 1,
            html: html.into_html(),
            continues: false,
        });
    }
    if rows.next().is_some() {
        let warning = "The file is too large to be converted as a whole; its end was left out.";
        document.warnings.push(warning.to_owned());
    }
    document
}

/// Returns the separator that the first line names for Excel, as in `sep=;`, and the text after that line.
fn stated_separator(text: &str) -> Option<(char, &str)> {
    let mut rest = text.strip_prefix("sep=")?.chars();
    let separator = rest.next()?;
    let rest = rest.as_str();
    let rest = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n')?;
    Some((separator, rest))
}

/// Returns the character that splits most of the first lines into the same number of values. These need not be the very
/// first ones: some files begin with a title.
fn separator(text: &str, escapes: bool) -> char {
    let score = |separator: char| {
        let rows = Rows::new(text, separator, escapes).take(SAMPLE_LINES);
        let counts: Vec<usize> = rows.map(|row| row.len()).collect();
        let alike = |count: usize| counts.iter().filter(|other| **other == count).count();
        let split = counts.iter().filter(|count| **count > 1);
        split.map(|count| (alike(*count), *count)).max()
    };
    [',', ';', '\t', '|']
        .into_iter()
        .rev()
        .max_by_key(|separator| score(*separator))
        .unwrap_or(',')
}

/// Iterator over the rows of a table; empty rows are skipped.
struct Rows<'a> {
    rest: Chars<'a>,
    separator: char,
    /// Whether a backslash escapes a quote in a quoted value.
    escapes: bool,
    /// Number of quotes so far that end a value although text of it follows.
    misplaced: usize,
}

impl<'a> Rows<'a> {
    fn new(text: &'a str, separator: char, escapes: bool) -> Self {
        Rows {
            rest: text.chars(),
            separator,
            escapes,
            misplaced: 0,
        }
    }

    /// Finds the separator, unless it is known, and whether quotes are escaped: if fewer of them are misplaced then.
    fn detect(text: &'a str, known: Option<char>) -> Self {
        let find = |escapes| known.unwrap_or_else(|| separator(text, escapes));
        let misplaced = |escapes| {
            let mut rows = Rows::new(text, find(escapes), escapes);
            rows.by_ref().for_each(drop);
            rows.misplaced
        };
        let escapes = text.contains("\\\"") && misplaced(true) < misplaced(false);
        Rows::new(text, find(escapes), escapes)
    }
}

impl Iterator for Rows<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        loop {
            self.rest.clone().next()?;
            let mut row = Vec::new();
            let mut value = String::new();
            let mut quoted = false;
            let (separator, escapes, misplaced) = (self.separator, self.escapes, &mut self.misplaced);
            for_row(&mut self.rest, |c, next, rest| match c {
                '\\' if quoted && escapes && matches!(next, Some('"' | '\\' | '\n')) => {
                    value.extend(next);
                    Step::Skip
                }
                '"' if quoted && next == Some('"') => {
                    value.push('"');
                    Step::Skip
                }
                '"' if quoted => {
                    quoted = false;
                    *misplaced += usize::from(!ends_value(rest, separator));
                    Step::Go
                }
                '"' if value.trim_start().is_empty() && !is_stray_quote(rest.clone(), separator, escapes) => {
                    quoted = true;
                    Step::Go
                }
                '\n' if !quoted => Step::End,
                '\r' if !quoted && next == Some('\n') => Step::Go,
                '\r' if !quoted => Step::End,
                c if c == separator && !quoted => {
                    if row.len() < limits::TABLE_COLUMNS {
                        row.push(std::mem::take(&mut value));
                    }
                    Step::Go
                }
                c => {
                    value.push(c);
                    Step::Go
                }
            });
            if row.len() < limits::TABLE_COLUMNS {
                row.push(value);
            }
            if row.iter().any(|value| !value.trim().is_empty()) {
                return Some(row);
            }
        }
    }
}

enum Step {
    Go,
    Skip,
    End,
}

fn for_row(rest: &mut Chars<'_>, mut act: impl FnMut(char, Option<char>, &Chars<'_>) -> Step) {
    while let Some(c) = rest.next() {
        match act(c, rest.clone().next(), rest) {
            Step::Go => {}
            Step::Skip => {
                rest.next();
            }
            Step::End => return,
        }
    }
}

/// Returns whether the quote before this text does not quote a value: it would include other lines, and no quote that
/// ends a value follows. Otherwise one stray quote would hide all rows after it.
fn is_stray_quote(mut rest: Chars<'_>, separator: char, escapes: bool) -> bool {
    let mut has_lines = false;
    while let Some(c) = rest.next() {
        if c == '\\' && escapes && rest.as_str().starts_with(['"', '\\']) {
            rest.next();
            continue;
        }
        if c != '"' {
            has_lines |= c == '\n';
            continue;
        }
        if rest.as_str().starts_with('"') {
            rest.next();
            continue;
        }
        return has_lines && !ends_value(&rest, separator);
    }
    has_lines
}

/// Returns whether a value may end before this text.
fn ends_value(rest: &Chars<'_>, separator: char) -> bool {
    let after = rest.as_str().trim_start_matches(' ').chars().next();
    after.is_none_or(|c| c == separator || matches!(c, '\r' | '\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        Rows::detect(text, None).collect()
    }

    #[test]
    fn delimited_values_are_parsed() {
        assert_eq!(
            rows("a,b\r\n1,\"x, \"\"y\"\"\nz\"\n\n"),
            [["a", "b"], ["1", "x, \"y\"\nz"]]
        );
        assert_eq!(rows("a;b;c\n1,5;2;3"), [["a", "b", "c"], ["1,5", "2", "3"]]);
        assert_eq!(rows("a\tb\n1\t2"), [["a", "b"], ["1", "2"]]);
        assert_eq!(
            rows("Birds, of water\nKind;Height\ngrey;0,98\npurple;0,8, or more"),
            [
                &["Birds, of water"][..],
                &["Kind", "Height"],
                &["grey", "0,98"],
                &["purple", "0,8, or more"]
            ]
        );
        assert_eq!(
            rows("a, \"b, c\" ,d\n1, 2\",3"),
            [["a", " b, c ", "d"], ["1", " 2\"", "3"]]
        );
        assert_eq!(rows("one\ntwo"), [["one"], ["two"]]);
        assert!(rows("").is_empty());
        assert_eq!(
            rows("a,b\n\"x\ny\" ,2\n3,\"4"),
            [["a", "b"], ["x\ny ", "2"], ["3", "4"]]
        );
        let html = |text: &str| read(text.as_bytes(), false).pages[0].html.replace('\n', "");
        assert_eq!(
            html("sep=;\r\na,b;c"),
            "<table><tr><th>a,b</th><th>c</th></tr></table>"
        );
        assert_eq!(
            html("sep=1;b"),
            "<table><tr><th>sep=1</th><th>b</th></tr></table>"
        );
    }

    #[test]
    fn quotes_escaped_with_a_backslash_are_read() {
        assert_eq!(
            rows("1,\"a \\\"grey\\\", tall\",\"\\\\\"\n2,\"\\\"\",\"b\\\nc\\d\"\n"),
            [["1", "a \"grey\", tall", "\\"], ["2", "\"", "b\nc\\d"]]
        );
        // RFC 4180 has no escapes.
        assert_eq!(
            rows("\"C:\\birds\\\",\"a \"\"b\\\"\"\"\n\"D:\\\",\"c\"\n"),
            [["C:\\birds\\", "a \"b\\\""], ["D:\\", "c"]]
        );
    }

    #[test]
    fn a_quote_that_does_not_end_hides_no_rows() {
        assert_eq!(
            rows("size,kind\n\"5,grey\n6,purple\n"),
            [["size", "kind"], ["\"5", "grey"], ["6", "purple"]]
        );
        // The next quote begins another value.
        assert_eq!(
            rows("size,kind\n\"5,grey\n6,\"purple, \"\"Ardea\"\"\"\n7,white"),
            [
                ["size", "kind"],
                ["\"5", "grey"],
                ["6", "purple, \"Ardea\""],
                ["7", "white"]
            ]
        );
    }
}
