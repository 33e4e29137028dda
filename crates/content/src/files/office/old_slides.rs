//! Slides of old PowerPoint files. `office_oxide` returns their text as paragraphs, and separately the levels of these.

use office_oxide::ir::{DocumentIR, Element};
use office_oxide::ppt::{SlideText, TextRun, TextType};

use super::lists;

/// Level of the headings that are titles of slides.
const TITLE_LEVEL: u8 = 2;

/// Makes the paragraphs of each text body a list, and of other texts with several levels, too. Makes titles headings of
/// the same level as those of new files.
pub(super) fn structure(slides: &[SlideText], ir: &mut DocumentIR) {
    for (slide, section) in slides.iter().zip(&mut ir.sections) {
        let mut elements = std::mem::take(&mut section.elements).into_iter();
        let runs = slide.text_runs.iter();
        for run in runs.filter(|run| run.text_type != TextType::Notes) {
            let levels = levels(run);
            let paragraphs = elements.by_ref().take(levels.len());
            if levels.len() > 1 && (is_body(run) || levels.iter().any(|level| *level > 0)) {
                let contents = paragraphs.map(|paragraph| vec![paragraph]);
                let list = lists::bulleted(levels.iter().copied().zip(contents));
                section.elements.extend(list);
            } else {
                section.elements.extend(paragraphs);
            }
        }
        section.elements.extend(elements);
        for element in &mut section.elements {
            if let Element::Heading(heading) = element {
                heading.level = TITLE_LEVEL;
            }
        }
    }
}

fn is_body(run: &TextRun) -> bool {
    matches!(
        run.text_type,
        TextType::Body | TextType::HalfBody | TextType::QuarterBody
    )
}

/// Returns the level of each paragraph that is not empty.
fn levels(run: &TextRun) -> Vec<u8> {
    let mut levels = Vec::new();
    let mut start = 0;
    for paragraph in run.text.split(['\r', '\n']) {
        let end = start + paragraph.chars().count();
        if !paragraph.trim().is_empty() {
            let mut formats = run.para_formats.iter();
            let format = formats.find(|format| format.start <= start && start < format.end);
            let level = format.and_then(|format| format.format.indent_level);
            levels.push(level.and_then(|level| level.try_into().ok()).unwrap_or(0));
        }
        start = end + 1;
    }
    levels
}

#[cfg(test)]
mod tests {
    use office_oxide::ir::{Heading, InlineContent, Paragraph, Section, TextSpan};
    use office_oxide::ppt::{ParaFormat, ParaFormatSpan};

    use super::super::writer::Writer;
    use super::*;

    #[test]
    fn text_bodies_and_texts_with_levels_are_lists() {
        let format = |start, end, level| ParaFormatSpan {
            start,
            end,
            format: ParaFormat {
                indent_level: Some(level),
                ..ParaFormat::default()
            },
        };
        let run = |text_type, text: &str, para_formats| TextRun {
            text_type,
            text: text.to_owned(),
            para_formats,
            ..TextRun::default()
        };
        let slide = SlideText {
            text_runs: vec![
                run(TextType::Title, "t", Vec::new()),
                run(TextType::Notes, "n\rn", Vec::new()),
                run(TextType::Body, "a\rb", Vec::new()),
                run(TextType::Other, "c\rd", Vec::new()),
                run(
                    TextType::Other,
                    "ä\r\rfg\rh",
                    vec![format(0, 2, 0), format(2, 6, 1)],
                ),
            ],
            ..SlideText::default()
        };
        let content = |text: &str| vec![InlineContent::Text(TextSpan::plain(text))];
        let paragraph = |text| {
            Element::Paragraph(Paragraph {
                content: content(text),
                ..Paragraph::default()
            })
        };
        let title = Element::Heading(Heading {
            level: 1,
            content: content("t"),
            ..Heading::default()
        });
        let texts = ["a", "b", "c", "d", "ä", "fg", "h", "after"].map(paragraph);
        let section = Section {
            elements: [title].into_iter().chain(texts).collect(),
            ..Section::default()
        };
        let mut ir = DocumentIR {
            sections: vec![section],
            ..DocumentIR::default()
        };
        structure(&[slide], &mut ir);
        let mut writer = Writer::default();
        writer.section(&ir.sections[0]);
        let html = writer.html.into_html().replace('\n', "");
        assert_eq!(
            html,
            "<h2>t</h2><ul><li>a</li><li>b</li></ul><p>c</p><p>d</p>\
             <ul><li>ä<ul><li>fg</li></ul></li><li>h</li></ul><p>after</p>"
        );
    }
}
