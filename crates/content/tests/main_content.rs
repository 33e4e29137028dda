//! What `only_main_content` keeps of small pages, and what it leaves out.
#![allow(clippy::unwrap_used, reason = "a test")]

use harvestman_content::{HtmlPage, Selection, Selector};
use url::Url;

/// A paragraph as news and documentation have them.
const TEXT: &str = "<p>The harbour was closed for three days after the storm, and the ferries stayed at the quay. \
    On Monday the first boats left again, with many passengers who had waited since Friday.</p>";
/// Another one.
const MORE: &str = "<p>The mayor said that the damage was small, because the new wall had kept most of the water \
    out of the old town. Repairs are expected to take about two weeks, and to cost less than planned.</p>";
const NAVIGATION: &str = "<header><nav><ul><li><a href=/>Home</a></li><li><a href=/news>News</a></li>\
    <li><a href=/sport>Sport</a></li></ul></nav></header>";
const FOOTER: &str = "<footer><p>© 2024 The Harbour Times</p><a href=/imprint>Imprint</a></footer>";

/// A page of a site with navigation and footer.
struct Case {
    name: &'static str,
    content: String,
    kept: &'static [&'static str],
}

fn markdown(html: &str) -> String {
    markdown_of("https://example.org/page", html)
}

fn markdown_of(url: &str, html: &str) -> String {
    let url = Url::parse(url).unwrap();
    let page = HtmlPage::parse(html, &url);
    let selection = Selection {
        only_main_content: true,
        ..Selection::default()
    };
    page.convert(&selection).markdown()
}

/// Returns what is wrong with the main content of the cases, one line for each.
fn wrong(cases: &[Case], around: impl Fn(&str) -> String) -> Vec<String> {
    let mut wrong = Vec::new();
    for case in cases {
        let body = around(&case.content);
        let found = markdown(&format!(
            "<!DOCTYPE html><html lang=en><head><title>Storm - The Harbour Times</title></head>\
             <body>{NAVIGATION}{body}{FOOTER}</body></html>"
        ));
        for text in case.kept.iter().filter(|text| !found.contains(**text)) {
            wrong.push(format!("{}: lost {text:?} in\n{found}\n", case.name));
        }
        for text in ["Sport", "Imprint"].iter().filter(|text| found.contains(**text)) {
            wrong.push(format!("{}: has {text:?} in\n{found}\n", case.name));
        }
    }
    wrong
}

