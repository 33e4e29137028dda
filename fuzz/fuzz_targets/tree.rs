//! The tree of a page compared with the one that html5ever builds.
#![no_main]

use harvestman_content::HtmlPage;
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use libfuzzer_sys::fuzz_target;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use url::Url;

/// Markup for which the trees differ on purpose: html5ever treats fewer elements as special or as bounds of a
/// scope, copies the selected option, knows one public id less, and keeps declarative shadow roots as they are.
const DIFFERENT: &[&str] = &["annotation-xml", "<svg", "<math", "search", "keygen", "selectedcontent", "silmaril", "shadowrootmode"];
/// Pages with more tags may reach the limits of depth.
const TAGS: usize = 60;

type Lines = Vec<(usize, String)>;

/// Returns the tree that html5ever builds, in the form of [`HtmlPage::outline`].
fn reference(html: &str) -> Lines {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts {
            scripting_enabled: false,
            ..TreeBuilderOpts::default()
        },
        ..ParseOpts::default()
    };
    let dom = parse_document(RcDom::default(), options).one(html);
    let mut lines = Vec::new();
    for child in dom.document.children.borrow().iter() {
        push_node(child, 0, &mut lines);
    }
    lines
}

fn push_node(node: &Handle, depth: usize, lines: &mut Lines) {
    match &node.data {
        NodeData::Text { contents } => match lines.last_mut() {
            Some((last, line)) if *last == depth && line.starts_with('"') => {
                line.insert_str(line.len() - 1, &contents.borrow());
            }
            _ => lines.push((depth, format!("\"{}\"", contents.borrow()))),
        },
        NodeData::Element {
            name,
            attrs,
            template_contents,
            ..
        } => {
            lines.push((depth, format!("<{}>", name.local)));
            let attributes = attrs.borrow();
            let attributes = attributes.iter();
            let mut attributes: Lines = attributes
                .map(|attribute| (depth + 1, format!("{}=\"{}\"", attribute.name.local, attribute.value)))
                .collect();
            attributes.sort();
            lines.append(&mut attributes);
            if let Some(contents) = &*template_contents.borrow() {
                for child in contents.children.borrow().iter() {
                    push_node(child, depth + 1, lines);
                }
            }
            for child in node.children.borrow().iter() {
                push_node(child, depth + 1, lines);
            }
        }
        _ => {}
    }
}

fuzz_target!(|data: &[u8]| {
    let html = String::from_utf8_lossy(data);
    let lower = html.to_lowercase();
    if DIFFERENT.iter().any(|markup| lower.contains(markup)) || html.matches('<').count() > TAGS {
        return;
    }
    let page = HtmlPage::parse(&html, &Url::parse("https://site.test/").expect("it is a URL"));
    assert_eq!(page.outline(), reference(&html));
});
