//! CSS selectors for `includeTags`, `excludeTags` and `attributes`: everything in Selectors Level 4 that depends on
//! the page alone. Not supported: state (`:hover`), pseudo-elements, namespaces. Limits apply to selectors when they
//! are parsed, and to the steps of matching them against a page.

use std::fmt;

use cssparser::{BasicParseErrorKind, ParseErrorKind};
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::matches_selector_list;
use selectors::parser::{ParseRelative, SelectorList, SelectorParseErrorKind};

use super::dom::{Dom, NodeId};
use super::tag::Tag;
use crate::limits;

mod element;

use element::{PageElement, PageSelectors, Tree};

/// A parsed selector list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector(SelectorList<PageSelectors>);

/// A selector that cannot be parsed; the message is for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError(String);

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectorError {}

impl Selector {
    /// Parses a selector list.
    ///
    /// # Errors
    ///
    /// The message says what is not supported or not valid.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        let fail = |reason: &str| SelectorError(format!("Selector `{}`: {reason}", shorten(text)));
        if text.chars().count() > limits::SELECTOR_CHARS {
            return Err(fail(&format!(
                "longer than {} characters",
                limits::SELECTOR_CHARS
            )));
        }
        let mut input = cssparser::Parser::new(text);
        input.set_nested_block_limit(limits::SELECTOR_NESTING);
        let list = SelectorList::parse(&PageParser, &mut input, ParseRelative::No)
            .map_err(|error| fail(reason(&error.kind)))?;
        if list.len() > limits::SELECTOR_ALTERNATIVES {
            return Err(fail(&format!(
                "more than {} alternatives",
                limits::SELECTOR_ALTERNATIVES
            )));
        }
        for selector in list.slice() {
            let components: Vec<_> = selector.iter_raw_match_order().collect();
            let parts = components.split(|component| component.is_combinator());
            if parts.clone().count() > limits::SELECTOR_PARTS {
                return Err(fail(&format!("more than {} parts", limits::SELECTOR_PARTS)));
            }
            if parts.into_iter().any(|part| part.len() > limits::SELECTOR_TESTS) {
                return Err(fail(&format!(
                    "more than {} tests in one part",
                    limits::SELECTOR_TESTS
                )));
            }
        }
        Ok(Selector(list))
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn reason(error: &ParseErrorKind<SelectorParseErrorKind>) -> &'static str {
    use SelectorParseErrorKind::*;
    match error {
        ParseErrorKind::Custom(EmptySelector | DanglingCombinator)
        | ParseErrorKind::Basic(BasicParseErrorKind::EndOfInput) => "a part is missing",
        ParseErrorKind::Custom(UnsupportedPseudoClassOrElement | InvalidState) => {
            "it has a pseudo-class or pseudo-element that is not supported"
        }
        ParseErrorKind::Custom(
            ClassNeedsIdent | NoIdentForPseudo | PseudoElementExpectedColon | PseudoElementExpectedIdent,
        ) => "a name is missing",
        ParseErrorKind::Custom(ExpectedNamespace | ExplicitNamespaceUnexpectedToken) => {
            "namespaces are not supported"
        }
        ParseErrorKind::Custom(
            NoQualifiedNameInAttributeSelector
            | UnexpectedTokenInAttributeSelector
            | ExpectedBarInAttr
            | BadValueInAttr
            | InvalidQualNameInAttr,
        ) => "`[...]` is not a test of an attribute; quote values that are not names",
        ParseErrorKind::Basic(BasicParseErrorKind::TooManyNestedBlocks) => "brackets are nested too deeply",
        _ => "it has an unexpected character",
    }
}

struct PageParser;

impl selectors::parser::Parser<'_> for PageParser {
    type Impl = PageSelectors;
    type Error = SelectorParseErrorKind;

    fn parse_nth_child_of(&self) -> bool {
        true
    }

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    /// Errors inside `:is()` are reported too.
    fn allow_forgiving_selectors(&self) -> bool {
        false
    }
}

/// Matches selectors against one page.
pub(crate) struct Matcher<'a> {
    tree: Tree<'a>,
    caches: SelectorCaches,
}

