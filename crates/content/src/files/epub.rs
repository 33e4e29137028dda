//! Reads books (EPUB): the chapters in reading order, each converted like a page. Links between chapters
//! become links inside the document; images of the package become their descriptions.

mod styles;

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use url::Url;

use self::styles::Styles;
use super::archive::Archive;
use super::markup::Markup;
use super::xml::{self, Node};
use super::{FileDocument, FileError, FilePage};
use crate::html::tag::Tag;
use crate::{HtmlPage, Selection};

/// URL given to the package, to distinguish links into it from others.
const PACKAGE: &str = "epub://package/";

/// Reads a book.
pub(super) fn read(body: &[u8]) -> Result<FileDocument, FileError> {
    let mut archive = Archive::open(body)?;
    if archive
        .text("META-INF/encryption.xml")?
        .is_some_and(|xml| xml.contains("EncryptedKey"))
    {
        return Err(FileError::Encrypted);
    }
    let root = package_path(&archive.required("META-INF/container.xml")?)?;
    let package = Package::read(&archive.required(&root)?)?;
    let base = Url::parse(PACKAGE)
        .and_then(|url| url.join(&root))
        .map_err(|error| FileError::Damaged(error.to_string()))?;
    let mut styles = Styles::default();
    for href in &package.style_sheets {
        let path = base.join(href).ok().map(|url| path_of(&url));
        if let Some(css) = path.and_then(|path| archive.text(&path).ok().flatten()) {
            styles.add(&css);
        }
    }
    let mut chapters = Vec::new();
    for id in &package.spine {
        let Some(item) = package.items.get(id) else {
            continue;
        };
        let is_text = item.kind.contains("html") && !item.is_contents;
        let Some(url) = base.join(&item.href).ok().filter(|_| is_text) else {
            continue;
        };
        if let Some(xhtml) = archive.text(&path_of(&url))? {
            let xhtml = with_end_tags(&xhtml);
            styles.apply(&xhtml, &[]);
            chapters.push((url, xhtml));
        }
    }
    let headings = styles.heading_sizes();
    let pages: Vec<FilePage> = (1..)
        .zip(chapters)
        .map(|(number, (url, xhtml))| FilePage {
            number,
            html: chapter(&styles.apply(&xhtml, &headings), &url),
            continues: false,
        })
        .collect();
    if pages.is_empty() {
        return Err(FileError::Damaged("it has no chapters".to_owned()));
    }
    Ok(FileDocument {
        pages,
        properties: package.properties(),
        ..FileDocument::default()
    })
}

fn package_path(container: &str) -> Result<String, FileError> {
    let mut path = None;
    xml::walk(container, |node| {
        if let Node::Start(name, attributes) = node
            && name == "rootfile"
            && path.is_none()
        {
            path = attributes.find("full-path").map(str::to_owned);
        }
    })?;
    path.ok_or_else(|| FileError::Damaged("its container does not name a package".to_owned()))
}

/// Returns the name in the archive of a URL under [`PACKAGE`].
fn path_of(url: &Url) -> String {
    let path = percent_decode_str(url.path().trim_start_matches('/'));
    path.decode_utf8_lossy().into_owned()
}

struct Item {
    href: String,
    kind: String,
    is_contents: bool,
}

/// The package document.
#[derive(Default)]
struct Package {
    items: HashMap<String, Item>,
    /// URLs of the style sheets, relative to the package document.
    style_sheets: Vec<String>,
    spine: Vec<String>,
    /// `dc:` elements by name.
    metadata: HashMap<String, Vec<String>>,
}

impl Package {
    fn read(xml: &str) -> Result<Self, FileError> {
        let mut package = Package::default();
        let mut inside = String::new();
        let mut text = String::new();
        xml::walk(xml, |node| match node {
            Node::Start(name, attributes) => {
                let find = |name| attributes.find(name).unwrap_or_default().to_owned();
                match name.rsplit(':').next().unwrap_or_default() {
                    "item" => {
                        let item = Item {
                            href: find("href"),
                            kind: find("media-type"),
                            is_contents: find("properties").split(' ').any(|word| word == "nav"),
                        };
                        if item.kind == "text/css" {
                            package.style_sheets.push(item.href.clone());
                        }
                        package.items.insert(find("id"), item);
                    }
                    "itemref" if find("linear") != "no" => package.spine.push(find("idref")),
                    _ => {}
                }
                inside = name;
                text.clear();
            }
            Node::Text(more) => text.push_str(&more),
            Node::End(name) => {
                let value = text.trim();
                if name == inside && name.starts_with("dc:") && !value.is_empty() {
                    package.metadata.entry(name).or_default().push(value.to_owned());
                }
                text.clear();
            }
        })?;
        Ok(package)
    }

    fn properties(&self) -> Vec<(String, String)> {
        let metadata = |name: &str| self.metadata.get(name).map(|values| values.join(", "));
        let first = |name: &str| self.metadata.get(name).and_then(|values| values.first().cloned());
        super::properties([
            ("title", first("dc:title").as_deref()),
            ("author", metadata("dc:creator").as_deref()),
            ("description", first("dc:description").as_deref()),
            ("keywords", metadata("dc:subject").as_deref()),
            ("language", first("dc:language").as_deref()),
            ("publisher", first("dc:publisher").as_deref()),
            ("createdTime", first("dc:date").as_deref()),
        ])
    }
}

