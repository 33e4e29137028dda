//! Renders documentation pages as HTML: without scripts or other files, with relative links that work below any URL.

use harvestman_core::docs::{Anchors, Docs, NO_MATCH, SearchHit, page_link, passages};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use super::Page;

const STYLE: &str = include_str!("style.css");

/// Prefixes of links to a page, on the list of pages and on a page.
const FROM_INDEX: &str = "docs/";
const FROM_PAGE: &str = "";

/// Renders the list of pages, or the passages that answer a question.
pub(super) fn index(pages: &[Page], question: Option<&str>, docs: &Docs) -> String {
    let mut body = String::from("<h1>Documentation</h1>");
    match question.map(str::trim).filter(|question| !question.is_empty()) {
        Some(question) => {
            let found = docs.search(question);
            let found = passages(&found);
            if found.is_empty() {
                body.push_str(&format!("<p>{}</p>", escape(NO_MATCH)));
            }
            for result in found {
                body.push_str(&passage(result));
            }
        }
        None => {
            body.push_str("<ul>");
            for page in pages {
                let (title, summary) = title_and_summary(page);
                body.push_str(&format!(
                    "<li><a href=\"{FROM_INDEX}{}\">{}</a>: {summary}</li>",
                    page.name,
                    escape(&title),
                ));
            }
            body.push_str("</ul>");
        }
    }
    document(
        pages,
        "Documentation",
        FROM_INDEX,
        question.unwrap_or_default(),
        &body,
    )
}

/// Renders one page.
pub(super) fn page(pages: &[Page], page: &Page) -> String {
    let body = render(page.markdown, FROM_PAGE);
    document(pages, &title_and_summary(page).0, FROM_PAGE, "", &body)
}

fn passage(found: &SearchHit<'_>) -> String {
    let section = found.section;
    let href = section.url("");
    let href = href.trim_start_matches("/docs/");
    format!(
        "<section><h2><a href=\"{FROM_INDEX}{href}\">{}</a></h2>{}</section>",
        escape(&section.name()),
        render(&section.text, FROM_INDEX)
    )
}

fn document(pages: &[Page], title: &str, from: &str, question: &str, body: &str) -> String {
    let list: String = pages
        .iter()
        .map(|page| {
            format!(
                "<a href=\"{from}{}\">{}</a>",
                page.name,
                escape(&title_and_summary(page).0)
            )
        })
        .collect();
    let home = if from == FROM_INDEX { "docs" } else { "../docs" };
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title} - Harvestman</title><style>{STYLE}</style>\
         <header><a href=\"{home}\">Harvestman</a><form action=\"{home}\" role=\"search\"><input name=\"q\" \
         type=\"search\" placeholder=\"Ask the documentation\" aria-label=\"Question\" value=\"{question}\"></form>\
         </header><nav aria-label=\"Pages\">{list}</nav><main>{body}</main></html>",
        title = escape(title),
        question = escape(question),
    )
}

/// Returns the title of a page as text, and its first sentence as HTML.
fn title_and_summary(page: &Page) -> (String, String) {
    let mut lines = page.markdown.lines();
    let title = lines.next().unwrap_or_default().trim_start_matches(['#', ' ']);
    let start: Vec<&str> = lines
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let start = start.join(" ");
    let end = start.find(". ").map_or(start.len(), |at| at + 1);
    let sentence = render(&start[..end], FROM_INDEX);
    let sentence = sentence.trim().trim_start_matches("<p>").trim_end_matches("</p>");
    (title.to_owned(), sentence.to_owned())
}

/// Renders Markdown as HTML, with anchors on headings and with resolved links to other pages.
fn render(markdown: &str, from: &str) -> String {
    let mut anchors = Anchors::default();
    let mut events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let mut heading = None;
    for at in 0..events.len() {
        match &events[at] {
            Event::Start(Tag::Heading { .. }) => heading = Some((at, String::new())),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, title)) = &mut heading {
                    title.push_str(text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((start, title)) = heading.take()
                    && let Event::Start(Tag::Heading { id, .. }) = &mut events[start]
                {
                    *id = Some(anchors.next(&title).into());
                }
            }
            _ => {}
        }
        if let Event::Start(Tag::Link { dest_url, .. }) = &mut events[at]
            && let Some(page) = page_link(dest_url)
        {
            *dest_url = format!("{from}{page}").into();
        }
    }
    let mut out = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut out, events.into_iter());
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
