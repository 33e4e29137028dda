//! Computes the line diff of two texts as a unified diff and as JSON.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use serde_json::{Value, json};

/// Unchanged lines shown around a change.
const CONTEXT_LINES: u32 = 3;
/// Maximum length of a text that is compared by line, in bytes.
const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;
/// Names of the two texts in the header of the diff.
const FROM: &str = "previous";
const TO: &str = "current";

/// Warning when there is no diff.
pub(super) const TOO_LARGE: &str =
    "The page is too large for a diff: `changeTracking` only reports that it changed.";

/// Returns `{text, json}` of docs/API.md section 4.2, or `None` if a text is too large.
pub(super) fn diff(before: &str, after: &str) -> Option<Value> {
    if before.len().max(after.len()) > MAX_TEXT_BYTES {
        return None;
    }
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    // Myers with git's heuristics is never quadratic.
    let mut found = Diff::compute(Algorithm::Myers, &input);
    found.postprocess_lines(&input);

    let mut text = format!("--- {FROM}\n+++ {TO}\n");
    let mut chunks = Vec::new();
    let hunks: Vec<Hunk> = found.hunks().collect();
    for group in hunks.chunk_by(|a, b| b.before.start - a.before.end <= 2 * CONTEXT_LINES) {
        let chunk = Chunk::of(group, &before, &after);
        let _ = writeln!(text, "{}", chunk.head);
        for line in &chunk.lines {
            let _ = writeln!(text, "{}", line.content);
        }
        chunks.push(chunk.json());
    }
    Some(json!({ "text": text, "json": { "files": [{ "from": FROM, "to": TO, "chunks": chunks }] } }))
}

/// A group of changes with overlapping context.
struct Chunk {
    head: String,
    lines: Vec<Line>,
}

struct Line {
    /// Text with its leading mark.
    content: String,
    /// Line numbers in each text, from 1.
    before: Option<u32>,
    after: Option<u32>,
}

impl Chunk {
    fn of(group: &[Hunk], before: &[&str], after: &[&str]) -> Self {
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let lead = first.before.start.min(CONTEXT_LINES);
        let rest = u32::try_from(before.len()).unwrap_or(u32::MAX) - last.before.end;
        let trail = rest.min(CONTEXT_LINES);
        let shown_before = first.before.start - lead..last.before.end + trail;
        let shown_after = first.after.start - lead..last.after.end + trail;

        let mut lines = Vec::new();
        let (mut old, mut new) = (shown_before.start, shown_after.start);
        let same_until = |end: u32, old: &mut u32, new: &mut u32, lines: &mut Vec<Line>| {
            while *old < end {
                lines.push(Line::new(' ', before[*old as usize], Some(*old), Some(*new)));
                *old += 1;
                *new += 1;
            }
        };
        for hunk in group {
            same_until(hunk.before.start, &mut old, &mut new, &mut lines);
            lines.extend(
                hunk.before
                    .clone()
                    .map(|at| Line::new('-', before[at as usize], Some(at), None)),
            );
            lines.extend(
                hunk.after
                    .clone()
                    .map(|at| Line::new('+', after[at as usize], None, Some(at))),
            );
            (old, new) = (hunk.before.end, hunk.after.end);
        }
        same_until(shown_before.end, &mut old, &mut new, &mut lines);
        let head = format!("@@ -{} +{} @@", place(&shown_before), place(&shown_after));
        Self { head, lines }
    }

    fn json(&self) -> Value {
        let changes: Vec<Value> = self.lines.iter().map(Line::json).collect();
        json!({ "content": self.head, "changes": changes })
    }
}

/// Formats the first line and the number of lines; an empty range names the line before it.
fn place(range: &Range<u32>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}

impl Line {
    fn new(mark: char, text: &str, before: Option<u32>, after: Option<u32>) -> Self {
        Self {
            content: format!("{mark}{text}"),
            before: before.map(|at| at + 1),
            after: after.map(|at| at + 1),
        }
    }

    fn json(&self) -> Value {
        let content = &self.content;
        match (self.before, self.after) {
            (Some(before), Some(after)) => {
                json!({ "type": "normal", "content": content, "ln1": before, "ln2": after })
            }
            (Some(line), None) => json!({ "type": "del", "content": content, "ln": line }),
            (None, line) => json!({ "type": "add", "content": content, "ln": line }),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expected: Expect) {
        let found = diff(before, after).unwrap();
        expected.assert_eq(found["text"].as_str().unwrap());
    }

    #[test]
    fn a_change_is_shown_with_context_lines() {
        check(
            "1\n2\n3\n4\n5\n6\n7\n8\n9",
            "1\n2\n3\n4\nfive\n6\n7\n8\n9",
            expect![[r#"
                --- previous
                +++ current
                @@ -2,7 +2,7 @@
                 2
                 3
                 4
                -5
                +five
                 6
                 7
                 8
            "#]],
        );
    }

    #[test]
    fn distant_changes_are_separate_chunks_and_near_ones_share_one() {
        let before: Vec<String> = (1..=30).map(|n| n.to_string()).collect();
        let mut after = before.clone();
        after[0] = "x".to_owned();
        after.remove(5);
        after.push("end".to_owned());
        let found = diff(&before.join("\n"), &after.join("\n")).unwrap();
        let chunks = found["json"]["files"][0]["chunks"].as_array().unwrap();
        let heads: Vec<&Value> = chunks.iter().map(|chunk| &chunk["content"]).collect();
        assert_eq!(heads, ["@@ -1,9 +1,8 @@", "@@ -28,3 +27,4 @@"]);
        assert_eq!(
            chunks[1]["changes"][3],
            json!({"type": "add", "content": "+end", "ln": 30})
        );
        assert_eq!(
            chunks[0]["changes"][0],
            json!({"type": "del", "content": "-1", "ln": 1})
        );
        assert_eq!(
            chunks[0]["changes"][2],
            json!({"type": "normal", "content": " 2", "ln1": 2, "ln2": 2})
        );
    }

    #[test]
    fn whole_texts_can_be_added_and_removed() {
        check(
            "",
            "a\nb",
            expect![[r#"
            --- previous
            +++ current
            @@ -0,0 +1,2 @@
            +a
            +b
        "#]],
        );
        check(
            "a",
            "",
            expect![[r#"
            --- previous
            +++ current
            @@ -1 +0,0 @@
            -a
        "#]],
        );
    }

    #[test]
    fn comparing_texts_without_common_lines_is_fast() {
        let text = |from: u32| {
            (0..50_000)
                .map(|n| format!("{}\n", n * 2 + from))
                .collect::<String>()
        };
        assert!(diff(&text(0), &text(1)).is_some());
        assert!(diff(&"x".repeat(MAX_TEXT_BYTES + 1), "").is_none());
    }
}
