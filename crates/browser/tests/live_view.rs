//! The live view of a browser in a real Chromium: what it shows, and input.

#![allow(clippy::unwrap_used)]

#[path = "live/plain.rs"]
mod plain;
#[path = "live/sites.rs"]
mod sites;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use harvestman_browser::{
    CdpClient, Frame, Input, LiveBrowser, LiveBrowsers, LiveView, Point, Reply, Tabs, ViewUpdate, Viewer,
    limits,
};
use harvestman_core::api::options::ScrapeOptions;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Kills the renderer processes of the browser in this folder.
fn kill_renderers(folder: &Path) {
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let processes: Vec<(u32, u32, String)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let id = path.file_name()?.to_str()?.parse().ok()?;
            let status = read(path.join("status"));
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
            Some((id, parent.trim().parse().ok()?, read(path.join("cmdline"))))
        })
        .collect();
    let ours = |mut id: u32| loop {
        match processes.iter().find(|(known, ..)| *known == id) {
            Some((.., line)) if line.contains(folder.to_str().unwrap()) => return true,
            Some((_, parent, _)) => id = *parent,
            None => return false,
        }
    };
    let renderers = processes
        .iter()
        .filter(|(id, _, line)| line.contains("--type=renderer") && ours(*id));
    let renderers: Vec<u32> = renderers.map(|(id, ..)| *id).collect();
    assert!(!renderers.is_empty());
    for id in renderers {
        kill_process(Pid::from_raw(id.cast_signed()).unwrap(), Signal::KILL).unwrap();
    }
}

/// Longest time that any step may take.
const PATIENCE: Duration = Duration::from_secs(30);

const PAGE: &str = "data:text/html,<title>The page</title><style>body *{position:fixed;margin:0}
    button{left:10px;top:10px;width:100px;height:40px} input{left:10px;top:60px;width:200px;height:30px}
    select{left:10px;top:100px;width:100px;height:30px} a{left:10px;top:150px} body{height:3000px}</style>
    <button onclick=\"this.textContent='clicked '+event.detail;document.body.style.background='green'\">Go</button>
    <input oninput=\"document.title=this.value\"><select onchange=\"document.title='chose '+this.value\">
    <option value=a>First<option value=b>Second<optgroup label=More><option value=c>Third<option disabled>No</optgroup></select>
    <a target=_blank href='http://app.test/popup'>another</a>";

struct TestView {
    folder: PathBuf,
    browsers: LiveBrowsers,
    browser: LiveBrowser,
    client: CdpClient,
    view: LiveView,
}

impl TestView {
    async fn start(name: &str) -> TestView {
        let config = plain::config(&format!("view-{name}"));
        let folder = config.folder.clone();
        let browsers = LiveBrowsers::new(config);
        let browser = browsers.open(&ScrapeOptions::default()).await.unwrap();
        let targets = browser.cdp_targets("").await.unwrap();
        let client = browser.client(targets[0]["id"].as_str()).await.unwrap();
        let view = browser.live_view();
        let mut test_view = TestView {
            folder,
            browsers,
            browser,
            client,
            view,
        };
        test_view.call("Page.navigate", json!({"url": PAGE})).await;
        test_view.until("document.title", "The page").await;
        test_view
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let command = json!({"id": 7, "method": method, "params": params});
        self.client.send(&command.to_string()).await.unwrap();
        loop {
            let message = timeout(PATIENCE, self.client.recv()).await.unwrap().unwrap();
            let mut message: Value = serde_json::from_str(&message).unwrap();
            if message["id"] == 7 {
                return message["result"].take();
            }
        }
    }

    async fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        self.call("Runtime.evaluate", params).await["result"]["value"].take()
    }

    async fn until(&mut self, expression: &str, expected: &str) {
        let reached = timeout(PATIENCE, async {
            while self.value(expression).await != expected {}
        });
        assert!(reached.await.is_ok(), "{expression} is not {expected}");
    }

    async fn input(&self, input: Value) -> Option<Reply> {
        let input: Input = serde_json::from_value(input).unwrap();
        self.view.input(input).await.unwrap()
    }

    /// Clicks at a point of the page and returns the reply to the mouse press.
    async fn click(&self, frame: &Frame, (x, y): (f64, f64)) -> Option<Reply> {
        let (x, y) = (x / frame.size.0, y / frame.size.1);
        let mouse = |kind: &str, buttons: u8| json!({"type": "mouse", "kind": kind, "x": x, "y": y, "buttons": buttons, "clicks": 1});
        self.input(mouse("move", 0)).await;
        let reply = self.input(mouse("down", 1)).await;
        self.input(mouse("up", 0)).await;
        reply
    }

    async fn end(self) {
        self.browser.end().await;
        self.browsers.stop().await;
    }
}

