//! The text that a reader of the Markdown sees, according to an independent parser.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A rendered document.
#[derive(Default)]
pub(crate) struct RenderedText {
    /// Its text, with a space between blocks. Footnote labels are included at references and notes;
    /// alternative texts of images are not.
    pub(crate) text: String,
    /// Ranges of its tables.
    pub(crate) tables: Vec<Range<usize>>,
    /// Ranges of its code.
    pub(crate) code: Vec<Range<usize>>,
    /// The labels of its footnotes.
    pub(crate) labels: Vec<String>,
    /// HTML that the converter does not write on purpose.
    pub(crate) html: Vec<String>,
}

pub(crate) fn rendered_text(markdown: &str) -> RenderedText {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut rendered = RenderedText::default();
    let mut pictures = 0;
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Image { .. }) => pictures += 1,
            Event::End(TagEnd::Image) => {
                pictures -= 1;
                rendered.text.push(' ');
            }
            _ if pictures > 0 => {}
            Event::Text(part) => rendered.text.push_str(&part),
            Event::Code(part) => {
                rendered.text.push_str(&part);
                rendered.code.push(range);
            }
            Event::FootnoteReference(label) => rendered.text.push_str(&format!(" {label} ")),
            Event::Start(Tag::FootnoteDefinition(label)) => {
                rendered.text.push_str(&format!(" {label} "));
                rendered.labels.push(label.into_string());
            }
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link) => {}
            Event::InlineHtml(tag) | Event::Html(tag) => match &*tag {
                "<sup>" | "</sup>" | "<sub>" | "</sub>" => {}
                "<br>" => rendered.text.push(' '),
                other => rendered.html.push(other.to_owned()),
            },
            Event::Start(tag) => {
                rendered.text.push(' ');
                match tag {
                    Tag::Table(_) => rendered.tables.push(range),
                    Tag::CodeBlock(_) => rendered.code.push(range),
                    _ => {}
                }
            }
            _ => rendered.text.push(' '),
        }
    }
    rendered.text = crate::visible(&rendered.text);
    rendered
}
