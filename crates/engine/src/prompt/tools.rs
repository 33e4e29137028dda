//! The tools of the agent, and the browser commands that their calls stand for.

use std::time::Duration;

use harvestman_browser::commands::{Act, By, Command, Find, Target, WaitCondition};
use serde_json::{Map, Value, json};

use crate::limits;
use crate::llm::{Tool, ToolCall};

/// A parsed tool call.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ToolRequest {
    /// Run a command; the text is its line in the log of the prompt.
    Command(Command, String),
    /// Take a new snapshot.
    Snapshot,
    /// Finish with this answer.
    Done(String),
}

/// Returns all tools.
pub(super) fn tools() -> Vec<Tool> {
    let reference =
        || json!({"type": "string", "description": "Reference in the newest snapshot, such as e3"});
    let text = |description: &str| json!({"type": "string", "description": description});
    let tool = |name, description, properties: Value, required: &[&str]| Tool {
        name,
        description,
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    };
    vec![
        tool(
            "click",
            "Click an element: a button, a link, a checkbox, an option of an open menu.",
            json!({"ref": reference()}),
            &["ref"],
        ),
        tool(
            "fill",
            "Replace the text of a field.",
            json!({"ref": reference(), "text": text("The new text")}),
            &["ref", "text"],
        ),
        tool(
            "press",
            "Press a key, such as Enter, Tab, Escape, ArrowDown or Control+A.",
            json!({"key": text("DOM name of the key")}),
            &["key"],
        ),
        tool(
            "select",
            "Choose an option of a list (a combobox that has options).",
            json!({"ref": reference(), "option": text("Text of the option")}),
            &["ref", "option"],
        ),
        tool(
            "hover",
            "Move the pointer over an element.",
            json!({"ref": reference()}),
            &["ref"],
        ),
        tool(
            "scroll",
            "Scroll the page.",
            json!({
                "direction": {"type": "string", "enum": ["up", "down", "left", "right"]},
                "pixels": {"type": "integer", "description": "How far; usually 600"},
            }),
            &["direction"],
        ),
        tool(
            "wait",
            "Wait for a text to appear, or for a duration.",
            json!({"text": text("The text"), "milliseconds": {"type": "integer", "description": "The duration, if no text is given"}}),
            &[],
        ),
        tool(
            "open",
            "Go to a URL.",
            json!({"url": text("http or https URL")}),
            &["url"],
        ),
        tool("back", "Go back to the previous page.", json!({}), &[]),
        tool("snapshot", "Look at the page again.", json!({}), &[]),
        tool(
            "read",
            "Read what the page says about something, or all its text if `about` is missing.",
            json!({"about": text("What to look for, such as: price")}),
            &[],
        ),
        tool(
            "done",
            "Finish with the answer for the user.",
            json!({"answer": text("The answer")}),
            &["answer"],
        ),
    ]
}

/// Parses a tool call. The error is for the model.
pub(super) fn parse_call(call: &ToolCall) -> Result<ToolRequest, String> {
    let arguments: Map<String, Value> = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => arguments,
        Ok(_) => return Err("the arguments are not a JSON object".to_owned()),
        Err(error) => return Err(format!("the arguments are not valid JSON: {error}")),
    };
    let arguments = Arguments(arguments);
    let act = |act: Act| -> Result<Command, String> { Ok(Command::Act(arguments.reference()?, act)) };
    let command = match call.name.as_str() {
        "click" => act(Act::Click)?,
        "hover" => act(Act::Hover)?,
        "fill" => act(Act::Fill(arguments.text("text")?))?,
        "select" => act(Act::Select(vec![arguments.text("option")?]))?,
        "press" => Command::Press(arguments.text("key")?),
        "scroll" => {
            let pixels = arguments.number("pixels").map(|pixels| pixels.to_string());
            parse_command(&[
                "scroll",
                &arguments.text("direction")?,
                pixels.as_deref().unwrap_or("600"),
            ])?
        }
        "wait" => Command::Wait {
            until: match arguments.text("text") {
                Ok(text) => WaitCondition::Visible(Target::Find(find_text(&text))),
                Err(_) => {
                    let time = Duration::from_millis(arguments.number("milliseconds").unwrap_or(1_000));
                    WaitCondition::Time(time.min(limits::AGENT_WAIT))
                }
            },
            timeout: Some(limits::AGENT_WAIT),
        },
        "open" => parse_command(&["open", &arguments.text("url")?])?,
        "back" => Command::Back,
        "read" => Command::Read(arguments.text("about").ok()),
        "snapshot" => return Ok(ToolRequest::Snapshot),
        "done" => return Ok(ToolRequest::Done(arguments.text("answer")?)),
        other => {
            let known: Vec<&str> = tools().iter().map(|tool| tool.name).collect();
            return Err(format!(
                "unknown tool `{other}`; available tools: {}",
                known.join(", ")
            ));
        }
    };
    Ok(ToolRequest::Command(command, log_line(call, &arguments)))
}

/// Finds an element that shows a text.
pub(super) fn find_text(text: &str) -> Find {
    Find {
        by: By::Text,
        words: text.to_owned(),
        name: None,
        exact: false,
        nth: 0,
    }
}

fn parse_command(words: &[&str]) -> Result<Command, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Command::parse(&words)
}

