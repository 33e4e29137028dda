//! URLs in the text of a file: one per line, or the column of a CSV file that has most of them.

use std::collections::HashMap;

/// Characters that separate the columns of a CSV file.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// Returns the URLs of a text in their order. Without any `http://` or `https://` in it, cells that look like a host
/// with or without a path count.
pub fn urls_in(text: &str) -> Vec<String> {
    let lines = text.trim_start_matches('\u{feff}').lines();
    let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let table: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    // All rows of a table have the same number of cells; otherwise, the separator is a part of a URL.
    let is_table = table.windows(2).all(|pair| pair[0].len() == pair[1].len());
    let list: Vec<Vec<String>> = lines.iter().map(|line| vec![(*line).to_owned()]).collect();
    let (preferred, other) = if is_table {
        (&table, &list)
    } else {
        (&list, &table)
    };
    column(preferred, has_scheme)
        .or_else(|| column(other, has_scheme))
        .or_else(|| column(preferred, looks_like_host))
        .unwrap_or_default()
}

/// Returns the matching cells of the column that has most of them.
fn column(lines: &[Vec<String>], matches: fn(&str) -> bool) -> Option<Vec<String>> {
    let mut counts = HashMap::<usize, usize>::new();
    for line in lines {
        let columns = (0..line.len()).filter(|at| matches(&line[*at]));
        columns.for_each(|at| *counts.entry(at).or_default() += 1);
    }
    // Of equal columns, the leftmost.
    let (best, _) = counts
        .into_iter()
        .max_by_key(|(at, count)| (*count, std::cmp::Reverse(*at)))?;
    let cells = lines.iter().filter_map(|line| line.get(best));
    Some(cells.filter(|cell| matches(cell)).cloned().collect())
}

/// Splits a line into cells (RFC 4180), without the white space around them.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if SEPARATORS.contains(&c) && !quoted => cells.push(String::new()),
            c => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(c);
                }
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn has_scheme(text: &str) -> bool {
    let start = |scheme: &str| {
        text.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    (start("https://") || start("http://")) && !text.contains(char::is_whitespace)
}

fn looks_like_host(text: &str) -> bool {
    let host = text.split(['/', ':', '?']).next().unwrap_or_default();
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let top = host.rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && host.split('.').all(is_label)
        && top.chars().all(char::is_alphabetic)
        && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_url_per_line() {
        let text = "\u{feff}https://e.com/a\r\n\n# comment\n  HTTP://e.com/b?x=1,2  \n";
        assert_eq!(urls_in(text), ["https://e.com/a", "HTTP://e.com/b?x=1,2"]);
        assert_eq!(urls_in("https://e.com/a"), ["https://e.com/a"]);
    }

    #[test]
    fn the_column_with_most_urls_is_read() {
        let text = "name,url,parent\n\"A, first\",https://e.com/a,https://e.com/\nB,https://e.com/b,\n";
        assert_eq!(urls_in(text), ["https://e.com/a", "https://e.com/b"]);
        let text = "url;price\nhttps://e.com/a;1\nhttps://e.com/b;2\n";
        assert_eq!(urls_in(text), ["https://e.com/a", "https://e.com/b"]);
        assert_eq!(
            urls_in("https://e.com/a,200\nhttps://e.com/b,404\n"),
            ["https://e.com/a", "https://e.com/b"]
        );
    }

    #[test]
    fn hosts_count_where_no_line_has_a_scheme() {
        assert_eq!(
            urls_in("host,rank\ne.com,1\nwww.e.org/a,2\n"),
            ["e.com", "www.e.org/a"]
        );
        assert_eq!(urls_in("version 1.2\n3.14\nhello\n"), Vec::<String>::new());
        assert_eq!(urls_in(""), Vec::<String>::new());
    }
}
