//! Detects pages that are redirects: an immediate `meta` refresh (HTML section 4.2.5.3), or a page that
//! consists of one script that sets the location. Only reads the arena.

use url::Url;

use super::dom::{Dom, NodeId, attr};
use super::links::resolve;
use super::tag::Tag;
use crate::limits;

/// Maximum delay of a refresh that counts as a redirect, in seconds.
const DELAY_MAX_S: f64 = 1.0;
/// Characters of text that a page may show next to a redirecting script.
const STUB_CHARS: usize = 400;

/// Returns the redirect target of a `Refresh` response header, which browsers treat as a `meta` refresh (HTML section
/// 7.4.6.4). `None` for later refreshes, for the page's own URL and for URLs that are not http(s).
pub fn refresh_target(value: &str, url: &Url) -> Option<Url> {
    other_page(immediate(value, url)?, url)
}

/// Returns the redirect target. `None` for the page's own URL and for URLs that are not http(s).
pub(crate) fn redirect(dom: &Dom, base: &Url, url: &Url) -> Option<Url> {
    other_page(by_meta(dom, base).or_else(|| by_script(dom, base, url))?, url)
}

/// Returns the target unless it is the page at `url` itself or not http(s).
fn other_page(target: Url, url: &Url) -> Option<Url> {
    let is_here = {
        let (mut here, mut there) = (url.clone(), target.clone());
        here.set_fragment(None);
        there.set_fragment(None);
        here == there
    };
    (matches!(target.scheme(), "http" | "https") && !is_here).then_some(target)
}

/// Returns the target of the first `meta` refresh outside `noscript`.
fn by_meta(dom: &Dom, base: &Url) -> Option<Url> {
    let mut hidden = 0;
    let refresh = dom.rare.iter().copied().find(|&id| {
        if matches!(dom.tag(id), Tag::Noscript | Tag::Template) {
            hidden = hidden.max(dom.end(id));
        }
        id >= hidden
            && dom.tag(id) == Tag::Meta
            && dom
                .attr_named(id, "http-equiv")
                .is_some_and(|value| value.trim().eq_ignore_ascii_case("refresh"))
    })?;
    immediate(dom.attr(refresh, attr::CONTENT)?, base)
}

/// Returns the target of a refresh that counts as a redirect.
fn immediate(value: &str, base: &Url) -> Option<Url> {
    let (delay, target) = refresh_value(value)?;
    (delay <= DELAY_MAX_S).then(|| resolve(base, target)).flatten()
}

/// Parses delay in seconds and URL from `0;URL=...`.
fn refresh_value(value: &str) -> Option<(f64, &str)> {
    let value = value.trim();
    let digits = value
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(value.len());
    let delay = value[..digits].parse().ok()?;
    let rest =
        value[digits..].trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, ';' | ','));
    let name = rest.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("url"));
    let target = match rest
        .get(3..)
        .map(str::trim_start)
        .and_then(|after| after.strip_prefix('='))
    {
        Some(after) if name => after.trim_start(),
        _ => rest,
    };
    let target = match target.chars().next()? {
        quote @ ('"' | '\'') => target[1..].split(quote).next().unwrap_or(""),
        _ => target.trim_end(),
    };
    (!target.is_empty()).then_some((delay, target))
}

/// Returns the target of a page whose only script is one assignment of the location.
fn by_script(dom: &Dom, base: &Url, url: &Url) -> Option<Url> {
    let mut scripts = dom.all(Tag::Script).filter(|&id| !is_below_hidden(dom, id));
    let (script, None) = (scripts.next()?, scripts.next()) else {
        return None;
    };
    if dom.attr(script, attr::SRC).is_some() {
        return None;
    }
    let body = dom.first(0, Tag::Body)?;
    if dom
        .text_of(body, STUB_CHARS * 4)
        .chars()
        .filter(|c| !c.is_whitespace())
        .count()
        > STUB_CHARS
    {
        return None;
    }
    let code = dom.text_of(script, limits::REDIRECT_SCRIPT_BYTES);
    let Assignment { target, with_query } = assignment(&code)?;
    let mut target = resolve(base, &target)?;
    if with_query && target.query().is_none() {
        target.set_query(url.query());
    }
    Some(target)
}

fn is_below_hidden(dom: &Dom, id: NodeId) -> bool {
    dom.ancestors(id)
        .any(|above| matches!(dom.tag(above), Tag::Noscript | Tag::Template))
}

/// The target that a script assigns to the location.
struct Assignment {
    target: String,
    /// Whether the page's own query is appended.
    with_query: bool,
}

