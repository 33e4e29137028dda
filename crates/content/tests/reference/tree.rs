//! The tree that html5ever builds. Shared with the fuzz target `tree`.

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

pub(crate) type Lines = Vec<(usize, String)>;

/// Returns the tree that html5ever builds, in the form of [`HtmlPage::outline`].
pub(crate) fn outline(html: &str) -> Lines {
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
                .map(|attribute| {
                    (
                        depth + 1,
                        format!("{}=\"{}\"", attribute.name.local, attribute.value),
                    )
                })
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
