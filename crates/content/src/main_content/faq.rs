//! Keeps the questions and answers that a page states as its FAQ in JSON-LD. They are often folded, or follow the text
//! after invitations and teasers, so the model takes them for a part of the site.

use super::decisions::Decisions;
use super::kind::PageKind;
use super::stated;
use crate::hash::HashSet;
use crate::html::dom::Dom;
use crate::html::json_ld;

/// Type of a page or section with questions that its author answers. In a `QAPage`, readers ask and answer.
const TYPE: &str = "\"FAQPage\"";
const ANSWER: &str = "\"acceptedAnswer\"";
const NAME: &str = "\"name\"";
const TEXT: &str = "\"text\"";
/// Maximum number of blocks without a stated text between two that have one: short items of a list.
const MAX_BETWEEN: usize = 8;
/// Share of linked text at which a block in between is not such an item, in percent.
const MAX_LINKED: i32 = 50;
/// Questions of a page that are read.
const MAX_QUESTIONS: usize = 200;

/// Keeps the blocks of a stated FAQ, and its heading.
pub(super) fn restore(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    // Shops state what their customers ask.
    if page.kind == PageKind::Product {
        return;
    }
    let keys = keys(dom);
    if keys.is_empty() {
        return;
    }
    let mut last: Option<usize> = None;
    for (at, block) in blocks.iter().enumerate() {
        if block.start.is_none_or(|start| !keys.contains(&start)) {
            continue;
        }
        let from = match last {
            Some(last) if at - last <= MAX_BETWEEN + 1 => last + 1,
            _ if at > 0 && dom.tag(blocks[at - 1].id).heading_level().is_some() => at - 1,
            _ => at,
        };
        for (between, block) in (from..at).zip(&blocks[from..]) {
            if !block.leads_away && block.linked_percent() < MAX_LINKED {
                page.keep(between);
            }
        }
        page.keep(at);
        last = Some(at);
    }
}

/// Returns the keys of the questions of a page, and of all stretches of their answers.
fn keys(dom: &Dom) -> HashSet<u64> {
    let mut keys = HashSet::default();
    for block in json_ld::blocks(dom) {
        if !block.contains(TYPE) {
            continue;
        }
        // The question is the last name before an answer, and the text of the answer is the first after it.
        let mut parts = block.split(ANSWER).take(MAX_QUESTIONS + 1);
        let mut before = parts.next().unwrap_or_default();
        for answer in parts {
            let question = before
                .rsplit_once(NAME)
                .and_then(|(_, rest)| stated::string_after(rest));
            let text = answer
                .split_once(TEXT)
                .and_then(|(_, rest)| stated::string_after(rest));
            keys.extend(question.and_then(stated::key));
            keys.extend(text.into_iter().flat_map(stated::keys));
            before = answer;
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    const PAGE: &str = r#"<script type="application/ld+json">{"@type": "FAQPage", "mainEntity": [{"@type": "Question",
        "name": "When does the first ferry of the day leave?", "acceptedAnswer": {"@type": "Answer",
        "text": "<p>At six o'clock, but in winter at seven or eight o'clock.</p>"}}]}</script>"#;

    #[test]
    fn questions_and_answers_have_keys() {
        let found = keys(&parse(PAGE));
        let has = |text: &str| stated::key(text).is_some_and(|key| found.contains(&key));
        assert!(has("When does the first ferry of the day leave?"));
        assert!(has("At six o’clock, but in winter at seven or eight."));
        assert!(has("In winter at seven or eight o’clock."));
        assert!(!has("Tickets are sold at the quay, and on board."));
    }

    #[test]
    fn what_readers_ask_has_none() {
        assert!(keys(&parse(&PAGE.replace("FAQPage", "QAPage"))).is_empty());
    }
}
