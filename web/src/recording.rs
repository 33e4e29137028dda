//! Steps that the live view reports while a user drives a page, and the code that repeats them.

use harvestman_core::api::snippet::json_string;
use harvestman_core::api::url_field::with_scheme;
use serde::Deserialize;
use serde_json::{Value, json};

/// One step of a user.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Step {
    /// Clicks an element.
    Click {
        /// Selector that matches only this element.
        selector: String,
        /// Its text or label.
        name: String,
    },
    /// Types into the focused field.
    Write {
        /// The text.
        text: String,
    },
    /// Presses a key by its DOM name.
    Press {
        /// Name of the key.
        key: String,
    },
    /// Chooses an option of the list that was clicked before.
    Choose {
        /// Index of the option, from 0.
        index: u32,
        /// Selector of the list; filled in when the step is added.
        #[serde(default)]
        selector: String,
    },
    /// Scrolls the page.
    Scroll {
        /// Whether down.
        down: bool,
    },
    /// Opens a URL.
    Go {
        /// The URL.
        url: String,
    },
    /// Goes back in the history.
    Back,
    /// Goes forward in the history.
    Forward,
    /// Reloads the page.
    Reload,
}

/// Adds a step. Repeated scrolling is one step, and a choice replaces the click that opened its list.
pub fn add(steps: &mut Vec<Step>, mut step: Step) {
    match (&mut step, steps.last()) {
        (Step::Scroll { down }, Some(Step::Scroll { down: before })) if down == before => return,
        (Step::Choose { selector, .. }, Some(Step::Click { selector: list, .. })) => {
            selector.clone_from(list);
            steps.pop();
        }
        _ => {}
    }
    steps.push(step);
}

/// Returns the steps as `actions` of a scrape.
pub fn actions(steps: &[Step]) -> Vec<Value> {
    let script = |script: String| json!({"type": "executeJavascript", "script": script});
    let action = |step: &Step| match step {
        Step::Click { selector, .. } => json!({"type": "click", "selector": selector}),
        Step::Write { text } => json!({"type": "write", "text": text}),
        Step::Press { key } => json!({"type": "press", "key": key}),
        Step::Scroll { down } => {
            json!({"type": "scroll", "direction": if *down { "down" } else { "up" }})
        }
        Step::Choose { index, selector } => script(format!(
            "const list = document.querySelector({}); list.selectedIndex = {index}; \
             list.dispatchEvent(new Event('change', {{ bubbles: true }}))",
            json_string(selector)
        )),
        Step::Go { url } => script(format!("location.href = {}", quoted_url(url))),
        Step::Back => script("history.back()".to_owned()),
        Step::Forward => script("history.forward()".to_owned()),
        Step::Reload => script("location.reload()".to_owned()),
    };
    steps.iter().map(action).collect()
}

/// Returns the scrape that repeats the steps, which began on the page `start`. If the first step opens a URL, the
/// scrape starts there.
pub fn scrape(start: &str, steps: &[Step]) -> Value {
    let (start, steps) = match steps {
        [Step::Go { url }, rest @ ..] => (with_scheme(url.trim()), rest),
        _ => (start.into(), steps),
    };
    json!({ "url": start, "actions": actions(steps) })
}

/// Returns the steps as code for Playwright in Node.js.
pub fn playwright(steps: &[Step]) -> String {
    let line = |step: &Step| match step {
        Step::Click { selector, name } if name.is_empty() => {
            format!("await page.locator({}).click();", json_string(selector))
        }
        Step::Click { selector, name } => {
            let name = name.replace(['\n', '\r'], " ");
            format!("await page.locator({}).click(); // {name}", json_string(selector))
        }
        Step::Write { text } => format!("await page.keyboard.type({});", json_string(text)),
        Step::Press { key } => format!("await page.keyboard.press({});", json_string(key)),
        Step::Scroll { down } => {
            format!("await page.mouse.wheel(0, {});", if *down { 600 } else { -600 })
        }
        Step::Choose { index, selector } => {
            format!(
                "await page.locator({}).selectOption({{ index: {index} }});",
                json_string(selector)
            )
        }
        Step::Go { url } => format!("await page.goto({});", quoted_url(url)),
        Step::Back => "await page.goBack();".to_owned(),
        Step::Forward => "await page.goForward();".to_owned(),
        Step::Reload => "await page.reload();".to_owned(),
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a typed URL as a JavaScript literal, in the form in which the live view opens it.
fn quoted_url(url: &str) -> String {
    json_string(&with_scheme(url.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scrape_starts_on_the_page_that_was_shown_or_opened_first() {
        let go = Step::Go {
            url: "a.test/shop".to_owned(),
        };
        let url = |start, steps: &[Step]| scrape(start, steps)["url"].clone();
        assert_eq!(url("https://b.test/", &[Step::Back]), "https://b.test/");
        assert_eq!(
            url("https://b.test/", &[Step::Back, go.clone()]),
            "https://b.test/"
        );
        assert_eq!(url("", &[go.clone(), Step::Back]), "https://a.test/shop");
        assert_eq!(
            scrape("", &[go, Step::Scroll { down: true }])["actions"],
            json!([{"type": "scroll", "direction": "down"}])
        );
    }

    #[test]
    fn steps_become_actions_and_code() {
        let reported = [
            json!({"type": "go", "url": "a.test/shop"}),
            json!({"type": "click", "selector": "#name", "name": "Your \"name\""}),
            json!({"type": "write", "text": "Ada"}),
            json!({"type": "press", "key": "Enter"}),
            json!({"type": "scroll", "down": true}),
            json!({"type": "scroll", "down": true}),
            json!({"type": "click", "selector": "select", "name": ""}),
            json!({"type": "choose", "index": 2}),
            json!({"type": "back"}),
        ];
        let mut steps = Vec::new();
        for step in reported {
            add(&mut steps, serde_json::from_value(step).unwrap());
        }
        let expected = [
            "await page.goto(\"https://a.test/shop\");",
            "await page.locator(\"#name\").click(); // Your \"name\"",
            "await page.keyboard.type(\"Ada\");",
            "await page.keyboard.press(\"Enter\");",
            "await page.mouse.wheel(0, 600);",
            "await page.locator(\"select\").selectOption({ index: 2 });",
            "await page.goBack();",
        ];
        assert_eq!(playwright(&steps), expected.join("\n"));
        let actions = actions(&steps);
        assert_eq!(actions[1], json!({"type": "click", "selector": "#name"}));
        assert_eq!(actions[2], json!({"type": "write", "text": "Ada"}));
        let kinds: Vec<_> = actions
            .iter()
            .map(|action| action["type"].as_str().unwrap())
            .collect();
        let script = "executeJavascript";
        assert_eq!(
            kinds,
            [script, "click", "write", "press", "scroll", script, script]
        );
    }
}
