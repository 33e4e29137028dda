//! Builds test files: the minimum of each type that readers accept.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A PDF file to build.
#[derive(Default)]
pub struct Pdf<'a> {
    /// The content of each page; see [`line()`] and [`text()`].
    pub pages: Vec<String>,
    /// Entries of the information dictionary.
    pub info: &'a str,
    /// Titles and the indexes of their pages.
    pub outline: &'a [(&'a str, usize)],
    /// Names and values of the fields of a form.
    pub fields: &'a [(&'a str, &'a str)],
    /// The contents of forms, which pages and forms paint by their index: `/Fm0 Do`.
    pub forms: &'a [String],
    /// Whether it is encrypted with a password.
    pub protected: bool,
}

/// Returns a line of text in Helvetica at a height of the page (792 is the top).
pub fn line(size: u32, height: u32, words: &str) -> String {
    text(size, 72, height, words)
}

/// Returns a line of text at a distance from the left and a height; [`BULLET`] is in a symbol font.
pub fn text(size: u32, left: u32, height: u32, words: &str) -> String {
    let font = if words == BULLET { "F2" } else { "F1" };
    let words = words
        .replace('\\', "\\\\")
        .replace('(', "\\(")
        .replace(')', "\\)");
    format!("BT /{font} {size} Tf {left} {height} Td ({words}) Tj ET\n")
}

/// Returns a table with rules around its cells.
pub fn table(top: u32, rows: &[[&str; 2]]) -> String {
    let mut drawn = String::new();
    let mut edge = top;
    for [first, second] in rows {
        drawn += &format!("72 {edge} m 400 {edge} l S\n");
        drawn += &(text(12, 76, edge - 15, first) + &text(12, 304, edge - 15, second));
        edge -= 20;
    }
    drawn += &format!("72 {edge} m 400 {edge} l S\n");
    let sides = [72, 300, 400].map(|left| format!("{left} {top} m {left} {edge} l S\n"));
    drawn + &sides.concat()
}

/// The glyph of a symbol font whose character is U+F0B7, as in the lists of word processors.
pub const BULLET: &str = "\u{1}";

/// Returns a page that consists of one image.
pub fn scan() -> String {
    "q 468 0 0 648 72 72 cm /Im1 Do Q\n".to_owned()
}

impl Pdf<'_> {
    /// Returns the file.
    pub fn bytes(&self) -> Vec<u8> {
        // Objects: 1 catalog, 2 pages, 3 font, 4 image, 5 outline, 6 information, 7 encryption, 8 symbol font,
        // 9 its characters; then pages, outline entries, fields, and forms.
        let page = |at: usize| 10 + 2 * at;
        let entry = |at: usize| page(self.pages.len()) + at;
        let kids: String = (0..self.pages.len())
            .map(|at| format!("{} 0 R ", page(at)))
            .collect();
        let stream = |head: &str, content: &str| {
            format!(
                "<< {head} /Length {} >>\nstream\n{content}\nendstream",
                content.len()
            )
        };
        let ends = match self.outline.len() {
            0 => String::new(),
            count => format!(
                "/First {} 0 R /Last {} 0 R /Count {count}",
                entry(0),
                entry(count - 1)
            ),
        };
        let fields: String = (0..self.fields.len())
            .map(|at| format!("{} 0 R ", entry(self.outline.len() + at)))
            .collect();
        let form = |at: usize| entry(self.outline.len() + self.fields.len() + at);
        let forms: String = (0..self.forms.len())
            .map(|at| format!("/Fm{at} {} 0 R ", form(at)))
            .collect();
        let resources =
            format!("/Resources << /Font << /F1 3 0 R /F2 8 0 R >> /XObject << /Im1 4 0 R {forms}>> >>");
        let hidden = "0123456789abcdef".repeat(4);
        let mut objects = vec![
            format!(
                "<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R /AcroForm << /Fields [{fields}] >> >>"
            ),
            format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", self.pages.len()),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
            stream(
                "/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8",
                "abcd",
            ),
            format!("<< /Type /Outlines {ends} >>"),
            format!("<< {} >>", self.info),
            format!("<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <{hidden}> /U <{hidden}> >>"),
            "<< /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+Symbol /FirstChar 1 /LastChar 1 /Widths [460] \
             /ToUnicode 9 0 R >>"
                .to_owned(),
            stream("", "begincmap\n1 beginbfchar\n<01> <F0B7>\nendbfchar\nendcmap"),
        ];
        for (at, content) in self.pages.iter().enumerate() {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R {resources} >>",
                page(at) + 1
            ));
            objects.push(stream("", content));
        }
        for (at, (title, place)) in self.outline.iter().enumerate() {
            let next = match at + 1 < self.outline.len() {
                true => format!("/Next {} 0 R", entry(at + 1)),
                false => String::new(),
            };
            let place = page(*place);
            objects.push(format!(
                "<< /Title ({title}) /Parent 5 0 R /Dest [{place} 0 R /Fit] {next} >>"
            ));
        }
        for (name, value) in self.fields {
            objects.push(format!("<< /FT /Tx /T ({name}) /V ({value}) >>"));
        }
        let form = format!("/Type /XObject /Subtype /Form /BBox [0 0 612 792] {resources}");
        objects.extend(self.forms.iter().map(|content| stream(&form, content)));
        let mut file = "%PDF-1.4\n".to_owned();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (number, object) in (1..).zip(&objects) {
            table.push_str(&format!("{:010} 00000 n \n", file.len()));
            file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
        }
        let protection = match self.protected {
            true => format!("/Encrypt 7 0 R /ID [<{hidden}> <{hidden}>]"),
            false => String::new(),
        };
        let (size, start) = (objects.len() + 1, file.len());
        file.push_str(&format!(
            "{table}trailer\n<< /Size {size} /Root 1 0 R /Info 6 0 R {protection} >>\nstartxref\n{start}\n%%EOF\n"
        ));
        file.into_bytes()
    }
}

