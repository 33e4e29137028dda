//! `onlyCleanContent`: rules that remove cookie notices, share bars and lists of
//! related pages from Markdown. Removes whole blocks and never changes one.

/// Warning when the rules were applied.
pub(super) const WARNING: &str = "`onlyCleanContent` removed leftovers by rules; no language model was used.";

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
        "accept",
        "consent",
        "we use",
        "uses cookies",
        "this site uses",
        "privacy policy",
        "preferences",
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
        "related",
        "related articles",
        "related posts",
        "related stories",
        "related content",
        "read more",
        "read next",
        "you may also like",
        "you might also like",
        "more from",
        "recommended",
        "recommended for you",
        "more stories",
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
