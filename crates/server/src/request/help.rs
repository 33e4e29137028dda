//! Help of the request commands. What a field is for comes from the field table of its request.

use harvestman_core::api::fields::{Field, FieldKind};

/// Printed below the help of every command.
pub(super) const AFTER: &str = "\
For LIST, separate words with commas, pass a JSON array, or repeat the flag. For JSON, write it as in the API.
Exit codes: 0 success, 1 failure, 2 wrong arguments, 3 some pages failed or the page is an HTTP error, 130 interrupted.";

/// Returns the help of a field's flag: what it is for, and its default.
pub(super) fn of(field: &Field) -> String {
    let mut help = field.help.trim_end_matches('.').to_owned();
    let default = field
        .default
        .as_ref()
        .map(|node| serde_json::to_string(node).unwrap_or_default());
    let is_shown =
        |text: &String| !matches!(text.as_str(), "[]" | "{}" | "\"\"") && field.kind() != FieldKind::Object;
    if let Some(default) = default.filter(is_shown) {
        help.push_str(&format!(" [default: {}]", default.trim_matches('"')));
    }
    help
}
