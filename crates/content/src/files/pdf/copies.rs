//! Copies of a document that `unpdf` reads instead of it: without the headers, footers, page numbers and watermarks that
//! it marks as such (PDF section 14.8.2.2), without lines, or with some of its pages only. Running lines of text without
//! a mark are removed later, by their repetition. In all copies, fonts of code are marked as such.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;

use unpdf::parser::backend::{PageBox, PdfBackend, RawBackend};
use unpdf::parser::raw::stream::decompress;
use unpdf::parser::raw::tokenizer::parse_object;
use unpdf::parser::raw::{PdfDict, PdfObject, RawDocument};

use crate::limits::PDF_CHANGED_BYTES;

/// Name of the artifacts that belong to the layout in pages.
const PAGINATION: &[u8] = b"Pagination";

/// Words in the names of fonts whose characters have the same width, in lower case. `unpdf` takes their text for code
/// if they are marked, which those of TeX are not.
const CODE_FONTS: &[&str] = &[
    "cmtt", "cmsltt", "cmitt", "ectt", "sftt", "txtt", "mono", "nimbusmon", "courier", "typewriter",
];

/// Longest dictionary of a mark, which bounds its nesting.
const MARK_BYTES: usize = 2048;

/// Number and generation of an object.
pub(super) type ObjectId = (u32, u16);

/// Returns whether the first pages have content that may be marked as pagination, or a font of code without a mark.
pub(super) fn is_needed(document: &RawBackend, pages: u32) -> bool {
    let mut pages = document.pages().into_values().take(pages as usize);
    pages.any(|page| {
        let fonts = document.page_fonts(page.into()).unwrap_or_default();
        let content = document.page_content(page);
        fonts
            .iter()
            .any(|font| !font.fixed_pitch && is_of_code(font.base_font.as_bytes()))
            || content.is_ok_and(|content| memchr::memmem::find(&content, PAGINATION).is_some())
    })
}

/// Returns whether a font is one of code.
fn is_of_code(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    CODE_FONTS.iter().any(|word| name.contains(word))
}

/// Returns a copy of a document without the text and objects in its first pages that are marked as pagination.
pub(super) fn without_pagination(body: &[u8], pages: u32) -> unpdf::Result<Vec<u8>> {
    let document = RawDocument::load(body)?;
    let pages = document.pages().into_values().take(pages as usize);
    let contents = pages.flat_map(|page| content_streams(&document, page));
    let edit = Edit {
        pagination: true,
        ..Edit::default()
    };
    let edits = contents.map(|id| (id, edit)).collect();
    let copy = Copy {
        edits,
        ..Copy::new(&document)
    };
    Ok(copy.write())
}

/// A page of an excerpt.
pub(super) struct ExcerptPage<'a> {
    pub(super) id: ObjectId,
    /// Whether the lines and areas that it draws are left out, also those of these forms.
    pub(super) without_lines: bool,
    pub(super) forms: &'a [ObjectId],
    /// Its own box, and the one that it has instead. The first still clips its content.
    pub(super) boxes: Option<(PageBox, PageBox)>,
}

