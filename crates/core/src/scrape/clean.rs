//! `onlyCleanContent`: rules that remove cookie notices, share bars and lists of related pages from Markdown, and the
//! check of the Markdown that a model returned. Both only remove lines; they never change one.

/// Returns the warning when only the rules were applied. `because` is the end of a sentence.
pub(super) fn warning(because: &str) -> String {
    format!("`onlyCleanContent` removed leftovers by rules, because {because}.")
}

/// Returns the lines of `cleaned` that `page` contains, in the order of `page`, and the number of the other lines.
/// Ignores white space at line ends, and keeps a blank line between lines that `page` separates.
pub(super) fn kept_lines(page: &str, cleaned: &str) -> (String, usize) {
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    let (mut next, mut dropped) = (0, 0);
    let mut kept = String::new();
    for line in cleaned.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let Some(found) = lines[next..].iter().position(|of_page| *of_page == line) else {
            dropped += 1;
            continue;
        };
        if !kept.is_empty() {
            // Lines of one block stay together.
            let is_new_block = lines[next..next + found].iter().any(|between| between.is_empty());
            kept.push_str(if is_new_block { "\n\n" } else { "\n" });
        }
        kept.push_str(line);
        next += found + 1;
    }
    (kept, dropped)
}

/// Maximum length of a notice in bytes; longer blocks are text.
const MAX_NOTICE_BYTES: usize = 600;

/// Removes boilerplate blocks.
pub(super) fn clean(markdown: &str) -> String {
    let blocks = blocks(markdown);
    let mut kept: Vec<&str> = Vec::new();
    let mut index = 0;
    while index < blocks.len() {
        let block = blocks[index];
        if is_related_heading(block) {
            let list = blocks[index + 1..]
                .iter()
                .take_while(|block| is_link_list(block))
                .count();
            if list > 0 {
                index += 1 + list;
                continue;
            }
        }
        if !is_notice(block) && !is_share_bar(block) {
            kept.push(block);
        }
        index += 1;
    }
    kept.join("\n\n")
}

/// Splits text at blank lines; a fenced code block is one block.
fn blocks(markdown: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let (mut start, mut position) = (0, 0);
    let mut fence: Option<&str> = None;
    for line in markdown.split_inclusive('\n') {
        let text = line.trim();
        let marks = text.len() - text.trim_start_matches(['`', '~']).len();
        match fence {
            None if marks >= 3 => fence = Some(&text[..marks]),
            Some(open) if marks >= open.len() && text.starts_with(open) && text.len() == marks => {
                fence = None
            }
            _ => {}
        }
        if text.is_empty() && fence.is_none() {
            blocks.push(&markdown[start..position]);
            start = position + line.len();
        }
        position += line.len();
    }
    blocks.push(&markdown[start..]);
    blocks
        .into_iter()
        .map(|block| block.trim_end_matches('\n'))
        .filter(|block| !block.trim().is_empty())
        .collect()
}

fn is_code(block: &str) -> bool {
    block.starts_with("```") || block.starts_with("~~~") || block.starts_with("    ")
}

fn is_notice(block: &str) -> bool {
    if block.len() > MAX_NOTICE_BYTES || block.starts_with('#') || is_code(block) {
        return false;
    }
    let text = block.to_lowercase();
    let about_cookies = text.contains("cookie");
    let asks = [
        "accept", "consent", "we use", "uses cookies", "this site uses", "privacy policy", "preferences",
    ];
    about_cookies && asks.iter().filter(|word| text.contains(**word)).count() >= 2
}

/// Returns whether a block consists of links to sharing services.
fn is_share_bar(block: &str) -> bool {
    const SHARING: &[&str] = &[
        "facebook.com/sharer",
        "twitter.com/intent",
        "twitter.com/share",
        "x.com/intent",
        "linkedin.com/share",
        "linkedin.com/sharing",
        "reddit.com/submit",
        "pinterest.com/pin/create",
        "t.me/share",
        "api.whatsapp.com/send",
        "wa.me/?text",
        "mailto:?",
        "news.ycombinator.com/submitlink",
    ];
    let Some(targets) = only_links(block) else {
        return false;
    };
    !targets.is_empty()
        && targets
            .iter()
            .all(|target| SHARING.iter().any(|place| target.contains(place)))
}

fn is_related_heading(block: &str) -> bool {
    const TITLES: &[&str] = &[
        "related", "related articles", "related posts", "related stories", "related content", "read more",
        "read next", "you may also like", "you might also like", "more from", "recommended",
        "recommended for you", "more stories",
    ];
    let title = block
        .trim_start_matches('#')
        .trim()
        .trim_end_matches(':')
        .to_lowercase();
    block.starts_with('#') && !block.contains('\n') && TITLES.contains(&title.as_str())
}

fn is_link_list(block: &str) -> bool {
    only_links(block).is_some_and(|targets| !targets.is_empty())
}

/// Returns the targets of a block that consists only of links, list markers and separators.
fn only_links(block: &str) -> Option<Vec<&str>> {
    if is_code(block) {
        return None;
    }
    let mut targets = Vec::new();
    let mut rest = block;
    loop {
        rest = rest.trim_start_matches(|c: char| {
            c.is_whitespace() || "-*+|·•,!".contains(c) || c.is_ascii_digit() || c == '.'
        });
        if rest.is_empty() {
            return Some(targets);
        }
        let label = rest.strip_prefix('[')?;
        let (_, after) = label.split_once("](")?;
        let (target, after) = after.split_once(')')?;
        targets.push(target);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_may_delete_lines_and_never_add_one() {
        let page = "# Title\n\nText one.\nText two.  \n\nShare this\n\n- a\n- b\n";
        let check = |cleaned: &str, expected: &str, dropped: usize| {
            assert_eq!(
                kept_lines(page, cleaned),
                (expected.to_owned(), dropped),
                "{cleaned}"
            );
        };
        check(
            page,
            "# Title\n\nText one.\nText two.\n\nShare this\n\n- a\n- b",
            0,
        );
        check(
            "# Title\nText one.\n\n- a\n- b",
            "# Title\n\nText one.\n\n- a\n- b",
            0,
        );
        check("Sure! Here it is:\n# Title\n\nText 1.\n- b", "# Title\n\n- b", 2);
        // The order of the page decides.
        check("- b\n# Title", "- b", 1);
        check("- a\n- a", "- a", 1);
        check("", "", 0);
    }

    #[test]
    fn boilerplate_is_removed_and_text_is_kept() {
        let check = |before: &str, after: &str| assert_eq!(clean(before), after);
        check("# Title\n\nText.\n", "# Title\n\nText.");
        check("We use cookies. Accept all cookies?\n\nText.", "Text.");
        check("A recipe for cookies.\n\nMix.", "A recipe for cookies.\n\nMix.");
        check(
            "Text.\n\n[Tweet](https://twitter.com/intent/tweet?u=1) | [Share](https://www.facebook.com/sharer?u=1)",
            "Text.",
        );
        check(
            "Text.\n\n## Related articles\n\n- [A](https://a.test/)\n- [B](https://b.test/)\n\n## End",
            "Text.\n\n## End",
        );
        check("## Related\n\nWords about it.", "## Related\n\nWords about it.");
        check(
            "```\nWe use cookies, accept\n\n\n# x\n```\n\nText.",
            "```\nWe use cookies, accept\n\n\n# x\n```\n\nText.",
        );
    }
}
