//! Reads Rich Text Format: paragraphs, headings, lists, tables, links, notes, text boxes, equations. All other features of
//! the format are skipped.

mod blocks;
mod encodings;
mod equation;
mod state;
#[cfg(test)]
mod tests;
mod token;

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use self::encodings::{charset_encoding, code_page_encoding};
use self::equation::Equation;
use self::state::{Destination, Group, Paragraph, Story};
use self::token::{Token, Tokens};
use super::markup::{self, Markup};
use super::office::{CODE_STYLES, CODE_TEXT_STYLES, QUOTE_STYLES};
use super::text_format::{Script, TextFormat};
use super::{FileDocument, FileError, FilePage};
use crate::limits;

/// Groups that contain no text of the document.
const SKIPPED: &[&str] = &[
    "colortbl", "pict", "object", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr",
    "footerf", "listtable", "listoverridetable", "rsidtbl", "generator", "themedata", "colorschememapping",
    "latentstyles", "datastore", "xmlnstbl", "filetbl", "revtbl", "bkmkstart", "bkmkend", "atnid",
    "atnauthor", "annotation", "nonshppict", "mmathPr", "pgdsctbl", "ftnsep", "ftnsepc", "aftnsep",
    "aftnsepc", "tc", "xe", "pntxta", "pntxtb", "sp", "shprslt", "moMathParaPr", "mmathPict",
];

/// Reads a file.
pub(super) fn read(body: &[u8]) -> Result<FileDocument, FileError> {
    if !body.starts_with(b"{\\rtf") {
        return Err(FileError::Damaged("it does not start with `{\\rtf`".to_owned()));
    }
    let mut reader = Reader::default();
    let mut tokens = Tokens::new(body);
    while let Some(token) = tokens.next() {
        if let Token::Word("bin", Some(bytes)) = token {
            tokens.skip_bytes(usize::try_from(bytes).unwrap_or(0));
            continue;
        }
        reader.handle(&token);
    }
    Ok(reader.document())
}

#[derive(Default)]
struct Reader {
    groups: Vec<Group>,
    group: Group,
    too_deep: usize,
    /// `\*` was seen: the group may be skipped if it is unknown.
    optional: bool,
    fallback_left: u32,
    bytes: Vec<u8>,
    code_page: Option<&'static Encoding>,
    /// Encodings of the fonts whose text is not in the code page, by the numbers of the fonts.
    fonts: HashMap<i32, &'static Encoding>,
    default_font: i32,
    high: Option<u16>,
    story: Story,
    /// The stories around it, the main text first.
    outer_stories: Vec<Story>,
    style_names: Vec<(i32, String)>,
    /// What the styles of characters set: the format, and whether text is hidden.
    character_styles: HashMap<i32, (TextFormat, bool)>,
    text: String,
    instruction: String,
    properties: Vec<(&'static str, String)>,
    notes: Markup,
    note_count: u32,
    equation: Equation,
    /// Bytes of the equations so far.
    equation_bytes: usize,
    format: TextFormat,
}

impl Reader {
    fn handle(&mut self, token: &Token<'_>) {
        match token {
            Token::Text(text) => self.bytes_of_text(text),
            Token::Byte(byte) => self.bytes_of_text(&[*byte]),
            other => {
                self.flush();
                match other {
                    Token::Open => self.open(),
                    Token::Close => self.close(),
                    Token::Word(word, number) => self.word(word, *number),
                    Token::Symbol(symbol) => self.symbol(*symbol),
                    Token::Text(_) | Token::Byte(_) => {}
                }
            }
        }
    }

    fn open(&mut self) {
        if self.groups.len() >= limits::RTF_DEPTH {
            self.too_deep += 1;
            return;
        }
        self.groups.push(self.group);
        (self.group.is_story, self.group.is_field) = Default::default();
        self.optional = false;
        if self.group.destination == Destination::Equation {
            self.equation.open();
        }
    }

    fn close(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let ended = self.group;
        let Some(group) = self.groups.pop() else { return };
        self.group = group;
        self.fallback_left = 0;
        match ended.destination {
            Destination::Styles if group.destination == Destination::Styles => {
                let name = std::mem::take(&mut self.text)
                    .trim_end_matches(';')
                    .trim()
                    .to_lowercase();
                match ended.character_style {
                    Some(number) => {
                        let mut format = ended.format;
                        format.code = CODE_TEXT_STYLES.iter().any(|word| name.contains(word));
                        self.character_styles.insert(number, (format, ended.hidden));
                    }
                    None => self.style_names.push((ended.style, name)),
                }
            }
            _ if group.destination == Destination::Equation => self.equation.close(),
            Destination::Equation => self.end_equation(),
            Destination::Property(name) if group.destination != ended.destination => {
                let value = std::mem::take(&mut self.text);
                self.properties.push((name, value));
            }
            _ => {}
        }
        if ended.is_story {
            self.end_story();
        }
        if ended.is_field && std::mem::take(&mut self.story.link) {
            self.close_format();
            self.story.line.close("a");
        }
    }

