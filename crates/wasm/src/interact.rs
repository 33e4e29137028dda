//! Plans without a server: the steps of a browser prompt, and the options of a crawl prompt.

use harvestman_core::api::ApiError;
use harvestman_core::api::crawl::EnabledOptions;
use harvestman_core::api::params_preview::{ParamsPreview, ParamsPreviewRequest};
use harvestman_core::interact::element::{ElementRef, ElementUse, choose};
use harvestman_core::interact::steps::{ReadTarget, Scroll, Step, parse_steps};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::boundary::text_of;

/// Parses a prompt of plain steps. `snapshot` is the text of a page: with it, each element gets its `ref`. Returns a
/// JSON array.
///
/// # Errors
/// 400 with the clauses that were not understood in `details`.
#[wasm_bindgen(js_name = planSteps)]
pub fn plan_steps(prompt: &str, snapshot: Option<String>) -> Result<String, String> {
    text_of(plan(prompt, snapshot.as_deref()))
}

/// Derives crawl options from the JSON text of a body of `POST /v2/crawl/params-preview`. Returns the response.
///
/// # Errors
/// 400 for an invalid body.
#[wasm_bindgen(js_name = planCrawl)]
pub fn plan_crawl(request: &str) -> Result<String, String> {
    text_of(preview(request))
}

fn preview(request: &str) -> Result<Value, ApiError> {
    let request = ParamsPreviewRequest::from_json(request.as_bytes())?;
    let enabled = EnabledOptions {
        ignore_robots: true,
        zero_data_retention: true,
    };
    Ok(json!(ParamsPreview::from_prompt(&request, enabled)))
}

fn plan(prompt: &str, snapshot: Option<&str>) -> Result<Value, ApiError> {
    let steps = parse_steps(prompt).map_err(|unknown| {
        let clauses: Vec<String> = unknown.iter().map(|clause| format!("`{clause}`")).collect();
        let message = format!("not understood as steps: {}", clauses.join(", "));
        let mut error = ApiError::bad_request(message);
        error.details = Some(json!(unknown));
        error
    })?;
    let elements = snapshot.map(elements);
    Ok(steps
        .iter()
        .map(|step| plan_of(step, elements.as_deref()))
        .collect())
}

/// An element of a snapshot: role, accessible name and reference.
struct Element<'a> {
    role: &'a str,
    name: String,
    reference: &'a str,
}

/// Reads the elements with a reference of a snapshot, such as `- textbox "Email" [ref=e2]: value`.
fn elements(snapshot: &str) -> Vec<Element<'_>> {
    snapshot.lines().filter_map(element).collect()
}

fn element(line: &str) -> Option<Element<'_>> {
    let line = line.trim_start().strip_prefix("- ")?;
    let (role, rest) = line.split_once(' ')?;
    let (name, rest) = match rest.starts_with('"') {
        true => {
            let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let name = names.next()?.ok()?;
            (name, &rest[names.byte_offset()..])
        }
        false => (String::new(), rest),
    };
    let attributes = rest.trim_start().strip_prefix('[')?.split_once(']')?.0;
    let reference = attributes
        .split(", ")
        .find_map(|attribute| attribute.strip_prefix("ref="))?;
    Some(Element {
        role,
        name,
        reference,
    })
}

