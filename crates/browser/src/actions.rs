//! Runs the actions of a scrape, one after the other, after the page has loaded and before its content is
//! read (docs/API.md section 4.4).

use harvestman_core::api::action::{Action, ScrollDirection};
use harvestman_core::api::page::{CapturedHtml, JavascriptReturn};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cdp::text;
use crate::error::BrowserError;
use crate::keys::Key;
use crate::limits;
use crate::page::{self, Page, World};
use crate::picture::{self, Picture};
use crate::pointer;
use crate::visitor::Visitor;

/// How the browser rejects a `return` outside of a function.
const ILLEGAL_RETURN: &str = "SyntaxError: Illegal return statement";
/// How the browser reports a value that has no JSON text.
const NOT_JSON: [&str; 2] = [
    "Object reference chain is too long",
    "Object couldn't be returned by value",
];

/// Results of actions, each kind in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ActionResults {
    /// Results of `screenshot`.
    pub screenshots: Vec<Picture>,
    /// Results of `scrape`.
    pub scrapes: Vec<CapturedHtml>,
    /// Results of `executeJavascript`.
    pub javascript_returns: Vec<JavascriptReturn>,
    /// Results of `pdf`, as PDF files.
    pub pdfs: Vec<Vec<u8>>,
}

/// Runs the actions in order. The first failure ends the scrape with an error that names the action's index
/// and type.
pub(crate) async fn run(
    page: &Page,
    visitor: &Visitor,
    actions: &[Action],
    deadline: Instant,
) -> Result<ActionResults, BrowserError> {
    let mut results = ActionResults::default();
    for (index, action) in actions.iter().enumerate() {
        let result = run_action(page, visitor, action, &mut results, deadline).await;
        result.map_err(|error| match error {
            BrowserError::Refused { reason, .. } => BrowserError::Action {
                index,
                kind: action.kind(),
                reason,
            },
            BrowserError::Timeout if matches!(action, Action::WaitFor { .. }) => BrowserError::Action {
                index,
                kind: action.kind(),
                reason: "the element did not become visible in time".to_owned(),
            },
            other => other,
        })?;
    }
    Ok(results)
}

async fn run_action(
    page: &Page,
    visitor: &Visitor,
    action: &Action,
    results: &mut ActionResults,
    deadline: Instant,
) -> Result<(), BrowserError> {
    match action {
        Action::WaitTime { milliseconds } => {
            let time = std::time::Duration::from_millis(*milliseconds);
            page.sleep(time, deadline).await
        }
        Action::WaitFor { selector } => wait_for(page, selector, deadline).await,
        Action::Click { selector, all } => click(page, selector, *all, deadline).await,
        Action::Write { text } => write(page, text, deadline).await,
        Action::Press { key } => {
            let Some(key) = Key::parse(key) else {
                return Err(rejected(format!("unknown key `{key}`")));
            };
            key.press(page.session()).await?;
            page.after_input(deadline).await
        }
        Action::Scroll { direction, selector } => {
            scroll(page, *direction, selector.as_deref(), deadline).await
        }
        Action::Screenshot(wanted) => {
            let screenshot = picture::take(page, visitor, wanted, deadline).await?;
            results.screenshots.push(screenshot);
            Ok(())
        }
        Action::Scrape => {
            let content = page.content(deadline).await?;
            results.scrapes.push(CapturedHtml {
                url: content.url,
                html: content.html,
            });
            Ok(())
        }
        Action::ExecuteJavascript { script } => {
            results
                .javascript_returns
                .push(execute(page, script, deadline).await?);
            page.after_input(deadline).await
        }
        Action::Pdf {
            format,
            landscape,
            scale,
        } => {
            let pdf = picture::print(page, *format, *landscape, *scale, deadline).await?;
            results.pdfs.push(pdf);
            Ok(())
        }
    }
}

/// Calls one of this crate's own JavaScript functions, with arguments as JSON.
async fn call(
    page: &Page,
    function: &str,
    arguments: Value,
    deadline: Instant,
) -> Result<Value, BrowserError> {
    let expression = format!("({function})(...{arguments})");
    page.evaluate(&expression, World::Isolated, deadline).await
}

async fn wait_for(page: &Page, selector: &str, deadline: Instant) -> Result<(), BrowserError> {
    const VISIBLE: &str = "(selector) => [...document.querySelectorAll(selector)].some((e) => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0)";
    loop {
        let visible = match call(page, VISIBLE, json!([selector]), deadline).await {
            // The document may be replaced by another at this moment.
            Err(BrowserError::Refused { reason, .. }) if !reason.contains("SyntaxError") => Value::Null,
            other => other?,
        };
        if visible == Value::Bool(true) {
            return Ok(());
        }
        page.sleep(limits::POLL, deadline).await?;
    }
}

