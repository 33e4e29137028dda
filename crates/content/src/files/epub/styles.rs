//! What the style sheets of a book say of its text: many writers mark bold text and headings with nothing but classes.
//! Rules for one class, with or without an element name, and `style` attributes are read.

use std::collections::{BTreeSet, HashMap};

use crate::html::tag::Tag;
use crate::limits;

/// Size of text without a style, in points.
const NORMAL_SIZE: f32 = 12.0;
/// Size of a heading, as a multiple of the size of most text.
const HEADING_RATIO: f32 = 1.12;
/// How much larger bold text counts.
const BOLD_RATIO: f32 = 1.1;
/// Bytes of a paragraph, with its tags, that may be a heading.
const HEADING_BYTES: usize = 2000;

/// The style sheets of a book, and the sizes of its text.
#[derive(Default)]
pub(super) struct Styles {
    /// Formats by selector.
    rules: HashMap<String, Format>,
    /// Bytes of text by size in tenths of a point.
    sizes: HashMap<u32, usize>,
    /// Sizes of whole paragraphs, in tenths of a point.
    paragraph_sizes: BTreeSet<u32>,
    has_headings: bool,
}

/// An open element.
struct Open<'a> {
    name: &'a str,
    /// Size of its text in points.
    size: f32,
    bold: bool,
    /// What ends it in the output.
    end: String,
}

impl Styles {
    /// Adds the rules of a style sheet.
    pub(super) fn add(&mut self, css: &str) {
        for rule in css.split('}') {
            let Some((selectors, declarations)) = rule.rsplit_once('{') else {
                continue;
            };
            let format = Format::parse(declarations);
            // A media query, an import or a comment may be before the rule.
            let selectors = selectors.rsplit(['{', ';', '/']).next().unwrap_or_default();
            let is_known = |selector: &&str| {
                let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
                selector.matches('.').count() == 1 && selector.chars().all(is_name)
            };
            for selector in selectors.split(',').map(str::trim).filter(is_known) {
                self.rules.entry(selector.to_owned()).or_default().add(format);
            }
        }
    }

    /// Returns the sizes of headings in the chapters so far, the largest first: paragraphs in larger letters than most
    /// text. A book that has elements for headings has no others.
    pub(super) fn heading_sizes(&self) -> Vec<u32> {
        let most = self.sizes.iter().max_by_key(|(size, bytes)| (**bytes, **size));
        let smallest = most.map_or(0.0, |(size, _)| *size as f32 * HEADING_RATIO);
        let sizes = self.paragraph_sizes.iter().rev().copied();
        sizes
            .filter(|size| !self.has_headings && *size as f32 > smallest)
            .collect()
    }

