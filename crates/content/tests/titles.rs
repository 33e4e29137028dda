//! The heading that is the page's title, which is kept unless an article follows that does not need it; pictures and
//! quotes.
#![allow(clippy::unwrap_used, reason = "a test")]

use harvestman_content::{HtmlPage, Selection};
use url::Url;

const TEXT: &str = "<p>Herons wade in shallow water and wait there without moving until a fish comes near enough to be \
    caught, which may take the better part of a morning.</p><p>In winter they move to the coast, where the water does \
    not freeze, and come back to the same trees in early spring to mend their nests.</p>";

fn markdown(html: &str) -> String {
    let page = HtmlPage::parse(html, &Url::parse("https://site.test/a/herons").unwrap());
    let selection = Selection {
        only_main_content: true,
        ..Selection::default()
    };
    page.convert(&selection).markdown()
}

#[track_caller]
fn check(html: &str, has_title: bool) {
    let markdown = markdown(html);
    assert_eq!(markdown.starts_with("# Herons\n"), has_title, "{markdown}");
    assert!(
        markdown.contains("Herons wade") || markdown.contains("They wade"),
        "{markdown}"
    );
}

#[test]
fn a_small_page_keeps_its_title() {
    check("<title>Herons</title><h1>Herons</h1><p>They wade.</p>", true);
    check(
        "<title>Herons</title><article><h1>Herons</h1><p>They wade.</p></article>",
        true,
    );
    let story = "<meta property=og:type content=article>";
    check(
        &format!("<title>Herons</title>{story}<h1>Herons</h1><p>They wade.</p>"),
        true,
    );
}

#[test]
fn a_page_that_is_not_an_article_keeps_its_title() {
    check(
        "<title>Birds - Herons</title><h1>Herons</h1><p>They wade.</p>",
        true,
    );
    check(
        &format!("<title>Birds - Herons</title><main><h1>Herons</h1>{TEXT}</main>"),
        true,
    );
    check(
        &format!("<title>Herons</title><main><h1>Herons</h1>{TEXT}</main>"),
        true,
    );
}

#[test]
fn a_documentation_page_keeps_its_title() {
    for title in ["Herons | Bird Docs", "Herons - API", "Herons: reference"] {
        check(
            &format!("<title>{title}</title><article><h1>Herons</h1>{TEXT}</article>"),
            true,
        );
    }
}

#[test]
fn a_chapter_without_h1_keeps_its_title_although_the_navigation_repeats_it() {
    let chapter = "Chapter 18. Installation from Source";
    let links = "<a href=17.html>Prev</a> <a href=index.html>Up</a> <a href=19.html>Next</a>";
    let contents =
        "<dl><dt><a href=18.1.html>18.1. Building</a></dt><dt><a href=18.2.html>18.2. Testing</a></dt></dl>";
    let html = format!(
        "<title>{chapter}</title><div class=navheader><table><tr><th colspan=3>{chapter}</th></tr><tr><td>{links}</td>\
         </tr></table><hr></div><div class=chapter><div class=titlepage><h2 class=title>{chapter}</h2></div>\
         <div class=toc><p><strong>Table of Contents</strong></p>{contents}</div>{TEXT}</div>"
    );
    let markdown = markdown(&html);
    assert!(markdown.starts_with(&format!("## {chapter}\n")), "{markdown}");
    assert!(!markdown.contains("Prev"), "{markdown}");
}

#[test]
fn a_heading_that_differs_from_the_title_is_kept() {
    check(
        &format!("<title>Bird of the week</title><article><h1>Herons</h1>{TEXT}</article>"),
        true,
    );
    check(
        &format!("<title>Herons in winter</title><article><h1>Herons</h1>{TEXT}</article>"),
        true,
    );
}

#[test]
fn a_list_keeps_its_title() {
    let cards: String = (1..9)
        .map(|n| {
            format!("<article><h2><a href=/{n}>Heron {n}</a></h2><p>They wade, says part {n}.</p></article>")
        })
        .collect();
    check(
        &format!("<title>Herons</title><main><h1>Herons</h1>{cards}</main>"),
        true,
    );
}

#[test]
fn an_article_drops_the_heading_that_repeats_its_title() {
    check(
        &format!("<title>Herons | Birds</title><article><h1>Herons <a href=#h>¶</a></h1>{TEXT}</article>"),
        false,
    );
    check(
        &format!("<title>Birds – Herons</title><article><h1>Herons</h1>{TEXT}</article>"),
        false,
    );
    let dated = "<meta property=article:published_time content=2024-02-01>";
    check(
        &format!("<title>Herons</title>{dated}<main><h1>Herons</h1>{TEXT}</main>"),
        false,
    );
}

#[test]
fn a_heading_that_only_names_the_site_is_dropped() {
    let bar = "<div class=bar><a href=/>Home</a> <a href=/print>Print</a> <h1>Bird Book</h1> <a href=/fork>Fork</a></div>";
    let text = markdown(&format!(
        "<title>Herons - Bird Book</title>{bar}<main><h2>Herons</h2>{TEXT}</main>"
    ));
    assert!(
        text.contains("Herons wade") && !text.contains("# Bird Book"),
        "{text}"
    );
}

#[test]
fn an_image_is_kept_with_its_caption() {
    let picture = "<div class=box><img src=/heron.jpg alt=heron><p>A heron at the lake, early in the morning.</p></div>";
    let markdown = markdown(&format!("<title>Herons</title><main>{picture}{TEXT}</main>"));
    assert!(
        markdown.starts_with("![heron](https://site.test/heron.jpg)\n"),
        "{markdown}"
    );
}

#[test]
fn a_figure_is_kept_when_its_caption_is_not() {
    let figure = |texts: &str| format!("<figure><img src=/heron.jpg alt=heron>{texts}</figure>");
    let credit = figure("<figcaption>Photo: A. Miller / Agency</figcaption>");
    let two = figure("<p class=credit>Photo: Agency</p><figcaption>Photo: A. Miller</figcaption>");
    for article in [
        format!("<article>{credit}{TEXT}</article>"),
        format!("<article>{TEXT}{two}{TEXT}</article>"),
        format!("<article class=banner>{TEXT}{credit}{TEXT}</article>"),
    ] {
        let head = "<title>Herons</title><meta property=og:type content=article>";
        let markdown = markdown(&format!("{head}{article}"));
        assert!(
            markdown.contains("![heron](https://site.test/heron.jpg)"),
            "{article}\n{markdown}"
        );
    }
}

#[test]
fn a_quote_is_kept_whole() {
    let markdown = markdown(&format!(
        "<title>Herons</title><meta property=og:type content=article><article>{TEXT}<blockquote>\
         <p>Nobody was surprised that the heron came back so early this year, says the warden of the lake.</p>\
         <p>See also: <a href=/lake>The lake</a></p></blockquote>{TEXT}</article>"
    ));
    assert!(
        markdown.contains("> See also: [The lake](https://site.test/lake)"),
        "{markdown}"
    );
}
