//! Browser commands in a real Chromium, on pages of this test.

#![allow(clippy::unwrap_used)]

#[path = "live/plain.rs"]
mod plain;
#[path = "live/sites.rs"]
mod sites;

use std::time::Duration;

use harvestman_browser::{Execution, LiveBrowser, LiveBrowsers};
use harvestman_core::api::interact::Language;
use harvestman_core::api::options::ScrapeOptions;
use tokio::time::Instant;

struct Desk {
    browsers: LiveBrowsers,
    browser: LiveBrowser,
}

impl Desk {
    /// Opens a browser with the desk page.
    async fn open(name: &str) -> Desk {
        let browsers = LiveBrowsers::new(plain::config(&format!("desk-{name}")));
        let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
        let desk = Desk { browsers, browser };
        desk.run_ok("open http://app.test/desk").await;
        desk
    }

    async fn run(&self, script: &str, seconds: u64) -> Execution {
        let time = Duration::from_secs(seconds);
        self.browser.run(script, Language::Bash, time).await.unwrap()
    }

    /// Runs a script that must succeed and returns its output.
    #[track_caller]
    fn run_ok<'a>(&'a self, script: &'a str) -> impl Future<Output = String> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let done = self.run(script, 60).await;
            assert_eq!(
                (done.exit_code, done.stderr.as_str()),
                (0, ""),
                "{script} at {caller}"
            );
            assert!(!done.killed && done.error.is_none());
            done.stdout
        }
    }

    /// Runs a script that must fail with an error that contains `words`.
    async fn run_err(&self, script: &str, words: &str) {
        let done = self.run(script, 60).await;
        assert_eq!(
            (done.exit_code, done.killed),
            (1, false),
            "{script}: {}",
            done.stdout
        );
        assert_eq!(done.stderr.trim_end(), done.error.unwrap(), "{script}");
        assert!(done.stderr.contains(words), "{script}: {}", done.stderr);
    }

    /// Returns the reference in the snapshot line that contains these words.
    async fn reference(&self, words: &str) -> String {
        let snapshot = self.run_ok("snapshot").await;
        let line = snapshot.lines().find(|line| line.contains(words));
        let line = line.unwrap_or_else(|| panic!("no {words} in {snapshot}"));
        let name = line.split("ref=").nth(1).unwrap().split(']').next().unwrap();
        format!("@{name}")
    }

    async fn end(self) {
        self.browser.end().await;
        self.browsers.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_by_references() {
    let desk = Desk::open("form").await;
    let snapshot = desk.run_ok("snapshot -i").await;
    assert!(
        snapshot.contains("- textbox \"Email\" [ref=e1]: old"),
        "{snapshot}"
    );
    assert!(!snapshot.contains("Order desk"), "{snapshot}");
    let full = desk.run_ok("agent-browser snapshot").await;
    assert!(
        full.contains("- heading \"Order desk\" [level=1, ref=e1]"),
        "{full}"
    );
    assert!(full.contains("- paragraph: Only two tickets are left."), "{full}");
    assert!(full.contains("- button \"Pay\" [disabled, ref="), "{full}");
    let (email, color) = (
        desk.reference("\"Email\"").await,
        desk.reference("\"Color\"").await,
    );
    let (keep, day) = (
        desk.reference("\"Remember me\"").await,
        desk.reference("\"Day\"").await,
    );
    let (notes, send) = (
        desk.reference("\"Notes\"").await,
        desk.reference("\"Send\"").await,
    );
    let script = format!(
        "# the order\nfill {email} 'a@b.c' && select {color} blue\n\ncheck {keep}\ncheck {keep}\n\
         fill {day} 2026-11-21\ntype {notes} 'äx'\nclick {send}\nwait --text 'Hello a@b.c'\nget text #answer"
    );
    let output = desk.run_ok(&script).await;
    assert!(output.ends_with("Hello a@b.c, b, true, 2026-11-21\n"), "{output}");
    assert!(output.contains("✓ Selected Blue"), "{output}");
    assert_eq!(desk.run_ok(&format!("get value {notes}")).await, "äx\n");
    assert_eq!(desk.run_ok("get title").await, "Typing a@b.c\n");
    assert_eq!(desk.run_ok("get attr #color data-seen").await, "b\n");
    assert_eq!(
        desk.run_ok(&format!(
            "is checked {keep} && uncheck {keep} && is checked {keep}"
        ))
        .await,
        "true\n✓ Done\nfalse\n"
    );
    // Fill the form again, using labels and the keyboard.
    let script = "find label Email fill x && press Enter && wait --text 'Hello x' && fill #letter Sir && get text #letter";
    assert!(desk.run_ok(script).await.ends_with("Sir\n"));
    let pay = desk.reference("\"Pay\"").await;
    desk.run_err(&format!("click {pay}"), "(button \"Pay\") is disabled")
        .await;
    desk.run_err(&format!("select {color} green"), "options: `Red`, `Blue`")
        .await;
    desk.run_err(&format!("fill {send} x"), "does not accept text")
        .await;
    desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_are_found_by_every_property() {
    let desk = Desk::open("ways").await;
    for (script, answer) in [
        ("click text=Far\\ below && get text #answer", "low"),
        (
            "find role button click --name shadow && get text #answer",
            "shadow pressed",
        ),
        ("click 'text=in the shadow' && get text #answer", "shadow pressed"),
        ("find testid go && get text #answer", "gone on"),
        ("find title 'Go on' click && get text #answer", "gone on"),
        ("dblclick #twice && get text #twice", "twice"),
        ("hover #menu && get text #menu", "open"),
        ("click #warn && wait --text warned && get text output", "warned"),
        (
            "find placeholder you@ fill z && get value 'xpath=//input[1]'",
            "z",
        ),
        (
            "find label notes focus && keyboard type 'a b' && press Backspace && get value textarea",
            "a ",
        ),
        ("get count option", "2"),
        ("find nth 1 option text", "Blue"),
        ("is visible h1", "true"),
        ("is enabled 'button[disabled]'", "false"),
        ("get html dt", "Weight:"),
        ("eval '1 + 1'", "2"),
        ("eval \"({a: [1]})\"", "{\"a\":[1]}"),
        ("eval 'const x = 5; return x'", "5"),
        ("read price", "12 €"),
        ("read the weight", "3 kg"),
        ("read email", "z"),
        ("read heading", "Order desk"),
        ("read tickets", "Only two tickets are left."),
        ("scroll down 700 && eval scrollY", "700"),
        ("scroll up 200px && eval scrollY", "500"),
        ("scrollintoview h1 && eval scrollY", "0"),
        (
            "wait 10 && wait h1 && wait --fn 'window.mail' && wait --load networkidle && get url",
            "http://app.test/desk",
        ),
    ] {
        let output = desk.run_ok(script).await;
        assert_eq!(output.lines().last().unwrap(), answer, "{script}: {output}");
    }
    desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_element_that_only_looks_clickable_gets_a_reference() {
    let desk = Desk::open("looks").await;
    let snapshot = desk.run_ok("snapshot -i").await;
    assert!(
        snapshot.contains("- clickable \"Press me twice\" ["),
        "{snapshot}"
    );
    assert_eq!(snapshot.matches("- clickable").count(), 2, "{snapshot}");
    let looks = desk.reference("- clickable \"Only looks so\"").await;
    assert!(
        desk.run_ok(&format!("click {looks} && get text #answer"))
            .await
            .ends_with("looked clickable\n")
    );
    desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_are_part_of_the_page() {
    let desk = Desk::open("frames").await;
    let near = desk.reference("\"Near frame\"").await;
    desk.run_ok(&format!("click {near}")).await;
    let snapshot = desk.run_ok("snapshot").await;
    assert!(snapshot.contains("\"pressed near\""), "{snapshot}");
    let far = desk.reference("\"Far frame\"").await;
    desk.run_ok(&format!("click {far}")).await;
    let snapshot = desk.run_ok("snapshot").await;
    assert!(snapshot.contains("\"pressed far\""), "{snapshot}");
    desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn history_and_tabs_are_navigated() {
    let desk = Desk::open("pages").await;
    let next = desk.reference("\"Next page\"").await;
    assert_eq!(
        desk.run_ok(&format!("click {next} && get title")).await,
        "✓ Done\nNext desk\n"
    );
    desk.run_err(&format!("click {next}"), "no longer open; take a new snapshot")
        .await;
    assert_eq!(desk.run_ok("back").await, "✓ Desk\n  http://app.test/desk\n");
    assert_eq!(
        desk.run_ok("forward").await,
        "✓ Next desk\n  http://app.test/desk-next\n"
    );
    desk.run_err("forward", "no page to go forward to").await;
    assert!(desk.run_ok("reload").await.contains("Next desk"));
    desk.run_ok("back").await;
    // A link that opens a tab, which becomes the current one.
    desk.run_ok("click 'text=New window' && wait --url '**/popup' && wait --load load")
        .await;
    let tabs = desk.run_ok("tab").await;
    assert_eq!(
        tabs,
        "  [1] Desk - http://app.test/desk\n→ [2] Popup - http://app.test/popup\n"
    );
    assert_eq!(
        desk.run_ok("tab 1 && get title").await.lines().last().unwrap(),
        "Desk"
    );
    desk.run_err("tab 5", "no tab 5").await;
    let one = desk.run_ok("tab close 2").await;
    assert_eq!(one, "→ [1] Desk - http://app.test/desk\n");
    assert!(
        desk.run_ok("tab new http://app.test/next && get title")
            .await
            .ends_with("Next\n")
    );
    assert!(desk.run_ok("tab close").await.contains("→ [1] Desk"));
    desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_ends_at_its_first_failure() {
    let desk = Desk::open("failure").await;
    let done = desk.run("get title\n\nclick @e99\nget title", 60).await;
    assert_eq!((done.exit_code, done.killed), (1, false));
    assert_eq!(done.stdout, "Desk\n");
    assert_eq!(
        done.stderr,
        "line 3: @e99 is unknown: no snapshot has been taken; take a new snapshot for new references\n"
    );
    desk.run_ok("snapshot").await;
    desk.run_err("click @e999", "not in the last snapshot").await;
    desk.run_err("get title | cat", "not a system shell").await;
    desk.run_err("cat /etc/passwd", "unknown command `cat`").await;
    desk.run_err("open file:///etc/passwd", "only http and https")
        .await;
    desk.run_err("eval 'nothing.there'", "nothing is not defined")
        .await;
    desk.run_err("click 'a[['", "not a valid selector").await;
    desk.run_err("wait .never --timeout 100", "was not met in time")
        .await;
    let gone = desk.reference("\"Send\"").await;
    desk.run_ok("eval \"document.querySelector('form').remove()\"")
        .await;
    desk.run_err(&format!("click {gone}"), "no longer on the page")
        .await;
    // Output from before the timeout is kept.
    let begun = Instant::now();
    let done = desk.run("get title\nwait 60000\nget title", 1).await;
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(
        (done.exit_code, done.killed, done.stdout.as_str()),
        (124, true, "Desk\n")
    );
    assert!(done.stderr.starts_with("line 2: "));
    assert_eq!(desk.run_ok("get title").await, "Desk\n");
    desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_blocks_its_page_is_terminated() {
    let desk = Desk::open("busy").await;
    let busy = "eval 'for (;;) {}'";
    let clicked = "eval \"answer.onclick = () => { for (;;) {} }; answer.textContent = 1\"\nclick #answer";
    let promise = "eval 'new Promise(() => {})'";
    for script in [busy, clicked, promise, busy] {
        let done = desk.run(script, 2).await;
        assert_eq!(
            (done.exit_code, done.killed),
            (124, true),
            "{script}: {}",
            done.stderr
        );
        assert_eq!(
            desk.run_ok("get title && eval '1 + 1'").await,
            "Desk\n2\n",
            "{script}"
        );
    }
    desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_screenshot_is_printed() {
    let desk = Desk::open("picture").await;
    let png = desk.run_ok("screenshot").await;
    assert!(png.starts_with("data:image/png;base64,iVBOR"), "{}", &png[..40]);
    let jpeg = desk.run_ok("screenshot --full page.jpg").await;
    assert!(jpeg.starts_with("data:image/jpeg;base64,/9j/"), "{}", &jpeg[..40]);
    desk.end().await;
}
