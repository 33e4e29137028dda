//! The console of the real server in Chromium: sign-in, sessions, jobs, hostile pages.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use harvestman_tests::hostile::HARD_TO_PARSE;
use harvestman_tests::{DocsSite, HostileSite, Page, Site, TestServer, tools};
use serde_json::json;

const PAGES: usize = 24;

/// Runs a script of `tests/clients` that uses the console.
async fn run_script(server: &TestServer, script: &str, arguments: &[&str], done: &str) {
    let mut browser = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    browser
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .envs([tools::chromium()])
        .arg(tools::script(script))
        .arg(server.sign_in_link())
        .args(arguments);
    tools::run(browser, done, server).await;
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_signs_in_crawls_and_reads_a_page() {
    let server = TestServer::start().await;
    let site = DocsSite::new(PAGES).build().serve().await;
    let arguments = [site.url("/"), PAGES.to_string()];
    run_script(
        &server,
        "console.mjs",
        &arguments.each_ref().map(String::as_str),
        "console: ok",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_watched_used_and_ended() {
    let server = TestServer::start_with(&[tools::chromium()]).await;
    let form = "<!doctype html><title>Form</title><main><h1>Form</h1>
        <form onsubmit=\"event.preventDefault(); document.querySelector('output').textContent =
            'Hello ' + document.querySelector('input').value\">
        <label>name <input name=name></label><button>Send</button><output></output></form>
        <p>A form that greets the person who sends it.</p></main>";
    let site = Site::new().page("/", Page::html(form)).serve().await;
    run_script(&server, "console/sessions.mjs", &[&site.url("/")], "sessions: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn maps_crawls_and_batches_work_in_all_views() {
    let server = TestServer::start().await;
    let more = "<!doctype html><title>More</title><main><h1>More</h1><p>What is not to be had.</p>
        <a href=/forbidden/page>forbidden</a> <a href=/gone>gone</a></main>";
    let site = DocsSite::new(PAGES).sitemap().disallow("/forbidden/").build();
    let site = site
        .page("/more", Page::html(more))
        .page("/sitemap.xml", sitemap(&["/", "/more"]))
        .serve()
        .await;
    let slow = DocsSite::new(PAGES)
        .build()
        .delay(Duration::from_secs(2))
        .serve()
        .await;
    // The pages of the site, the page with bad links, and the missing page.
    let pages = (PAGES + 2).to_string();
    let arguments = [site.url("/"), pages, slow.url("/")];
    run_script(
        &server,
        "console/jobs.mjs",
        &arguments.each_ref().map(String::as_str),
        "jobs: ok",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_pages_cannot_run_code_in_the_console_or_stop_it() {
    let server = TestServer::start().await;
    let site = Site::new()
        .page("/scripts", Page::html(SCRIPTS))
        .page("/right-to-left", Page::html(RIGHT_TO_LEFT))
        .page("/table", Page::html(table()))
        .page("/long", Page::html(long()))
        .serve()
        .await;
    let base = site.url("");
    let base = base.trim_end_matches('/');
    let paths = ["/scripts", "/right-to-left", "/table", "/long"];
    let arguments: Vec<&str> = std::iter::once(base).chain(paths).collect();
    run_script(&server, "console/hostile.mjs", &arguments, "hostile pages: ok").await;
    // Each sign-in link works only once, so this needs another server.
    let server = TestServer::start().await;
    let hard = HostileSite::serve().await;
    let base = hard.url("");
    let arguments: Vec<&str> = std::iter::once(base.as_str())
        .chain(HARD_TO_PARSE.iter().copied())
        .collect();
    run_script(&server, "console/hostile.mjs", &arguments, "hostile pages: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_tasks_of_a_new_user_take_few_clicks() {
    let server = TestServer::start_with(&[tools::chromium()]).await;
    let loops: Vec<String> = (0..5).map(|number| format!("/loops/{number}")).collect();
    let mut site = Site::new()
        .graph(&[("/", &["/old", "/cups"]), ("/old", &[])])
        .page(
            "/loops/",
            Page::links("Loops", &loops.iter().map(String::as_str).collect::<Vec<_>>()),
        )
        .page("/cups", Page::html(cups()))
        .page("/members", Page::html(MEMBERS));
    for path in &loops {
        site = site.page(path, Page::redirect(302, path));
    }
    let site = site.serve().await;
    let base = site.url("");
    let base = base.trim_end_matches('/');
    run_script(&server, "console/tasks.mjs", &[base], "tasks: ok").await;
}

fn sitemap(paths: &[&str]) -> Page {
    let addresses = paths
        .iter()
        .map(|path| format!("<url><loc>{{base}}{path}</loc></url>"));
    let text = format!(
        "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}</urlset>",
        addresses.collect::<String>()
    );
    Page::new("application/xml", text)
}

/// Asks for a name with an input in the top left corner, and greets by it from then on.
const MEMBERS: &str = "<!doctype html><title>Sign in</title><main><h1>Members</h1><p>Who are you?</p>
    <form><input style='position:fixed;left:20px;top:20px;width:200px;height:40px'></form></main><script>
    const [form, input] = [document.querySelector('form'), document.querySelector('input')];
    form.onsubmit = (event) => {
        event.preventDefault();
        document.cookie = `name=${input.value};max-age=3600`;
        location.reload();
    };
    const name = /name=(\\w+)/.exec(document.cookie)?.[1];
    if (name) {
        form.remove();
        document.title = `Hello ${name}`;
        document.querySelector('p').textContent = `Welcome, ${name}. These pages are for members only.`;
    }</script>";

/// Returns a page with two products in a list and as structured data.
fn cups() -> String {
    let products = [("Blue cup", "9.50"), ("Red cup", "7.00")];
    let data = products
        .map(|(name, price)| json!({ "@type": "Product", "name": name, "offers": { "price": price } }));
    let rows = products.map(|(name, price)| format!("<tr><td>{name}</td><td>{price}</td></tr>"));
    format!(
        "<title>Cups</title><script type=\"application/ld+json\">{}</script><main><h1>Cups</h1>
        <table><tr><th>Name</th><th>Price</th></tr>{}</table></main>",
        json!(data),
        rows.concat()
    )
}

/// All kinds of active content, and text that could become active content when converted to Markdown and HTML.
const SCRIPTS: &str = "<!doctype html><title>\"><script>harmed=1</script></title>
    <style>* { display: none !important }</style><base href='javascript:harmed=2//'>
    <script>harmed = 3; alert(1)</script><meta http-equiv=refresh content='9;url=https://evil.test/'>
    <main onload='harmed=4' onclick='harmed=5'><h1 id=main>Harm &lt;img src=x onerror=harmed=6&gt;</h1>
    <p>Text &lt;script&gt;harmed=7&lt;/script&gt; &amp;lt;svg onload=harmed=8&amp;gt; <img src=x onerror='harmed=9'>
    <img src='https://evil.test/pixel.png' alt='](javascript:harmed=10)'></p>
    <a href='javascript:harmed=11'>one</a> <a href=' java&#10;script:harmed=12'>two</a>
    <a href='data:text/html,<script>harmed=13</script>'>three</a> <a href='vbscript:x'>four</a>
    <a href='https://evil.test/&quot;onmouseover=harmed=14//'>five</a> <a href='//evil.test/x'>six</a>
    <svg onload='harmed=15'><script>harmed=16</script><a href='javascript:harmed=17'>seven</a></svg>
    <iframe srcdoc='<script>parent.harmed=18</script>'></iframe><object data='javascript:harmed=19'></object>
    <form action='javascript:harmed=20'><button>Send</button></form>
    <p>[eight](javascript:harmed=21) ![nine](https://evil.test/nine.png) &lt;javascript:harmed=22&gt;</p>
    <pre><code class='\" onmouseover=harmed=23 x=\"'>```&lt;/code&gt;&lt;script&gt;harmed=24&lt;/script&gt;</code></pre>
    <p>A page with so much harm in it that something of it would be seen if anything came through.</p></main>";

/// Right-to-left text, and direction marks that would affect the text after them.
const RIGHT_TO_LEFT: &str = "<!doctype html><html dir=rtl lang=ar><title>\u{202e}eltit a\u{202e}</title>
    <main><h1>\u{0645}\u{0631}\u{062d}\u{0628}\u{0627} \u{202e}gnidaeh</h1>
    <p>\u{2067}\u{05e9}\u{05dc}\u{05d5}\u{05dd} \u{202e}https://e.com/txt.exe <a href='/\u{202e}gpj.exe'>link\u{202e}</a></p>
    <p>\u{202d}\u{202e}\u{2066}\u{2067}\u{2068} never closed, and long enough to be the content of a page.</p></main></html>";

/// Returns a table of 100 columns and 2,000 rows.
fn table() -> String {
    let mut html = String::from("<!doctype html><title>Table</title><main><h1>Table</h1><table>");
    for row in 0..2_000 {
        html.push_str("<tr>");
        for column in 0..100 {
            let _ = write!(html, "<td>{}</td>", row * column);
        }
        html.push_str("</tr>");
    }
    html + "</table></main>"
}

/// Returns a page with more than 10 MB of Markdown and a link in every paragraph.
fn long() -> String {
    let mut html = String::from("<!doctype html><title>Long</title><main><h1>Long</h1>");
    for paragraph in 0..52_000 {
        let _ = write!(
            html,
            "<p>{} <a href='/p/{paragraph}'>page</a></p>",
            "word and another word, ".repeat(7)
        );
    }
    html + "</main>"
}