/// Returns the log line of a call: the tool and its arguments.
fn log_line(call: &ToolCall, arguments: &Arguments) -> String {
    let values = arguments
        .0
        .iter()
        .map(|(name, value)| match (name.as_str(), value) {
            ("ref", Value::String(reference)) => format!(" @{}", reference.trim_start_matches(['@'])),
            (_, value) => format!(" {value}"),
        });
    // JSON object fields are sorted by name: put the reference first.
    let (references, others): (Vec<String>, Vec<String>) = values.partition(|value| value.starts_with(" @"));
    format!("{}{}{}", call.name, references.concat(), others.concat())
}

struct Arguments(Map<String, Value>);

impl Arguments {
    fn text(&self, name: &str) -> Result<String, String> {
        match self.0.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
            _ => Err(format!("`{name}` is missing")),
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Value::String(text) => text.parse().ok(),
            value => value.as_u64(),
        }
    }

    /// Parses a reference: `e3`, `@e3`, `ref=e3`, `[ref=e3]` or 3.
    fn reference(&self) -> Result<Target, String> {
        let given = self.text("ref")?;
        let digits_with_prefix = given.trim_matches(['[', ']', ' ', '@']);
        let digits_with_prefix = digits_with_prefix
            .strip_prefix("ref=")
            .unwrap_or(digits_with_prefix);
        let digits = digits_with_prefix.strip_prefix('e').unwrap_or(digits_with_prefix);
        digits
            .parse()
            .map(Target::Reference)
            .map_err(|_| format!("invalid reference `{given}`; use one from the newest snapshot, such as e3"))
    }
}

#[cfg(test)]
mod tests {
    use harvestman_browser::commands::Direction;

    use super::*;

    fn parse(name: &str, arguments: &str) -> Result<ToolRequest, String> {
        parse_call(&ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        })
    }

    #[test]
    fn calls_become_browser_commands() {
        let third = || Target::Reference(3);
        for (name, arguments, command, note) in [
            (
                "click",
                r#"{"ref":"e3"}"#,
                Command::Act(third(), Act::Click),
                "click @e3",
            ),
            (
                "click",
                r#"{"ref":"@e3"}"#,
                Command::Act(third(), Act::Click),
                "click @e3",
            ),
            (
                "click",
                r#"{"ref":"[ref=e3]"}"#,
                Command::Act(third(), Act::Click),
                "click @[ref=e3]",
            ),
            (
                "hover",
                r#"{"ref":3}"#,
                Command::Act(third(), Act::Hover),
                "hover 3",
            ),
            (
                "fill",
                r#"{"text":"a \"b\"","ref":"e3"}"#,
                Command::Act(third(), Act::Fill("a \"b\"".to_owned())),
                r#"fill @e3 "a \"b\"""#,
            ),
            (
                "select",
                r#"{"ref":"e3","option":"Blue"}"#,
                Command::Act(third(), Act::Select(vec!["Blue".to_owned()])),
                "select @e3 \"Blue\"",
            ),
            (
                "press",
                r#"{"key":"Enter"}"#,
                Command::Press("Enter".to_owned()),
                "press \"Enter\"",
            ),
            (
                "scroll",
                r#"{"direction":"down"}"#,
                Command::Scroll {
                    direction: Direction::Down,
                    pixels: 600,
                    target: None,
                },
                "scroll \"down\"",
            ),
            (
                "open",
                r#"{"url":"https://a.test/"}"#,
                Command::Open("https://a.test/".parse().unwrap()),
                "open \"https://a.test/\"",
            ),
            ("back", "{}", Command::Back, "back"),
            ("read", "{}", Command::Read(None), "read"),
            (
                "read",
                r#"{"about":"price"}"#,
                Command::Read(Some("price".to_owned())),
                "read \"price\"",
            ),
        ] {
            assert_eq!(
                parse(name, arguments),
                Ok(ToolRequest::Command(command, note.to_owned())),
                "{name} {arguments}"
            );
        }
        assert_eq!(parse("snapshot", "{}"), Ok(ToolRequest::Snapshot));
        assert_eq!(
            parse("done", r#"{"answer":"12 €"}"#),
            Ok(ToolRequest::Done("12 €".to_owned()))
        );
    }

    #[test]
    fn invalid_calls_are_rejected_with_a_reason() {
        for (name, arguments, why) in [
            ("click", "{", "not valid JSON"),
            ("click", "[]", "not a JSON object"),
            ("click", "{}", "`ref` is missing"),
            ("click", r#"{"ref":"Send"}"#, "invalid reference"),
            ("fill", r#"{"ref":"e1"}"#, "`text` is missing"),
            ("open", r#"{"url":"file:///etc/passwd"}"#, "only http and https"),
            ("scroll", r#"{"direction":"away"}"#, "up, down, left and right"),
            (
                "explode",
                "{}",
                "unknown tool `explode`; available tools: click, fill",
            ),
            ("done", "{}", "`answer` is missing"),
        ] {
            let error = parse(name, arguments).unwrap_err();
            assert!(error.contains(why), "{name} {arguments}: {error}");
        }
    }

    #[test]
    fn every_tool_is_known_and_described() {
        for tool in tools() {
            let error = parse(tool.name, "{}").err().unwrap_or_default();
            assert!(!error.contains("unknown tool"), "{}", tool.name);
            assert!(!tool.description.is_empty());
            for required in tool.parameters["required"].as_array().unwrap() {
                assert!(!tool.parameters["properties"][required.as_str().unwrap()].is_null());
            }
        }
    }
}
