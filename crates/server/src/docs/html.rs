//! The layout of all documentation pages, and the pages of the guide: HTML without scripts or other files, with
//! relative links that work below any URL.

use harvestman_core::docs::{Anchors, Docs, NO_MATCH, SearchHit, page_link, passages};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use super::Page;

/// Colours and sizes of the console.
const TOKENS: &str = include_str!("../../../../web/style/tokens.css");
const STYLE: &str = include_str!("style.css");
const MARK: &str = include_str!("../../../../web/assets/icon.svg");

/// Bases of the links on a documentation page, which depend on its URL.
#[derive(Clone, Copy)]
pub(super) struct LinkBase {
    /// Prefix of links to pages.
    pages: &'static str,
    /// Link to the list of pages.
    pub(super) home: &'static str,
    /// Prefix of links to other paths of the server.
    pub(super) root: &'static str,
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Guide,
    Api,
}

/// `/docs`
pub(super) const INDEX: LinkBase = LinkBase {
    pages: "docs/",
    home: "docs",
    root: "",
    part: Part::Guide,
};
/// `/docs/{page}`
const PAGE: LinkBase = LinkBase {
    pages: "",
    home: "../docs",
    root: "../",
    part: Part::Guide,
};
/// `/docs/api`
pub(super) const API_INDEX: LinkBase = LinkBase {
    part: Part::Api,
    ..PAGE
};
/// `/docs/api/{operation}`
pub(super) const API_ENDPOINT: LinkBase = LinkBase {
    pages: "../",
    home: "../../docs",
    root: "../../",
    part: Part::Api,
};

impl LinkBase {
    /// Returns the link to a page, escaped.
    pub(super) fn link(self, page: &str) -> String {
        escape(&format!("{}{page}", self.pages))
    }
}

/// Link of the navigation.
pub(super) struct NavLink<'a> {
    /// Heading that it belongs to.
    pub(super) group: &'a str,
    /// Page that it opens.
    pub(super) page: String,
    pub(super) label: String,
}

/// Renders the list of pages.
pub(super) fn index(pages: &[Page]) -> String {
    let mut body = format!(
        "<h1>Documentation</h1><p>The guide explains what each option does and when to use it. The \
         <a href=\"{}\">API reference</a> lists every endpoint with its parameters, body fields and responses.</p>",
        INDEX.link("api")
    );
    for group in pages.chunk_by(|one, next| one.group == next.group) {
        body.push_str(&format!("<h2>{}</h2><ul class=\"list\">", escape(group[0].group)));
        for page in group {
            let (title, summary) = title_and_summary(page);
            let href = INDEX.link(page.name);
            body.push_str(&format!(
                "<li><a href=\"{href}\">{}</a><span>{summary}</span></li>",
                escape(&title)
            ));
        }
        body.push_str("</ul>");
    }
    document(INDEX, "Documentation", "", &guide_links(pages), None, &body)
}

/// Renders what matches a query: a list of endpoints, empty if there are none, and the passages of the guide.
pub(super) fn results(pages: &[Page], query: &str, endpoints: &str, docs: &Docs) -> String {
    let mut body = format!("<h1>Results for “{}”</h1>", escape(query));
    let found = docs.search(query);
    let found = passages(&found);
    if endpoints.is_empty() && found.is_empty() {
        body.push_str(&format!("<p>{}</p>", escape(NO_MATCH)));
    }
    if !endpoints.is_empty() {
        body.push_str(&format!("<h2>Endpoints</h2>{endpoints}"));
    }
    if !found.is_empty() {
        body.push_str("<h2>Guide</h2>");
    }
    found.iter().for_each(|result| body.push_str(&passage(result)));
    document(INDEX, "Search", query, &guide_links(pages), None, &body)
}

/// Renders one page.
pub(super) fn page(pages: &[Page], index: usize) -> String {
    let page = &pages[index];
    let mut body = format!("<article>{}</article>", render(page.markdown, PAGE));
    let neighbour = |page: Option<&Page>, class: &str, word: &str| {
        page.map_or_else(String::new, |page| {
            let (href, title) = (PAGE.link(page.name), title_and_summary(page).0);
            format!(
                "<a class=\"{class}\" href=\"{href}\"><small>{word}</small>{}</a>",
                escape(&title)
            )
        })
    };
    let previous = index.checked_sub(1).and_then(|index| pages.get(index));
    body.push_str(&format!(
        "<nav class=\"pager\" aria-label=\"Previous and next page\">{}{}</nav>",
        neighbour(previous, "previous", "Previous"),
        neighbour(pages.get(index + 1), "next", "Next"),
    ));
    let title = title_and_summary(page).0;
    document(PAGE, &title, "", &guide_links(pages), Some(page.name), &body)
}