    /// Returns a chapter with elements in place of styles, and adds the sizes of its text. Paragraphs of the sizes in
    /// `headings` become headings.
    pub(super) fn apply(&mut self, xhtml: &str, headings: &[u32]) -> String {
        let mut out = String::with_capacity(xhtml.len());
        let mut open: Vec<Open<'_>> = Vec::new();
        // Where the open paragraph starts in the output, and the size of its smallest text.
        let mut paragraph: Option<(usize, u32)> = None;
        let mut rest = xhtml;
        while let Some(at) = rest.find('<') {
            let (text, from) = rest.split_at(at);
            let (tag, after) = from.split_at(from.find('>').map_or(from.len(), |end| end + 1));
            rest = after;
            out.push_str(text);
            let (parent, size, bold) = open.last().map_or(("", NORMAL_SIZE, false), |element| {
                (element.name, element.size, element.bold)
            });
            match parent {
                "style" => self.add(text),
                "title" | "script" => {}
                _ if text.trim().is_empty() => {}
                _ => {
                    let size = if bold { size * BOLD_RATIO } else { size };
                    let size = (size * 10.0).round() as u32;
                    *self.sizes.entry(size).or_default() += text.len();
                    paragraph = paragraph.map(|(start, smallest)| (start, smallest.min(size)));
                }
            }
            let name = tag.trim_start_matches(['<', '/']);
            let name = &name[..name
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(name.len())];
            let is_end = tag.starts_with("</");
            if is_end && let Some(element) = open.pop_if(|element| element.name == name) {
                let heading = paragraph
                    .take_if(|_| name == "p")
                    .filter(|(start, size)| *size != u32::MAX && out.len() - start <= HEADING_BYTES);
                self.paragraph_sizes.extend(heading.map(|(_, size)| size));
                let level = heading.and_then(|(_, size)| headings.iter().position(|other| *other == size));
                if let (Some((start, _)), Some(level)) = (heading, level) {
                    let name = format!("h{}", level.min(5) + 1);
                    out.replace_range(start + 1..start + 2, &name);
                    out.push_str(element.end.trim_end_matches("</p>"));
                    out.push_str(&format!("</{name}>"));
                } else {
                    out.push_str(&element.end);
                }
                continue;
            }
            let kind = Tag::of(name);
            self.has_headings |= kind.heading_level().is_some();
            if is_end || name.is_empty() || kind.is_void() || open.len() >= limits::XML_DEPTH {
                out.push_str(tag);
                continue;
            }
            let format = self.format(name, tag);
            let mut element = Open {
                name,
                size: format.size.map_or(size, |own| own.within(size)),
                bold: bold || format.bold || matches!(name, "b" | "strong"),
                end: format!("</{name}>"),
            };
            if format.hidden {
                out.push_str("<template>");
                element.end = "</template>".to_owned();
            } else {
                if name == "p" {
                    let is_free = !open.iter().any(|outer| matches!(outer.name, "td" | "th" | "li"));
                    paragraph = is_free.then_some((out.len(), u32::MAX));
                }
                out.push_str(tag);
                if matches!(name, "a" | "p" | "span") {
                    for tag in format.tags() {
                        out.push_str(&format!("<{tag}>"));
                        element.end.insert_str(0, &format!("</{tag}>"));
                    }
                }
            }
            open.push(element);
        }
        out.push_str(rest);
        out
    }

    /// Returns the format of an element.
    fn format(&self, name: &str, tag: &str) -> Format {
        let attribute = |name: &str| Some(tag.split_once(name)?.1.split('"').next().unwrap_or_default());
        let mut format = Format::default();
        for class in attribute(" class=\"").unwrap_or_default().split_whitespace() {
            for selector in [format!(".{class}"), format!("{name}.{class}")] {
                format.add(self.rules.get(&selector).copied().unwrap_or_default());
            }
        }
        format.add(attribute(" style=\"").map(Format::parse).unwrap_or_default());
        format
    }
}

/// What a rule declares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Format {
    bold: bool,
    italic: bool,
    struck: bool,
    hidden: bool,
    script: Option<&'static str>,
    size: Option<Size>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    Points(f32),
    /// A multiple of the size around it.
    Relative(f32),
}

impl Size {
    fn parse(value: &str) -> Option<Size> {
        let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number: f32 = value[..value.len() - unit.len()].parse().unwrap_or(0.0);
        Some(match unit {
            "pt" => Size::Points(number),
            "px" => Size::Points(number * 0.75),
            "rem" => Size::Points(number * NORMAL_SIZE),
            "em" => Size::Relative(number),
            "%" => Size::Relative(number / 100.0),
            "smaller" => Size::Relative(0.83),
            "larger" => Size::Relative(1.2),
            "small" => Size::Points(9.75),
            "medium" => Size::Points(NORMAL_SIZE),
            "large" => Size::Points(13.5),
            "x-large" => Size::Points(18.0),
            "xx-large" => Size::Points(24.0),
            _ => return None,
        })
    }

    /// Returns the size in points within text of a size.
    fn within(self, outer: f32) -> f32 {
        match self {
            Size::Points(points) => points,
            Size::Relative(factor) => outer * factor,
        }
    }
}

