//! Parses text into the arena: the tokenizer feeds the tree builder, and both bound their work on any input.

use super::build::Builder;
use super::dom::Dom;
use super::tokenizer::{Tokenizer, normalize_newlines};
use crate::limits;

/// Parses a page. Never fails: what exceeds a limit is left out and the arena is marked truncated.
pub(crate) fn parse(html: &str) -> Dom {
    let end = html.floor_char_boundary(limits::INPUT_BYTES);
    let page = html[..end].trim_start_matches('\u{feff}');
    let page = normalize_newlines(page);
    let builder = Tokenizer::new(&page, Builder::new(&page)).run();
    let mut dom = builder.finish(end < html.len());
    dom.detect_noscript_content();
    dom
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ATTRIBUTES_PER_TAG;

    fn bare(count: usize) -> String {
        (0..count).map(|n| format!(" a{n}")).collect()
    }

    fn longest(dom: &Dom) -> usize {
        (0..dom.len()).map(|id| dom.attributes(id).len()).max().unwrap()
    }

    #[test]
    fn ordinary_pages_are_unchanged() {
        let quoted: String = (0..ATTRIBUTES_PER_TAG)
            .map(|n| format!(" a{n}=\"x > y\""))
            .collect();
        let words = "if (i <n && x == \"a\" || b >c ' d) { e } ".repeat(500);
        for html in [
            "<p class='a > b' id=c>x</p><br/>".to_owned(),
            format!("<p{quoted}>x</p>"),
            format!("<script>for (i=0;i<n;i++) x=\"{}</script><p id=z>x</p>", words),
            format!("<textarea><a b='{words}</textarea><p id=z>x</p>"),
            format!("<p data-x='{}'>x</p>", "{\"a\": \"b > c\"} ".repeat(5000)),
        ] {
            let dom = parse(&html);
            assert!(!dom.truncated, "{}", &html[..40]);
            assert_eq!(dom.text_of(0, 1 << 20).trim_end().chars().next_back(), Some('x'));
        }
    }

    #[test]
    fn surplus_attributes_are_dropped_and_parsing_continues() {
        let dom = parse(&format!("<p{}>x</p><b>y</b>", bare(100_000)));
        assert!(dom.truncated);
        assert_eq!(longest(&dom), ATTRIBUTES_PER_TAG);
        assert_eq!(dom.text_of(0, 100).trim(), "xy");
    }

    #[test]
    fn surplus_attributes_are_found_in_any_context() {
        for before in [
            "",
            "<!-- it's <a b=\" -->",
            "<script>x='<i c=\"</script>",
            "<script><!--<script></script> <x y=\" </script q=\">\"",
            "<a b='c>",
            "<textarea><a \"='></textarea>",
            "<svg><![CDATA[ <a b=' ]]></svg>",
            "<p a=\"\" =\"",
        ] {
            for storm in [
                format!("<p c=\">\"{} d=\"1>\"{}>x</p>", bare(20_000), bare(20_000)),
                format!("<p{}>x", bare(40_000)),
            ] {
                let dom = parse(&format!("{before}{storm}"));
                assert!(longest(&dom) <= ATTRIBUTES_PER_TAG, "{before}: {}", longest(&dom));
            }
        }
    }
}