    /// Collects bytes of the code page until another token comes.
    fn bytes_of_text(&mut self, text: &[u8]) {
        for byte in text {
            if self.fallback_left > 0 {
                self.fallback_left -= 1;
            } else {
                self.bytes.push(*byte);
            }
        }
    }

    fn flush(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let font = self.group.font.unwrap_or(self.default_font);
        let is_text = !matches!(self.group.destination, Destination::Property(_));
        let encoding = self.fonts.get(&font).copied().filter(|_| is_text);
        let encoding = encoding.or(self.code_page).unwrap_or(WINDOWS_1252);
        let (text, _) = encoding.decode_without_bom_handling(&bytes);
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        match self.group.destination {
            Destination::Nowhere | Destination::Fonts => {}
            Destination::Styles | Destination::Property(_) => self.text.push_str(text),
            Destination::Instruction => self.instruction.push_str(text),
            Destination::ListMarker => self.story.marker.push_str(text),
            Destination::Equation => self.equation.text(text),
            Destination::Body if self.group.hidden => {}
            Destination::Body => {
                self.apply_group_format(!text.trim().is_empty());
                self.story.line.text(text);
            }
        }
    }

    /// Opens and closes tags so that they match the group's formatting.
    fn apply_group_format(&mut self, has_text: bool) {
        let wanted = self.group.format;
        if self.format == wanted || !has_text {
            return;
        }
        self.close_format();
        self.format = wanted;
        for tag in wanted.tags() {
            self.story.line.open(tag);
        }
    }