impl Format {
    fn parse(declarations: &str) -> Format {
        let mut format = Format::default();
        let (mut is_moved, mut top) = (false, "");
        for declaration in declarations.split(';') {
            let Some((property, value)) = declaration.split_once(':') else {
                continue;
            };
            let value = value.trim().trim_end_matches("!important").trim_end();
            match property.trim() {
                "font-weight" => {
                    format.bold =
                        value.starts_with("bold") || value.parse::<u32>().is_ok_and(|weight| weight >= 600);
                }
                "font-style" => format.italic = matches!(value, "italic" | "oblique"),
                "text-decoration" | "text-decoration-line" => format.struck = value.contains("line-through"),
                "display" => format.hidden = value == "none",
                "font-size" => format.size = Size::parse(value),
                "vertical-align" if value == "super" => format.script = Some("sup"),
                "vertical-align" if value == "sub" => format.script = Some("sub"),
                "position" => is_moved = value == "relative",
                "top" => top = value,
                _ => {}
            }
        }
        // Small text that is moved up or down.
        if is_moved && matches!(format.size, Some(Size::Relative(factor)) if factor < 1.0) && !top.is_empty()
        {
            format.script = Some(if top.starts_with('-') { "sup" } else { "sub" });
        }
        format
    }

    fn add(&mut self, other: Format) {
        self.bold |= other.bold;
        self.italic |= other.italic;
        self.struck |= other.struck;
        self.hidden |= other.hidden;
        self.script = other.script.or(self.script);
        self.size = other.size.or(self.size);
    }

    fn tags(&self) -> impl Iterator<Item = &'static str> {
        let tags = [("strong", self.bold), ("em", self.italic), ("del", self.struck)];
        let tags = tags.into_iter().filter_map(|(tag, on)| on.then_some(tag));
        tags.chain(self.script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(css: &str, xhtml: &str, expected: &str) {
        let mut styles = Styles::default();
        styles.add(css);
        styles.apply(xhtml, &[]);
        let headings = styles.heading_sizes();
        assert_eq!(styles.apply(xhtml, &headings), expected, "{css}");
    }

    #[test]
    fn classes_become_elements() {
        check(
            "/* x */ .b, span.i { font-weight: 700 !important } span.i { font-style: italic; color: red }
             @media screen { .s { text-decoration: underline line-through } } .a .b, .c:first-line { font-style: italic }",
            "<p class=\"b\">a<br>b <span class=\"x i\">c</span></p><p class=\"i\"><span class=\"s\">d</span></p>",
            "<p class=\"b\"><strong>a<br>b <span class=\"x i\"><strong><em>c</em></strong></span></strong></p>\
             <p class=\"i\"><span class=\"s\"><del>d</del></span></p>",
        );
        check(
            ".up { font-size: 0.58em; position: relative; top: -0.33em } .down { vertical-align: sub } .gone { display: none }",
            "<p>a<span class=\"up\">2</span><span class=\"down\">i</span><span class=\"gone\">x</span></p>",
            "<p>a<span class=\"up\"><sup>2</sup></span><span class=\"down\"><sub>i</sub></span><template>x</template></p>",
        );
    }

    #[test]
    fn paragraphs_in_large_letters_are_headings() {
        let css = ".title { font-size: 2em } .head { font-size: 13pt; font-weight: bold } .text { font-size: 12pt }";
        let text = format!("<p class=\"text\">{}</p>", "words ".repeat(20));
        let start = "<p class=\"title\">Birds</p><p><span class=\"head\">Herons</span></p>";
        let rest =
            format!("{text}<p><span class=\"title\">T</span>hey wade.</p><td><p class=\"title\">x</p></td>");
        check(
            css,
            &format!("{start}{rest}"),
            &format!(
                "<h1 class=\"title\">Birds</h1><h2><span class=\"head\"><strong>Herons</strong></span></h2>{rest}"
            ),
        );
        let with_heading = format!("<h2>Birds</h2>{start}{rest}").replace("class=\"head\"", "");
        check(css, &with_heading, &with_heading);
    }

    #[test]
    fn hostile_chapters_stay_small() {
        for part in [
            "<p>", "<span class=\"b\">x", "</p>", "<p><", "<!-- <p>", "<td><p>x</p>",
        ] {
            let chapter = part.repeat(200_000 / part.len());
            let mut styles = Styles::default();
            styles.add(&".b { font-weight: bold } {".repeat(10_000));
            assert!(styles.apply(&chapter, &[120]).len() < 1_000_000, "{part}");
        }
    }
}
