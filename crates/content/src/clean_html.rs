//! Writes the selected content as cleaned HTML: without scripts, styles and event handlers, with absolute
//! URLs and the largest image of each `srcset`. Text and values are escaped; output is bounded.

use url::Url;

use crate::html::dom::{Attribute, Dom, NodeId, attr};
use crate::html::links::{largest_image, resolve};
use crate::html::tag::Tag;

/// Returns true for elements that are removed with everything in them.
fn is_removed(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Script | Tag::Style | Tag::Template | Tag::Meta | Tag::Link | Tag::Base | Tag::Head
    )
}

/// Writes the subtrees one after the other; stops after about `max` bytes.
pub(crate) fn write(dom: &Dom, base: &Url, roots: &[NodeId], dropped: &[bool], max: usize) -> String {
    let mut out = String::new();
    for &root in roots {
        let mut open: Vec<NodeId> = Vec::new();
        let mut at = root;
        while at < dom.end(root) && out.len() < max {
            while open.last().is_some_and(|&id| dom.end(id) <= at) {
                close(&mut out, dom, open.pop());
            }
            let tag = dom.tag(at);
            if dropped[at as usize] || is_removed(tag) || (tag == Tag::Noscript && !dom.shows_noscript(at)) {
                at = dom.end(at);
                continue;
            }
            match tag {
                Tag::Text => escape(&mut out, dom.text(at), false),
                // If `noscript` holds the page's text, only its content is written, without the element,
                // so that readers with scripts see it too.
                Tag::Document | Tag::Noscript => {}
                _ => {
                    start(&mut out, dom, base, at);
                    if !tag.is_void() {
                        open.push(at);
                    }
                }
            }
            at += 1;
        }
        while !open.is_empty() {
            close(&mut out, dom, open.pop());
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

fn close(out: &mut String, dom: &Dom, id: Option<NodeId>) {
    if let Some(id) = id {
        out.push_str("</");
        out.push_str(dom.name(id));
        out.push('>');
    }
}

fn start(out: &mut String, dom: &Dom, base: &Url, id: NodeId) {
    out.push('<');
    out.push_str(dom.name(id));
    let mut source = None;
    if dom.tag(id) == Tag::Img {
        source = largest_image(dom, id).and_then(|src| resolve(base, src));
    }
    if let Some(url) = &source {
        push_attribute(out, "src", url.as_str());
    }
    for attribute in dom.attributes(id) {
        if let Some(value) = output_value(dom, base, attribute, source.is_some()) {
            push_attribute(out, dom.names.get(attribute.name), &value);
        }
    }
    out.push('>');
}

/// Returns the value to write; `None` for attributes that are removed.
fn output_value(dom: &Dom, base: &Url, attribute: &Attribute, has_source: bool) -> Option<String> {
    let name = dom.names.get(attribute.name);
    let value = dom.value(attribute);
    let is_plain = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'.'));
    if !is_plain
        || name.starts_with("on")
        || matches!(name, "style" | "srcdoc" | "nonce" | "integrity" | "ping")
    {
        return None;
    }
    match name {
        "src" | "srcset" | "data-src" | "data-srcset" | "data-lazy-src" | "data-lazy-srcset" | "sizes"
            if has_source =>
        {
            None
        }
        "srcset" => crate::html::links::largest_of_set(value)
            .and_then(|url| resolve(base, url))
            .map(String::from),
        "href" | "src" | "poster" | "cite" | "action" | "formaction" | "data" | "background" | "longdesc" => {
            match resolve(base, value) {
                Some(url) if matches!(url.scheme(), "javascript" | "vbscript") => None,
                Some(url) => Some(String::from(url)),
                None => Some(value.to_owned()).filter(|_| {
                    attribute.name != attr::SRC && !value.to_ascii_lowercase().contains("script:")
                }),
            }
        }
        _ => Some(value.to_owned()),
    }
}

fn push_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(out, value, true);
    out.push('"');
}

fn escape(out: &mut String, text: &str, quoted: bool) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if quoted => out.push_str("&quot;"),
            '\u{A0}' => out.push_str("&nbsp;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn cleaned_html_is_absolute_and_harmless() {
        let dom = parse(
            "<div onclick='x()' style='a' class='k'><a href='b?x=1&amp;y'>t &amp; u</a><img srcset='s.png 1x, l.png 2x' alt='\"'>\
             <a href=' JavaScript:alert(1)'>j</a><script>1</script><br></div>",
        );
        let root = dom.first(0, Tag::Div).unwrap();
        let dropped = vec![false; dom.nodes.len()];
        let base = Url::parse("https://site.test/a/").unwrap();
        assert_eq!(
            write(&dom, &base, &[root], &dropped, 10_000),
            "<div class=\"k\"><a href=\"https://site.test/a/b?x=1&amp;y\">t &amp; u</a>\
             <img src=\"https://site.test/a/l.png\" alt=\"&quot;\"><a>j</a><br></div>"
        );
    }

    #[test]
    fn noscript_text_is_written_when_it_is_the_content() {
        let long = "word ".repeat(400);
        let html = |html: &str| {
            let dom = parse(html);
            let root = dom.first(0, Tag::Body).unwrap();
            let base = Url::parse("https://site.test/").unwrap();
            write(&dom, &base, &[root], &vec![false; dom.nodes.len()], 10_000)
        };
        let page = format!("<p>Loading</p><noscript><p>{long}</p></noscript>");
        assert_eq!(html(&page), format!("<body><p>Loading</p><p>{long}</p></body>"));
        assert_eq!(
            html("<p>Text</p><noscript><p>Turn it on</p></noscript>"),
            "<body><p>Text</p></body>"
        );
    }
}