    fn close_format(&mut self) {
        for tag in self.format.tags().rev() {
            self.story.line.close(tag);
        }
        self.format = Default::default();
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'*' => self.optional = true,
            b'~' => self.push("\u{A0}"),
            b'_' => self.push("-"),
            b'\\' | b'{' | b'}' => self.push(&char::from(symbol).to_string()),
            b'\n' | b'\r' => self.end_paragraph(),
            _ => {}
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        let on = number != Some(0);
        let optional = std::mem::take(&mut self.optional);
        match word {
            word if self.group.destination == Destination::Equation && self.equation.word(word, number) => {}
            "b" => self.group.format.bold = on,
            "i" => self.group.format.italic = on,
            "strike" | "striked" => self.group.format.struck = on,
            "v" | "deleted" => self.group.hidden = on,
            "super" if on => self.group.format.script = Script::Super,
            "sub" if on => self.group.format.script = Script::Sub,
            "super" | "sub" | "nosupersub" => self.group.format.script = Script::Normal,
            "plain" => {
                self.group.format = TextFormat::default();
                self.group.hidden = false;
                self.group.font = None;
            }
            "par" => self.end_paragraph(),
            "line" if self.group.destination == Destination::Body => {
                self.story.line.raw("<br>");
            }
            "tab" => self.push(" "),
            "sect" | "page" => self.end_paragraph(),
            "cell" | "nestcell" => self.end_cell(),
            "row" | "nestrow" => self.story.blocks.end_row(),
            "trowd" => self.story.blocks.define_row(),
            "trleft" => self.story.blocks.define_left(number.unwrap_or(0)),
            "clmrg" => self.story.blocks.next_cell().continues_before = true,
            "clvmrg" => self.story.blocks.next_cell().continues_above = true,
            "cellx" => self.story.blocks.define_cell(number.unwrap_or(0)),
            // A list marker has properties of its own.
            "pard" if self.group.destination != Destination::ListMarker => {
                self.story.paragraph = Paragraph::default();
            }
            "intbl" => self.story.paragraph.in_table = true,
            "ls" => self.story.paragraph.is_item = number.unwrap_or(0) > 0,
            "ilvl" => self.story.paragraph.depth = u8::try_from(number.unwrap_or(0)).unwrap_or(0).min(8),
            "outlinelevel" => {
                self.story.paragraph.outline = number.and_then(|level| u8::try_from(level).ok())
            }
            "s" if self.group.destination == Destination::Styles => self.group.style = number.unwrap_or(0),
            "s" => self.story.paragraph.style = number.unwrap_or(0),
            "cs" if self.group.destination == Destination::Styles => self.group.character_style = number,
            "cs" => {
                let style = number.and_then(|number| self.character_styles.get(&number));
                let (format, is_hidden) = style.copied().unwrap_or_default();
                self.group.format = self.group.format.with(format);
                self.group.hidden |= is_hidden;
            }
            "u" => self.unicode(number.unwrap_or(0)),
            "uc" => self.group.fallback_chars = u32::try_from(number.unwrap_or(1)).unwrap_or(1).min(16),
            "rtf" => self.group.fallback_chars = 1,
            "ansicpg" => self.code_page = code_page_encoding(number.unwrap_or(1252)),
            "fonttbl" => self.group.destination = Destination::Fonts,
            "deff" => self.default_font = number.unwrap_or(0),
            "f" => self.group.font = number,
            "fcharset" if self.group.destination == Destination::Fonts => {
                if let (Some(font), Some(encoding)) = (self.group.font, charset_encoding(number)) {
                    self.fonts.insert(font, encoding);
                }
            }
            "pca" | "pc" => self.code_page = Some(encoding_rs::IBM866),
            "mac" => self.code_page = Some(encoding_rs::MACINTOSH),
            "emdash" => self.push("\u{2014}"),
            "endash" => self.push("\u{2013}"),
            "lquote" => self.push("\u{2018}"),
            "rquote" => self.push("\u{2019}"),
            "ldblquote" => self.push("\u{201C}"),
            "rdblquote" => self.push("\u{201D}"),
            "bullet" => self.push("\u{2022}"),
            "stylesheet" => self.group.destination = Destination::Styles,
            "info" => self.group.destination = Destination::Nowhere,
            "title" => self.property("title"),
            "author" => self.property("author"),
            "subject" | "doccomm" => self.property("description"),
            "keywords" => self.property("keywords"),
            "listtext" | "pntext" => {
                self.story.marker.clear();
                self.story.needs_list = word == "listtext";
                self.group.destination = Destination::ListMarker;
            }
            "field" => {
                self.instruction.clear();
                self.group.is_field = true;
            }
            "fldinst" => self.group.destination = Destination::Instruction,
            "fldrslt" => self.begin_link(),
            "footnote" if !self.is_in_note() && self.group.destination == Destination::Body => {
                self.begin_story();
                self.note_count += 1;
                self.story.note = Some(self.note_count);
            }
            "shptxt" if self.group.destination == Destination::Body => self.begin_story(),
            "moMathPara" => self.group.is_equation_block = true,
            "moMath" if self.group.destination == Destination::Body && !self.group.hidden => {
                self.group.destination = Destination::Equation;
                self.equation = Equation::default();
            }
            "chftn" | "shppict" | "shpinst" => {}
            word if SKIPPED.contains(&word) || optional => self.group.destination = Destination::Nowhere,
            _ => {}
        }
    }

    fn property(&mut self, name: &'static str) {
        self.text.clear();
        self.group.destination = Destination::Property(name);
    }

    fn unicode(&mut self, number: i32) {
        // Negative numbers are the upper half of 16 bits; a surrogate pair arrives as two numbers.
        let unit = number as u16;
        let units = match self.high.take() {
            Some(high) => vec![high, unit],
            None if (0xD800..0xDC00).contains(&unit) => {
                self.high = Some(unit);
                Vec::new()
            }
            None => vec![unit],
        };
        let text: String = char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.push(&text);
        self.fallback_left = self.group.fallback_chars;
    }

    fn begin_link(&mut self) {
        self.group.destination = Destination::Body;
        let instruction = std::mem::take(&mut self.instruction);
        let mut words = instruction.split_whitespace();
        if words.next() != Some("HYPERLINK") || self.story.link {
            return;
        }
        let address = words
            .find(|word| !word.starts_with('\\'))
            .unwrap_or_default()
            .trim_matches('"');
        if ["http://", "https://", "mailto:"]
            .iter()
            .any(|scheme| address.starts_with(scheme))
        {
            self.close_format();
            self.story.line.open_with("a", "href", address);
            self.story.link = true;
            if let Some(field) = self.groups.last_mut() {
                field.is_field = true;
            }
        }
    }

    fn is_in_note(&self) -> bool {
        let mut stories = self.outer_stories.iter().chain([&self.story]);
        stories.any(|story| story.note.is_some())
    }

    /// Begins a note or text box.
    fn begin_story(&mut self) {
        self.close_format();
        self.outer_stories.push(std::mem::take(&mut self.story));
        self.group.is_story = true;
    }