/// Clicks at the position where the element is visible, with mouse events; an element without such a position
/// is clicked by script. Matches that are gone when their turn comes are left out.
async fn click(page: &Page, selector: &str, all: bool, deadline: Instant) -> Result<(), BrowserError> {
    const FIND: &str = include_str!("actions/find.js");
    const MATCH: &str = include_str!("actions/match.js");
    const POINT: &str = include_str!("actions/point.js");
    let point = format!(
        "(selector, index) => {{ const found = ({MATCH})(selector, index); return found ? ({POINT})(found) : null; }}"
    );
    let found = call(page, FIND, json!([selector]), deadline).await?;
    let found = usize::try_from(found.as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
    if found == 0 && !all {
        return Err(rejected(format!("no element matches `{selector}`")));
    }
    let wanted = if all { found.min(limits::MAX_CLICKS) } else { 1 };
    for index in 0..wanted {
        let point = call(page, &point, json!([selector, index]), deadline).await?;
        if let (Some(x), Some(y)) = (point["x"].as_f64(), point["y"].as_f64()) {
            pointer::click(page.session(), x, y, 1, deadline).await?;
        }
        page.after_input(deadline).await?;
    }
    Ok(())
}

/// Types a text into the focused element, key by key.
pub(crate) async fn write(page: &Page, words: &str, deadline: Instant) -> Result<(), BrowserError> {
    let mut buffer = [0; 4];
    for character in words.chars() {
        if Instant::now() > deadline {
            return Err(BrowserError::Timeout);
        }
        if let Some(key) = Key::character(character.encode_utf8(&mut buffer)) {
            key.press(page.session()).await?;
        }
    }
    page.after_input(deadline).await
}

async fn scroll(
    page: &Page,
    direction: ScrollDirection,
    selector: Option<&str>,
    deadline: Instant,
) -> Result<(), BrowserError> {
    const SCROLL: &str = include_str!("actions/scroll.js");
    let sign = match direction {
        ScrollDirection::Up => -1,
        ScrollDirection::Down => 1,
    };
    let found = call(page, SCROLL, json!([selector, sign]), deadline).await?;
    if found != Value::Bool(true) {
        let selector = selector.unwrap_or_default();
        return Err(rejected(format!("no element matches `{selector}`")));
    }
    page.sleep(limits::AFTER_INPUT, deadline).await?;
    page.wait_until_idle(deadline).await
}

/// Runs a script and returns the value of its last expression, or of its `return` statement; promises are awaited. A
/// value that JSON cannot represent, such as a window, is null.
pub(crate) async fn execute(
    page: &Page,
    script: &str,
    deadline: Instant,
) -> Result<JavascriptReturn, BrowserError> {
    let mut result = evaluate(page, script, deadline).await;
    if matches!(&result, Err(BrowserError::Refused { reason, .. }) if reason == ILLEGAL_RETURN) {
        let body = format!("(async () => {{\n{script}\n}})()");
        result = evaluate(page, &body, deadline).await;
    }
    let result = result?;
    if result.value.to_string().len() > limits::MAX_SCRIPT_VALUE_BYTES {
        return Err(rejected(
            "the value of the script is larger than 1 MiB".to_owned(),
        ));
    }
    Ok(result)
}

/// Evaluates a script as a console does: it may contain `await`, and declare names of an earlier script again.
async fn evaluate(page: &Page, script: &str, deadline: Instant) -> Result<JavascriptReturn, BrowserError> {
    let params = json!({"expression": script, "replMode": true, "userGesture": true});
    let response = page
        .session()
        .call_until("Runtime.evaluate", params, deadline)
        .await?;
    let mut result = page::value(response)?;
    if let Some(object) = result["objectId"].as_str() {
        // Objects have no value yet, and a promise has not been awaited.
        let params = json!({
            "objectId": object,
            "functionDeclaration": "async function () { 'use strict'; return this; }",
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        let object = json!({"objectId": object});
        let by_value = page
            .session()
            .call_until("Runtime.callFunctionOn", params, deadline)
            .await;
        page.session().post("Runtime.releaseObject", object);
        match by_value {
            Err(BrowserError::Refused { reason, .. }) if NOT_JSON.contains(&reason.as_str()) => {}
            response => result = page::value(response?)?,
        }
    }
    Ok(JavascriptReturn {
        kind: text(&result, "type"),
        value: result["value"].take(),
    })
}

fn rejected(reason: String) -> BrowserError {
    BrowserError::Refused {
        command: String::new(),
        reason,
    }
}
