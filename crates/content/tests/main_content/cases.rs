//! What belongs to a text, in a `main` or an `article`.

use super::{MORE, TEXT};

/// A page of a site with navigation and footer.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) content: String,
    pub(super) kept: &'static [&'static str],
}

fn case(name: &'static str, content: &str, kept: &'static [&'static str]) -> Case {
    Case {
        name,
        content: content.replace("TEXT", TEXT).replace("MORE", MORE),
        kept,
    }
}

/// Returns the cases of what belongs to a text, in a `main` or an `article`.
pub(super) fn cases() -> Vec<Case> {
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
