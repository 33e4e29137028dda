//! Blocks of generated text in a file written by hand.

/// Replaces the text after each line that begins with `prefix` and ends with `suffix`, up to the line `end`, with
/// what `generate` makes of the text between `prefix` and `suffix`.
pub(crate) fn replace(
    text: &str,
    prefix: &str,
    suffix: &str,
    end: &str,
    generate: impl Fn(&str) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let inner = line
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(suffix));
        if let Some(inner) = inner {
            out.push_str(&generate(inner));
            assert!(lines.any(|line| line == end), "no line {end:?} after {line:?}");
            out.push_str(end);
            out.push('\n');
        }
    }
    out
}

#[test]
fn only_the_text_between_the_markers_changes() {
    let text = "a\n<!-- x -->\nold\n<!-- end -->\nb\n";
    let replaced = replace(text, "<!-- ", " -->", "<!-- end -->", |inner| {
        format!("new {inner}\n")
    });
    assert_eq!(replaced, "a\n<!-- x -->\nnew x\n<!-- end -->\nb\n");
}
