//! What `only_main_content` keeps of manuals and references without a `main`, as generators write them.
#![allow(clippy::unwrap_used, reason = "a test")]

use harvestman_content::{HtmlPage, Selection};
use url::Url;

const TEXT: &str = "<p>The harbour was closed for three days after the storm, and the ferries stayed at the quay. \
    On Monday the first boats left again, with many passengers who had waited since Friday.</p>";
const MORE: &str = "<p>The mayor said that the damage was small, because the new wall had kept most of the water \
    out of the old town. Repairs are expected to take about two weeks, and to cost less than planned.</p>";

fn markdown(url: &str, html: &str) -> String {
    let html = html.replace("TEXT", TEXT).replace("MORE", MORE);
    let page = HtmlPage::parse(&format!("<!DOCTYPE html>{html}"), &Url::parse(url).unwrap());
    let selection = Selection {
        only_main_content: true,
        ..Selection::default()
    };
    page.convert(&selection).markdown()
}

/// Returns a list of the pages of a manual.
fn chapters() -> String {
    let chapter = |at| format!("<li><a href=c{at}.html>Chapter {at}: the harbours of the north</a></li>");
    format!("<ul>{}</ul>", (1..60).map(chapter).collect::<String>())
}

#[test]
fn a_box_between_paragraphs_is_kept() {
    let sidebar = "<div class=sidebar><div class=titlepage><strong>Alternative: ropes</strong></div><div class=para>\
        Ropes of hemp hold a ship as well as chains do, but they have to be dried after every journey, and they \
        rot in a wet hold within a year or two.</div></div>";
    for page in [
        format!("<title>Ships</title><div class=section><h2>Anchors</h2>TEXT{sidebar}MORE</div>"),
        format!("<title>Ships</title><div class=section><h2>Anchors</h2>TEXT MORE{sidebar}</div>"),
    ] {
        let found = markdown("https://example.org/ships", &page);
        assert!(found.contains("Alternative: ropes"), "{found}");
        assert!(found.contains("Ropes of hemp"), "{found}");
    }
    let layout = format!("<title>Ships</title><div class=text><h1>Anchors</h1>TEXT MORE</div>{sidebar}");
    let found = markdown("https://example.org/ships", &layout);
    assert!(!found.contains("Ropes of hemp"), "{found}");
}

#[test]
fn a_list_of_all_pages_that_contains_the_page_is_left_out() {
    for page in [
        "<div id=tocframe><h4><a href=index.html>Ships</a></h4>CHAPTERS</div>",
        "<div class=sets><table><tr><td>1<td><a href=c7.html>Chapter 7</a></table>CHAPTERS</div>",
        "<aside><nav>CHAPTERS</nav></aside>",
    ] {
        let lists = page.replace("CHAPTERS", &chapters());
        let found = markdown(
            "https://docs.example.org/ships/c7.html",
            &format!("<title>Ships</title><div id=content><h1>Anchors</h1>TEXT</div>{lists}"),
        );
        assert!(found.contains("closed for three days"), "{found}");
        assert!(!found.contains("Chapter 8"), "{found}");
    }
}

#[test]
fn contents_that_do_not_list_the_page_are_kept() {
    let found = markdown(
        "https://docs.example.org/ships/index.html",
        &format!(
            "<title>Ships</title><body><div class=book><h1>Ships</h1>TEXT<div class=toc>{}</div></div>",
            chapters()
        ),
    );
    assert!(
        found.contains("Chapter 8") && found.contains("three days"),
        "{found}"
    );
}

#[test]
fn headings_that_link_to_the_page_are_no_list_of_pages() {
    let implementor = |n: usize| {
        format!(
            "<section><h3>impl <a href=trait.Ship.html>Ship</a> for <a href=struct.Boat{n}.html>Boat{n}</a></h3></section>"
        )
    };
    let implementors: String = (1..20).map(implementor).collect();
    let found = markdown(
        "https://docs.example.org/ships/trait.Ship.html",
        &format!("<title>Ship</title><body><main><h1>Trait Ship</h1>TEXT<div>{implementors}</div></main>"),
    );
    assert!(found.contains("Boat7"), "{found}");
}

#[test]
fn notes_on_members_are_kept_between_texts_of_a_reference() {
    let member = |name: &str| {
        format!(
            "<section><h4 id={name}>ship.{name}()</h4><div class=api_metadata><span>Added in: v8.{name}</span></div>\
             <ul><li>Returns: a number</li></ul>TEXT<div class=comment><p>Must be called at sea, {name}.</p></div></section>"
        )
    };
    let members = ["sail", "load", "moor"].map(member).concat();
    let found = markdown(
        "https://docs.example.org/ship.html",
        &format!("<title>Ships</title><body><div id=apicontent><h2>Ship</h2>MORE{members}</div>"),
    );
    for text in [
        "Added in: v8.sail", "Added in: v8.load", "at sea, sail", "at sea, moor",
    ] {
        assert!(found.contains(text), "{text} is lost in\n{found}");
    }
}

#[test]
fn comments_of_readers_are_left_out_of_documentation() {
    let comment = "<li class=comment><p>We were there in May, and it rained for all of the nine days. Never \
        again!</p></li>";
    let found = markdown(
        "https://docs.example.org/ship.html",
        &format!(
            "<title>Ships</title><body><div id=text><h1>Ship</h1>TEXT MORE</div><ol class=commentlist>{comment}</ol>"
        ),
    );
    assert!(!found.contains("rained for all"), "{found}");
}

