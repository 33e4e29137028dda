//! The JSON of chat completions: written strictly, read leniently because endpoints differ.

use harvestman_core::api::support::ModelUsage;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Message, Reply, Tool, ToolCall};
use crate::limits;

/// Returns the body of a request.
pub(super) fn request(model: &str, messages: &[Message], tools: &[Tool]) -> Value {
    let messages: Vec<Value> = messages.iter().map(message).collect();
    let mut body = json!({"model": model, "messages": messages});
    if !tools.is_empty() {
        let tools = tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            }})
        });
        body["tools"] = tools.collect();
        body["tool_choice"] = "auto".into();
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Tool { id, text } => json!({"role": "tool", "tool_call_id": id, "content": text}),
        Message::Assistant(reply) => {
            let mut message = json!({"role": "assistant", "content": reply.text});
            if !reply.calls.is_empty() {
                let calls = reply.calls.iter().map(|call| {
                    json!({"id": call.id, "type": "function", "function": {
                        "name": call.name,
                        "arguments": call.arguments,
                    }})
                });
                message["tool_calls"] = calls.collect();
            }
            message
        }
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

/// Token counts; endpoints omit the ones that they do not count.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Choice {
    message: ReplyMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ReplyMessage {
    #[serde(default)]
    content: Value,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Parses a response into the reply and the tokens used. The error says what is wrong with the response.
pub(super) fn reply(body: &[u8]) -> Result<(Reply, ModelUsage), String> {
    let completion: Completion = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let tokens = completion.usage.unwrap_or_default();
    let (input, output) = (
        tokens.prompt_tokens.unwrap_or(0),
        tokens.completion_tokens.unwrap_or(0),
    );
    let usage = ModelUsage {
        input_tokens: input,
        output_tokens: output,
        total_tokens: tokens.total_tokens.unwrap_or(input.saturating_add(output)),
    };
    let first = completion.choices.into_iter().next();
    let Choice {
        message,
        finish_reason,
    } = first.ok_or("it has no choices")?;
    let calls = message
        .tool_calls
        .unwrap_or_default()
        .into_iter()
        .take(limits::LLM_CALLS);
    let calls = calls.enumerate().map(|(index, call)| ToolCall {
        id: call
            .id
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| format!("call_{index}")),
        name: call.function.name,
        arguments: match call.function.arguments {
            Value::String(text) => text,
            Value::Null => "{}".to_owned(),
            // Some endpoints send the object itself.
            other => other.to_string(),
        },
    });
    let reply = Reply {
        text: text(message.content),
        calls: calls.collect(),
        is_cut_off: finish_reason.is_some_and(|reason| reason == "length"),
    };
    Ok((reply, usage))
}

/// Returns a text, or the joined texts of a list of parts.
fn text(content: Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// Returns the message of an error response, truncated; empty if there is none.
pub(super) fn error_message(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let candidates = [
        &body["error"]["message"], &body["error"], &body["message"], &body["detail"],
    ];
    let message = candidates.into_iter().find_map(Value::as_str).unwrap_or_default();
    message.chars().take(limits::LLM_ERROR_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_written_as_the_protocol_requires() {
        let call = ToolCall {
            id: "c1".to_owned(),
            name: "click".to_owned(),
            arguments: "{\"ref\":\"e1\"}".to_owned(),
        };
        let messages = [
            Message::System("be good".to_owned()),
            Message::User("hello".to_owned()),
            Message::Assistant(Reply {
                calls: vec![call],
                ..Reply::default()
            }),
            Message::Tool {
                id: "c1".to_owned(),
                text: "done".to_owned(),
            },
        ];
        let tool = Tool {
            name: "click",
            description: "Clicks.",
            parameters: json!({"type": "object"}),
        };
        assert_eq!(
            request("m", &messages, &[tool]),
            json!({
                "model": "m",
                "messages": [
                    {"role": "system", "content": "be good"},
                    {"role": "user", "content": "hello"},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "click", "arguments": "{\"ref\":\"e1\"}"}},
                    ]},
                    {"role": "tool", "tool_call_id": "c1", "content": "done"},
                ],
                "tools": [{"type": "function", "function": {
                    "name": "click", "description": "Clicks.", "parameters": {"type": "object"},
                }}],
                "tool_choice": "auto",
            })
        );
        assert_eq!(request("m", &[], &[]), json!({"model": "m", "messages": []}));
    }

    #[test]
    fn replies_are_read_in_every_common_form() {
        let read = |body: Value| reply(body.to_string().as_bytes()).map(|(reply, _)| reply);
        let text = |text: &str| {
            Ok(Reply {
                text: Some(text.to_owned()),
                ..Reply::default()
            })
        };
        let completion =
            |message: Value| json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {}});
        assert_eq!(
            read(completion(json!({"role": "assistant", "content": "yes"}))),
            text("yes")
        );
        assert_eq!(
            read(completion(
                json!({"content": [{"type": "text", "text": "a"}, {"text": "b"}]})
            )),
            text("ab")
        );
        assert_eq!(read(completion(json!({"content": null}))), Ok(Reply::default()));
        assert_eq!(
            read(completion(json!({"content": " ", "tool_calls": null}))),
            Ok(Reply::default())
        );
        let calls = read(completion(json!({"tool_calls": [
            {"id": "x", "function": {"name": "a", "arguments": "{}"}},
            {"function": {"name": "b", "arguments": {"k": 1}}},
            {"id": "", "function": {"name": "c"}},
        ]})));
        let calls: Vec<(String, String, String)> = calls
            .unwrap()
            .calls
            .into_iter()
            .map(|call| (call.id, call.name, call.arguments))
            .collect();
        let call =
            |id: &str, name: &str, arguments: &str| (id.to_owned(), name.to_owned(), arguments.to_owned());
        assert_eq!(
            calls,
            [
                call("x", "a", "{}"),
                call("call_1", "b", "{\"k\":1}"),
                call("call_2", "c", "{}")
            ]
        );
        assert!(read(json!({"choices": []})).unwrap_err().contains("no choices"));
        assert!(read(json!({"error": 1})).is_err());
        assert!(reply(b"<html>").is_err());
    }

    #[test]
    fn errors_contain_the_message_of_the_endpoint() {
        assert_eq!(
            error_message(br#"{"error":{"message":"no such model"}}"#),
            "no such model"
        );
        assert_eq!(error_message(br#"{"error":"busy"}"#), "busy");
        assert_eq!(error_message(br#"{"detail":"x"}"#), "x");
        assert_eq!(error_message(b"<html>"), "");
        let long = json!({"message": "ä".repeat(10_000)}).to_string();
        assert_eq!(
            error_message(long.as_bytes()).chars().count(),
            limits::LLM_ERROR_CHARS
        );
    }
}
