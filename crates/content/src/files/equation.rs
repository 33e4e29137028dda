//! Equations of Word and PowerPoint files, in the elements of Office Math, as MathML.

use super::markup::Markup;
use super::xml::{self, Node};

/// What an element of MathML consists of.
enum Part<'a> {
    /// The content of a child.
    Child(&'a str),
    /// The content of the element itself.
    Content,
    Operator(&'a str),
}

use Part::{Child, Content, Operator};

/// An element of an equation.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// Its name without the prefix.
    pub(super) name: String,
    /// The value of a property.
    pub(super) value: String,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// Parses an element; `None` if it is not well-formed.
    pub(super) fn parse(xml: &str) -> Option<Element> {
        let mut open = vec![Element::default()];
        xml::walk(xml, |node| match node {
            Node::Start(name, attributes) => open.push(Element {
                name: name.rsplit(':').next().unwrap_or_default().to_owned(),
                value: attributes.find("m:val").unwrap_or_default().to_owned(),
                ..Element::default()
            }),
            Node::Text(text) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&text);
                }
            }
            Node::End(_) => {
                let ended = open.pop();
                if let Some(element) = open.last_mut() {
                    element.children.extend(ended);
                }
            }
        })
        .ok()?;
        open.into_iter().next()
    }

    /// Returns the equation as MathML.
    pub(super) fn mathml(&self, is_block: bool) -> String {
        let mut html = Markup::default();
        match is_block {
            true => html.open_with("math", "display", "block"),
            false => html.open("math"),
        };
        self.write(&mut html);
        html.raw("</math>");
        html.into_html()
    }

    /// Returns its bases: what it encloses, its cells or rows.
    fn bases(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter(|child| child.name == "e")
    }

    fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    fn is_properties(&self) -> bool {
        self.name.ends_with("Pr")
    }

    /// Returns the value of a property.
    fn property(&self, name: &str) -> Option<&str> {
        let mut properties = self.children.iter().filter(|child| child.is_properties());
        properties
            .find_map(|properties| properties.child(name))
            .map(|property| property.value.as_str())
    }

    fn is_on(&self, name: &str) -> bool {
        self.property(name).is_some_and(is_on)
    }

    /// Returns whether it has a child with content.
    fn has(&self, name: &str) -> bool {
        let child = self.child(name);
        child.is_some_and(|child| child.children.iter().any(|part| !part.is_properties()))
    }

    /// Writes it as MathML.
    fn write(&self, html: &mut Markup) {
        let property = |name, default| self.property(name).unwrap_or(default);
        let mut element = |tag, parts: &[Part<'_>]| self.write_element(html, tag, parts);
        match self.name.as_str() {
            "r" => self.write_run(html),
            "f" => match self.property("type") {
                Some("lin") => element("mrow", &[Child("num"), Operator("/"), Child("den")]),
                Some("noBar") => element("mfrac linethickness=\"0\"", &[Child("num"), Child("den")]),
                _ => element("mfrac", &[Child("num"), Child("den")]),
            },
            "rad" if self.is_on("degHide") || !self.has("deg") => element("msqrt", &[Child("e")]),
            "rad" => element("mroot", &[Child("e"), Child("deg")]),
            "sSub" => element("msub", &[Child("e"), Child("sub")]),
            "sSup" => element("msup", &[Child("e"), Child("sup")]),
            "sSubSup" => element("msubsup", &[Child("e"), Child("sub"), Child("sup")]),
            "sPre" => {
                element("msubsup", &[Child(""), Child("sub"), Child("sup")]);
                element("mrow", &[Child("e")]);
            }
            "limLow" => element("munder", &[Child("e"), Child("lim")]),
            "limUpp" => element("mover", &[Child("e"), Child("lim")]),
            "func" => element("mrow", &[Child("fName"), Operator("\u{2061}"), Child("e")]),
            "acc" => element("mover", &[Child("e"), Operator(property("chr", "\u{302}"))]),
            "bar" if self.property("pos") == Some("top") => element("mover", &[Child("e"), Operator("¯")]),
            "bar" => element("munder", &[Child("e"), Operator("_")]),
            "groupChr" => {
                let is_above = self.property("pos") == Some("top");
                let tag = if is_above { "mover" } else { "munder" };
                element(tag, &[Child("e"), Operator(property("chr", "⏟"))]);
            }
            "nary" => {
                let operator = Operator(property("chr", "∫"));
                let has_sub = self.has("sub") && !self.is_on("subHide");
                let has_sup = self.has("sup") && !self.is_on("supHide");
                let is_above = self.property("limLoc") == Some("undOvr");
                match (has_sub, has_sup) {
                    (true, true) if is_above => {
                        element("munderover", &[operator, Child("sub"), Child("sup")])
                    }
                    (true, true) => element("msubsup", &[operator, Child("sub"), Child("sup")]),
                    (true, false) if is_above => element("munder", &[operator, Child("sub")]),
                    (true, false) => element("msub", &[operator, Child("sub")]),
                    (false, true) if is_above => element("mover", &[operator, Child("sup")]),
                    (false, true) => element("msup", &[operator, Child("sup")]),
                    (false, false) => element("mrow", &[operator]),
                }
                element("mrow", &[Child("e")]);
            }
            "d" => {
                let separator = property("sepChr", "|");
                html.raw("<mrow>");
                write_token(html, "mo", property("begChr", "("));
                for (at, inner) in self.bases().enumerate() {
                    if at > 0 && !separator.is_empty() {
                        write_token(html, "mo", separator);
                    }
                    inner.write_element(html, "mrow", &[Content]);
                }
                write_token(html, "mo", property("endChr", ")"));
                html.raw("</mrow>");
            }
            "m" => element("mtable", &[Content]),
            "mr" => {
                html.raw("<mtr>");
                self.bases()
                    .for_each(|cell| cell.write_element(html, "mtd", &[Content]));
                html.raw("</mtr>");
            }
            "eqArr" => {
                html.raw("<mtable>");
                for row in self.bases() {
                    html.raw("<mtr>");
                    row.write_element(html, "mtd", &[Content]);
                    html.raw("</mtr>");
                }
                html.raw("</mtable>");
            }
            "borderBox" => element("menclose notation=\"box\"", &[Content]),
            "phant" if self.property("show").is_some_and(|show| !is_on(show)) => {}
            // Deleted by a tracked change.
            "del" | "moveFrom" => {}
            _ if self.is_properties() => {}
            _ => self.write_content(html),
        }
    }

    fn write_content(&self, html: &mut Markup) {
        self.children.iter().for_each(|child| child.write(html));
    }

    fn write_element(&self, html: &mut Markup, tag: &str, parts: &[Part<'_>]) {
        html.open(tag);
        for part in parts {
            match part {
                Child(name) => {
                    html.raw("<mrow>");
                    if let Some(child) = self.child(name) {
                        child.write_content(html);
                    }
                    html.raw("</mrow>");
                }
                Content => self.write_content(html),
                Operator(operator) => write_token(html, "mo", operator),
            }
        }
        let name = tag.split(' ').next().unwrap_or_default();
        html.raw("</").raw(name).raw(">");
    }

    /// Writes the text of a run: identifiers, numbers and operators.
    fn write_run(&self, html: &mut Markup) {
        let texts = self.children.iter().filter(|child| child.name == "t");
        let text: String = texts.map(|child| child.text.as_str()).collect();
        if self.is_on("nor") {
            return write_token(html, "mtext", &text);
        }
        let style = self.property("sty").unwrap_or_default();
        let is_upright = matches!(style, "p" | "b");
        let variant = match (self.property("scr").unwrap_or("roman"), style) {
            ("roman", "p") => "normal",
            ("roman", "b") => "bold",
            ("roman", "bi") => "bold-italic",
            ("roman", _) => "",
            (script, _) => script,
        };
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let continues = |c: char| match first {
                '0'..='9' => c.is_ascii_digit() || c == '.',
                _ if first.is_whitespace() => c.is_whitespace(),
                _ => is_upright && first.is_alphabetic() && c.is_alphabetic(),
            };
            let others = rest.chars().skip(1).take_while(|&c| continues(c));
            let length = first.len_utf8() + others.map(char::len_utf8).sum::<usize>();
            let (token, after) = rest.split_at(length);
            match first {
                '0'..='9' => write_token(html, "mn", token),
                // One aligns the rows of an array, the other is an empty argument.
                '&' | '\u{200B}' => {}
                _ if first.is_whitespace() => write_token(html, "mtext", " "),
                _ if !first.is_alphabetic() => write_token(html, "mo", token),
                _ if variant.is_empty() => write_token(html, "mi", token),
                _ => {
                    html.open_with("mi", "mathvariant", variant)
                        .text(token)
                        .raw("</mi>");
                }
            }
            rest = after;
        }
    }
}

fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "off" | "false")
}

fn write_token(html: &mut Markup, tag: &str, text: &str) {
    html.open(tag).text(text).raw("</").raw(tag).raw(">");
}
