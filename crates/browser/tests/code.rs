//! Code in live browsers: results, output, timeouts and kills.

#![allow(clippy::unwrap_used)]

#[path = "live/plain.rs"]
mod plain;
#[path = "live/sandboxed.rs"]
mod sandboxed;
#[path = "live/sites.rs"]
mod sites;

use std::time::Duration;

use harvestman_browser::{BrowserError, Execution, LiveBrowser, LiveBrowsers, LiveConfig, Sandbox};
use harvestman_core::api::interact::Language;
use harvestman_core::api::options::ScrapeOptions;

/// Code, stdout, stderr, result, exit code, start of the error.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
    i32,
    &'static str,
);

async fn run(browser: &LiveBrowser, language: Language, code: &str) -> Execution {
    let time = Duration::from_secs(30);
    browser.run(code, language, time).await.unwrap()
}

async fn check(name: &str, language: Language, rows: &[Row]) {
    let browsers = sandboxed::browsers(name).await;
    let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
    for (code, stdout, stderr, result, exit_code, error) in rows {
        let done = run(&browser, language, code).await;
        let found = (
            done.stdout.as_str(),
            done.stderr.as_str(),
            done.result.as_deref(),
            done.exit_code,
            done.killed,
        );
        assert_eq!(
            found,
            (*stdout, *stderr, *result, *exit_code, false),
            "{code}\n{done:?}"
        );
        let said = done.error.unwrap_or_default();
        assert!(
            said.contains(error) && said.is_empty() == error.is_empty(),
            "{code}: {said}"
        );
    }
    browser.end().await;
    browsers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn node_returns_results_as_its_repl_does() {
    #[rustfmt::skip]
    let rows: &[Row] = &[
        ("1 + 1", "", "", Some("2"), 0, ""),
        ("'text'", "", "", Some("text"), 0, ""),
        ("undefined", "", "", None, 0, ""),
        ("const kept = [1, 'ä']; kept", "", "", Some("[1,\"ä\"]"), 0, ""),
        ("kept.length", "", "", Some("2"), 0, ""),
        ("const kept = 'declared again'; kept", "", "", Some("declared again"), 0, ""),
        ("console.log('out', 1); console.error('err'); null", "out 1\n", "err\n", Some("null"), 0, ""),
        ("await page.goto('http://app.test/'); await page.title()", "", "", Some("App"), 0, ""),
        ("await page.locator('h1').innerText()", "", "", Some("Hello"), 0, ""),
        ("return (await page.url())", "", "", Some("http://app.test/"), 0, ""),
        ("let n = 0; for (let i = 0; i < 4; i++) n += i; n", "", "", Some("6"), 0, ""),
        ("({ a: { b: [true, null] } })", "", "", Some("{\"a\":{\"b\":[true,null]}}"), 0, ""),
        ("10n ** 20n", "", "", Some("100000000000000000000n"), 0, ""),
        ("[NaN, 0 / 0][0]", "", "", Some("NaN"), 0, ""),
        ("new Map([['k', 1]])", "", "", Some("Map(1) { 'k' => 1 }"), 0, ""),
        ("throw new TypeError('wrong thing')", "", "", None, 1, "TypeError: wrong thing"),
        ("throw 'a word'", "", "", None, 1, "\"a word\""),
        ("missing.field", "", "", None, 1, "ReferenceError: missing is not defined"),
        ("let let = 1", "", "", None, 1, "SyntaxError"),
        ("await page.click('#no', { timeout: 200 })", "", "", None, 1, "Timeout 200ms exceeded"),
        ("process.stdout.write('a'); process.stdout.write(Buffer.from('b')); require('fs').existsSync('/usr')", "ab", "", Some("true"), 0, ""),
        ("page.title()", "", "", Some("App"), 0, ""),
        ("Promise.reject(new Error('late'))", "", "", None, 1, "Error: late"),
        ("require('child_process').execSync('echo child').toString()", "", "", Some("child\n"), 0, ""),
        ("const fs = require('fs'); const util = require('util'); typeof fs.readFileSync", "", "", Some("function"), 0, ""),
        ("const { chromium } = require('playwright-core'); const text = await page.title(); text", "", "", Some("App"), 0, ""),
        ("const session = 1, commands = 2, connection = 3, run = 4, parse = 5; [session, run]", "", "", Some("[1,4]"), 0, ""),
        ("process.exit(7)", "", "", None, 7, "the code exited with code 7"),
        ("[typeof kept, await page.title()]", "", "", Some("[\"undefined\",\"App\"]"), 0, ""),
        ("process.exit()", "", "", None, 0, ""),
        ("(await page.screenshot()).toString('base64').slice(0, 8)", "", "", Some("iVBORw0K"), 0, ""),
        ("await page.evaluate(() => { onbeforeunload = (event) => event.preventDefault(); }); await page.click('h1'); await page.reload(); await page.title()", "", "", Some("App"), 0, ""),
        ("browser = await browser.close()", "", "", None, 0, ""),
        ("[await page.title(), browser.contexts().length]", "", "", Some("[\"App\",1]"), 0, ""),
    ];
    check("node", Language::Node, rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stack_of_an_error_has_only_the_frames_of_the_code() {
    let browsers = sandboxed::browsers("stack").await;
    let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
    for code in [
        "throw new Error('bad')",
        "function f() { throw new Error('bad'); }\nf()",
    ] {
        let error = run(&browser, Language::Node, code).await.error.unwrap();
        assert!(error.starts_with("Error: bad\n"), "{error}");
        assert!(
            error.lines().skip(1).all(|line| line.contains("<anonymous>:")),
            "{error}"
        );
    }
    browser.end().await;
    browsers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_status_is_a_page_and_code_can_authenticate() {
    #[rustfmt::skip]
    let rows: &[Row] = &[
        ("const status = async (page, url) => (await page.goto(url)).status(); 0", "", "", Some("0"), 0, ""),
        ("await status(page, 'http://app.test/nothing')", "", "", Some("502"), 0, ""),
        ("page.url()", "", "", Some("http://app.test/nothing"), 0, ""),
        ("await status(page, 'http://app.test/secret')", "", "", Some("401"), 0, ""),
        ("await page.locator('p').innerText()", "", "", Some("nothing for you"), 0, ""),
        ("const context = await browser.newContext({ httpCredentials: { username: 'user', password: 'pass' } }); const known = await context.newPage(); await status(known, 'http://app.test/secret')", "", "", Some("200"), 0, ""),
        ("await known.locator('p').innerText()", "", "", Some("the secret"), 0, ""),
        ("await context.close()", "", "", None, 0, ""),
    ];
    check("errors", Language::Node, rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn python_returns_results_as_its_repl_does() {
    #[rustfmt::skip]
    let rows: &[Row] = &[
        ("1 + 1", "", "", Some("2"), 0, ""),
        ("'text'", "", "", Some("text"), 0, ""),
        ("None", "", "", None, 0, ""),
        ("kept = [1, 'ä']\nkept", "", "", Some("[1, \"ä\"]"), 0, ""),
        ("len(kept)", "", "", Some("2"), 0, ""),
        ("import sys\nprint('out', 1)\nprint('err', file=sys.stderr)", "out 1\n", "err\n", None, 0, ""),
        ("await page.goto('http://app.test/')\nawait page.title()", "", "", Some("App"), 0, ""),
        ("await page.locator('h1').inner_text()", "", "", Some("Hello"), 0, ""),
        ("found = page.url\nreturn found", "", "", Some("http://app.test/"), 0, ""),
        ("found", "", "", Some("http://app.test/"), 0, ""),
        ("async def twice(n):\n    return n * 2\nawait twice(21)", "", "", Some("42"), 0, ""),
        ("{'a': (True, None)}", "", "", Some("{\"a\": [true, null]}"), 0, ""),
        ("{1, 2}", "", "", Some("{1, 2}"), 0, ""),
        ("float('nan')", "", "", Some("nan"), 0, ""),
        ("for i in range(3):\n    print(i, end='')", "012", "", None, 0, ""),
        ("raise ValueError('wrong thing')", "", "", None, 1, "ValueError: wrong thing"),
        ("missing", "", "", None, 1, "NameError: name 'missing' is not defined"),
        ("def broken(:", "", "", None, 1, "SyntaxError"),
        ("await page.click('#no', timeout=200)", "", "", None, 1, "Timeout 200ms exceeded"),
        ("await page.evaluate('confirm(1)')", "", "", Some("false"), 0, ""),
        ("import asyncio\npage.once('dialog', lambda dialog: asyncio.ensure_future(dialog.accept()))\nawait page.evaluate('confirm(2)')", "", "", Some("true"), 0, ""),
        ("import subprocess\nsubprocess.check_output(['echo', 'child']).decode()", "", "", Some("child\n"), 0, ""),
        ("import sys\nsys.exit(7)", "", "", None, 7, "the code exited with code 7"),
        ("['kept' in globals(), await page.title()]", "", "", Some("[false, \"App\"]"), 0, ""),
        ("await page.evaluate('onbeforeunload = (event) => event.preventDefault(), 0')\nawait page.click('h1')\nawait page.reload()\nawait page.title()", "", "", Some("App"), 0, ""),
        ("browser = await browser.close()", "", "", None, 0, ""),
        ("[await page.title(), len(browser.contexts)]", "", "", Some("[\"App\", 1]"), 0, ""),
    ];
    check("python", Language::Python, rows).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_times_out_is_killed_and_the_next_call_has_the_same_page() {
    let browsers = sandboxed::browsers("stopped").await;
    let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
    let endless: [(Language, &str); 3] = [
        (
            Language::Node,
            "await page.goto('http://app.test/form'); console.log('begun'); while (true);",
        ),
        (Language::Python, "import time\nprint('begun')\ntime.sleep(300)"),
        (
            Language::Node,
            "console.log('begun'); await page.evaluate(() => { while (true); })",
        ),
    ];
    for (language, code) in endless {
        let killed = browser.run(code, language, Duration::from_secs(2)).await.unwrap();
        assert_eq!(
            (killed.stdout.as_str(), killed.exit_code, killed.killed),
            ("begun\n", 124, true),
            "{killed:?}"
        );
        assert!(killed.error.unwrap().contains("2 s"));
        for (language, title) in [
            (Language::Node, "await page.title()"),
            (Language::Python, "await page.title()"),
        ] {
            let next = run(&browser, language, title).await;
            assert_eq!(next.result.as_deref(), Some("Form"), "{code}: {next:?}");
        }
    }
    browser.end().await;
    browsers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_languages_use_the_most_recently_used_page() {
    let browsers = sandboxed::browsers("turns").await;
    let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
    let steps = [
        (
            Language::Node,
            "await page.goto('http://app.test/'); await page.title()",
            "App",
        ),
        (Language::Python, "await page.title()", "App"),
        // The code makes another page its own.
        (
            Language::Node,
            "page = await context.newPage(); await page.goto('http://app.test/next'); await page.title()",
            "Next",
        ),
        (Language::Python, "await page.title()", "Next"),
        // A link opens a page.
        (
            Language::Python,
            "await page.goto('http://app.test/')\nasync with page.expect_popup() as p:\n    await page.click('#pop')\nawait (await p.value).title()",
            "Popup",
        ),
        (Language::Node, "await page.title()", "Popup"),
        (Language::Node, "await page.close(); 'closed'", "closed"),
        (Language::Python, "await page.title()", "App"),
    ];
    for (language, code, result) in steps {
        let done = run(&browser, language, code).await;
        assert_eq!(done.result.as_deref(), Some(result), "{code}: {done:?}");
    }
    let late = "Promise.reject(new Error('left alone')); await new Promise((r) => setTimeout(r, 20)); 'on'";
    let late = run(&browser, Language::Node, late).await;
    assert_eq!(late.result.as_deref(), Some("on"), "{late:?}");
    assert!(late.stderr.starts_with("Uncaught Error: left alone"), "{late:?}");
    let bash = run(&browser, Language::Bash, "get title").await;
    assert_eq!(bash.stdout.trim(), "App", "{bash:?}");
    browser.end().await;
    browsers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_sandbox_code_runs_only_if_the_operator_allows_it() {
    for allowed in [false, true] {
        let browsers = LiveBrowsers::new(LiveConfig {
            sandbox: Sandbox::Off,
            unsandboxed_code: allowed,
            ..sandboxed::config(&format!("unsandboxed-{allowed}")).await
        });
        let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
        for language in [Language::Node, Language::Python] {
            let code = "await page.goto('http://app.test/')\nawait page.title()";
            let done = browser.run(code, language, Duration::from_secs(30)).await;
            match (allowed, done) {
                (true, Ok(done)) => assert_eq!(done.result.as_deref(), Some("App"), "{done:?}"),
                (false, Err(BrowserError::NotConfigured(reason))) => {
                    assert!(reason.contains("HARVESTMAN_UNSANDBOXED_CODE"), "{reason}");
                }
                (_, other) => panic!("{other:?}"),
            }
        }
        browser.end().await;
        browsers.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_language_is_named_with_the_fix() {
    let browsers = LiveBrowsers::new(LiveConfig {
        node_modules: vec![],
        python: None,
        ..sandboxed::config("languages").await
    });
    let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
    for (language, word) in [
        (Language::Node, "playwright-core"),
        (Language::Python, "HARVESTMAN_PYTHON"),
    ] {
        let refused = browser
            .run("1", language, Duration::from_secs(30))
            .await
            .unwrap_err();
        let said = refused.to_string();
        assert!(matches!(refused, BrowserError::NotConfigured(_)), "{said}");
        assert!(said.contains(language.as_str()) && said.contains(word), "{said}");
    }
    browser.end().await;
    browsers.stop().await;
}