    /// Ends the note or text box. A text box comes before the paragraph that contains it.
    fn end_story(&mut self) {
        let html = self.story_html();
        let Some(outer) = self.outer_stories.pop() else {
            return;
        };
        let ended = std::mem::replace(&mut self.story, outer);
        match ended.note {
            Some(number) => {
                self.story.line.footnote_number(number);
                self.notes.footnote(number, markup::single_paragraph(&html));
            }
            None => self.story.blocks().add(&html),
        }
    }

    /// Returns the blocks of the current story.
    fn story_html(&mut self) -> String {
        self.story.paragraph.in_table = false;
        self.end_paragraph();
        let cell = std::mem::take(&mut self.story.cell).into_html();
        self.story.blocks.add(&cell);
        std::mem::take(&mut self.story.blocks).into_html()
    }

    fn end_equation(&mut self) {
        let equation = std::mem::take(&mut self.equation);
        let is_written = self.equation_bytes < limits::FILE_HTML_BYTES / 2;
        let length = self.story.line.len();
        equation.write(&mut self.story.line, is_written, self.group.is_equation_block);
        self.equation_bytes += self.story.line.len() - length;
    }

    fn end_line(&mut self) {
        self.close_format();
        if std::mem::take(&mut self.story.link) {
            self.story.line.close("a");
        }
    }

    fn end_paragraph(&mut self) {
        if self.group.destination != Destination::Body {
            return;
        }
        self.end_line();
        let mut line = std::mem::take(&mut self.story.line).into_html();
        let mut marker = std::mem::take(&mut self.story.marker);
        if let Some(rest) = line.strip_prefix("\u{2022} ") {
            (line, marker) = (rest.to_owned(), "\u{2022}".to_owned());
        }
        let Paragraph {
            style,
            outline,
            is_item,
            depth,
            in_table,
        } = self.story.paragraph;
        let needs_list = std::mem::take(&mut self.story.needs_list);
        let blocks = self.story.blocks();
        let style = self.style_names.iter().find(|(number, _)| *number == style);
        let is = |words: &[&str]| style.is_some_and(|(_, name)| words.iter().any(|word| name.contains(word)));
        if is(CODE_STYLES) {
            return blocks.code(&line);
        }
        if line.trim().is_empty() {
            return;
        }
        let heading = style
            .and_then(|(_, name)| name.strip_prefix("heading "))
            .and_then(|level| level.trim().parse::<u8>().ok())
            .or(outline.map(|level| level.saturating_add(1)))
            .filter(|level| (1..=9).contains(level))
            .or(style.filter(|(_, name)| name == "title").map(|_| 1))
            .filter(|_| !in_table);
        if let Some(level) = heading {
            blocks.block(&format!("h{}", level.min(6)), &line);
        } else if is_item || !needs_list && !marker.trim().is_empty() {
            let marker = marker.trim().trim_start_matches('(');
            // Word's second bullet is a letter.
            let is_numbered = marker != "o" && marker.starts_with(|c: char| c.is_ascii_alphanumeric());
            let digits = marker.find(|c: char| !c.is_ascii_digit()).unwrap_or(marker.len());
            let start = marker[..digits].parse().unwrap_or(1);
            blocks.item(&line, is_numbered.then_some(start), depth);
        } else if is(QUOTE_STYLES) {
            blocks.quote(&line);
        } else {
            blocks.block("p", &line);
        }
    }

    fn end_cell(&mut self) {
        if self.group.destination != Destination::Body {
            return;
        }
        let in_table = std::mem::replace(&mut self.story.paragraph.in_table, true);
        self.end_paragraph();
        self.story.paragraph.in_table = in_table;
        let cell = std::mem::take(&mut self.story.cell).into_html();
        self.story.blocks.cell(markup::single_paragraph(&cell));
    }

    fn document(mut self) -> FileDocument {
        self.flush();
        if self.group.destination == Destination::Equation {
            self.end_equation();
        }
        self.group = Group::default();
        while !self.outer_stories.is_empty() {
            self.end_story();
        }
        let html = self.story_html();
        let mut document = Markup::default();
        document.raw(&html).footnotes(&mut self.notes);
        let properties = self.properties.into_iter();
        FileDocument {
            pages: vec![FilePage {
                number: 1,
                html: document.into_html(),
                continues: false,
            }],
            properties: properties
                .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
                .filter(|(_, value)| !value.is_empty())
                .collect(),
            ..FileDocument::default()
        }
    }
}