fn case(name: &'static str, content: &str, kept: &'static [&'static str]) -> Case {
    Case {
        name,
        content: content.replace("TEXT", TEXT).replace("MORE", MORE),
        kept,
    }
}

/// Returns the cases of what belongs to a text, in a `main` or an `article`.
fn cases() -> Vec<Case> {
    vec![
        case(
            "a last paragraph with a link",
            "TEXT MORE<p>See <a href=/x>the map</a></p>",
            &["the map"],
        ),
        case(
            "a first paragraph with a link",
            "<p>See <a href=/x>the map</a> first.</p>TEXT MORE",
            &["the map"],
        ),
        case(
            "a paragraph that is a link",
            "TEXT<p><a href=/x>The map of the harbour</a></p>MORE",
            &["The map of"],
        ),
        case(
            "sections and definitions about cookies",
            "<section id=module-http.cookies><h1>http.cookies</h1>TEXT<section id=cookie-objects>\
             <h2>Cookie Objects</h2>MORE<dl><dt id=http.cookies.SimpleCookie>SimpleCookie</dt>\
             <dd>Reads the header.</dd></dl></section></section>",
            &[
                "closed for three days", "Cookie Objects", "two weeks", "SimpleCookie", "Reads the",
            ],
        ),
        case(
            "a section about modal dialogs",
            "TEXT<section id=using-modal-dialogs><h2>Using modal dialogs</h2>MORE</section>",
            &["modal dialogs", "two weeks"],
        ),
        case(
            "a paragraph of links",
            "TEXT<p><a href=/a>Alpha</a>, <a href=/b>Beta</a></p>MORE",
            &["Alpha", "Beta"],
        ),
        case(
            "a list of links in the text",
            "TEXT<ul><li><a href=/a>Alpha</a><li><a href=/b>Beta</a></ul>MORE",
            &["Alpha", "Beta"],
        ),
        case(
            "a closing list of two links",
            "TEXT MORE<ul><li><a href=/a>Alpha</a><li><a href=/b>Beta</a></ul>",
            &["Alpha", "Beta"],
        ),
        case(
            "a closing list with one link",
            "TEXT MORE<ul><li>The old wall<li><a href=/b>The new wall</a></ul>",
            &["old wall", "new wall"],
        ),
        case(
            "a numbered list",
            "TEXT<ol><li>First step<li>Second step<li>Third step</ol>MORE",
            &["1. First", "3. Third"],
        ),
        case(
            "short list items",
            "TEXT<ul><li>One<li>Two<li>Three</ul>MORE",
            &["One", "Two", "Three"],
        ),
        case(
            "a nested list",
            "TEXT<ul><li>One<ul><li>Inner</ul><li>Two</ul>MORE",
            &["One", "Inner", "Two"],
        ),
        case(
            "a definition list",
            "TEXT<dl><dt>Quay</dt><dd>Where ships lie.</dd></dl>MORE",
            &["Quay", "Where ships lie"],
        ),
        case(
            "a closing definition list",
            "TEXT MORE<dl><dt>Quay</dt><dd>Where ships lie.</dd></dl>",
            &["Quay", "Where ships lie"],
        ),
        case(
            "an image in the text",
            "TEXT<p><img src=/wall.jpg alt=Wall></p>MORE",
            &["![Wall]"],
        ),
        case(
            "an image after the last paragraph",
            "TEXT MORE<p><img src=/wall.jpg alt=Wall></p>",
            &["![Wall]"],
        ),
        case(
            "an image before the first paragraph",
            "<p><img src=/wall.jpg alt=Wall></p>TEXT MORE",
            &["![Wall]"],
        ),
        case(
            "a figure after the last paragraph",
            "TEXT MORE<figure><img src=/wall.jpg alt=Wall></figure>",
            &["![Wall]"],
        ),
        case(
            "a figure with a caption",
            "TEXT<figure><img src=/wall.jpg alt=Wall><figcaption>The new wall</figcaption></figure>MORE",
            &["![Wall]", "The new wall"],
        ),
        case(
            "a closing figure with a caption",
            "TEXT MORE<figure><img src=/wall.jpg alt=Wall><figcaption>The new wall of the town</figcaption></figure>",
            &["![Wall]"],
        ),
        case(
            "an image that is a link",
            "TEXT<a href=/large.jpg><img src=/wall.jpg alt=Wall></a>MORE",
            &["![Wall]"],
        ),
        case(
            "a gallery",
            "TEXT<div><img src=/a.jpg alt=Alpha><img src=/b.jpg alt=Beta></div>MORE",
            &["![Alpha]", "![Beta]"],
        ),
        case(
            "an image before dropped text",
            "TEXT MORE<img src=/wall.jpg alt=Wall><div class=share><a href=/f>Share</a></div>",
            &["![Wall]"],
        ),
        case(
            "a table",
            "TEXT<table><tr><th>Day<th>Boats<tr><td>Monday<td>4</table>MORE",
            &["Day", "Monday", "4"],
        ),
        case(
            "a closing table",
            "TEXT MORE<table><tr><th>Day<th>Boats<tr><td>Monday<td>4</table>",
            &["Day", "Monday", "4"],
        ),
        case(
            "a table of links",
            "TEXT<table><tr><td><a href=/a>Alpha</a><td><a href=/b>Beta</a></table>MORE",
            &["Alpha", "Beta"],
        ),
        case(
            "a code block",
            "TEXT<pre><code>let x = 1;</code></pre>MORE",
            &["let x = 1;"],
        ),
        case(
            "a closing code block",
            "TEXT MORE<pre><code>let x = 1;</code></pre>",
            &["let x = 1;"],
        ),
        case("code of one word", "TEXT<pre>make</pre>MORE", &["make"]),
        case(
            "code in a paragraph",
            "TEXT<p>Run <code>make</code>.</p>MORE",
            &["`make`"],
        ),
        case(
            "a formula",
            "TEXT<p><math><mi>x</mi><mo>=</mo><mn>1</mn></math></p>MORE",
            &["x"],
        ),
        case(
            "a quote",
            "TEXT<blockquote><p>It was loud.</p></blockquote>MORE",
            &["> It was loud."],
        ),
        case(
            "a quote of one word",
            "TEXT<blockquote>Loud.</blockquote>MORE",
            &["> Loud."],
        ),
        case("a heading", "TEXT<h2>Repairs</h2>MORE", &["## Repairs"]),
        case(
            "a first heading",
            "<h2>The storm</h2>TEXT MORE",
            &["## The storm"],
        ),
        case(
            "two levels of headings",
            "TEXT<h2>Repairs</h2><h3>The wall</h3>MORE",
            &["## Repairs", "### The wall"],
        ),
        case(
            "a heading of three levels",
            "TEXT<h2>Repairs</h2><h3>The wall</h3><h4>In the north</h4>MORE",
            &["## Repairs", "### The wall", "#### In the north"],
        ),
        case(
            "pictures in a row with captions and links",
            "TEXT<div class=row><div><a href=/file/wall.jpg><img src=/wall.jpg alt=Wall></a><div>The <a href=/w>new wall</a> \
             in May</div></div><div><a href=/file/quay.jpg><img src=/quay.jpg alt=Quay></a><div>A typical <a href=/q>old quay</a>\
             </div></div></div>MORE",
            &["![Wall]", "![Quay]"],
        ),
        case(
            "a figure with a credit",
            "TEXT<figure><img src=/wall.jpg alt=Wall><figcaption>Photo: A. Miller / Agency</figcaption></figure>MORE",
            &["![Wall]"],
        ),
        case(
            "a heading with a link",
            "TEXT<h2><a href=#r>Repairs</a></h2>MORE",
            &["Repairs"],
        ),
        case(
            "a heading that is a question",
            "TEXT<h2>What next?</h2>MORE",
            &["What next?"],
        ),
        case("a short paragraph", "TEXT<p>It rained.</p>MORE", &["It rained."]),
        case(
            "a short last paragraph",
            "TEXT MORE<p>It rained.</p>",
            &["It rained."],
        ),
        case("a paragraph of one word", "TEXT<p>Rain.</p>MORE", &["Rain."]),
        case("a number alone", "TEXT<p>1987</p>MORE", &["1987"]),
        case(
            "text without a paragraph",
            "TEXT The ferry waited.<br>MORE",
            &["The ferry waited."],
        ),
        case(
            "a note",
            "TEXT<aside class=note><p>Bring a coat to the quay.</p></aside>MORE",
            &["Bring a coat"],
        ),
        case(
            "a disclosure",
            "TEXT<details><summary>Times</summary><p>Boats leave at nine and at noon.</p></details>MORE",
            &["Times", "Boats leave"],
        ),
        case(
            "a section",
            "TEXT<section><h2>Repairs</h2>MORE</section>",
            &["## Repairs", "The mayor said"],
        ),
        case(
            "a closing section",
            "TEXT MORE<section><h2>Thanks</h2><p>To all helpers of the town.</p></section>",
            &["To all helpers"],
        ),
        case(
            "emphasis alone",
            "TEXT<p><em>The wall held.</em></p>MORE",
            &["*The wall held.*"],
        ),
        case(
            "a text in German",
            "TEXT<p>Mehr wissen wir noch nicht.</p>MORE",
            &["Mehr wissen"],
        ),
        case(
            "contents that list other pages",
            "TEXT<div class=toc><dl class=toc><dt><a href=a.html>V. Server Programming</a></dt>\
             <dt><a href=b.html>VI. Reference</a></dt></dl></div>MORE",
            &["V. Server Programming", "VI. Reference"],
        ),
        case(
            "contents that list other pages, before the text",
            "<div class=toc><p><b>Table of Contents</b></p><dl><dt><a href=a.html>11.1. Introduction</a></dt>\
             <dt><a href=b.html>11.2. Index Types</a></dt></dl></div>TEXT",
            &["11.1. Introduction", "11.2. Index Types"],
        ),
        case(
            "a list after its introduction",
            "TEXT<p>You need:</p><ul><li>a coat<li>a boat</ul>",
            &["You need:", "a coat", "a boat"],
        ),
        case(
            "ingredients",
            "TEXT<h2>Ingredients</h2><ul><li>2 eggs<li>100 g flour</ul><h2>Steps</h2>MORE",
            &["## Ingredients", "2 eggs", "100 g flour", "## Steps"],
        ),
        case(
            "a table with a caption",
            "TEXT<table><caption>Boats by day</caption><tr><th>Day<th>Boats<tr><td>Monday<td>4</table>MORE",
            &["Boats by day", "Monday"],
        ),
        case(
            "a table in a figure",
            "TEXT<figure><table><tr><th>Day<th>Boats<tr><td>Monday<td>4</table></figure>MORE",
            &["Day", "Monday"],
        ),
        case(
            "an image in several formats",
            "TEXT<picture><source srcset=/wall.webp type=image/webp><img src=/wall.jpg alt=Wall></picture>MORE",
            &["![Wall]"],
        ),
        case(
            "a closing formula",
            "TEXT MORE<p><math><mi>x</mi><mo>=</mo><mn>1</mn></math></p>",
            &["x"],
        ),
        case(
            "definitions with links",
            "TEXT<dl><dt><a href=/q>Quay</a></dt><dd>Where <a href=/s>ships</a> lie.</dd></dl>MORE",
            &["Quay", "ships"],
        ),
        case(
            "a paragraph of links to sources",
            "TEXT MORE<p>Sources: <a href=https://example.com/a>Harbour office</a>, \
             <a href=https://example.com/b>Weather service</a></p>",
            &["Harbour office", "Weather service"],
        ),
        case(
            "a section whose id names another subject",
            "TEXT<div class=refsect2 id=SQL-FOR-UPDATE-SHARE><h3>Locks</h3>MORE</div>",
            &["### Locks", "The mayor said"],
        ),
        case(
            "folded questions, with buttons in headings and around them",
            "TEXT<h3><button aria-expanded=false>When was the harbour closed?</button></h3>MORE\
             <button aria-expanded=false><h3>Who pays for the repairs of the wall?</h3></button>TEXT",
            &[
                "### When was the harbour closed?",
                "### Who pays for the repairs of the wall?",
            ],
        ),
        case(
            "footnotes",
            "TEXT<p>A claim<sup id=r1><a href=#f1>1</a></sup> of weight.</p>MORE<ol class=footnotes><li id=f1>The source of the claim. <a href=#r1>↩</a></ol>",
            &["A claim", "The source of the claim"],
        ),
    ]
}

#[test]
fn what_belongs_to_a_text_in_an_article_is_kept() {
    let wrong = wrong(&cases(), |content| {
        format!("<main><article><h1>Storm</h1>{content}</article></main>")
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.concat());
}

#[test]
fn what_belongs_to_a_text_in_main_is_kept() {
    let wrong = wrong(&cases(), |content| format!("<main>{content}</main>"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.concat());
}

#[test]
fn a_second_copy_of_the_text_is_left_out() {
    let paragraphs: Vec<String> = ["quay", "wall", "tower", "bridge", "market", "school", "library"]
        .iter()
        .map(|place| {
            format!("The {place} was closed for three days after the storm, and no one went to see it. ")
        })
        .collect();
    let text: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
    let copy = paragraphs.concat();
    let found = markdown(&format!(
        "<title>Storm</title><body>{NAVIGATION}<main><h1>Storm</h1>{text}<div>{copy}</div></main>{FOOTER}"
    ));
    assert_eq!(found.matches("The quay was closed").count(), 1, "{found}");
    assert_eq!(found.matches("The library was closed").count(), 1, "{found}");
    let long = format!("<p>{}</p>", paragraphs[..3].concat());
    let found = markdown(&format!(
        "<title>Storm</title><body>{NAVIGATION}<main><h1>Storm</h1>{long}{MORE}<div>{long}</div></main>{FOOTER}"
    ));
    assert_eq!(found.matches("The quay was closed").count(), 1, "{found}");
}

#[test]
fn a_stated_faq_is_kept() {
    let stated = r#"<script type="application/ld+json">{"@type": "FAQPage", "mainEntity": [
        {"@type": "Question", "name": "When does the first ferry of the day leave?", "acceptedAnswer":
        {"@type": "Answer", "text": "<p>That depends on the season and the weather:</p><ul><li>In summer: six o'clock, on
        working days</li><li>In winter: seven</li><li>In a storm: no ferry leaves until the wind is down</li></ul>"}}]}
        </script>"#;
    let faq = "<h3>When does the first ferry of the day leave?</h3><p>That depends on the season and the weather:</p>\
        <ul><li>In summer: six o'clock, on working days</li><li>In winter: seven</li><li>In a storm: no ferry leaves \
        until the wind is down</li></ul>";
    let page = |head: &str| {
        markdown(&format!(
            "<title>Storm</title>{head}<body>{NAVIGATION}<article><h1>Storm</h1>{TEXT}{MORE}</article>\
             <aside class=sidebar><h2>Questions</h2>{faq}</aside>{FOOTER}"
        ))
    };
    let found = page(stated);
    for text in [
        "## Questions", "When does the first", "on the season", "In winter: seven", "In a storm",
    ] {
        assert!(found.contains(text), "{text} is lost in\n{found}");
    }
    assert!(!page("").contains("When does the first"));
}

#[test]
fn the_parts_of_a_divided_text_are_kept() {
    let popular =
        "<div class=most-popular><h3>Most popular</h3><a href=/a>Thirty tools for your harbour</a></div>";
    let part = |class: &str, text: &str| {
        format!("<div class=row><div class='{class}'><p class=paywall>{text}</p></div>{popular}</div>")
    };
    let long = "The keeper of the lighthouse wrote down every ship that passed, the hour, the wind and the colour of its \
        sails, and at the end of each winter he sent his book to the office in the capital, where nobody read it. ";
    for (class, is_kept) in [("body", true), ("promo", false)] {
        let found = markdown(&format!(
            "<title>Storm</title>{NAVIGATION}<article>{}{}{}</article>{FOOTER}",
            part("body", &format!("{TEXT}{MORE}").repeat(4)),
            part(class, long),
            part("body", "Read all about ships"),
        ));
        assert_eq!(found.contains("lighthouse"), is_kept, "{class}: {found}");
        assert!(
            !found.contains("Most popular") && !found.contains("Read all"),
            "{class}: {found}"
        );
    }
}

#[test]
fn the_name_and_the_price_of_a_product_are_kept() {
    let json =
        r#"<script type="application/ld+json">{"@type": "Product", "offers": {"price": "1299.50"}}</script>"#;
    let type_only = "<meta property=og:type content=product>";
    let carousel =
        "<div class=carousel><div><a href=/rope><h3>Rope</h3></a><p class=price>£8</p></div></div>";
    let offer = "<div class=product-header><h1>Harbour lamp</h1></div><div class=buy-box><div>£1,299.50</div>\
        <button>Add to basket</button><p>Free delivery over £50</p></div>";
    for (head, before, price) in [
        (json, "", "£1,299.50"),
        (json, carousel, "£1,299.50"),
        (type_only, "", "£1,299.50"),
        ("", "", ""),
    ] {
        let found = markdown(&format!(
            "<title>Harbour lamp | Shop</title>{head}{NAVIGATION}{before}{offer}<div class=description>{TEXT}{MORE}\
             {TEXT}{MORE}</div>{FOOTER}"
        ));
        assert!(found.contains(price), "{head}: {found}");
        assert!(
            head.is_empty() || found.contains("# Harbour lamp"),
            "{head}: {found}"
        );
        for text in ["£8", "Free delivery", "Sport"] {
            assert!(!found.contains(text), "{head} has {text}: {found}");
        }
        assert_eq!(found.contains('£'), !head.is_empty(), "{head}: {found}");
    }
}

#[test]
fn a_short_main_is_kept_without_a_long_navigation() {
    let chapters: String = (1..60)
        .map(|chapter| {
            format!("<li><a href=/{chapter}.html>Chapter {chapter}: the harbours of the north</a></li>")
        })
        .collect();
    let found = markdown(&format!(
        "<title>Ships</title><body><nav><ol>{chapters}</ol></nav>\
         <main><h1>Ships</h1><p>What floats, in four parts.</p></main>{FOOTER}"
    ));
    assert_eq!(found, "# Ships\n\nWhat floats, in four parts.");
}

#[test]
fn members_and_signatures_of_a_reference_are_kept() {
    let found = markdown(&format!(
        "<meta name=generator content=javadoc/DocletUtil><title>Ship</title><body>{NAVIGATION}<main><h1>Class Ship</h1>\
         <div>public final class <b>Ship</b> extends <a href=Vessel.html>Vessel</a></div>{TEXT}\
         <h3>Methods declared in class <a href=Vessel.html>Vessel</a></h3>\
         <code><a href=Vessel.html#load>load</a>, <a href=Vessel.html#sail>sail</a></code></main>{FOOTER}"
    ));
    for text in [
        "public final class", "closed for three days", "Methods declared", "sail",
    ] {
        assert!(found.contains(text), "{text} is lost in\n{found}");
    }
    assert!(!found.contains("Imprint") && !found.contains("Sport"), "{found}");
}

#[test]
fn everything_in_a_short_main_or_page_is_kept() {
    for (page, texts) in [
        ("<h1>Cup</h1><p>Price: $9.50", &["Cup", "Price: $9.50"][..]),
        (
            "<h1>Cup</h1><p>Cups of all kinds are sold here.<p>Price: $9.50",
            &["sold here", "Price: $9.50"],
        ),
        (
            "<h1>Blue cup</h1><p>For tea and soup<p>9.50 €<button>Buy</button>",
            &["Blue cup", "9.50 €"],
        ),
        (
            "<h1>Opening hours</h1><dl><dt>Monday<dd>9 to 17<dt>Sunday<dd>closed</dl>",
            &["Monday", "9 to 17", "closed"],
        ),
        (
            "<h1>Contact</h1><p>Quay 4, Harbour<p>Phone: 555 0100",
            &["Quay 4", "555 0100"],
        ),
        (
            "<h1>Fish soup</h1><ul><li>1 fish<li>2 onions</ul><p>Cook for an hour.",
            &["1 fish", "2 onions", "an hour"],
        ),
        (
            "<h1>J. Smith</h1><p>Pilot of the harbour<p><a href=mailto:j@ship.example>j@ship.example</a>",
            &["Pilot of", "j@ship.example"],
        ),
    ] {
        for (around, element) in [
            ("", "main"),
            (NAVIGATION, "main"),
            ("", "div"),
            (NAVIGATION, "div"),
        ] {
            let found = markdown(&format!(
                "<title>Ships</title><body>{around}<{element}>{page}</{element}>{FOOTER}"
            ));
            for text in texts {
                assert!(found.contains(text), "{text} is lost in\n{found}");
            }
            assert!(!found.contains("Imprint") && !found.contains("Sport"), "{found}");
        }
    }
}

#[test]
fn a_text_that_repeats_is_kept_once() {
    const NOTE: &str = "Sailing since the winter of the great storm, and still looking for a better anchor.";
    let posts = |url: &str, tag: &str| {
        let posts: String = ["came from the north", "stayed at the quay", "left before noon"]
            .iter()
            .map(|said| {
                format!(
                    "<div class=post><p>The ship {said}, and the crew was glad about every hour that the wind spared \
                     them.</p><{tag}>{NOTE}</{tag}></div>"
                )
            })
            .collect();
        let html = format!("<title>Ships</title><body><main><h1>Ships of the north</h1>{posts}</main>");
        markdown_of(url, &html).matches("better anchor").count()
    };
    for (url, tag, times) in [
        ("https://forum.example.org/t/1", "p", 1),
        ("https://example.org/ships", "p", 1),
        ("https://docs.example.org/ships", "p", 3),
        ("https://forum.example.org/t/1", "blockquote", 3),
    ] {
        assert_eq!(posts(url, tag), times, "{url} {tag}");
    }
}

#[test]
fn a_paragraph_that_its_author_repeats_is_kept() {
    let paragraph =
        "The ship came from the north, and the crew was glad about every hour of wind. ".repeat(4);
    for tag in ["p", "div"] {
        let article = format!("<{tag}>{paragraph}</{tag}>").repeat(5);
        let found = markdown(&format!("<title>Ships</title><body><article>{article}</article>"));
        assert_eq!(found.matches("every hour").count(), 20, "{found}");
    }
}

#[test]
fn code_is_kept_but_for_hidden_lines_and_excluded_elements() {
    let code = "<pre><code class=language-rust><span class=boring>fn main() {\n</span><span class=menu>let</span> s \
                = 1; <span class=note>// one</span>\n<span class=boring>}</span></code></pre>";
    let html =
        format!("<title>Ships</title>{NAVIGATION}<main><h1>Ships</h1>{TEXT}{code}{MORE}</main>{FOOTER}");
    let page = HtmlPage::parse(&html, &Url::parse("https://example.org/page").unwrap());
    let convert = |only_main_content, exclude_tags: &[&str]| {
        let selection = Selection {
            only_main_content,
            exclude_tags: exclude_tags
                .iter()
                .map(|it| Selector::parse(it).unwrap())
                .collect(),
            ..Selection::default()
        };
        let markdown = page.convert(&selection).markdown();
        let (_, code) = markdown.split_once("```rust\n").unwrap();
        code.split_once("\n```").unwrap().0.to_owned()
    };
    assert_eq!(convert(true, &[]), "let s = 1; // one");
    assert_eq!(convert(true, &[".note"]), "let s = 1;");
    assert_eq!(convert(false, &[]), "fn main() {\nlet s = 1; // one\n}");
}
