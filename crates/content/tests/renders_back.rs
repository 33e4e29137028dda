//! The Markdown of real pages, read by another's parser: nothing is empty, no table is broken, no text is swallowed.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::HashSet;
use std::fs;

use harvestman_content::{Page, Selection};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use url::Url;

/// The pages in `tests/pages`, by name.
fn pages() -> Vec<(String, Page)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages");
    let url = Url::parse("https://site.test/a/page.html").unwrap();
    let mut pages: Vec<(String, Page)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "html"))
        .map(|path| {
            let html = fs::read_to_string(&path).unwrap();
            (path.display().to_string(), Page::parse(&html, &url))
        })
        .collect();
    pages.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(pages.len() >= 10);
    pages
}

fn markdown(page: &Page, only_main_content: bool) -> String {
    let selection = Selection {
        only_main_content,
        ..Selection::default()
    };
    page.convert(&selection).markdown()
}

/// Text as a reader sees it, and the number of cells of each table row.
fn rendered(markdown: &str) -> (String, Vec<Vec<usize>>) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let (mut text, mut tables) = (String::new(), Vec::<Vec<usize>>::new());
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => tables.last_mut().unwrap().push(0),
            Event::Start(Tag::TableCell) => *tables.last_mut().unwrap().last_mut().unwrap() += 1,
            Event::End(
                TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::Heading(_) | TagEnd::CodeBlock,
            )
            | Event::SoftBreak
            | Event::HardBreak => text.push(' '),
            Event::InlineHtml(tag) if tag.starts_with("<br") => text.push(' '),
            _ => {}
        }
    }
    (text, tables)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 3)
}

#[test]
fn no_page_is_empty() {
    for (name, page) in pages() {
        assert!(rendered(&markdown(&page, true)).0.trim().len() > 40, "{name}");
    }
}

#[test]
fn tables_render_as_they_were_written() {
    let mut seen = 0;
    for (name, page) in pages() {
        for only_main_content in [true, false] {
            let markdown = markdown(&page, only_main_content);
            let (_, tables) = rendered(&markdown);
            seen += tables.len();
            let rulers = markdown
                .lines()
                .filter(|line| line.trim_start_matches(['>', ' ']).starts_with("| ---"));
            assert_eq!(rulers.count(), tables.len(), "{name}");
            for rows in tables {
                assert!(rows.iter().all(|&cells| cells == rows[0]), "{name}: {rows:?}");
            }
        }
    }
    assert!(seen > 4);
}

/// What is written comes back: a word of the Markdown that no parser shows would be swallowed text.
#[test]
fn no_text_is_swallowed() {
    for (name, page) in pages() {
        let markdown = markdown(&page, false);
        let (text, _) = rendered(&markdown);
        let shown: HashSet<&str> = words(&text).collect();
        let html = page.convert(&Selection::default()).html();
        // Paragraphs and headings without markup inside: their words must all be shown.
        for tag in ["<p>", "<h2>", "<li>", "<td>"] {
            for part in html.split(tag).skip(1) {
                let plain = part.split('<').next().unwrap_or("");
                for word in words(plain).filter(|_| !plain.contains('&')) {
                    assert!(shown.contains(word), "{name}: {word}");
                }
            }
        }
    }
}

#[test]
fn the_same_page_gives_the_same_markdown() {
    for ((name, one), (_, two)) in pages().into_iter().zip(pages()) {
        assert_eq!(markdown(&one, true), markdown(&two, true), "{name}");
    }
}
