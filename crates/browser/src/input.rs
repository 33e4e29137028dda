//! Input of a viewer for a live browser: mouse, keys, text, select lists, tabs, URLs.
//!
//! Input goes to the current page as native input events. Mouse positions are relative to the picture, 0 to 1
//! in both directions, so that viewers need not know the page's size. The browser does not paint open select
//! lists in screencasts, so the viewer gets the options and draws the list.

mod messages;

use harvestman_core::api::url_field::with_scheme;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use crate::cdp::text;
use crate::error::BrowserError;
use crate::limits;
use crate::page::{Page, World};
use crate::screencast::LiveView;

pub use messages::{Input, KeyInput, KeyKind, MouseInput, MouseKind, Point, Reply, SelectList, SelectOption};

#[derive(Deserialize)]
struct SelectAtPoint {
    options: Vec<SelectOption>,
    selected: i64,
    #[serde(rename = "box")]
    bounds: [f64; 4],
}

impl LiveView {
    /// Sends an input to the current page. Does not wait for the page, except where its response is needed.
    ///
    /// # Errors
    /// If the browser is gone.
    pub async fn input(&self, input: Input) -> Result<Option<Reply>, BrowserError> {
        self.browser.touch();
        let page = self.browser.page().await?;
        match input {
            Input::Mouse(mouse) => return Ok(self.mouse(&page, mouse).await),
            Input::Inspect { at } => return Ok(Some(self.inspect(&page, at).await)),
            Input::Wheel {
                at,
                dx,
                dy,
                modifiers,
            } => {
                let Some((x, y)) = self.page_position(at) else {
                    return Ok(None);
                };
                let event = json!({
                    "type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy,
                    "modifiers": modifiers,
                });
                page.session().post("Input.dispatchMouseEvent", event);
            }
            Input::Key(key) => {
                if key.key.len().max(key.code.len()) <= limits::MAX_KEY_CHARS {
                    page.session().post("Input.dispatchKeyEvent", key_event(&key));
                }
            }
            Input::Text { text } => page.session().post("Input.insertText", json!({"text": text})),
            Input::Copy => {
                let copy = call(include_str!("input/copy.js"), json!([limits::MAX_COPIED_CHARS]));
                let copied = page.evaluate(&copy, World::Isolated, default_deadline()).await;
                let text = copied.ok().and_then(|copied| Some(copied.as_str()?.to_owned()));
                return Ok(text
                    .filter(|text| !text.is_empty())
                    .map(|text| Reply::Copied { text }));
            }
            Input::Choose { index } => {
                let choose = call(include_str!("input/choose.js"), json!([index]));
                if let Err(error) = page.evaluate(&choose, World::Isolated, default_deadline()).await {
                    tracing::debug!(%error, "cannot select an option");
                }
            }
            Input::Dialog { accept, text } => {
                let params = json!({"accept": accept, "promptText": text});
                page.session().post("Page.handleJavaScriptDialog", params);
                self.refresh();
            }
            Input::Tab { id } => {
                self.browser.pages().choose(&id);
                self.browser
                    .connection()
                    .post("Target.activateTarget", json!({"targetId": id}));
                self.refresh();
            }
            Input::CloseTab { id } => {
                let pages = self.browser.pages().all();
                if let Some(page) = pages.iter().find(|page| page.target() == id) {
                    page.close().await;
                    self.refresh();
                }
            }
            Input::NewTab => {
                if self.browser.pages().all().len() >= limits::MAX_TABS {
                    return Ok(notice("Too many tabs are open; close one first."));
                }
                self.browser.pages().create().await?;
                self.refresh();
            }
            Input::Back => navigate_history(&page, -1).await?,
            Input::Forward => navigate_history(&page, 1).await?,
            Input::Reload => page.session().post("Page.reload", json!({})),
            Input::Go { url } => return open_url(&page, &url).await,
        }
        Ok(None)
    }

    /// Sends a mouse event. A press on a select list returns the list instead.
    async fn mouse(&self, page: &Page, mouse: MouseInput) -> Option<Reply> {
        let (x, y) = self.page_position(mouse.at)?;
        if mouse.kind == MouseKind::Down
            && mouse.button == 0
            && let Some(list) = self.select_at(page, x, y).await
        {
            return Some(Reply::Select(list));
        }
        let is_click = mouse.kind != MouseKind::Move;
        let button = match mouse.button {
            _ if !is_click => "none",
            0 => "left",
            1 => "middle",
            2 => "right",
            3 => "back",
            _ => "forward",
        };
        let kind = match mouse.kind {
            MouseKind::Move => "mouseMoved",
            MouseKind::Down => "mousePressed",
            MouseKind::Up => "mouseReleased",
        };
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": mouse.buttons,
            "clickCount": if is_click { mouse.clicks.max(1) } else { 0 }, "modifiers": mouse.modifiers,
        });
        page.session().post("Input.dispatchMouseEvent", event);
        None
    }

    fn page_position(&self, at: Point) -> Option<(f64, f64)> {
        Some(self.last_frame()?.to_page(at.x, at.y))
    }

    /// Returns the element at a position of the picture.
    async fn inspect(&self, page: &Page, at: Point) -> Reply {
        let deadline = Instant::now() + limits::SELECT_TIMEOUT;
        let found = match self.page_position(at) {
            Some((x, y)) => {
                let look = call(include_str!("input/inspect.js"), json!([x, y]));
                page.evaluate(&look, World::Isolated, deadline).await.ok()
            }
            None => None,
        };
        let field = |name| found.as_ref().map(|found| text(found, name)).unwrap_or_default();
        Reply::Element {
            selector: field("selector"),
            name: field("name"),
        }
    }

    /// Returns the select list at a position of the page; `None` if there is none or the page does not
    /// respond in time.
    async fn select_at(&self, page: &Page, x: f64, y: f64) -> Option<SelectList> {
        let arguments = json!([x, y, limits::MAX_SELECT_OPTIONS]);
        let look = call(include_str!("input/select.js"), arguments);
        let deadline = Instant::now() + limits::SELECT_TIMEOUT;
        let found = page.evaluate(&look, World::Isolated, deadline).await.ok()?;
        let found: SelectAtPoint = serde_json::from_value(found).ok()?;
        let (width, height) = self.last_frame()?.size;
        let [left, top, wide, high] = found.bounds;
        Some(SelectList {
            options: found.options,
            selected: found.selected,
            at: Point {
                x: left / width,
                y: top / height,
            },
            size: Point {
                x: wide / width,
                y: high / height,
            },
        })
    }
}