/// Returns a zip archive with these entries.
pub fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = match *name {
            // OpenDocument and EPUB require it first and uncompressed.
            "mimetype" => SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored),
            _ => SimpleFileOptions::default(),
        };
        zip.start_file(*name, options).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn relations(entries: &[(&str, &str, &str)]) -> String {
    let entries: String = entries
        .iter()
        .map(|(id, kind, target)| {
            let mode = if target.starts_with("http") {
                " TargetMode=\"External\""
            } else {
                ""
            };
            format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"{mode}/>")
        })
        .collect();
    format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{entries}</Relationships>"
    )
}

/// Returns an Office package: its main part and other parts, with their relationships.
fn package(
    main: &str,
    kind: &str,
    relations_of_main: &[(&str, &str, &str)],
    parts: &[(&str, &str)],
) -> Vec<u8> {
    let types = format!(
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/{main}\" ContentType=\"application/vnd.openxmlformats-officedocument.{kind}.main+xml\"/></Types>"
    );
    let root = relations(&[("rId1", "officeDocument", main)]);
    let (folder, name) = main.split_once('/').unwrap();
    let beside = format!("{folder}/_rels/{name}.rels");
    let own = relations(relations_of_main);
    let mut entries = vec![
        ("[Content_Types].xml", types.as_str()),
        ("_rels/.rels", root.as_str()),
        (beside.as_str(), own.as_str()),
    ];
    entries.extend_from_slice(parts);
    archive(&entries)
}

/// Returns a Word document with this body. It may use the styles `Title`, `Heading1`, `Heading2`, `Code`, `Quote` and,
/// for characters, `VerbatimChar`; the lists 1 (bullets), 2 (numbers), 3 (numbers from 3, indented) and 4 (no markers);
/// and the link `rId9`.
pub fn docx(body: &str) -> Vec<u8> {
    docx_with(body, "")
}