/// Returns a copy of a document with these pages only.
pub(super) fn excerpt(document: &RawDocument, pages: &[ExcerptPage<'_>]) -> Vec<u8> {
    let mut edits: HashMap<ObjectId, Edit> = HashMap::new();
    let mut boxes = HashMap::new();
    for page in pages {
        let streams = content_streams(document, page.id);
        if page.without_lines {
            for id in streams.iter().chain(page.forms) {
                edits.entry(*id).or_default().lines = true;
            }
        }
        if let Some((own, new)) = page.boxes {
            boxes.insert(page.id, new);
            if let Some(first) = streams.first() {
                edits.entry(*first).or_default().clip = Some(own);
            }
        }
    }
    let mut left_out = tree_nodes(document, document.pages().into_values());
    for node in tree_nodes(document, pages.iter().map(|page| page.id)) {
        left_out.remove(&node);
    }
    if let Ok(catalog) = document.catalog() {
        let others = [&b"AcroForm"[..], b"Dests", b"Names", b"Outlines"];
        left_out.extend(others.iter().filter_map(|key| catalog.get(*key)?.as_reference()));
    }
    let copy = Copy {
        edits,
        boxes,
        left_out,
        ..Copy::new(document)
    };
    copy.write()
}

/// Returns these pages, and the nodes of the page tree above them.
fn tree_nodes(document: &RawDocument, pages: impl Iterator<Item = ObjectId>) -> HashSet<ObjectId> {
    let mut nodes = HashSet::new();
    for page in pages {
        let mut node = Some(page);
        while let Some(id) = node.filter(|id| nodes.insert(*id)) {
            let dict = document.get_dict(id).ok();
            node = dict.and_then(|dict| dict.get(&b"Parent"[..])?.as_reference());
        }
    }
    nodes
}

/// Returns the streams with the content of a page.
fn content_streams(document: &RawDocument, page: ObjectId) -> Vec<ObjectId> {
    let page = document.get_dict(page).ok();
    let Some(contents) = page.and_then(|page| page.get(&b"Contents"[..])) else {
        return Vec::new();
    };
    match document.resolve(contents) {
        PdfObject::Array(parts) => parts.iter().filter_map(PdfObject::as_reference).collect(),
        _ => contents.as_reference().into_iter().collect(),
    }
}

/// How content is changed.
#[derive(Clone, Copy, Default)]
struct Edit {
    /// Whether what is marked as pagination is left out.
    pagination: bool,
    /// Whether lines and areas are left out.
    lines: bool,
    /// The box outside of which nothing shows.
    clip: Option<PageBox>,
}

impl Edit {
    /// Returns changed content, or `None` if it stays.
    fn apply(self, content: &[u8]) -> Option<Vec<u8>> {
        let mut changed = self.pagination.then(|| unpaginated(content)).flatten();
        if self.lines {
            changed = without_lines(changed.as_deref().unwrap_or(content)).or(changed);
        }
        let Some(clip) = self.clip else {
            return changed;
        };
        let (width, height) = (clip.width(), clip.height());
        let path = format!("{} {} {width} {height} re W n\n", clip.llx, clip.lly);
        Some([path.as_bytes(), changed.as_deref().unwrap_or(content)].concat())
    }
}

/// A copy of a document that is being written: every object that its trailer leads to.
struct Copy<'a> {
    document: &'a RawDocument,
    edits: HashMap<ObjectId, Edit>,
    /// Boxes of pages.
    boxes: HashMap<ObjectId, PageBox>,
    file: Vec<u8>,
    found: HashSet<ObjectId>,
    waiting: Vec<ObjectId>,
    /// Objects that are not copied.
    left_out: HashSet<ObjectId>,
    /// Bytes of changed content so far.
    changed: usize,
}

impl<'a> Copy<'a> {
    fn new(document: &'a RawDocument) -> Self {
        Self {
            document,
            edits: HashMap::new(),
            boxes: HashMap::new(),
            file: Vec::new(),
            found: HashSet::new(),
            waiting: Vec::new(),
            left_out: HashSet::new(),
            changed: 0,
        }
    }

    fn write(mut self) -> Vec<u8> {
        self.put("%PDF-1.7\n");
        let mut trailer = self.document.trailer().clone();
        trailer.retain(|key, _| matches!(key.as_slice(), b"Root" | b"Info"));
        let trailer = PdfObject::Dict(trailer);
        // Finds the first objects; written again at the end.
        let start = self.file.len();
        self.object(&trailer);
        self.file.truncate(start);
        let mut places = BTreeMap::new();
        while let Some((number, generation)) = self.waiting.pop() {
            let Some(object) = self.document.get_object((number, generation)) else {
                continue;
            };
            places.insert((number, generation), self.file.len());
            self.put(&format!("{number} {generation} obj\n"));
            let edit = self.edits.get(&(number, generation)).copied();
            let edit = edit.filter(|_| self.changed < PDF_CHANGED_BYTES);
            let changed = edit.zip(object.as_stream()).and_then(|(edit, stream)| {
                let mut dict = stream.dict.clone();
                dict.retain(|key, _| !matches!(key.as_slice(), b"Filter" | b"DecodeParms" | b"Length"));
                Some((dict, edit.apply(&decompress(stream).ok()?)?))
            });
            match (changed, self.boxes.get(&(number, generation)), object) {
                (Some((dict, content)), ..) => {
                    self.changed += content.len();
                    self.stream(&dict, &content);
                }
                (None, Some(page_box), PdfObject::Dict(dict)) => {
                    let PageBox { llx, lly, urx, ury } = *page_box;
                    let sides = [llx, lly, urx, ury].map(|side| PdfObject::Real(side.into()));
                    let mut dict = dict.clone();
                    for name in [&b"MediaBox"[..], b"CropBox"] {
                        dict.insert(name.to_vec(), PdfObject::Array(sides.to_vec()));
                    }
                    self.object(&PdfObject::Dict(dict));
                }
                (_, _, PdfObject::Dict(dict)) => self.object(&PdfObject::Dict(with_mark(dict))),
                _ => self.object(object),
            }
            self.put("\nendobj\n");
        }
        let start = self.file.len();
        self.put("xref\n");
        for ((number, generation), place) in places {
            self.put(&format!("{number} 1\n{place:010} {generation:05} n \n"));
        }
        self.put("trailer\n");
        self.object(&trailer);
        self.put(&format!("\nstartxref\n{start}\n%%EOF\n"));
        self.file
    }

