//! Computes the line diff of two texts as a unified diff and as JSON.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

use crate::api::change_report::{DiffChunk, DiffFile, DiffFiles, DiffLine, MarkdownDiff};

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

/// Returns the difference, or `None` if a text is too large.
pub(crate) fn diff(before: &str, after: &str) -> Option<MarkdownDiff> {
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
        let chunk = chunk(group, &before, &after);
        let _ = writeln!(text, "{}", chunk.content);
        for line in &chunk.changes {
            let _ = writeln!(text, "{}", line.content());
        }
        chunks.push(chunk);
    }
    let file = DiffFile {
        from: FROM.to_owned(),
        to: TO.to_owned(),
        chunks,
    };
    Some(MarkdownDiff {
        text,
        json: DiffFiles { files: vec![file] },
    })
}

/// Returns a group of changes with overlapping context.
fn chunk(group: &[Hunk], before: &[&str], after: &[&str]) -> DiffChunk {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let lead = first.before.start.min(CONTEXT_LINES);
    let rest = u32::try_from(before.len()).unwrap_or(u32::MAX) - last.before.end;
    let trail = rest.min(CONTEXT_LINES);
    let shown_before = first.before.start - lead..last.before.end + trail;
    let shown_after = first.after.start - lead..last.after.end + trail;

    let mut changes = Vec::new();
    let (mut old, mut new) = (shown_before.start, shown_after.start);
    let same_until = |end: u32, old: &mut u32, new: &mut u32, changes: &mut Vec<DiffLine>| {
        while *old < end {
            changes.push(DiffLine::Normal {
                content: format!(" {}", before[*old as usize]),
                ln1: *old + 1,
                ln2: *new + 1,
            });
            *old += 1;
            *new += 1;
        }
    };
    for hunk in group {
        same_until(hunk.before.start, &mut old, &mut new, &mut changes);
        changes.extend(hunk.before.clone().map(|at| DiffLine::Del {
            content: format!("-{}", before[at as usize]),
            ln: at + 1,
        }));
        changes.extend(hunk.after.clone().map(|at| DiffLine::Add {
            content: format!("+{}", after[at as usize]),
            ln: at + 1,
        }));
        (old, new) = (hunk.before.end, hunk.after.end);
    }
    same_until(shown_before.end, &mut old, &mut new, &mut changes);
    DiffChunk {
        content: format!("@@ -{} +{} @@", place(&shown_before), place(&shown_after)),
        changes,
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expected: Expect) {
        let found = diff(before, after).unwrap();
        expected.assert_eq(&found.text);
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
        let chunks = json!(found.json.files[0].chunks);
        assert_eq!(chunks[0]["content"], "@@ -1,9 +1,8 @@");
        assert_eq!(chunks[1]["content"], "@@ -28,3 +27,4 @@");
        assert_eq!(chunks.as_array().unwrap().len(), 2);
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
