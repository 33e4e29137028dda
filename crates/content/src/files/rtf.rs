//! Reads Rich Text Format: paragraphs, headings, lists, tables, links, notes. All other features of the
//! format are skipped.

mod blocks;
mod encodings;
mod state;
mod token;

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use self::blocks::Blocks;
use self::encodings::{charset_encoding, code_page_encoding};
use self::state::{Destination, Group, Paragraph};
use self::token::{Token, Tokens};
use super::markup::Markup;
use super::office::{CODE_STYLES, QUOTE_STYLES};
use super::text_format::{Script, TextFormat};
use super::{FileDocument, FileError, FilePage};
use crate::limits;

/// Groups that contain no text of the document.
const SKIPPED: &[&str] = &[
    "colortbl", "pict", "object", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr",
    "footerf", "listtable", "listoverridetable", "rsidtbl", "generator", "themedata", "colorschememapping",
    "latentstyles", "datastore", "xmlnstbl", "filetbl", "revtbl", "bkmkstart", "bkmkend", "atnid",
    "atnauthor", "annotation", "nonshppict", "mmathPr", "pgdsctbl", "ftnsep", "ftnsepc", "aftnsep",
    "aftnsepc", "tc", "xe", "pntxta", "pntxtb", "sp", "shprslt",
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
    paragraph: Paragraph,
    line: Markup,
    marker: String,
    blocks: Blocks,
    style_names: Vec<(i32, String)>,
    text: String,
    instruction: String,
    link: bool,
    properties: Vec<(&'static str, String)>,
    notes: Markup,
    note_count: u32,
    /// The line and the paragraph that contain the current note.
    enclosing_line: Option<(Markup, Paragraph)>,
    /// The line, the marker and the paragraph that contain the current text box.
    around_text_box: Option<(Markup, String, Paragraph)>,
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
        (self.group.is_note, self.group.is_text_box, self.group.is_field) = Default::default();
        self.optional = false;
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
                self.style_names.push((ended.style, name));
            }
            Destination::Property(name) if group.destination != ended.destination => {
                let value = std::mem::take(&mut self.text);
                self.properties.push((name, value));
            }
            _ => {}
        }
        if ended.is_note
            && let Some((line, paragraph)) = self.enclosing_line.take()
        {
            self.end_line();
            let note = std::mem::replace(&mut self.line, line).into_html();
            self.paragraph = paragraph;
            self.notes.footnote(self.note_count, &note);
        }
        if ended.is_text_box {
            self.end_paragraph();
            self.blocks.end_table();
            if let Some(around) = self.around_text_box.take() {
                (self.line, self.marker, self.paragraph) = around;
            }
        }
        if ended.is_field && std::mem::take(&mut self.link) {
            self.close_format();
            self.line.close("a");
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
            Destination::ListMarker => self.marker.push_str(text),
            Destination::Body if self.group.hidden => {}
            Destination::Body => {
                self.apply_group_format(!text.trim().is_empty());
                self.line.text(text);
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
            self.line.open(tag);
        }
    }

    fn close_format(&mut self) {
        for tag in self.format.tags().rev() {
            self.line.close(tag);
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
            "b" => self.group.format.bold = on,
            "i" => self.group.format.italic = on,
            "strike" | "striked" => self.group.format.struck = on,
            "v" | "deleted" => self.group.hidden = on,
            "super" if on => self.group.format.script = Script::Super,
            "sub" if on => self.group.format.script = Script::Sub,
            "super" | "sub" | "nosupersub" => self.group.format.script = Script::Normal,
            "plain" => {
                self.group.format = TextFormat::default();
                self.group.font = None;
            }
            "par" => self.end_paragraph(),
            "line" if self.group.destination == Destination::Body => {
                self.line.raw("<br>");
            }
            "tab" => self.push(" "),
            "sect" | "page" => self.end_paragraph(),
            "cell" | "nestcell" => self.end_cell(),
            "row" | "nestrow" => self.blocks.end_row(),
            "trowd" => self.blocks.define_row(),
            "trleft" => self.blocks.define_left(number.unwrap_or(0)),
            "clmrg" => self.blocks.next_cell().continues_before = true,
            "clvmrg" => self.blocks.next_cell().continues_above = true,
            "cellx" => self.blocks.define_cell(number.unwrap_or(0)),
            "pard" => self.paragraph = Paragraph::default(),
            "intbl" => self.paragraph.in_table = true,
            "ls" => self.paragraph.is_item = number.unwrap_or(0) > 0,
            "ilvl" => self.paragraph.depth = u8::try_from(number.unwrap_or(0)).unwrap_or(0).min(8),
            "outlinelevel" => self.paragraph.outline = number.and_then(|level| u8::try_from(level).ok()),
            "s" => (self.paragraph.style, self.group.style) = (number.unwrap_or(0), number.unwrap_or(0)),
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
                self.marker.clear();
                self.group.destination = Destination::ListMarker;
            }
            "field" => {
                self.instruction.clear();
                self.group.is_field = true;
            }
            "fldinst" => self.group.destination = Destination::Instruction,
            "fldrslt" => self.begin_link(),
            "footnote" if self.enclosing_line.is_none() && self.group.destination == Destination::Body => {
                self.begin_note()
            }
            "shptxt" => self.begin_text_box(),
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
        if words.next() != Some("HYPERLINK") || self.link {
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
            self.line.open_with("a", "href", address);
            self.link = true;
            if let Some(field) = self.groups.last_mut() {
                field.is_field = true;
            }
        }
    }

    fn begin_note(&mut self) {
        self.close_format();
        self.note_count += 1;
        self.line.footnote_number(self.note_count);
        self.enclosing_line = Some((std::mem::take(&mut self.line), self.paragraph));
        self.group.is_note = true;
    }

    /// Begins a text box. In a note, a table or another text box, its text is part of the line.
    fn begin_text_box(&mut self) {
        let is_in_line =
            self.enclosing_line.is_some() || self.around_text_box.is_some() || self.paragraph.in_table;
        if is_in_line || self.group.destination != Destination::Body {
            return;
        }
        self.close_format();
        let (line, marker) = (std::mem::take(&mut self.line), std::mem::take(&mut self.marker));
        self.around_text_box = Some((line, marker, std::mem::take(&mut self.paragraph)));
        self.group.is_text_box = true;
    }

    fn end_line(&mut self) {
        self.close_format();
        if std::mem::take(&mut self.link) {
            self.line.close("a");
        }
    }

    fn end_paragraph(&mut self) {
        if self.group.destination != Destination::Body {
            return;
        }
        self.end_line();
        if self.enclosing_line.is_some() || self.paragraph.in_table {
            self.line.raw("<br>");
            return;
        }
        self.blocks.end_table();
        let mut line = std::mem::take(&mut self.line).into_html();
        let mut marker = std::mem::take(&mut self.marker);
        if let Some(rest) = line.strip_prefix("\u{2022} ") {
            (line, marker) = (rest.to_owned(), "\u{2022}".to_owned());
        }
        let style = self
            .style_names
            .iter()
            .find(|(number, _)| *number == self.paragraph.style);
        let is = |words: &[&str]| style.is_some_and(|(_, name)| words.iter().any(|word| name.contains(word)));
        if is(CODE_STYLES) {
            return self.blocks.code(&line);
        }
        if line.trim().is_empty() {
            return;
        }
        let heading = style
            .and_then(|(_, name)| name.strip_prefix("heading "))
            .and_then(|level| level.trim().parse::<u8>().ok())
            .or(self.paragraph.outline.map(|level| level.saturating_add(1)))
            .filter(|level| (1..=9).contains(level))
            .or(style.filter(|(_, name)| name == "title").map(|_| 1));
        if let Some(level) = heading {
            self.blocks.block(&format!("h{}", level.min(6)), &line);
        } else if self.paragraph.is_item || !marker.trim().is_empty() {
            let marker = marker.trim().trim_start_matches('(');
            // Word's second bullet is a letter.
            let is_numbered = marker != "o" && marker.starts_with(|c: char| c.is_ascii_alphanumeric());
            let digits = marker.find(|c: char| !c.is_ascii_digit()).unwrap_or(marker.len());
            let start = marker[..digits].parse().unwrap_or(1);
            self.blocks
                .item(&line, is_numbered.then_some(start), self.paragraph.depth);
        } else if is(QUOTE_STYLES) {
            self.blocks.quote(&line);
        } else {
            self.blocks.block("p", &line);
        }
    }

    fn end_cell(&mut self) {
        self.end_line();
        let cell = std::mem::take(&mut self.line).into_html();
        self.blocks.cell(&cell);
    }

    fn document(mut self) -> FileDocument {
        self.flush();
        self.group = Group::default();
        self.paragraph.in_table = false;
        self.enclosing_line = None;
        self.end_paragraph();
        if let Some((line, marker, _)) = self.around_text_box.take() {
            (self.line, self.marker) = (line, marker);
            self.end_paragraph();
        }
        let properties = self.properties.into_iter();
        FileDocument {
            pages: vec![FilePage {
                number: 1,
                html: self.blocks.into_html(self.notes),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rtf: &str, expected: &str) {
        let document = read(rtf.as_bytes()).unwrap();
        assert_eq!(document.pages[0].html.replace('\n', ""), expected, "{rtf}");
    }

    #[test]
    fn text_keeps_its_structure() {
        check(
            r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\stylesheet{\s1 heading 1;}}\pard\s1 Top\par\pard A {\b bold} word, caf\'e9 \u8364?.\par}",
            "<h1>Top</h1><p>A <strong>bold</strong> word, café €.</p>",
        );
        check(
            r"{\rtf1\ansicpg1252\deff1{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}\'cf\'f0{\f0 \'e9}\'ee\f0\'e9\plain\'ee\par}",
            "<p>Прéоéо</p>",
        );
        check(
            r"{\rtf1 \pard\ls1{\listtext 1.\tab}One\par{\listtext 2.\tab}Two\par\pard After\par\pard\bullet\tab Three\par}",
            "<ol><li>One</li><li>Two</li></ol><p>After</p><ul><li>Three</li></ul>",
        );
        check(
            r"{\rtf1 \pard\ls1{\listtext (3)\tab}One\par{\listtext (4)\tab}Two\par\ilvl1{\listtext o\tab}Three\par}",
            "<ol start=\"3\"><li>One</li><li>Two<ul><li>Three</li></ul></li></ol>",
        );
        check(
            r"{\rtf1 \trowd\intbl a\cell b\cell\row\trowd\intbl 1\cell 2\cell\row\pard x\par}",
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><p>x</p>",
        );
        check(
            concat!(
                r"{\rtf1 \trowd\trleft-108\cellx2772\cellx5652\cellx8532\intbl a\cell b\cell c\cell\row",
                r"\trowd\trleft-108\cellx5651\clvmgf\cellx8532\intbl d\cell e\cell\row",
                r"\trowd\trleft-108\clmgf\cellx2772\clmrg\cellx5652\clvmrg\cellx8532\intbl f\cell\cell\cell\row}"
            ),
            concat!(
                "<table><tr><th>a</th><th>b</th><th>c</th></tr>",
                "<tr><td colspan=\"2\">d</td><td rowspan=\"2\">e</td></tr>",
                "<tr><td colspan=\"2\">f</td></tr></table>"
            ),
        );
        check(
            r#"{\rtf1 See {\field{\*\fldinst HYPERLINK "https://x.test/"}{\fldrslt here}}.\par}"#,
            "<p>See <a href=\"https://x.test/\">here</a>.</p>",
        );
        check(
            r"{\rtf1 {\*\unknown secret}{\pict 00ff}a{\v b}c <&>\par}",
            "<p>ac &lt;&amp;&gt;</p>",
        );
        check(
            r"{\rtf1 a{\shp{\*\shpinst\shpleft1{\sp{\sn x}{\sv y}}{\shptxt\pard one\par two\par}}{\shprslt three}}b\par}",
            "<p>one</p><p>two</p><p>ab</p>",
        );
        check(r"{\rtf1 a{\shp{\*\shpinst{\shptxt one", "<p>one</p><p>a</p>");
        check(
            concat!(
                r"{\rtf1{\stylesheet{\s2 Quote;}{\s3 Source Code;}}\pard\s2 a\par b\par",
                r"\pard\s3 if x:\par\par  {\b y}\par\pard c\par}"
            ),
            "<blockquote><p>a</p><p>b</p></blockquote><pre><code>if x: <strong>y</strong></code></pre><p>c</p>",
        );
        check(
            r"{\rtf1{\stylesheet{\s2 Title;}}\pard\s2 Birds\par\pard 10{\b\super 6}{\sub n}\super +\nosupersub x\par}",
            "<h1>Birds</h1><p>10<strong><sup>6</sup></strong><sub>n</sub><sup>+</sup>x</p>",
        );
    }

    #[test]
    fn document_properties_are_kept() {
        let document = read(br"{\rtf1{\info{\title My {\b title}}{\author A. B.}}x}").unwrap();
        assert_eq!(
            document.properties,
            [("title", "My title"), ("author", "A. B.")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
    }

    #[test]
    fn broken_files_are_read_without_panic() {
        for rtf in [
            "{\\rtf1", "{\\rtf1}}}}", "{\\rtf1 \\u55357?", "{\\rtf1 \\bin99999 x", "{\\rtf1{\\footnote a",
        ] {
            assert!(read(rtf.as_bytes()).is_ok(), "{rtf}");
        }
        let deep = format!("{{\\rtf1{}x\\par", "{".repeat(100_000));
        assert!(read(deep.as_bytes()).is_ok());
        assert!(read(b"no").is_err());
    }
}