    fn put(&mut self, text: &str) {
        self.file.extend_from_slice(text.as_bytes());
    }

    fn object(&mut self, object: &PdfObject) {
        match object {
            PdfObject::Null => self.put("null"),
            PdfObject::Bool(value) => self.put(&value.to_string()),
            PdfObject::Integer(number) => self.put(&number.to_string()),
            PdfObject::Real(number) => self.put(&number.to_string()),
            PdfObject::Name(name) => write_name(&mut self.file, name),
            PdfObject::Str(bytes) => write_string(&mut self.file, bytes),
            PdfObject::Array(items) => {
                self.put("[");
                for item in items {
                    if item.as_reference().is_some_and(|id| self.left_out.contains(&id)) {
                        continue;
                    }
                    self.object(item);
                    self.put(" ");
                }
                self.put("]");
            }
            PdfObject::Dict(dict) => {
                self.put("<<");
                self.entries(dict);
                self.put(">>");
            }
            PdfObject::Stream(stream) => self.stream(&stream.dict, &stream.raw_data),
            PdfObject::Reference(number, generation) if self.left_out.contains(&(*number, *generation)) => {
                self.put("null");
            }
            PdfObject::Reference(number, generation) => {
                let id = (*number, *generation);
                if self.found.insert(id) {
                    self.waiting.push(id);
                }
                self.put(&format!("{number} {generation} R"));
            }
        }
    }

    fn entries(&mut self, dict: &PdfDict) {
        // `unpdf` does not read the structure, which may be the larger part of the file.
        for (key, value) in dict.iter().filter(|(key, _)| *key != b"StructTreeRoot") {
            write_name(&mut self.file, key);
            self.put(" ");
            self.object(value);
            self.put(" ");
        }
    }

    fn stream(&mut self, dict: &PdfDict, data: &[u8]) {
        let length = i64::try_from(data.len()).unwrap_or(i64::MAX);
        let mut dict = dict.clone();
        dict.insert(b"Length".to_vec(), PdfObject::Integer(length));
        self.object(&PdfObject::Dict(dict));
        self.put("\nstream\n");
        self.file.extend_from_slice(data);
        self.put("\nendstream");
    }
}

/// Returns a dictionary, with the mark of fixed pitch if it describes a font of code (PDF section 9.8.2).
fn with_mark(dict: &PdfDict) -> PdfDict {
    let mut dict = dict.clone();
    let name = |key: &[u8]| dict.get(key).and_then(PdfObject::as_name).unwrap_or_default();
    if name(b"Type") == b"FontDescriptor"
        && is_of_code(name(b"FontName"))
        && let Some(PdfObject::Integer(flags)) = dict.get_mut(&b"Flags"[..])
    {
        *flags |= 1;
    }
    dict
}

/// Returns the content of a page without text and objects that are marked as pagination; `None` if it has none, or a
/// mark that does not end.
fn unpaginated(content: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(content, PAGINATION)?;
    // Open marks, from the one of pagination on.
    let mut depth = 0_u32;
    let content = replace(content, |operator, operands| {
        match operator {
            b"BMC" | b"BDC" if depth > 0 || is_pagination(operands) => depth += 1,
            b"EMC" if depth > 0 => depth -= 1,
            b"Tj" | b"TJ" | b"Do" if depth > 0 => return Some(b""),
            b"'" | b"\"" if depth > 0 => return Some(b" T*"),
            _ => {}
        }
        None
    })?;
    (depth == 0).then_some(content)
}

