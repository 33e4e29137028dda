//! URL patterns: `*` matches any part without a slash, `**` any part.

/// Returns whether the whole of `text` matches `pattern`. A pattern without a star may match any part of it.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    if !pattern.contains('*') {
        return text.contains(pattern);
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // `reached[n]`: the pattern so far matches the first n characters of the text.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let mut next = vec![false; text.len() + 1];
        if pattern[at] == '*' {
            let crosses_slashes = pattern.get(at + 1) == Some(&'*');
            at += if crosses_slashes { 2 } else { 1 };
            let mut matches_so_far = false;
            for index in 0..=text.len() {
                matches_so_far |= reached[index];
                next[index] = matches_so_far;
                matches_so_far &= crosses_slashes || text.get(index) != Some(&'/');
            }
        } else {
            for index in 0..text.len() {
                next[index + 1] = reached[index] && text[index] == pattern[at];
            }
            at += 1;
        }
        reached = next;
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_parts_of_a_url() {
        for (pattern, text, fits) in [
            ("**/done", "https://a.test/x/done", true),
            ("**/done", "https://a.test/x/done?y", false),
            ("**/done*", "https://a.test/x/done?y", true),
            ("https://*/done", "https://a.test/done", true),
            ("https://*/done", "https://a.test/x/done", false),
            ("https://a.test/*", "https://a.test/", true),
            ("/done", "https://a.test/done/2", true),
            ("/done", "https://a.test/", false),
            ("**", "", true),
            ("*", "a/b", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }
}
