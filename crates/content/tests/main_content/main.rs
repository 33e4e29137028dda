//! What `only_main_content` keeps of small pages, and what it leaves out.
#![allow(clippy::unwrap_used, reason = "a test")]

mod cases;

use harvestman_content::{HtmlPage, Selection, Selector};
use url::Url;

use self::cases::{Case, cases};

/// A paragraph as news and documentation have them.
const TEXT: &str = "<p>The harbour was closed for three days after the storm, and the ferries stayed at the quay. \
    On Monday the first boats left again, with many passengers who had waited since Friday.</p>";
/// Another one.
const MORE: &str = "<p>The mayor said that the damage was small, because the new wall had kept most of the water \
    out of the old town. Repairs are expected to take about two weeks, and to cost less than planned.</p>";
const NAVIGATION: &str = "<header><nav><ul><li><a href=/>Home</a></li><li><a href=/news>News</a></li>\
    <li><a href=/sport>Sport</a></li></ul></nav></header>";
const FOOTER: &str = "<footer><p>© 2024 The Harbour Times</p><a href=/imprint>Imprint</a></footer>";

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
fn cards_of_other_products_are_left_out() {
    let card = |name: &str| format!("<li><a href=/{name}><h3>Brass {name} lamp</h3></a><p>£8.50</p></li>");
    let cards = format!("<ul>{}{}{}</ul>", card("bow"), card("stern"), card("mast"));
    for (kind, is_kept) in [("Product", false), ("Thing", true)] {
        let found = markdown(&format!(
            "<title>Harbour lamp</title><script type=application/ld+json>{{\"@type\": \"{kind}\"}}</script>\
             {NAVIGATION}<main><h1>Harbour lamp</h1>{TEXT}{MORE}{cards}</main>{FOOTER}"
        ));
        for text in ["Brass stern lamp", "£8.50"] {
            assert_eq!(found.contains(text), is_kept, "{kind}: {found}");
        }
    }
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
fn menus_in_parts_that_list_the_page_are_left_out() {
    let links = |part: &str, own: &str| {
        let mut lessons: Vec<String> = (1..10)
            .map(|n| format!("<li><a href=/{part}/{n}>{part} lesson {n}</a></li>"))
            .collect();
        lessons.push(own.to_owned());
        format!("<h2>{part} course</h2><ul>{}</ul>", lessons.concat())
    };
    for (own, is_kept) in [("<li><a href=/page>This page</a></li>", false), ("", true)] {
        let menu = format!("{}{}", links("Knots", own), links("Sails", ""));
        let found = markdown(&format!(
            "<title>Knots</title><body><div id=all><h1>Knots</h1>{TEXT}<div id=lessons>{menu}</div>{MORE}</div>"
        ));
        assert_eq!(found.contains("Sails lesson 3"), is_kept, "{found}");
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
fn a_stated_recipe_is_kept() {
    let json = r#"<script type="application/ld+json">{"@graph": [{"@type": "Recipe", "recipeIngredient": ["2 cups
        flour", "1 pinch of salt", "3 eggs"], "recipeInstructions": [{"@type": "HowToSection", "itemListElement":
        [{"@type": "HowToStep", "text": "Mix it all."}, {"@type": "HowToStep", "text": "Bake it."}]}]}]}</script>"#;
    let marked = |name: &str, text: &str| format!("<div class=share-item itemprop={name}>{text}</div>");
    let list = |property: &dyn Fn(&str, &str) -> String| {
        format!(
            "<div class='sidebar share'><h3>Shopping</h3>{}<div class=unit>large ones</div>{}{}\
             <div>Keep the screen on</div><h3>Work</h3>{}{}\
             <div><a href=/more>More recipes</a></div></div>",
            property("ingredients", "2 cups flour"),
            property("ingredients", "1 pinch of salt (or more)"),
            property("ingredients", "3 eggs"),
            property("recipeInstructions", "Mix it all."),
            property("recipeInstructions", "Bake it."),
        )
    };
    let plain = list(&|_, text| format!("<div class=share-item>{text}</div>"));
    let texts = [
        "pinch of salt", "large ones", "3 eggs", "Work", "Mix it all", "Bake it",
    ];
    for (recipe, is_kept) in [
        (format!("{json}{plain}"), true),
        (list(&marked), true),
        (plain, false),
    ] {
        let found = markdown(&format!(
            "<title>Cake</title>{NAVIGATION}<article>{TEXT}{MORE}{TEXT}{MORE}</article>{recipe}"
        ));
        let kept: Vec<_> = texts.iter().filter(|text| found.contains(**text)).collect();
        assert_eq!(
            kept.len(),
            if is_kept { texts.len() } else { 0 },
            "{kept:?} in {found}"
        );
        assert!(
            !found.contains("More recipes") && !found.contains("the screen"),
            "{found}"
        );
    }
}

#[test]
fn a_recipe_below_its_headings_is_kept() {
    let page = |headings: [&str; 2], amounts: [&str; 3]| {
        let [first, second, third] = amounts;
        markdown(&format!(
            "<title>Cake</title>{NAVIGATION}<article>{TEXT}{MORE}{TEXT}{MORE}</article><div class='sidebar share'>\
             <div><h3>{}</h3><div class=share-item>{first}</div><div class=share-item>{second}</div>\
             <div class=share-item>{third}</div></div><div><h3>{}</h3><div class=share-item>Mix all of it, and bake \
             it for half an hour at 180 degrees.</div></div><h3>More recipes</h3><a href=/pie>Pie</a></div>",
            headings[0], headings[1]
        ))
    };
    let amounts = ["2 cups of flour", "1 pinch of salt", "3 eggs"];
    for headings in [
        ["Ingredients", "Method"],
        ["Zutaten für 4 Personen:", "Zubereitung"],
        ["材料", "作り方"],
    ] {
        let found = page(headings, amounts);
        for text in headings.iter().chain(&amounts).chain(&["180 degrees"]) {
            assert!(found.contains(text), "{text} in {found}");
        }
        assert!(
            !found.contains("Pie") && !found.contains("More recipes"),
            "{found}"
        );
    }
    for headings in [["Shopping", "Method"], ["Shopping", "Work"]] {
        assert!(!page(headings, amounts).contains("eggs"), "{headings:?}");
    }
    let found = page(
        ["Ingredients", "Method"],
        ["Sent to your list", "Thank you for it", "Removed from it"],
    );
    assert!(!found.contains("Thank you"), "{found}");
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
fn an_article_is_found_above_a_thousand_comments() {
    let comment = "<li class=comment><div class=comment-author>Ann</div><div>August 1, 2025 at 5:04 am</div>\
        <p>I have taken this ferry for years, and my family loves it. Thank you for the report!</p>\
        <a class=reply href=/page?reply=1>Reply to this comment</a></li>";
    let found = markdown(&format!(
        "<title>Storm</title><meta property=og:type content=article><ul><li><a href=/>Home</a></ul>\
         <h1>Storm</h1>{TEXT}{MORE}<h3>1000 Comments</h3><ol class=commentlist>{}</ol>",
        comment.repeat(1000)
    ));
    assert!(found.contains("two weeks"), "{}", &found[..200]);
    assert!(
        !found.contains("this ferry") && !found.contains("Home"),
        "{} bytes",
        found.len()
    );
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