/// Returns content without the lines and areas that it paints; `None` if it has none.
fn without_lines(content: &[u8]) -> Option<Vec<u8>> {
    // A path may also be one that clips.
    replace(content, |operator, _| paints_path(operator).then_some(b" n"))
}

/// Returns whether an operator paints a path (PDF section 8.5.3).
pub(super) fn paints_path(operator: &[u8]) -> bool {
    matches!(
        operator,
        b"f" | b"F" | b"f*" | b"S" | b"s" | b"B" | b"B*" | b"b" | b"b*"
    )
}

/// Returns content with the operators for which there is a replacement replaced, with their operands. `None` if there
/// are none, or content that cannot be read.
fn replace(
    content: &[u8],
    mut replacement: impl FnMut(&[u8], &[PdfObject]) -> Option<&'static [u8]>,
) -> Option<Vec<u8>> {
    let (mut out, mut copied) = (Vec::with_capacity(content.len()), 0);
    let (mut operands, mut at, mut start) = (Vec::new(), 0, 0);
    while let Some(byte) = content.get(at) {
        let end = match byte {
            b'<' if content[at..].starts_with(b"<<") && !is_artifact(&operands) => {
                at += 2;
                continue;
            }
            b'(' | b'<' | b'/' => {
                let most = if *byte == b'<' { MARK_BYTES } else { content.len() };
                let part = &content[..content.len().min(at.saturating_add(most))];
                let (operand, end) = parse_object(part, at).ok()?;
                operands.push(operand);
                at = end;
                continue;
            }
            b'%' => {
                at += content[at..]
                    .iter()
                    .take_while(|byte| !b"\r\n".contains(byte))
                    .count();
                continue;
            }
            b'\'' | b'"' => at + 1,
            byte if is_regular(*byte) => {
                at + content[at..].iter().take_while(|byte| is_regular(**byte)).count()
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let operator = &content[at..end];
        at = end;
        match operator {
            [b'0'..=b'9' | b'+' | b'-' | b'.', ..] | b"true" | b"false" | b"null" => continue,
            b"BI" => at += image_length(&content[at..]),
            _ => {}
        }
        if let Some(new) = replacement(operator, &operands) {
            out.extend_from_slice(&content[copied..start]);
            out.extend_from_slice(new);
            copied = at;
        }
        operands.clear();
        start = at;
    }
    out.extend_from_slice(&content[copied..]);
    (copied > 0).then_some(out)
}

/// Returns whether these operands are the tag of an artifact.
fn is_artifact(operands: &[PdfObject]) -> bool {
    matches!(operands, [PdfObject::Name(tag)] if tag == b"Artifact")
}

/// Returns whether these operands mark content as pagination.
fn is_pagination(operands: &[PdfObject]) -> bool {
    let [tag @ .., PdfObject::Dict(dict)] = operands else {
        return false;
    };
    let kind = dict.get(&b"Type"[..]).and_then(PdfObject::as_name);
    is_artifact(tag) && kind == Some(PAGINATION)
}

/// Returns whether a byte is neither white space nor a delimiter, nor an operator of its own.
fn is_regular(byte: u8) -> bool {
    !matches!(byte, b'\0' | b'\x0C' | b'\'' | b'"')
        && !byte.is_ascii_whitespace()
        && !b"()<>[]{}/%".contains(&byte)
}

/// Returns the length of an inline image, from after its first operator on.
fn image_length(content: &[u8]) -> usize {
    let ends = memchr::memmem::find_iter(content, b"EI").map(|at| at + 2);
    let is_regular = |at: usize| content.get(at).is_some_and(|byte| is_regular(*byte));
    let mut ends = ends.filter(|end| *end > 2 && !is_regular(*end - 3) && !is_regular(*end));
    ends.next().unwrap_or(content.len())
}

fn write_name(out: &mut Vec<u8>, name: &[u8]) {
    out.push(b'/');
    for byte in name {
        if byte.is_ascii_alphanumeric() {
            out.push(*byte);
        } else {
            // A `Vec` takes all bytes.
            let _ = write!(out, "#{byte:02x}");
        }
    }
}

fn write_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'<');
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out.push(b'>');
}
