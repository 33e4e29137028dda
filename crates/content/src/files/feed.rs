//! Reads feeds (RSS, Atom, RDF): title and description, then the entries in their order, each with its link, date,
//! author and text.

use url::Url;

use super::markup::Markup;
use super::xml::{self, Attributes, Node};
use crate::html::dom::collapse;
use crate::html::parse::parse;
use crate::{HtmlPage, Selection};

/// Bytes of a title that are read.
const TITLE_BYTES: usize = 2000;

/// Returns a feed that was loaded from `url` as an HTML page, or `None` for XML that is not well-formed or has no
/// entries of a feed.
pub fn feed_html(xml: &str, url: &Url) -> Option<String> {
    if !matches!(root_name(xml)?, "rss" | "feed" | "rdf:RDF") {
        return None;
    }
    let mut reader = Reader::default();
    xml::walk(xml, |node| reader.read(node)).ok()?;
    (!reader.feed.entries.is_empty()).then(|| reader.feed.page(url))
}

/// Returns the name of the root element, which may follow declarations and comments.
fn root_name(xml: &str) -> Option<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == ':';
    let starts = xml.match_indices('<').map(|(at, _)| &xml[at + 1..]);
    let root = starts
        .take(16)
        .find(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    root.split(|c| !is_name(c)).next()
}

#[derive(Default)]
struct Feed {
    title: String,
    description: String,
    language: String,
    entries: Vec<Entry>,
}

#[derive(Default)]
struct Entry {
    title: String,
    link: Option<String>,
    /// Link to a recording or another file.
    enclosure: Option<String>,
    date: String,
    author: String,
    /// HTML.
    text: String,
    /// Whether `text` is more than a summary.
    is_whole: bool,
}

#[derive(Default)]
struct Reader {
    feed: Feed,
    entry: Option<Entry>,
    /// Names of the open elements.
    open: Vec<String>,
    /// Text of the innermost element that has any.
    text: String,
    /// Whether the text is HTML, which is the rule in RSS and an option in Atom.
    is_html: bool,
    /// Number of open elements around markup in a text that is not escaped.
    inline_from: Option<usize>,
}

impl Reader {
    fn read(&mut self, node: Node) {
        match node {
            Node::Start(name, attributes) => self.start(name, &attributes),
            Node::Text(text) => match self.inline_from {
                Some(_) => self.text.push_str(&escape(&text)),
                None => self.text.push_str(&text),
            },
            Node::End(_) => self.end(),
        }
    }

    fn start(&mut self, name: String, attributes: &Attributes) {
        if self.entry.is_some() && self.open.last().is_some_and(|parent| is_text(parent)) {
            self.inline_from.get_or_insert(self.open.len());
            self.is_html = true;
        }
        if self.inline_from.is_some() {
            self.text.push_str(&start_tag(&name, attributes));
            return self.open.push(name);
        }
        self.text.clear();
        let kind = attributes.find("type").unwrap_or_default();
        let is_atom = self.open.first().is_some_and(|root| root == "feed");
        self.is_html = !is_atom || kind.contains("html");
        match (name.as_str(), &mut self.entry) {
            ("item" | "entry", _) => self.entry = Some(Entry::default()),
            ("link", Some(entry)) => {
                let is_page = matches!(attributes.find("rel"), None | Some("alternate"));
                if let Some(href) = attributes.find("href").filter(|_| is_page) {
                    entry.link.get_or_insert_with(|| href.to_owned());
                }
            }
            ("enclosure", Some(entry)) => entry.enclosure = attributes.find("url").map(str::to_owned),
            _ => {}
        }
        self.open.push(name);
    }

