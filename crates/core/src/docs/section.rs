//! Splits a page into sections by heading, each with the anchor of its URL.

use std::collections::HashMap;

/// A part of a page, from one heading to the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Section {
    /// Name of the page, as in its URL.
    pub page: String,
    /// Its heading and the headings above it, outermost first.
    pub headings: Vec<String>,
    /// Anchor of the heading; empty for the start of the page.
    pub anchor: String,
    /// Markdown below the heading.
    pub text: String,
}

impl Section {
    /// Returns the heading path, for example `Crawl › How deep`.
    pub fn name(&self) -> String {
        self.headings.join(" › ")
    }

    /// Returns the URL of the section. `base` is the server's URL without a trailing slash.
    pub fn url(&self, base: &str) -> String {
        let mark = if self.anchor.is_empty() { "" } else { "#" };
        format!("{base}/docs/{}{mark}{}", self.page, self.anchor)
    }
}

/// Generates the anchors of one page; each heading gets a unique one.
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    taken: HashMap<String, usize>,
}

impl Anchors {
    /// Returns the anchor of the next heading by the rules of common Markdown hosts.
    pub fn next(&mut self, heading: &str) -> String {
        let mut anchor = String::new();
        for c in heading.to_lowercase().chars() {
            match c {
                ' ' => anchor.push('-'),
                c if c.is_alphanumeric() || matches!(c, '-' | '_') => anchor.push(c),
                _ => {}
            }
        }
        let before = self.taken.entry(anchor.clone()).or_default();
        *before += 1;
        match *before {
            1 => anchor,
            number => format!("{anchor}-{}", number - 1),
        }
    }
}

/// Converts a link between pages to its URL form: `../CRAWL.md#x` becomes `crawl#x`.
pub fn page_link(link: &str) -> Option<String> {
    let (file, anchor) = match link.find('#') {
        Some(at) => link.split_at(at),
        None => (link, ""),
    };
    let name = file.strip_suffix(".md").filter(|_| !link.contains("://"))?;
    let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    Some(format!("{name}{anchor}"))
}

/// Replaces links between pages with URLs.
pub(super) fn with_urls(markdown: &str, base: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find("](") {
        let (before, link) = rest.split_at(at + 2);
        out.push_str(before);
        let end = link.find(')').unwrap_or(0);
        match page_link(&link[..end]) {
            Some(page) => out.push_str(&format!("{base}/docs/{page}")),
            None => out.push_str(&link[..end]),
        }
        rest = &link[end..];
    }
    out.push_str(rest);
    out
}

/// Returns whether a line is nothing but a comment, such as the marker of a generated table.
fn is_comment(line: &str) -> bool {
    line.starts_with("<!--") && line.ends_with("-->")
}

/// Returns the sections of a page that have text, in order.
pub(super) fn sections(page: &str, markdown: &str) -> Vec<Section> {
    let mut anchors = Anchors::default();
    let mut sections = Vec::new();
    let mut open = Section {
        page: page.to_owned(),
        ..Section::default()
    };
    let mut in_code = false;
    for line in markdown.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let level = line.len() - line.trim_start_matches('#').len();
        let title = (!in_code && level > 0)
            .then(|| line[level..].strip_prefix(' '))
            .flatten();
        let Some(title) = title else {
            if in_code || !is_comment(line) {
                open.text.push_str(line);
                open.text.push('\n');
            }
            continue;
        };
        let title = title.trim().replace('`', "");
        let anchor = anchors.next(&title);
        let mut headings = open.headings.clone();
        headings.truncate(level - 1);
        headings.push(title);
        let next = Section {
            page: page.to_owned(),
            headings,
            anchor: if level == 1 { String::new() } else { anchor },
            text: String::new(),
        };
        sections.push(std::mem::replace(&mut open, next));
    }
    sections.push(open);
    for section in &mut sections {
        section.text = section.text.trim().to_owned();
    }
    sections.retain(|section| !section.text.is_empty() && !section.headings.is_empty());
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_pages_become_urls() {
        let found = with_urls(
            "[a](../CRAWL.md#x), [b](https://b.test/c.md) [c](d.md",
            "http://a.test",
        );
        assert_eq!(
            found,
            "[a](http://a.test/docs/crawl#x), [b](https://b.test/c.md) [c](d.md"
        );
    }

    #[test]
    fn a_page_is_split_into_sections_with_anchors() {
        let page = "# One\n\n<!-- x -->\na\n\n## `b` & c!\n\n```\n# no heading\n```\n\n### Deep\n\nd\n\n## Same\n\ne\n\n## Same\n\nf\n## Empty\n";
        let found: Vec<_> = sections("p", page)
            .into_iter()
            .map(|section| (section.name(), section.url("http://a.test"), section.text))
            .collect();
        let expected = [
            ("One", "", "a"),
            ("One › b & c!", "#b--c", "```\n# no heading\n```"),
            ("One › b & c! › Deep", "#deep", "d"),
            ("One › Same", "#same", "e"),
            ("One › Same", "#same-1", "f"),
        ];
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(name, anchor, text)| {
                let url = format!("http://a.test/docs/p{anchor}");
                (name.to_owned(), url, text.to_owned())
            })
            .collect();
        assert_eq!(found, expected);
    }
}