fn plan_of(step: &Step, elements: Option<&[Element<'_>]>) -> Value {
    let target = |wanted: &ElementRef, purpose| element_of(wanted, purpose, elements);
    let mut plan = match step {
        Step::Open(url) => json!({ "action": "open", "url": url }),
        Step::Back => json!({ "action": "back" }),
        Step::Forward => json!({ "action": "forward" }),
        Step::Reload => json!({ "action": "reload" }),
        Step::Click(element, times) => {
            json!({ "action": "click", "element": target(element, ElementUse::Click), "times": times })
        }
        Step::Hover(element) => json!({ "action": "hover", "element": target(element, ElementUse::Click) }),
        Step::Type(text, None) => json!({ "action": "type", "text": text }),
        Step::Type(text, Some(element)) => {
            json!({ "action": "fill", "text": text, "element": target(element, ElementUse::Fill) })
        }
        Step::Search(text) => json!({ "action": "search", "text": text }),
        Step::Press(key, times) => json!({ "action": "press", "key": key, "times": times }),
        Step::Select(option, None) => json!({ "action": "select", "option": option }),
        Step::Select(option, Some(element)) => {
            json!({ "action": "select", "option": option, "element": target(element, ElementUse::Select) })
        }
        Step::Check(element) => json!({ "action": "check", "element": target(element, ElementUse::Check) }),
        Step::Uncheck(element) => {
            json!({ "action": "uncheck", "element": target(element, ElementUse::Check) })
        }
        Step::Submit => json!({ "action": "submit" }),
        Step::Scroll(Scroll::Pixels(x, y)) => json!({ "action": "scroll", "x": x, "y": y }),
        Step::Scroll(Scroll::Windows(count)) => json!({ "action": "scroll", "windows": count }),
        Step::Scroll(Scroll::Top) => json!({ "action": "scroll", "to": "top" }),
        Step::Scroll(Scroll::Bottom) => json!({ "action": "scroll", "to": "bottom" }),
        Step::Scroll(Scroll::To(element)) => {
            json!({ "action": "scroll", "element": target(element, ElementUse::Read) })
        }
        Step::Wait(milliseconds) => json!({ "action": "wait", "milliseconds": milliseconds }),
        Step::WaitFor(text) => json!({ "action": "waitFor", "text": text }),
        Step::WaitForPage => json!({ "action": "waitForPage" }),
        Step::Read(ReadTarget::Page) => json!({ "action": "read", "target": "page" }),
        Step::Read(ReadTarget::Title) => json!({ "action": "read", "target": "title" }),
        Step::Read(ReadTarget::Url) => json!({ "action": "read", "target": "url" }),
        Step::Read(ReadTarget::Words(words)) => json!({ "action": "read", "words": words }),
        Step::Screenshot => json!({ "action": "screenshot" }),
    };
    plan["description"] = step.to_string().into();
    plan
}

fn element_of(wanted: &ElementRef, purpose: ElementUse, elements: Option<&[Element<'_>]>) -> Value {
    let mut plan = json!({ "name": wanted.name });
    if let Some(hint) = wanted.hint {
        plan["kind"] = format!("{hint:?}").to_lowercase().into();
    }
    if let Some(nth) = wanted.nth {
        plan["nth"] = nth.into();
    }
    if let Some(elements) = elements {
        let named = elements
            .iter()
            .map(|element| (element.role, element.name.as_str()));
        plan["ref"] = match choose(named, wanted, purpose) {
            Some(at) => elements[at].reference.into(),
            None => Value::Null,
        };
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str = "- heading \"Sign in\" [level=1, ref=e1]\n- textbox \"Email\" [ref=e2]: a@b.test\n  \
                            - button \"Sign \\\"in\\\"\" [ref=e3]\n- button \"Sign in\" [ref=e4]\n- paragraph: Sign in";

    #[test]
    fn a_prompt_becomes_steps_on_the_elements_of_a_snapshot() {
        let plan = plan(
            "type me@example.com into Email, click the Sign in button, read the title",
            Some(SNAPSHOT),
        )
        .unwrap();
        assert_eq!(plan[0]["action"], "fill");
        assert_eq!(
            (&plan[0]["text"], &plan[0]["element"]["ref"]),
            (&json!("me@example.com"), &json!("e2"))
        );
        assert_eq!(
            (&plan[1]["action"], &plan[1]["element"]["ref"]),
            (&json!("click"), &json!("e4"))
        );
        assert_eq!(
            (&plan[1]["element"]["kind"], &plan[2]["target"]),
            (&json!("button"), &json!("title"))
        );
    }

    #[test]
    fn an_element_that_is_not_on_the_page_has_no_reference() {
        let plan = plan("fill Password with x", Some("- textbox \"Email\" [ref=e2]")).unwrap();
        assert_eq!(
            plan[0]["element"],
            json!({ "name": "Password", "kind": "field", "ref": null })
        );
    }

    #[test]
    fn clauses_that_are_not_steps_are_reported() {
        let error = plan("click Sign in; ponder the universe", None).unwrap_err();
        assert_eq!(error.details, Some(json!(["ponder the universe"])));
    }

    #[test]
    fn a_description_becomes_crawl_options() {
        let request = json!({ "url": "https://a.test", "prompt": "only /blog, at most 50 pages" });
        let preview = preview(&request.to_string()).unwrap();
        assert_eq!(preview["data"]["limit"], 50);
        assert!(
            preview["data"]["includePaths"].to_string().contains("blog"),
            "{preview}"
        );
    }
}
