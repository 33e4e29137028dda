//! Problems of a request body: each with its path, and one message for the whole body.

use serde_json::{Value, json};

use crate::api::error::ApiError;

/// Step of the path to a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathPart {
    /// Name of a field of an object.
    Key(String),
    /// Index of an element of an array, from 0.
    Index(usize),
}

/// Problem with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Path of the value; empty for the body itself.
    pub path: Vec<PathPart>,
    /// Message, as the rest of a sentence that begins with the field: `must be at least 1`.
    pub message: String,
}

impl Problem {
    /// Returns the whole sentence: `` `scrapeOptions.timeout` must be at least 1000. ``
    pub fn sentence(&self) -> String {
        match field_path(&self.path) {
            None => format!("The request body {}.", self.message),
            Some(field) => format!("`{field}` {}.", self.message),
        }
    }

    fn to_json(&self) -> Value {
        let path: Vec<Value> = self
            .path
            .iter()
            .map(|part| match part {
                PathPart::Key(key) => Value::from(key.clone()),
                PathPart::Index(index) => Value::from(*index),
            })
            .collect();
        json!({ "path": path, "message": self.message })
    }
}

/// Returns a path such as `scrapeOptions.formats[0].quality`, or `None` for the body itself.
fn field_path(path: &[PathPart]) -> Option<String> {
    let mut text = String::new();
    for part in path {
        match part {
            PathPart::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            PathPart::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the error for a body with problems: `error` describes the first, `details` lists all.
pub fn bad_request(problems: &[Problem]) -> ApiError {
    let mut message = match problems.first() {
        Some(problem) => problem.sentence(),
        None => "The request is invalid.".to_owned(),
    };
    match problems.len() {
        0 | 1 => {}
        2 => message.push_str(" There is 1 more problem; see `details`."),
        more => message.push_str(&format!(" There are {} more problems; see `details`.", more - 1)),
    }
    let details = problems.iter().map(Problem::to_json).collect();
    ApiError::bad_request(message).with_details(details)
}

/// Returns the error for one problem with one named field or parameter.
pub fn bad_field(name: &str, message: impl Into<String>) -> ApiError {
    bad_request(&[Problem {
        path: vec![PathPart::Key(name.to_owned())],
        message: message.into(),
    }])
}

/// Returns the error for a body that contains the checked object in the field `name`.
pub fn under(name: &str, mut error: ApiError) -> ApiError {
    if let Some(Value::Array(details)) = &mut error.details {
        for path in details
            .iter_mut()
            .filter_map(|detail| detail["path"].as_array_mut())
        {
            path.insert(0, Value::from(name));
        }
        if let Some(rest) = error.message.strip_prefix('`') {
            error.message = format!("`{name}.{rest}");
        }
    }
    error
}

/// Returns the message for an unknown field.
pub(crate) fn unknown_field(name: &str, known: &[&'static str]) -> String {
    match nearest(name, known) {
        Some((candidate, distance)) if distance <= 1 + candidate.len() / 3 => {
            format!("is not a known field here (did you mean `{candidate}`?)")
        }
        Some((candidate, _)) => {
            format!("is not a known field here; remove it (the nearest known field is `{candidate}`)")
        }
        None => "is not a known field here; remove it".to_owned(),
    }
}

/// Returns the known name that is most similar to `name`, and the edit distance to it.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<(&'k str, usize)> {
    /// Longer names are truncated before the comparison, so that hostile input costs little work.
    const COMPARED_CHARS: usize = 64;
    let fold = |text: &str| -> String {
        let letters = text.chars().filter(|c| *c != '_' && *c != '-');
        letters
            .take(COMPARED_CHARS)
            .flat_map(char::to_lowercase)
            .collect()
    };
    let folded = fold(name);
    known
        .iter()
        .map(|candidate| (*candidate, distance(&folded, &fold(candidate))))
        .min_by_key(|(candidate, distance)| (*distance, !name.starts_with(candidate)))
}

/// Returns the edit distance. A shortened form (`maxDepth` for `maxDiscoveryDepth`) counts as close.
fn distance(a: &str, b: &str) -> usize {
    let edits = strsim::levenshtein(a, b);
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut rest = long.chars();
    if short.len() >= 4 && short.chars().all(|c| rest.any(|d| d == c)) {
        return edits.min(1 + (long.len() - short.len()) / 4);
    }
    edits
}

/// Shortens text from the caller to at most one line, for quoting in a message.
pub(crate) fn shorten(text: &str) -> String {
    const QUOTED_CHARS: usize = 60;
    let mut quoted: String = text
        .chars()
        .take(QUOTED_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(QUOTED_CHARS).is_some() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_known_name_is_offered() {
        let known = [
            "url", "limit", "maxDiscoveryDepth", "includePaths", "excludePaths", "scrapeOptions",
        ];
        let check = |name: &str, expected: &str| {
            let text = unknown_field(name, &known);
            assert!(text.contains(&format!("`{expected}`")), "{name}: {text}");
        };
        check("ulr", "url");
        check("limt", "limit");
        check("max_discovery_depth", "maxDiscoveryDepth");
        check("maxDepth", "maxDiscoveryDepth");
        check("includePath", "includePaths");
        check("excludes", "excludePaths");
        check("scrape_options", "scrapeOptions");
        assert!(unknown_field("zzzzzzzzzzzz", &known).contains("nearest known field"));
    }

    #[test]
    fn places_read_like_code() {
        let path = [
            PathPart::Key("scrapeOptions".into()),
            PathPart::Key("formats".into()),
            PathPart::Index(2),
            PathPart::Key("quality".into()),
        ];
        assert_eq!(
            field_path(&path).as_deref(),
            Some("scrapeOptions.formats[2].quality")
        );
    }
}