/// Returns the body of a chapter as cleaned HTML, without URLs of the package.
fn chapter(xhtml: &str, url: &Url) -> String {
    let page = HtmlPage::parse(xhtml, url);
    let whole = page.convert(&Selection::default()).html();
    let body = inner(&whole, "body");
    remove_package_urls(body, url)
}

/// Returns the content of the first element of this name; everything when there is none.
fn inner<'a>(html: &'a str, name: &str) -> &'a str {
    let from = html
        .find(&format!("<{name}"))
        .and_then(|at| Some(at + html[at..].find('>')? + 1));
    let to = html.rfind(&format!("</{name}>"));
    match (from, to) {
        (Some(from), Some(to)) if from <= to => &html[from..to],
        _ => html,
    }
}

/// Replaces `/>` with end tags where needed: XHTML allows it for any element, HTML only for void elements.
fn with_end_tags(xhtml: &str) -> String {
    let mut out = String::with_capacity(xhtml.len() + xhtml.len() / 16);
    let mut rest = xhtml;
    while let Some(end) = rest.find("/>") {
        let (before, after) = (&rest[..end], &rest[end + 2..]);
        let start = before.rfind('<').map_or("", |at| &before[at + 1..]);
        let name: &str = start
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        let is_tag = !name.is_empty() && !start.contains('>');
        out.push_str(before);
        if is_tag && !Tag::of(&name.to_ascii_lowercase()).is_void() {
            out.push_str("></");
            out.push_str(name);
            out.push('>');
        } else {
            out.push_str("/>");
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Removes the URLs of the package from cleaned HTML. Links into it point to an `id` with the chapter's name,
/// or are removed; images become their description.
fn remove_package_urls(html: &str, url: &Url) -> String {
    let mut out = Markup::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.raw(&rest[..at]);
        let Some(end) = rest[at..].find('>') else { break };
        let tag = &rest[at..at + end + 1];
        rest = &rest[at + end + 1..];
        let source = value(tag, "src").unwrap_or(PACKAGE);
        if tag.starts_with("<img ") && source.starts_with(PACKAGE) {
            // Some writers give the name of the file.
            let is_text = |alt: &&str| !alt.trim().is_empty() && !source.ends_with(alt);
            if let Some(alt) = value(tag, "alt").filter(is_text) {
                out.raw("[").raw(alt.trim()).raw("]");
            }
            continue;
        }
        let mut tag = tag.to_owned();
        if let Some(href) = value(&tag, "href")
            .filter(|href| href.starts_with(PACKAGE))
            .map(str::to_owned)
        {
            let target = Url::parse(&href.replace("&amp;", "&")).ok();
            let target_id = target.map(|target| anchor(&target, target.fragment().unwrap_or_default()));
            let new = target_id
                .map(|target_id| format!("href=\"#{target_id}\""))
                .unwrap_or_default();
            tag = tag.replacen(&format!("href=\"{href}\""), &new, 1);
        }
        if let Some(id) = value(&tag, "id").map(str::to_owned) {
            tag = tag.replacen(
                &format!(" id=\"{id}\""),
                &format!(" id=\"{}\"", anchor(url, &id)),
                1,
            );
        }
        out.raw(&tag);
    }
    out.raw(rest);
    out.into_html() + "\n"
}

/// Returns the document-wide form of an `id` in a chapter. It includes the chapter, as several chapters may
/// use the same `id`.
fn anchor(chapter: &Url, id: &str) -> String {
    let file = chapter.path().rsplit('/').next().unwrap_or_default();
    let name = file.split('.').next().unwrap_or_default();
    let letters = |text: &str| text.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "-");
    match id.is_empty() {
        true => letters(name),
        false => format!("{}-{}", letters(name), letters(id)),
    }
}

/// Returns the value of an attribute in a tag, in the form that the cleaner writes.
fn value<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    Some(&tag[from..from + tag[from..].find('"')?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_closed_xhtml_elements_stay_empty() {
        assert_eq!(
            with_end_tags("<p><a id=\"x\"/>b<br/><title/></p>"),
            "<p><a id=\"x\"></a>b<br/><title></title></p>"
        );
        assert_eq!(with_end_tags("a /> b"), "a /> b");
    }

    #[test]
    fn package_urls_are_removed() {
        let url = Url::parse("epub://package/OEBPS/one.xhtml").unwrap();
        let html = concat!(
            r#"<p id="a">See <a href="epub://package/OEBPS/two.xhtml#b">two</a>, "#,
            r#"<a href="https://x.test/">web</a> <img alt="A tree" src="epub://package/i.png"><img alt="i.png" src="epub://package/i.png"></p>"#
        );
        assert_eq!(
            remove_package_urls(html, &url),
            "<p id=\"one-a\">See <a href=\"#two-b\">two</a>, <a href=\"https://x.test/\">web</a> [A tree]</p>\n"
        );
    }
}