fn guide_links(pages: &[Page]) -> Vec<NavLink<'static>> {
    let link = |page: &Page| NavLink {
        group: page.group,
        page: page.name.to_owned(),
        label: title_and_summary(page).0,
    };
    pages.iter().map(link).collect()
}

fn passage(found: &SearchHit<'_>) -> String {
    let section = found.section;
    let href = section.url("");
    let href = INDEX.link(href.trim_start_matches("/docs/"));
    format!(
        "<section><h3><a href=\"{href}\">{}</a></h3>{}</section>",
        escape(&section.name()),
        render(&section.text, INDEX)
    )
}

/// Renders a document: header with search, `body`, and the navigation with the current page.
pub(super) fn document(
    place: LinkBase,
    title: &str,
    query: &str,
    links: &[NavLink<'_>],
    current: Option<&str>,
    body: &str,
) -> String {
    let LinkBase { home, root, .. } = place;
    let part = |part: Part| match place.part == part {
        true => " aria-current=\"true\"",
        false => "",
    };
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title} - Harvestman</title>\
         <link rel=\"icon\" href=\"data:image/svg+xml,{icon}\">\
         <style>{TOKENS}{STYLE}</style></head><body>\
         <a class=\"skip\" href=\"#content\">Skip to content</a>\
         <header><a class=\"brand\" href=\"{home}\">{mark}Harvestman</a>\
         <nav class=\"parts\" aria-label=\"Documentation\"><a href=\"{home}\"{guide}>Guide</a>\
         <a href=\"{api}\"{reference}>API reference</a><a href=\"{root}console/\">Console</a>\
         <a class=\"to-pages\" href=\"#pages\">All pages</a></nav>\
         <form action=\"{home}\" role=\"search\"><input name=\"q\" type=\"search\" \
         placeholder=\"Search guide and API\" aria-label=\"Search guide and API\" value=\"{query}\"></form></header>\
         <main id=\"content\">{body}</main><nav id=\"pages\" aria-label=\"Pages\">{nav}</nav></body></html>",
        title = escape(title),
        icon = MARK.trim().replace('"', "'").replace('#', "%23"),
        mark = MARK.trim().replacen("<svg", "<svg aria-hidden=\"true\"", 1),
        guide = part(Part::Guide),
        reference = part(Part::Api),
        api = place.link("api"),
        query = escape(query),
        nav = navigation(place, links, current),
    )
}

fn navigation(place: LinkBase, links: &[NavLink<'_>], current: Option<&str>) -> String {
    let link = |link: &NavLink<'_>| {
        let is_current = match current == Some(&link.page) {
            true => " aria-current=\"page\"",
            false => "",
        };
        let href = place.link(&link.page);
        format!("<a href=\"{href}\"{is_current}>{}</a>", escape(&link.label))
    };
    let group = |links: &[NavLink<'_>]| {
        let links_of_group: String = links.iter().map(link).collect();
        format!("<p>{}</p>{links_of_group}", escape(links[0].group))
    };
    links
        .chunk_by(|one, next| one.group == next.group)
        .map(group)
        .collect()
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
    (title.to_owned(), render_line(&start[..end], INDEX))
}

/// Renders one paragraph of Markdown without its `<p>`.
pub(super) fn render_line(markdown: &str, place: LinkBase) -> String {
    let line = render(markdown, place);
    let line = line.trim().trim_start_matches("<p>").trim_end_matches("</p>");
    line.to_owned()
}

/// Renders Markdown as HTML, with anchors on headings and with resolved links to other pages.
pub(super) fn render(markdown: &str, place: LinkBase) -> String {
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
            *dest_url = format!("{}{page}", place.pages).into();
        }
    }
    let mut out = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut out, events.into_iter());
    // Blocks that scroll horizontally are focusable, so that the keyboard can scroll them too.
    out.replace("<pre>", "<pre tabindex=\"0\">")
        .replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
}

pub(super) fn escape(text: &str) -> String {
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