/// Returns a Word document with this body and the footnote 2, which consists of these paragraphs.
pub fn docx_with(body: &str, footnote: &str) -> Vec<u8> {
    let w = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
    let document = format!("<w:document {w} xmlns:r=\"{OFFICE}\"><w:body>{body}</w:body></w:document>");
    let style = |id: &str, name: &str, level: Option<u8>| {
        let level = level.map(|level| format!("<w:pPr><w:outlineLvl w:val=\"{level}\"/></w:pPr>"));
        let level = level.unwrap_or_default();
        format!(
            "<w:style w:type=\"paragraph\" w:styleId=\"{id}\"><w:name w:val=\"{name}\"/>{level}</w:style>"
        )
    };
    let styles = [
        style("Title", "Title", None),
        style("Heading1", "heading 1", Some(0)),
        style("Heading2", "heading 2", Some(1)),
        style("Code", "Source Code", None),
        style("Quote", "Quote", None),
    ];
    let code = "<w:style w:type=\"character\" w:styleId=\"VerbatimChar\"><w:name w:val=\"Verbatim Char\"/></w:style>";
    let styles = format!("<w:styles {w}>{}{code}</w:styles>", styles.concat());
    let list = |id: u8, start: u8, format: &str, text: &str, indent: u16| {
        format!(
            "<w:abstractNum w:abstractNumId=\"{id}\"><w:lvl w:ilvl=\"0\"><w:start w:val=\"{start}\"/>\
             <w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/><w:pPr><w:ind w:left=\"{indent}\"/></w:pPr></w:lvl></w:abstractNum>"
        )
    };
    let lists = [
        list(1, 1, "bullet", "\u{2022}", 360),
        list(2, 1, "decimal", "%1.", 360),
        list(3, 3, "decimal", "%1.", 720),
        list(4, 1, "bullet", " ", 360),
    ];
    let uses = (1..=lists.len())
        .map(|id| format!("<w:num w:numId=\"{id}\"><w:abstractNumId w:val=\"{id}\"/></w:num>"));
    let uses: String = uses.collect();
    let numbering = format!("<w:numbering {w}>{}{uses}</w:numbering>", lists.concat());
    let footnotes = format!("<w:footnotes {w}><w:footnote w:id=\"2\">{footnote}</w:footnote></w:footnotes>");
    package(
        "word/document.xml",
        "wordprocessingml.document",
        &[
            ("rId1", "styles", "styles.xml"),
            ("rId2", "numbering", "numbering.xml"),
            ("rId3", "footnotes", "footnotes.xml"),
            ("rId9", "hyperlink", "https://herons.test/"),
        ],
        &[
            ("word/document.xml", &document),
            ("word/styles.xml", &styles),
            ("word/numbering.xml", &numbering),
            ("word/footnotes.xml", &footnotes),
        ],
    )
}

/// Returns a paragraph of a Word document with a style, which may be empty.
pub fn paragraph(style: &str, text: &str) -> String {
    format!(
        "<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>"
    )
}

/// Returns a workbook from the name, state (`visible` or `hidden`) and rows (`sheetData`) of each sheet.
/// Style 1 is a date, style 2 a percentage, style 3 a time of day, style 4 a duration.
pub fn xlsx(sheets: &[(&str, &str, &str)]) -> Vec<u8> {
    let main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
    let (mut list, mut ids, mut parts) = (String::new(), Vec::new(), Vec::new());
    for (number, (name, state, rows)) in (1..).zip(sheets) {
        list.push_str(&format!(
            "<sheet name=\"{name}\" sheetId=\"{number}\" state=\"{state}\" r:id=\"rId{number}\"/>"
        ));
        ids.push((format!("rId{number}"), format!("worksheets/sheet{number}.xml")));
        parts.push((
            format!("xl/worksheets/sheet{number}.xml"),
            format!("<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"),
        ));
    }
    let workbook = format!("<workbook {main} xmlns:r=\"{OFFICE}\"><sheets>{list}</sheets></workbook>");
    let styles = format!(
        "<styleSheet {main}><cellXfs count=\"5\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\" applyNumberFormat=\"1\"/>\
         <xf numFmtId=\"9\" applyNumberFormat=\"1\"/><xf numFmtId=\"20\" applyNumberFormat=\"1\"/>\
         <xf numFmtId=\"46\" applyNumberFormat=\"1\"/></cellXfs></styleSheet>"
    );
    let mut relations: Vec<_> = ids
        .iter()
        .map(|(id, target)| (id.as_str(), "worksheet", target.as_str()))
        .collect();
    relations.push(("rId99", "styles", "styles.xml"));
    let mut entries: Vec<_> = parts
        .iter()
        .map(|(name, part)| (name.as_str(), part.as_str()))
        .collect();
    entries.extend([
        ("xl/workbook.xml", workbook.as_str()),
        ("xl/styles.xml", styles.as_str()),
    ]);
    package("xl/workbook.xml", "spreadsheetml.sheet", &relations, &entries)
}

