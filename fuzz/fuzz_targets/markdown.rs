//! The Markdown writer on pages built from meaningful pieces: each byte selects a tag or a text, so that deep and
//! unusual structures occur early. The pages go through the complete rendering of a response.
#![no_main]

use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{RawPage, render};
use libfuzzer_sys::fuzz_target;
use url::Url;

const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<ul>",
    "</ul>",
    "<ol start=7>",
    "</ol>",
    "<li>",
    "</li>",
    "<blockquote>",
    "</blockquote>",
    "<table>",
    "</table>",
    "<tr>",
    "</tr>",
    "<th colspan=2>",
    "<td rowspan=3>",
    "</td>",
    "<caption>",
    "<pre>",
    "<pre class=language-rust>",
    "</pre>",
    "<code>",
    "</code>",
    "<b>",
    "</b>",
    "<em>",
    "</em>",
    "<del>",
    "</del>",
    "<a href='/x y?z=(1)'>",
    "<a href=#fn1>",
    "</a>",
    "<img src=/i.png alt='a ] b'>",
    "<img src='data:image/png;base64,AAAA'>",
    "<h1>",
    "</h1>",
    "<h3 id=x>",
    "</h3>",
    "<hr>",
    "<br>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "<sup id=fn1>",
    "</sup>",
    "<sub>",
    "</sub>",
    "<details>",
    "<summary>",
    "</details>",
    "<div>",
    "</div>",
    "<section class='related-posts'>",
    "</section>",
    "<article>",
    "</article>",
    "<nav>",
    "</nav>",
    "<math><mi>x</mi></math>",
    "<annotation encoding='application/x-tex'>x^2</annotation>",
    "<input type=checkbox checked>",
    "<kbd>",
    "</kbd>",
    "<figure>",
    "<figcaption>",
    "</figure>",
    "<iframe src=/f></iframe>",
    "<svg><title>t</title></svg>",
    "<template>",
    "</template>",
    "<select><option>o</select>",
    "<textarea>t</textarea>",
    "<q>",
    "</q>",
    "word ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "*",
    "_",
    "`",
    "```",
    "~~~",
    "[",
    "](",
    ")",
    "|",
    "\\",
    "<",
    ">",
    "&amp;",
    "&lt;",
    "#",
    "- ",
    "1. ",
    "+ ",
    "=",
    "---",
    ": ",
    "$",
    "!",
    "http://a.test/ ",
    "\u{a0}",
    "\u{3000}漢字。",
    "\u{202e}",
    "e\u{301}",
    "Related articles",
    "We use cookies, accept?",
    "First sentence. Second one! Third? ",
];

const OPTIONS: &[&str] = &[
    r#"{"formats":["markdown"],"onlyMainContent":false}"#,
    r#"{"formats":["markdown","html","links","images"],"onlyCleanContent":true}"#,
];

fuzz_target!(|data: &[u8]| {
    let html: String = data
        .iter()
        .map(|byte| PIECES[usize::from(*byte) % PIECES.len()])
        .collect();
    let url = Url::parse("https://site.test/").expect("it is a URL");
    let page = RawPage {
        requested: &url,
        url: &url,
        status: 200,
        content_type: Some("text/html"),
        body: html.as_bytes(),
    };
    for options in OPTIONS {
        let options = ScrapeOptions::from_json(options.as_bytes()).expect("the options are valid");
        let first = render(&page, &options, ScrapeId(uuid::Uuid::nil())).expect("HTML is always converted");
        let second = render(&page, &options, ScrapeId(uuid::Uuid::nil())).expect("HTML is always converted");
        assert!(first == second, "rendering is deterministic");
    }
});
