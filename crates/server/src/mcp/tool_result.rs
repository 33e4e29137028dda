//! The result of a tool call: a few lines about it, then its content, cut to a size that a model can read, then pictures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::limits;

/// Parts of a document that are not content.
const NO_CONTENT: [&str; 4] = ["metadata", "warning", "screenshot", "actions"];

/// A picture in Base64.
#[derive(PartialEq, Debug)]
pub(super) struct Picture {
    pub(super) mime_type: String,
    pub(super) base64: String,
}

/// Where the rest of a long result is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RestLocation {
    /// By the same call with an `offset`.
    SameCall,
    /// By `harvestman_status` with these arguments.
    Status(String),
    /// Nowhere: another call would act again.
    Nowhere,
}

/// The result of a tool call, before it is cut to size.
#[derive(Debug)]
pub(super) struct ToolResult {
    /// Lines about the result.
    pub(super) lines: Vec<String>,
    pub(super) content: String,
    /// Characters of the content to skip.
    pub(super) offset: u64,
    pub(super) rest: RestLocation,
    pub(super) pictures: Vec<Picture>,
}

impl ToolResult {
    pub(super) fn new(content: impl Into<String>) -> ToolResult {
        ToolResult {
            lines: Vec::new(),
            content: content.into(),
            offset: 0,
            rest: RestLocation::SameCall,
            pictures: Vec::new(),
        }
    }

    /// Adds a line `label: value` if there is a value.
    pub(super) fn line(&mut self, label: &str, value: &Value) {
        let text = match value {
            Value::Null => return,
            Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            value => value.to_string(),
        };
        self.lines
            .push(format!("{label}: {}", shorten(&text, limits::MCP_LINE_CHARS)));
    }

    /// Returns the result in the form of the protocol. Its texts have at most [`limits::MCP_RESULT_CHARS`] characters.
    pub(super) fn into_result(mut self) -> Value {
        let used: usize = self.lines.iter().map(|line| line.chars().count() + 1).sum();
        // Space for the line about the cut.
        let room = limits::MCP_RESULT_CHARS.saturating_sub(used + limits::MCP_LINE_CHARS);
        let (part, total) = slice(&self.content, self.offset, room);
        let start = self.offset.min(total);
        let end = start + part.chars().count() as u64;
        if start > 0 || end < total {
            let range = format!("Characters {start} to {end} of {total}.");
            let rest = match &self.rest {
                _ if end >= total => "This is the end.".to_owned(),
                RestLocation::SameCall => format!("For the rest, call again with `offset`: {end}."),
                RestLocation::Status(arguments) => {
                    format!("For the rest, call harvestman_status with {arguments} and `offset`: {end}.")
                }
                RestLocation::Nowhere => "The rest is omitted; return less.".to_owned(),
            };
            self.lines.push(format!("{range} {rest}"));
        }
        let mut blocks = Vec::new();
        if !self.lines.is_empty() {
            blocks.push(text_block(&self.lines.join("\n")));
        }
        if !part.is_empty() || blocks.is_empty() {
            blocks.push(text_block(part));
        }
        blocks.extend(self.pictures.iter().map(
            |picture| json!({ "type": "image", "data": picture.base64, "mimeType": picture.mime_type }),
        ));
        json!({ "content": blocks, "isError": false })
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Returns an error as a result, for the model to read.
pub(super) fn error_result(error: &anyhow::Error) -> Value {
    let text = shorten(&format!("{error:#}"), limits::MCP_ERROR_CHARS);
    json!({ "content": [text_block(&text)], "isError": true })
}

/// Returns at most `room` characters of a text after its first `offset`, and the length of the text in characters.
fn slice(text: &str, offset: u64, room: usize) -> (&str, u64) {
    let total = text.chars().count() as u64;
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    (&text[at(offset)..at(offset.saturating_add(room))], total)
}

fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the content of a page document: a single format as it is, several formats each under its name.
pub(super) fn document_text(document: &Value) -> String {
    let no_fields = Map::new();
    let fields = document.as_object().unwrap_or(&no_fields);
    let parts: Vec<(&String, String)> = fields
        .iter()
        .filter(|(name, value)| !NO_CONTENT.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (name, value_text(value)))
        .collect();
    match parts.as_slice() {
        [(_, text)] => text.clone(),
        parts => parts
            .iter()
            .map(|(name, text)| format!("=== {name} ===\n{text}"))
            .collect::<Vec<_>>()
            .join("\n\n"),
    }
}

/// Returns a string as it is, a list of strings as lines, everything else as JSON.
pub(super) fn value_text(value: &Value) -> String {
    let lines = |list: &Vec<Value>| -> Option<Vec<String>> {
        list.iter().map(|item| item.as_str().map(str::to_owned)).collect()
    };
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) if !list.is_empty() => match lines(list) {
            Some(lines) => lines.join("\n"),
            None => format!("{value:#}"),
        },
        value => format!("{value:#}"),
    }
}