/// Returns a presentation from the title and lines of each slide.
pub fn pptx(slides: &[(&str, &[&str])]) -> Vec<u8> {
    let names = format!(
        "xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" xmlns:r=\"{OFFICE}\" \
         xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\""
    );
    let (mut list, mut ids, mut parts) = (String::new(), Vec::new(), Vec::new());
    for (number, (title, lines)) in (1..).zip(slides) {
        let shape = |kind: &str, paragraphs: String| {
            format!(
                "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"x\"/><p:cNvSpPr/><p:nvPr><p:ph type=\"{kind}\"/></p:nvPr></p:nvSpPr>\
                 <p:spPr/><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
            )
        };
        let paragraph = |text: &&str| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
        let shapes = shape("title", paragraph(title)) + &shape("body", lines.iter().map(paragraph).collect());
        list.push_str(&format!(
            "<p:sldId id=\"{}\" r:id=\"rId{number}\"/>",
            255 + number
        ));
        ids.push((format!("rId{number}"), format!("slides/slide{number}.xml")));
        parts.push((
            format!("ppt/slides/slide{number}.xml"),
            format!("<p:sld {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"),
        ));
        parts.push((
            format!("ppt/slides/_rels/slide{number}.xml.rels"),
            relations(&[("rId1", "slideLayout", "../slideLayouts/slideLayout1.xml")]),
        ));
    }
    let logo = "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"x\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>\
                <p:txBody><a:bodyPr/><a:p><a:r><a:t>Logo</a:t></a:r></a:p></p:txBody></p:sp>";
    parts.push((
        "ppt/slideLayouts/slideLayout1.xml".to_owned(),
        format!("<p:sldLayout {names}><p:cSld><p:spTree>{logo}</p:spTree></p:cSld></p:sldLayout>"),
    ));
    let main = format!("<p:presentation {names}><p:sldIdLst>{list}</p:sldIdLst></p:presentation>");
    let relations: Vec<_> = ids
        .iter()
        .map(|(id, target)| (id.as_str(), "slide", target.as_str()))
        .collect();
    let mut entries: Vec<_> = parts
        .iter()
        .map(|(name, part)| (name.as_str(), part.as_str()))
        .collect();
    entries.push(("ppt/presentation.xml", &main));
    package(
        "ppt/presentation.xml", "presentationml.presentation", &relations, &entries,
    )
}

/// Returns an OpenDocument file of a kind (`text`, `spreadsheet`, `presentation`) with this body.
pub fn open_document(kind: &str, body: &str) -> Vec<u8> {
    open_document_with(kind, body, "")
}

/// Returns an OpenDocument file with the object `Object 1`, which is this chart, or a formula that consists of this MathML.
pub fn open_document_with(kind: &str, body: &str, object: &str) -> Vec<u8> {
    let names: String = ["office", "text", "table", "style", "presentation"]
        .iter()
        .map(|name| format!(" xmlns:{name}=\"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0\""))
        .collect();
    let names = format!(
        "{names} xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" \
         xmlns:xlink=\"http://www.w3.org/1999/xlink\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
    );
    archive(&[
        ("mimetype", &format!("application/vnd.oasis.opendocument.{kind}")),
        (
            "content.xml",
            &format!(
                "<office:document-content{names}><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
            ),
        ),
        (
            "meta.xml",
            &format!(
                "<office:document-meta{names}><office:meta><dc:title>Of herons</dc:title></office:meta></office:document-meta>"
            ),
        ),
        (
            "Object 1/content.xml",
            &match object.starts_with("<chart") {
                true => object.to_owned(),
                false => format!("<math display=\"block\">{object}</math>"),
            },
        ),
    ])
}

/// Returns a book with these chapters (XHTML bodies). Text with the class `strong` is bold.
pub fn epub(chapters: &[&str]) -> Vec<u8> {
    let names: Vec<_> = (1..=chapters.len())
        .map(|number| format!("c{number}.xhtml"))
        .collect();
    let items: String = names
        .iter()
        .map(|name| format!("<item id=\"{name}\" href=\"{name}\" media-type=\"application/xhtml+xml\"/>"))
        .collect();
    let spine: String = names
        .iter()
        .map(|name| format!("<itemref idref=\"{name}\"/>"))
        .collect();
    let package = format!(
        "<package xmlns=\"http://www.idpf.org/2007/opf\"><metadata xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
         <dc:title>Of herons</dc:title><dc:creator>A. Wader</dc:creator></metadata>\
         <manifest><item href=\"s/style.css\" media-type=\"text/css\"/>{items}</manifest><spine>{spine}</spine></package>"
    );
    let container = "<container><rootfiles><rootfile full-path=\"OPS/package.opf\"/></rootfiles></container>";
    let mut entries = vec![
        ("mimetype".to_owned(), "application/epub+zip".to_owned()),
        ("META-INF/container.xml".to_owned(), container.to_owned()),
        ("OPS/package.opf".to_owned(), package),
        (
            "OPS/s/style.css".to_owned(),
            ".strong { font-weight: bold }".to_owned(),
        ),
    ];
    for (name, body) in names.iter().zip(chapters) {
        let chapter = format!(
            "<html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head><body>{body}</body></html>"
        );
        entries.push((format!("OPS/{name}"), chapter));
    }
    let entries: Vec<_> = entries
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_str()))
        .collect();
    archive(&entries)
}