fn call(function: &str, arguments: Value) -> String {
    format!("({function})(...{arguments})")
}

fn default_deadline() -> Instant {
    Instant::now() + limits::COMMAND_TIMEOUT
}

fn notice(text: impl Into<String>) -> Option<Reply> {
    Some(Reply::Notice { text: text.into() })
}

fn key_event(input: &KeyInput) -> Value {
    const ALT: u8 = 1;
    const CONTROL: u8 = 2;
    const META: u8 = 4;
    let (key, modifiers) = (input.key.as_str(), input.modifiers);
    let mut event = json!({
        "type": "keyUp",
        "key": key,
        "code": input.code,
        "windowsVirtualKeyCode": input.key_code,
        "nativeVirtualKeyCode": input.key_code,
        "modifiers": modifiers,
    });
    if input.kind == KeyKind::Down {
        let mut characters = key.chars();
        let single = characters.next().is_some() && characters.next().is_none();
        // AltGr, which types `@` on some keyboards, is reported as Control and Alt.
        let held_modifiers = modifiers & (ALT | CONTROL | META);
        let typed_text = match key {
            "Enter" => Some("\r"),
            _ if single && (held_modifiers == 0 || held_modifiers == ALT | CONTROL) => Some(key),
            _ => None,
        };
        event["type"] = if typed_text.is_some() {
            "keyDown"
        } else {
            "rawKeyDown"
        }
        .into();
        event["autoRepeat"] = input.repeat.into();
        if let Some(typed_text) = typed_text {
            event["text"] = typed_text.into();
            event["unmodifiedText"] = typed_text.into();
        }
        if held_modifiers == CONTROL && key.eq_ignore_ascii_case("a") {
            event["commands"] = json!(["selectAll"]);
        }
    }
    event
}

async fn navigate_history(page: &Page, by: i64) -> Result<(), BrowserError> {
    if let Some(entry) = page.history_entry(by, default_deadline()).await? {
        let params = json!({"entryId": entry});
        page.session().post("Page.navigateToHistoryEntry", params);
    }
    Ok(())
}

async fn open_url(page: &Page, input_text: &str) -> Result<Option<Reply>, BrowserError> {
    let Some(url) = parse_url(input_text) else {
        return Ok(notice("This is not the URL of a web page."));
    };
    let response = page
        .session()
        .call("Page.navigate", json!({"url": url.as_str()}))
        .await;
    Ok(match response {
        Ok(response) => match text(&response, "errorText") {
            reason if reason.is_empty() || reason == "net::ERR_ABORTED" => None,
            reason => notice(format!("Cannot open the page: {reason}")),
        },
        Err(BrowserError::Gone) => return Err(BrowserError::Gone),
        Err(error) => notice(format!("Cannot open the page: {error}")),
    })
}

/// Parses a typed URL; adds `https://` if the scheme is missing.
fn parse_url(input_text: &str) -> Option<Url> {
    let url = Url::parse(&with_scheme(input_text.trim())).ok()?;
    let is_allowed = matches!(url.scheme(), "http" | "https") || url.as_str() == "about:blank";
    is_allowed.then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_urls_are_opened() {
        let check = |input_text: &str, expected: Option<&str>| {
            assert_eq!(
                parse_url(input_text).as_ref().map(Url::as_str),
                expected,
                "{input_text}"
            );
        };
        check("https://a.test/x", Some("https://a.test/x"));
        check(" a.test/x ", Some("https://a.test/x"));
        check("localhost:3000/x", Some("https://localhost:3000/x"));
        check("127.0.0.1:3000", Some("https://127.0.0.1:3000/"));
        check("about:blank", Some("about:blank"));
        for wrong in [
            "", "file:///etc/passwd", "javascript:alert(1)", "chrome://version", "view-source:http://a.test",
            "data:text/html,x", "about:version", "two words",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_key_types_text_unless_a_modifier_is_held() {
        let check = |key: &str, modifiers: u8, kind: &str, typed_text: Option<&str>| {
            let event = key_event(&KeyInput {
                kind: KeyKind::Down,
                key: key.to_owned(),
                code: String::new(),
                key_code: 0,
                modifiers,
                repeat: false,
            });
            assert_eq!(
                (event["type"].as_str(), event["text"].as_str()),
                (Some(kind), typed_text),
                "{key}"
            );
        };
        check("a", 0, "keyDown", Some("a"));
        check("A", 8, "keyDown", Some("A"));
        check("@", 3, "keyDown", Some("@"));
        check("a", 2, "rawKeyDown", None);
        check("Enter", 0, "keyDown", Some("\r"));
        check("Tab", 0, "rawKeyDown", None);
        check("ä", 0, "keyDown", Some("ä"));
    }
}