/// Moves pictures in the form of `data:` URLs from a text to `pictures`, at most [`limits::MCP_PICTURES`]. Omits the
/// others.
pub(super) fn take_pictures(text: &str, pictures: &mut Vec<Picture>) -> String {
    let mut kept = String::with_capacity(text.len().min(limits::MCP_RESULT_CHARS));
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        match picture_of(word) {
            Some(picture) if pictures.len() < limits::MCP_PICTURES => {
                pictures.push(picture);
                kept.push_str("(picture below)");
                kept.push_str(&piece[word.len()..]);
            }
            Some(_) => kept.push_str("(picture omitted) "),
            None => kept.push_str(piece),
        }
    }
    kept
}

/// Parses a `data:` URL of a picture.
pub(super) fn picture_of(url: &str) -> Option<Picture> {
    let (mime_type, base64) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let is_picture = mime_type.starts_with("image/") && STANDARD.decode(base64).is_ok();
    is_picture.then(|| Picture {
        mime_type: mime_type.to_owned(),
        base64: base64.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(result: &Value) -> Vec<&str> {
        let blocks = result["content"].as_array().unwrap();
        blocks.iter().filter_map(|block| block["text"].as_str()).collect()
    }

    #[test]
    fn a_long_result_is_cut_and_its_parts_are_the_whole() {
        let whole: String = (0..30_000).map(|number| format!("{number} ä\n")).collect();
        let (mut read, mut offset) = (String::new(), 0);
        loop {
            let mut long = ToolResult::new(whole.clone());
            long.line("Title", &json!("x".repeat(100_000)));
            long.offset = offset;
            let result = long.into_result();
            let texts = texts(&result);
            let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
            assert!(chars <= limits::MCP_RESULT_CHARS, "{chars}");
            read.push_str(texts[1]);
            offset += texts[1].chars().count() as u64;
            if texts[0].ends_with("This is the end.") {
                break;
            }
            assert!(
                texts[0].ends_with(&format!("call again with `offset`: {offset}.")),
                "{}",
                texts[0]
            );
        }
        assert_eq!(read, whole);
        let mut beyond = ToolResult::new("abc");
        beyond.offset = 10;
        let result = beyond.into_result();
        assert_eq!(texts(&result), ["Characters 3 to 3 of 3. This is the end."]);
    }

    #[test]
    fn one_format_is_shown_alone_and_several_under_their_names() {
        let one = json!({"markdown": "# A", "metadata": {"statusCode": 200}, "screenshot": "http://a/x.png"});
        assert_eq!(document_text(&one), "# A");
        let two = json!({"markdown": "# A", "links": ["http://a/", "http://b/"]});
        assert_eq!(
            document_text(&two),
            "=== links ===\nhttp://a/\nhttp://b/\n\n=== markdown ===\n# A"
        );
    }

    #[test]
    fn pictures_in_an_output_become_pictures() {
        let mut pictures = Vec::new();
        let text = take_pictures(
            "done\ndata:image/png;base64,aGk=\ndata:image/png;base64,!\n",
            &mut pictures,
        );
        assert_eq!(text, "done\n(picture below)\ndata:image/png;base64,!\n");
        assert_eq!(pictures.len(), 1);
        assert_eq!(pictures[0].mime_type, "image/png");
    }
}