impl<'a> Matcher<'a> {
    /// Creates a matcher that may take at most `steps`.
    pub(crate) fn new(dom: &'a Dom, steps: u64) -> Matcher<'a> {
        Matcher {
            tree: Tree::new(dom, steps),
            caches: SelectorCaches::default(),
        }
    }

    /// Returns the steps that are left. With none, nothing matches.
    pub(crate) fn steps_left(&self) -> u64 {
        self.tree.steps()
    }

    /// Returns true when the element matches. Text never does.
    pub(crate) fn matches(&mut self, selector: &Selector, id: NodeId) -> bool {
        if matches!(self.tree.dom().tag(id), Tag::Text | Tag::Document) || self.tree.steps() == 0 {
            return false;
        }
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            &mut self.caches,
            QuirksMode::NoQuirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        let element = PageElement { tree: &self.tree, id };
        // With no steps left, `:not` would match what it should not.
        matches_selector_list(&selector.0, element, &mut context) && self.tree.steps() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::dom::attr;
    use crate::html::parse::parse;

    fn check(selector: &str, expected: &[&str]) {
        let dom = parse(
            "<body><div id=a class='x y'><p id=b lang=en-GB data-u='https://x.test/a.pdf'>1<span id=c>2</span></p></div>\
             <section id=d class=x><div id=e><div id=f class='y z'><span id=g title='Hello'>3</span></div></div></section>",
        );
        let selector = Selector::parse(selector).unwrap();
        let mut matcher = Matcher::new(&dom, limits::SELECTOR_STEPS);
        let found: Vec<&str> = (0..dom.len())
            .filter(|&n| matcher.matches(&selector, n))
            .filter_map(|n| dom.attr(n, attr::ID))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn names_classes_and_ids() {
        check("span", &["c", "g"]);
        check("DIV.y", &["a", "f"]);
        check(".x.y", &["a"]);
        check("#f, p", &["b", "f"]);
        check("*.x", &["a", "d"]);
    }

    #[test]
    fn descendants_and_children() {
        check("div span", &["c", "g"]);
        check("div > span", &["g"]);
        check("section>div span", &["g"]);
        check("section > div > div > span", &["g"]);
        check("section > div > span", &[]);
        check(".x div > div span", &["g"]);
        check("section > span", &[]);
    }

    #[test]
    fn attributes() {
        check("[lang]", &["b"]);
        check("p[lang|=en]", &["b"]);
        check("[data-u^=\"https:\"][data-u$='.pdf']", &["b"]);
        check("[data-u*='x.test']", &["b"]);
        check("[class~=z]", &["f"]);
        check("[title=hello i]", &["g"]);
        check("[title='hello' s]", &[]);
        check("[title=hello]", &[]);
        check("[LANG|=EN]", &["b"]);
    }

    #[test]
    fn siblings() {
        check("div + section", &["d"]);
        check("div ~ section span", &["g"]);
        check("section + div", &[]);
        check("section ~ *", &[]);
    }

    #[test]
    fn positions_among_siblings() {
        check("body > :first-child", &["a"]);
        check("body > :last-child", &["d"]);
        check("body > :nth-child(2)", &["d"]);
        check("body > :nth-last-child(2)", &["a"]);
        check("body > :nth-child(odd of .x)", &["a"]);
        check("section:only-of-type, span:only-child", &["c", "d", "g"]);
    }

    #[test]
    fn negations_and_nested_lists() {
        check("div:not(.x):not(#e)", &["f"]);
        check(".x:not(section, p)", &["a"]);
        check(":is(p, div div) > span", &["c", "g"]);
        check("div:has(> p > span)", &["a"]);
        check("body > :not(:has([title]))", &["a"]);
        check("span:empty", &[]);
    }

    #[test]
    fn what_is_open_at_the_end_is_closed_as_in_css() {
        check("[lang", &["b"]);
        check("[title='Hello", &["g"]);
    }

    #[test]
    fn errors_name_what_is_invalid() {
        for (selector, part) in [
            ("", "part is missing"),
            ("a:hover", "pseudo"),
            ("a::before", "pseudo"),
            (":is(a, b:hover)", "pseudo"),
            ("a >", "part is missing"),
            ("a,", "part is missing"),
            ("[x=5]", "quote values"),
            ("svg|a", "namespaces"),
            ("a..b", "name is missing"),
            ("a]", "unexpected"),
        ] {
            let error = Selector::parse(selector).unwrap_err().to_string();
            assert!(error.contains(part), "{selector}: {error}");
        }
    }

    #[test]
    fn long_selectors_are_rejected() {
        let repeat =
            |text: &str, times: usize| Selector::parse(text.repeat(times).trim_end_matches([' ', ',']));
        assert!(repeat("a ", limits::SELECTOR_PARTS).is_ok());
        assert!(repeat("a ", limits::SELECTOR_PARTS + 1).is_err());
        assert!(repeat("a,", limits::SELECTOR_ALTERNATIVES).is_ok());
        assert!(repeat("a,", limits::SELECTOR_ALTERNATIVES + 1).is_err());
        assert!(repeat(".a", limits::SELECTOR_TESTS).is_ok());
        assert!(repeat(".a", limits::SELECTOR_TESTS + 1).is_err());
        assert!(repeat("a", limits::SELECTOR_CHARS).is_ok());
        assert!(repeat("a", limits::SELECTOR_CHARS + 1).is_err());
        let nested = |levels: usize| format!("{}a{}", ":not(".repeat(levels), ")".repeat(levels));
        assert!(Selector::parse(&nested(4)).is_ok());
        let error = Selector::parse(&nested(100)).unwrap_err().to_string();
        assert!(error.contains("nested"), "{error}");
    }

    #[test]
    fn hostile_selectors_end_and_match_nothing_then() {
        let wide = format!("<body>{}", "<p class='a b'></p>".repeat(30_000));
        let deep = format!("<body>{}", "<div class=a>".repeat(400));
        let value = format!(
            "<body>{}",
            format!("<p title={}></p>", "a".repeat(10_000)).repeat(100)
        );
        let long = format!("[title*='{}b' i]", "a".repeat(1_000));
        for (html, selector) in [
            (&wide, "i ~ i ~ p:not(i)"),
            (&wide, "p:not(:is(i ~ p, i ~ i ~ p))"),
            (&wide, "p:has(~ i)"),
            (&deep, "div:not(:is(:is(i div div, i) div div) div div)"),
            (&deep, "div:has(div div > div i)"),
            (&value, &format!("p:not({long})")),
        ] {
            let dom = parse(html);
            let selector = Selector::parse(selector).unwrap();
            let mut matcher = Matcher::new(&dom, 100_000);
            for id in 0..dom.len() {
                matcher.matches(&selector, id);
            }
            assert_eq!(matcher.steps_left(), 0);
            assert!((0..dom.len()).all(|id| !matcher.matches(&selector, id)));
        }
    }
}