/// Parses code that consists of one assignment of the location: `location = "x"`, `window.location.href =
/// "x"`, `location.replace("x" + location.search)`.
fn assignment(code: &str) -> Option<Assignment> {
    let code = code
        .trim()
        .trim_start_matches("<!--")
        .trim_end_matches("-->")
        .trim();
    let code = code
        .trim_end_matches("//")
        .trim()
        .trim_end_matches(';')
        .trim_end();
    let mut rest = code;
    while let Some(after) = ["window.", "document.", "self.", "top.", "parent.", "globalThis."]
        .iter()
        .find_map(|object| rest.strip_prefix(object))
    {
        rest = after;
    }
    let rest = rest.strip_prefix("location")?.trim_start();
    let call = [".replace", ".assign"]
        .iter()
        .find_map(|name| rest.strip_prefix(name));
    let value = match call {
        Some(after) => after.trim_start().strip_prefix('(')?.strip_suffix(')')?.trim(),
        None => {
            let rest = rest.strip_prefix(".href").unwrap_or(rest).trim_start();
            rest.strip_prefix('=')
                .filter(|after| !after.starts_with('='))?
                .trim()
        }
    };
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let (target, after) = value[1..].split_once(quote)?;
    if target.is_empty() || target.contains(['\\', '\n']) || (quote == '`' && target.contains("${")) {
        return None;
    }
    let mut with_query = false;
    for part in after.split('+').map(str::trim).filter(|part| !part.is_empty()) {
        match part.trim_start_matches("window.").trim_start_matches("document.") {
            "location.search" => with_query = true,
            "location.hash" => {}
            _ => return None,
        }
    }
    Some(Assignment {
        target: target.to_owned(),
        with_query,
    })
}

#[cfg(test)]
mod tests {
    use super::super::links::base_of;
    use super::super::parse::parse;
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: Option<&str>) {
        let url = Url::parse("https://a.example/docs/old.html?q=1").unwrap();
        let dom = parse(html);
        let target = redirect(&dom, &base_of(&dom, &url), &url);
        assert_eq!(target.as_ref().map(Url::as_str), expected, "{html}");
    }

    #[test]
    fn an_immediate_refresh_is_a_redirect() {
        let there = Some("https://a.example/docs/new.html");
        for content in [
            "0;URL=new.html", "0; url='new.html'", "1;new.html", " 0 , URL = \"new.html\" ",
            "0.0;url=/docs/new.html", "0 url=new.html",
        ] {
            let content = content.replace('"', "&quot;");
            check(&format!("<meta http-equiv=Refresh content=\"{content}\">"), there);
        }
        check(
            "<base href='/x/'><meta http-equiv=refresh content='0;url=y'>",
            Some("https://a.example/x/y"),
        );
    }

    #[test]
    fn a_refresh_header_is_read_as_a_meta_refresh() {
        let url = Url::parse("https://a.example/docs/old.html").unwrap();
        let target = |value: &str| refresh_target(value, &url).map(String::from);
        let there = Some("https://a.example/docs/new.html".to_owned());
        assert_eq!(target("0; url=new.html"), there);
        assert_eq!(target("1;URL='/docs/new.html'"), there);
        for value in [
            "", "0", "5; url=new.html", "0; url=old.html#part", "0; url=data:,x",
        ] {
            assert_eq!(target(value), None, "{value}");
        }
    }

    #[test]
    fn late_hidden_or_self_targeting_refreshes_are_not_redirects() {
        for html in [
            "<meta http-equiv=refresh content='2;URL=new.html'>",
            "<meta http-equiv=refresh content='0'>",
            "<meta http-equiv=refresh content='x;url=new.html'>",
            "<meta http-equiv=refresh content='0;url=old.html?q=1#part'>",
            "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
            "<noscript><meta http-equiv=refresh content='0;URL=new.html'></noscript>",
            "<meta http-equiv=refresh>",
        ] {
            check(html, None);
        }
    }

    #[test]
    fn a_page_that_only_sets_the_location_is_a_redirect() {
        let there = Some("https://a.example/docs/new.html");
        for code in [
            "location.replace(\"new.html\")",
            "window.location.href = 'new.html';",
            "window.location=\"new.html\"",
            "document.location.assign('new.html' );",
            "<!--\ntop.location.replace('new.html');\n//-->",
            "location.replace(\"new.html\" + location.hash);",
        ] {
            check(
                &format!("<title>Moved</title><p>Moved <a href=new.html>here</a>.<script>{code}</script>"),
                there,
            );
        }
        check(
            "<script>location.replace('new.html' + location.search + location.hash)</script>",
            Some("https://a.example/docs/new.html?q=1"),
        );
    }

    #[test]
    fn a_script_with_other_code_is_not_a_redirect() {
        for code in [
            "if (x) location.replace('new.html')",
            "location.replace(next)",
            "location.replace('new.html' + id)",
            "location.href == 'new.html'",
            "location.replace('new.html'); go()",
            "location.reload()",
            "location.href = `/${x}`",
        ] {
            check(&format!("<script>{code}</script>"), None);
        }
        check(
            "<script>location.replace('new.html')</script><script src=a.js></script>",
            None,
        );
        let article = "A long article. ".repeat(40);
        check(
            &format!("<script>location.replace('new.html')</script><p>{article}"),
            None,
        );
    }
}