    fn end(&mut self) {
        let Some(name) = self.open.pop() else {
            return;
        };
        if self.inline_from.is_some_and(|from| self.open.len() >= from) {
            return self.text.push_str(&format!("</{name}>"));
        }
        self.inline_from = None;
        let text = std::mem::take(&mut self.text);
        let parent = self.open.last().map(String::as_str).unwrap_or_default();
        let is_filled = !text.trim().is_empty();
        match &mut self.entry {
            _ if matches!(name.as_str(), "item" | "entry") => self.feed.entries.extend(self.entry.take()),
            Some(entry) if is_filled && matches!(parent, "item" | "entry" | "author") => {
                entry.set(&name, text, self.is_html);
            }
            None if is_filled && matches!(parent, "channel" | "feed") => match name.as_str() {
                "title" => self.feed.title = plain(&text),
                "description" | "subtitle" => self.feed.description = plain(&text),
                "language" => text.trim().clone_into(&mut self.feed.language),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Returns true for elements with the text of an entry.
fn is_text(name: &str) -> bool {
    matches!(name, "content" | "content:encoded" | "description" | "summary")
}

impl Entry {
    /// Sets what an element of this name states.
    fn set(&mut self, name: &str, text: String, is_html: bool) {
        let is_whole = matches!(name, "content" | "content:encoded");
        match name {
            "title" => self.title = plain(&text),
            "link" => self.link = Some(text.trim().to_owned()),
            "guid" if text.trim().starts_with("http") => {
                self.link.get_or_insert_with(|| text.trim().to_owned());
            }
            "pubDate" | "published" | "dc:date" => self.date = plain(&text),
            "updated" if self.date.is_empty() => self.date = plain(&text),
            "author" | "dc:creator" | "name" => self.author = plain(&text),
            name if is_text(name) && (is_whole || !self.is_whole) => {
                self.is_whole = is_whole;
                self.text = if is_html { text } else { escape(&text) };
            }
            _ => {}
        }
    }

    fn write(&self, feed: &Url, page: &mut Markup) {
        let link = self.link.as_deref().and_then(|link| feed.join(link).ok());
        let url = link.as_ref().unwrap_or(feed);
        let title = match (self.title.as_str(), &link) {
            ("", Some(link)) => link.as_str(),
            (title, _) => title,
        };
        page.open("h2");
        match &link {
            Some(link) => page.open_with("a", "href", link.as_str()).text(title).close("a"),
            None => page.text(title),
        };
        page.close("h2");
        let about: Vec<&str> = [&*self.date, &*self.author]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        if !about.is_empty() {
            page.element("p", &about.join(", "));
        }
        // Converted on its own, so that an element that is not closed ends with its entry.
        let text = HtmlPage::parse(&self.text, url);
        page.raw(&text.convert(&Selection::default()).html());
        if let Some(file) = self.enclosure.as_deref().and_then(|file| feed.join(file).ok()) {
            page.open("p")
                .open_with("a", "href", file.as_str())
                .text(file.as_str())
                .close("a")
                .close("p");
        }
    }
}

impl Feed {
    fn page(&self, url: &Url) -> String {
        let mut page = Markup::default();
        page.open_with("html", "lang", &self.language)
            .open("head")
            .element("title", &self.title);
        page.raw("<meta name=\"description\" content=\"")
            .text(&self.description)
            .raw("\">");
        page.close("head")
            .open("body")
            .element("h1", &self.title)
            .element("p", &self.description);
        for entry in &self.entries {
            entry.write(url, &mut page);
        }
        page.close("body").close("html");
        page.into_html()
    }
}

/// Returns the text of a title that may have markup.
fn plain(html: &str) -> String {
    collapse(&parse(html).text_of(0, TITLE_BYTES))
}

fn escape(text: &str) -> String {
    let mut escaped = Markup::default();
    escaped.text(text);
    escaped.into_html()
}

fn start_tag(name: &str, attributes: &Attributes) -> String {
    let mut tag = format!("<{}", name.trim_start_matches("xhtml:"));
    for name in ["href", "src", "alt"] {
        if let Some(value) = attributes.find(name) {
            tag.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
    }
    tag + ">"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(xml: &str) -> Option<String> {
        let url = Url::parse("https://example.com/feeds/news.xml").unwrap();
        let page = HtmlPage::parse(&feed_html(xml, &url)?, &url);
        Some(page.convert(&Selection::default()).markdown())
    }

    #[test]
    fn entries_of_rss_have_their_link_date_author_and_text() {
        let feed = r#"<?xml version="1.0"?><!-- made by hand --><rss version="2.0"><channel><title>Harbour &amp; sea</title>
            <link>https://example.com/</link><description>News</description><image><title>Logo</title></image>
            <item><title>Ferries &lt;b&gt;late&lt;/b&gt;</title><link>/ferries</link><pubDate>Mon, 1 Jan 2024</pubDate>
            <dc:creator>Ann</dc:creator><description>Short</description>
            <content:encoded><![CDATA[<p>Long <em>text</em> <a href="/map">map</a><div>]]></content:encoded></item>
            <item><guid>https://example.com/2</guid><description>Two &amp;amp; three</description>
            <enclosure url="/two.mp3" type="audio/mpeg"/></item></channel></rss>"#;
        assert_eq!(
            markdown(feed).unwrap(),
            "# Harbour & sea\n\nNews\n\n## [Ferries late](https://example.com/ferries)\n\nMon, 1 Jan 2024, Ann\n\n\
             Long *text* [map](https://example.com/map)\n\n## [https://example.com/2](https://example.com/2)\n\n\
             Two & three\n\n[https://example.com/two.mp3](https://example.com/two.mp3)"
        );
    }

    #[test]
    fn texts_of_atom_are_plain_escaped_or_inline() {
        let feed = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Ships</title><author><name>Ann</name></author>
            <entry><title>One</title><link rel="self" href="/1.atom"/><link href="/1"/><updated>2024-01-02</updated>
            <author><name>Ben</name></author><content>a &lt; b</content></entry>
            <entry><title>Two</title><summary type="html">&lt;b&gt;Bold&lt;/b&gt;</summary></entry>
            <entry><title>Three</title><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>In <a
            href="/x?a=1&amp;b=2">line</a> &lt;</p></div></content><summary>Not this</summary></entry></feed>"#;
        assert_eq!(
            markdown(feed).unwrap(),
            "# Ships\n\n## [One](https://example.com/1)\n\n2024-01-02, Ben\n\na < b\n\n## Two\n\n**Bold**\n\n## Three\n\n\
             In [line](https://example.com/x?a=1&b=2) <"
        );
    }

    #[test]
    fn other_xml_is_no_feed() {
        for xml in [
            "",
            "<urlset><url><loc>a</loc></url></urlset>",
            "<rss><channel><title>cut",
            "<rss><channel></item></channel></rss>",
            "text",
            "<",
            "<!-- <rss> -->",
        ] {
            assert_eq!(markdown(xml), None, "{xml}");
        }
        assert!(
            markdown("<rdf:RDF><channel><title>A</title></channel><item><title>B</title></item></rdf:RDF>")
                .unwrap()
                .ends_with("## B")
        );
    }
}