async fn next_update(viewer: &mut Viewer) -> ViewUpdate {
    timeout(PATIENCE, viewer.next()).await.unwrap().unwrap()
}

async fn frame(viewer: &mut Viewer) -> Arc<Frame> {
    loop {
        if let ViewUpdate::Frame(frame) = next_update(viewer).await {
            return frame;
        }
    }
}

async fn tabs(viewer: &mut Viewer, wanted: impl Fn(&Tabs) -> bool) -> Arc<Tabs> {
    loop {
        if let ViewUpdate::Tabs(tabs) = next_update(viewer).await
            && wanted(&tabs)
        {
            return tabs;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_viewer_sees_the_page_and_its_changes() {
    let test_view = TestView::start("sees").await;
    let mut first = test_view.view.watch(false).unwrap();
    let before = frame(&mut first).await;
    assert!(before.jpeg.starts_with(b"\xff\xd8\xff"), "a JPEG");
    assert_eq!(before.size.0, 1280.0);
    // Nothing changes, and a second viewer still gets the page.
    let mut second = test_view.view.watch(false).unwrap();
    assert!(frame(&mut second).await.jpeg.starts_with(b"\xff\xd8\xff"));
    test_view.click(&before, (50.0, 30.0)).await;
    for viewer in [&mut first, &mut second] {
        while frame(viewer).await.jpeg == before.jpeg {}
    }
    // A viewer that comes after all others have left gets it as well.
    drop((first, second));
    let mut third = test_view.view.watch(false).unwrap();
    assert_ne!(frame(&mut third).await.jpeg, before.jpeg);
    // The number of viewers is limited.
    let others: Vec<_> = (1..limits::MAX_VIEWERS)
        .map(|_| test_view.view.watch(false).unwrap())
        .collect();
    assert!(test_view.view.watch(false).is_none());
    drop(others);
    assert!(test_view.view.watch(false).is_some());
    test_view.end().await;
    while timeout(PATIENCE, third.next()).await.unwrap().is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn mouse_keys_text_and_select_lists_work() {
    let mut test_view = TestView::start("works").await;
    let mut viewer = test_view.view.watch(false).unwrap();
    let shown = frame(&mut viewer).await;
    let used = test_view.browser.last_used();

    test_view.click(&shown, (50.0, 30.0)).await;
    test_view
        .until("document.querySelector('button').textContent", "clicked 1")
        .await;
    assert!(test_view.browser.last_used() > used);

    test_view.click(&shown, (50.0, 75.0)).await;
    for (key, code, number) in [
        ("a", "KeyA", 65),
        ("B", "KeyB", 66),
        ("Backspace", "Backspace", 8),
    ] {
        for kind in ["down", "up"] {
            let key = json!({"type": "key", "kind": kind, "key": key, "code": code, "keyCode": number});
            test_view.input(key).await;
        }
    }
    test_view.until("document.title", "a").await;
    test_view
        .input(json!({"type": "text", "text": " – ä 漢 🦀"}))
        .await;
    test_view.until("document.title", "a – ä 漢 🦀").await;
    let all =
        json!({"type": "key", "kind": "down", "key": "a", "code": "KeyA", "keyCode": 65, "modifiers": 2});
    test_view.input(all).await;
    // The key may still be on its way to the page when the text is requested.
    let expected = Some(Reply::Copied {
        text: "a – ä 漢 🦀".to_owned(),
    });
    let copied = timeout(PATIENCE, async {
        while test_view.input(json!({"type": "copy"})).await != expected {}
    });
    assert!(copied.await.is_ok(), "the selected text is not copied");

    let Some(Reply::Select(list)) = test_view.click(&shown, (50.0, 115.0)).await else {
        panic!("no select list");
    };
    let labels: Vec<_> = list
        .options
        .iter()
        .map(|o| (&*o.label, &*o.group, o.disabled))
        .collect();
    let expected = [
        ("First", "", false),
        ("Second", "", false),
        ("Third", "More", false),
        ("No", "More", true),
    ];
    assert_eq!(labels, expected);
    assert_eq!(list.selected, 0);
    let near = |point: Point, x: f64, y: f64| {
        (point.x * shown.size.0 - x).abs() < 1.0 && (point.y * shown.size.1 - y).abs() < 1.0
    };
    assert!(
        near(list.at, 10.0, 100.0) && near(list.size, 100.0, 30.0),
        "{list:?}"
    );
    test_view.input(json!({"type": "choose", "index": 3})).await;
    test_view.input(json!({"type": "choose", "index": 2})).await;
    test_view.until("document.title", "chose c").await;

    test_view
        .input(json!({"type": "wheel", "x": 0.5, "y": 0.5, "dx": 0, "dy": 300}))
        .await;
    test_view.until("String(scrollY > 0)", "true").await;
    test_view.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_are_listed_selected_and_closed_and_history_is_navigated() {
    let mut test_view = TestView::start("tabs").await;
    let mut viewer = test_view.view.watch(false).unwrap();
    let mut list = test_view.view.watch(false).unwrap();
    let shown = frame(&mut viewer).await;
    let first = tabs(&mut list, |tabs| tabs.tabs[0].title == "The page").await;
    assert_eq!((first.tabs.len(), &first.tabs[0].id), (1, &first.current));

    test_view.click(&shown, (30.0, 158.0)).await;
    let two = tabs(&mut list, |tabs| {
        tabs.tabs.len() == 2 && tabs.tabs[1].title == "Popup"
    })
    .await;
    assert_eq!(two.current, two.tabs[1].id);
    while frame(&mut viewer).await.jpeg == shown.jpeg {}

    test_view.input(json!({"type": "tab", "id": first.current})).await;
    tabs(&mut list, |tabs| tabs.current == first.current).await;
    test_view
        .input(json!({"type": "closeTab", "id": two.current}))
        .await;
    tabs(&mut list, |tabs| tabs.tabs.len() == 1).await;

    test_view
        .input(json!({"type": "go", "url": "http://app.test/shop"}))
        .await;
    tabs(&mut list, |tabs| tabs.tabs[0].url == "http://app.test/shop").await;
    test_view.input(json!({"type": "back"})).await;
    test_view.until("location.protocol", "data:").await;
    test_view.input(json!({"type": "forward"})).await;
    test_view.until("location.host", "app.test").await;
    for refused in [
        "file:///etc/passwd",
        "chrome://version",
        "javascript:document.title='x'",
    ] {
        let reply = test_view.input(json!({"type": "go", "url": refused})).await;
        assert!(matches!(reply, Some(Reply::Notice { .. })), "{refused}");
    }
    test_view.until("location.host", "app.test").await;
    test_view.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_waits_for_a_viewer_who_may_answer_it() {
    let mut test_view = TestView::start("dialog").await;
    let viewer = test_view.view.watch(false).unwrap();
    // For viewers without control, dialogs are dismissed soon.
    let prompt_script =
        json!({"expression": "setTimeout(() => { document.title = 'said ' + prompt('Your name?', 'Ada') })"});
    test_view.call("Runtime.evaluate", prompt_script.clone()).await;
    test_view.until("document.title", "said null").await;
    drop(viewer);

    let mut viewer = test_view.view.watch(true).unwrap();
    test_view.call("Runtime.evaluate", prompt_script).await;
    let tabs = tabs(&mut viewer, |tabs| tabs.dialog.is_some()).await;
    let dialog = tabs.dialog.as_ref().unwrap();
    assert_eq!(
        (&*dialog.kind, &*dialog.message, &*dialog.text),
        ("prompt", "Your name?", "Ada")
    );
    tokio::time::sleep(2 * limits::DIALOG_TIMEOUT).await;
    test_view
        .input(json!({"type": "dialog", "accept": true, "text": "Grace"}))
        .await;
    test_view.until("document.title", "said Grace").await;
    test_view.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_renderer_was_killed_is_shown_again() {
    let test_view = TestView::start("killed").await;
    let shows = |tabs: &Tabs, title: &str| tabs.tabs.iter().any(|tab| tab.title == title);
    let mut viewer = test_view.view.watch(true).unwrap();
    let mut list = test_view.view.watch(false).unwrap();
    test_view
        .input(json!({"type": "go", "url": "http://app.test/next"}))
        .await;
    let before = tabs(&mut list, |tabs| shows(tabs, "Next")).await;
    kill_renderers(&test_view.folder);
    let after = tabs(&mut list, |tabs| {
        tabs.current != before.current && shows(tabs, "Next")
    })
    .await;
    assert_eq!(after.tabs.len(), 1);
    frame(&mut viewer).await;
    test_view
        .input(json!({"type": "go", "url": "http://app.test/form"}))
        .await;
    tabs(&mut list, |tabs| shows(tabs, "Form")).await;
    test_view.end().await;
}
