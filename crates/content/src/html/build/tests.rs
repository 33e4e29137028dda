//! The tree construction tests of html5lib-tests (`tests/html5lib`). Fragments and pages with scripting are left
//! out, because this crate parses neither. The arena has no comments, doctypes and namespaces, and contents of
//! templates are children: the expected trees are changed accordingly.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::html::outline::{outline, push_text};
use crate::html::parse::parse;

/// A node of an expected tree: its depth and what it is.
type Line = (usize, String);

/// Tests with an expectation that the standard has since changed: the parser now keeps most elements in
/// `select`, so that its options can be styled.
const OUTDATED: &[&str] = &[
    "<!DOCTYPE html><select><menuitem></select>",
    "<select><b><option><select><option></b></select>X",
    "<select><b><option><select><option></b></select>",
    "<!DOCTYPE html><body><select><svg></svg></select>",
    "<!DOCTYPE html><body><select><option><svg></svg></option></select>",
    "<!DOCTYPE html><body><table><tr><td><select><svg><g>foo</g><g>bar</g><p>baz</table><p>quux",
    "<!DOCTYPE html><body><table><select><svg><g>foo</g><g>bar</g><p>baz</table><p>quux",
    "<!doctype html><select><plaintext></plaintext>X",
    "<!doctype html><table><select><plaintext>a<caption>b",
    "<select><keygen>",
    "<!DOCTYPE html><body><select><math></math></select>",
    "<!DOCTYPE html><body><select><option><math></math></option></select>",
    "<!DOCTYPE html><body><table><tr><td><select><math><mi>foo</mi><mi>bar</mi><p>baz</table><p>quux",
    "<!DOCTYPE html><body><table><select><math><mi>foo</mi><mi>bar</mi><p>baz</table><p>quux",
];

/// Returns the expected tree as [`outline`] returns it.
fn expected(document: &str) -> Vec<Line> {
    let mut nodes: Vec<Line> = Vec::new();
    for line in document.split('\n') {
        match line.strip_prefix("| ") {
            Some(line) => {
                let node = line.trim_start_matches(' ');
                nodes.push(((line.len() - node.len()) / 2, node.to_owned()));
            }
            None => {
                let (_, node) = nodes.last_mut().expect("the first line is a node");
                node.push('\n');
                node.push_str(line);
            }
        }
    }
    let mut lines = Vec::new();
    // Depths of the contents of open templates, whose lines move up.
    let mut contents: Vec<usize> = Vec::new();
    for (depth, node) in nodes {
        contents.retain(|&content| content < depth);
        if node == "content" {
            contents.push(depth);
            continue;
        }
        let depth = depth - contents.len();
        if node.starts_with("<!") || node.starts_with("<?") {
            continue;
        } else if let Some(name) = node.strip_prefix('<') {
            let name = name
                .strip_prefix("svg ")
                .or(name.strip_prefix("math "))
                .unwrap_or(name);
            lines.push((depth, format!("<{name}")));
        } else if let Some(text) = node.strip_prefix('"') {
            push_text(&mut lines, depth, text.strip_suffix('"').unwrap());
        } else {
            let mut prefixes = ["xlink ", "xml ", "xmlns "].into_iter();
            let name = prefixes.find_map(|prefix| node.strip_prefix(prefix));
            lines.push((depth, name.unwrap_or(&node).to_owned()));
            // Attributes are sorted by name without prefix.
            let mut at = lines.len() - 1;
            while at > 0
                && lines[at - 1].0 == depth
                && !lines[at - 1].1.starts_with(['<', '"'])
                && lines[at - 1] > lines[at]
            {
                lines.swap(at - 1, at);
                at -= 1;
            }
        }
    }
    lines
}

/// Returns the sections of a test: name and lines.
fn sections(test: &str) -> Vec<(&str, String)> {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for line in test.split('\n') {
        let known = [
            "#data", "#errors", "#new-errors", "#document-fragment", "#script-on", "#script-off", "#document",
        ];
        match sections.last_mut() {
            _ if known.contains(&line) => sections.push((line, String::new())),
            Some((_, lines)) => {
                lines.push_str(line);
                lines.push('\n');
            }
            None => {}
        }
    }
    for (_, lines) in &mut sections {
        lines.pop();
    }
    sections
}

#[test]
fn trees_are_those_of_the_standard() {
    let packed = include_bytes!("../../../tests/html5lib/tree-construction.dat.gz");
    let mut tests = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut tests).unwrap();
    let (mut passed, mut outdated, mut failures) = (0, 0, Vec::new());
    for file in tests.split("#file ").skip(1) {
        let (name, file) = file.split_once('\n').unwrap();
        let file = format!("\n\n{file}");
        for test in file.split("\n\n#data\n").skip(1) {
            let test = format!("#data\n{test}");
            let sections = sections(test.trim_end_matches('\n'));
            let section = |name: &str| {
                let found = sections.iter().find(|(section, _)| *section == name);
                found.map(|(_, lines)| lines.as_str())
            };
            if section("#document-fragment").is_some() || section("#script-on").is_some() {
                continue;
            }
            let data = section("#data").unwrap();
            let expected = expected(section("#document").unwrap());
            let found = outline(&parse(data));
            if found == expected {
                passed += 1;
            } else if OUTDATED.contains(&data) {
                outdated += 1;
            } else {
                failures.push(format!("{name}: {data:?}\n  {expected:?}\n  {found:?}"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures, {passed} passed\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert_eq!(outdated, OUTDATED.len());
    assert!(passed > 1000, "{passed} passed");
}

#[test]
fn white_space_at_the_end_of_a_frameset_page_opens_formatting_again() {
    let found = outline(&parse("<b> <frameset></frameset> </html> "));
    let expected = [
        (0, "<html>"),
        (1, "<head>"),
        (1, "<frameset>"),
        (1, "\" \""),
        (1, "<b>"),
        (2, "\" \""),
    ];
    assert_eq!(found, expected.map(|(depth, node)| (depth, node.to_owned())));
}