#[test]
fn a_section_about_comments_is_kept() {
    let with_section = |tag: &str| {
        let page = format!(
            "<title>Ships</title><h1>Parser</h1><div class=section id=Tokens><h3>2.1 Tokens</h3>TEXT</div>\
             <{tag} id=Comments><h3>2.2 Comments</h3><p>The parser ignores comments, from the first number sign to \
             the end of the line.</p></{tag}><div class=section id=Names><h3>2.3 Names</h3>TEXT</div>"
        );
        markdown("https://docs.example.org/ships/parser.html", &page)
    };
    for tag in ["section", "div class=section"] {
        let found = with_section(tag);
        assert!(
            found.contains("### 2.2 Comments\n\nThe parser ignores"),
            "{found}"
        );
    }
    let found = with_section("section class=comments");
    assert!(!found.contains("The parser ignores"), "{found}");
}

#[test]
fn code_full_of_links_is_kept() {
    let word = |name: &str| format!("<a href={name}.html>{name}</a> ");
    let code = [
        "template", "class", "ship", "public", "harbour", "quay", "load", "unload",
    ]
    .map(word);
    let found = markdown(
        "https://docs.example.org/ship.html",
        &format!(
            "<title>Class ship</title><body><table><tr><td><a href=/>Home</a><td><a href=/faq>FAQ</a></table>\
             <div class=entry><h2>Class ship</h2><p>ships::ship</p><h2>Synopsis</h2><pre>// In header {}</pre>\
             <div class=section><h2>Description</h2>TEXT MORE</div></div>",
            code.concat()
        ),
    );
    assert!(found.contains("template class ship public harbour"), "{found}");
    assert!(!found.contains("FAQ"), "{found}");
}

#[test]
fn text_between_the_elements_of_the_body_is_kept() {
    let found = markdown(
        "https://docs.example.org/node4.html",
        "<title>Svga</title><body><div class=navigation><a href=node5.html><img alt=next></a><b>Next:</b> <a href=node5.html>\
         Plot</a> <b>Up:</b> <a href=node3.html>Show</a></div><h2><a id=s1>Svga</a></h2><a id=svga></a>Legacy terminal. \
         <b>svga</b> supports computers with a graphics card.<p>Syntax:<pre>set terminal svga</pre><p>TEXT<p>MORE",
    );
    assert!(found.contains("Legacy terminal"), "{found}");
}

#[test]
fn a_heading_before_the_text_is_kept() {
    let found = markdown(
        "https://example.org/Ropes.html",
        "<meta name=Generator content=makeinfo><title>Ropes (Ships)</title><body><div class=section id=Ropes><div \
         class=header><p>Next: <a href=Sails.html>Sails</a>, Previous: <a href=Anchors.html>Anchors</a>, Up: <a \
         href=index.html>Ships</a></p></div><hr><h3 class=section>17.7 Ropes</h3><dl class=def><dt id=f><strong>rope</strong> \
         <em>(length)</em></dt><dd>TEXT</dd></dl></div>",
    );
    assert!(found.starts_with("### 17.7 Ropes"), "{found}");
}

#[test]
fn an_index_stays_below_the_alphabet_that_lists_the_page() {
    let letter = |at: u8| format!("<li><a href=index-{0}.html>{0}</a></li>", char::from(at));
    let entry = |name: &str| {
        format!(
            "<tr><td class=src>{name}</td><td><a href=h.html>Ships.Harbour.Encoding.Internal</a></td></tr>"
        )
    };
    let entries = [
        "igloo", "index", "ink", "insert", "island", "iron", "items", "ivory",
    ]
    .map(entry);
    let found = markdown(
        "https://docs.example.org/index-I.html",
        &format!(
            "<title>Ships (Index)</title><body><div id=package-header><span>ships-2.0: The ships of the harbour, and the ropes and anchors that they need</span></div><div id=content><div \
             id=alphabet><ul>{}</ul></div><div id=index><p class=caption>Index</p><table>{}</table></div></div>",
            (b'A'..=b'Z').map(letter).collect::<String>(),
            entries.concat()
        ),
    );
    assert!(
        found.contains("| island | [Ships.Harbour.Encoding.Internal]"),
        "{found}"
    );
}

#[test]
fn examples_of_doxygen_are_code() {
    let found = markdown(
        "https://example.org/ship.html",
        "<meta name=generator content='Doxygen 1.9'><title>Ships</title><body><div class=header><div class=headertitle>\
         <div class=title>Ship Class Reference</div></div></div><div class=contents>TEXT<div class=fragment><div class=line><a id=l1></a><span class=lineno>    1</span>&#160;<span class=keyword>int</span> main() {</div>\n\
         <div class=line><span class=lineno>    2</span>&#160;  <span class=comment>// At sea</span></div><div class=line>\
         </div><div class=line><span class=lineno>    4</span>&#160;}</div><div class=ttc><div class=ttname>main</div>\
         </div></div>MORE</div>",
    );
    assert!(found.starts_with("# Ship Class Reference\n"), "{found}");
    assert!(found.contains("```\nint main() {\n  // At sea\n"), "{found}");
    assert!(found.contains("\n}\n```") && !found.contains("ttname"), "{found}");
}
