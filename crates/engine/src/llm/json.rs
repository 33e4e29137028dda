//! Replies in JSON. Endpoints differ in the response formats that they support: a schema, any JSON object, or
//! none. In every case the caller still has to validate the reply.

use harvestman_core::api::support::ModelUsage;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Llm, LlmError, Message, Reply, wire};
use crate::limits;

/// The requested format of a reply.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum ReplyFormat<'a> {
    /// Plain text.
    Text,
    /// A JSON object.
    Object,
    /// JSON that matches a schema, and a name for the schema: letters, digits and `_`.
    Schema(&'static str, &'a Value),
}

/// A reply in JSON; not validated against the requested schema.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct JsonReply {
    pub(crate) value: Value,
    /// Tokens used by all requests that got a reply.
    pub(crate) usage: ModelUsage,
}

/// Statuses of endpoints that do not support a response format.
const UNSUPPORTED_FORMAT: [u16; 3] = [400, 422, 501];
/// Sent to a model that did not reply with JSON.
const JSON_ONLY: &str = "Answer with only the JSON object: no text around it, no code fence.";

impl Llm {
    /// Returns the model's reply as a JSON object. The conversation should describe the format too.
    ///
    /// # Errors
    /// Any [`LlmError`]; [`LlmError::Unreadable`] also if the model returns no JSON.
    pub(crate) async fn chat_json(
        &self,
        messages: &[Message],
        format: ReplyFormat<'_>,
        deadline: Instant,
    ) -> Result<JsonReply, LlmError> {
        let mut messages = messages.to_vec();
        let mut usage = ModelUsage::default();
        for _ in 0..limits::LLM_JSON_ROUNDS {
            let (reply, request_usage) = self.reply(&messages, format, deadline).await?;
            usage.input_tokens += request_usage.input_tokens;
            usage.output_tokens += request_usage.output_tokens;
            usage.total_tokens += request_usage.total_tokens;
            if let Some(value) = reply.text.as_deref().and_then(parse_object) {
                return Ok(JsonReply { value, usage });
            }
            if reply.text.is_some() {
                messages.push(Message::Assistant(reply));
            }
            messages.push(Message::User(JSON_ONLY.to_owned()));
        }
        Err(LlmError::Unreadable("not a JSON object".to_owned()))
    }

    /// Returns the model's reply in a format, without tools, and the tokens used. The format of the reply is
    /// not checked.
    ///
    /// # Errors
    /// Any [`LlmError`].
    pub(crate) async fn reply(
        &self,
        messages: &[Message],
        format: ReplyFormat<'_>,
        deadline: Instant,
    ) -> Result<(Reply, ModelUsage), LlmError> {
        let object = || json!({"type": "json_object"});
        let formats = match format {
            ReplyFormat::Text => vec![None],
            ReplyFormat::Object => vec![Some(object()), None],
            ReplyFormat::Schema(name, schema) => {
                let schema = json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}});
                vec![Some(schema), Some(object()), None]
            }
        };
        let mut last_error = LlmError::Timeout;
        for format in formats {
            let mut body = wire::request(&self.shared.config.model, messages, &[]);
            if let Some(format) = format {
                body["response_format"] = format;
            }
            match self.send(&body, deadline).await {
                Err(LlmError::Status { status, message }) if UNSUPPORTED_FORMAT.contains(&status) => {
                    last_error = LlmError::Status { status, message };
                }
                result => return result,
            }
        }
        Err(last_error)
    }
}

/// Parses the JSON object in a reply, which may be inside a code fence or surrounded by text.
fn parse_object(text: &str) -> Option<Value> {
    let json_text = &text[text.find('{')?..=text.rfind('}')?];
    let value: Value = serde_json::from_str(json_text).ok()?;
    value.is_object().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_in_the_text_of_a_reply() {
        assert_eq!(parse_object("{\"a\":1}"), Some(json!({"a": 1})));
        assert_eq!(
            parse_object("Sure!\n```json\n{\"a\": {}}\n```"),
            Some(json!({"a": {}}))
        );
        for text in ["", "no", "}{", "[1]", "{a}", "{\"a\":1} and {\"b\":2}"] {
            assert_eq!(parse_object(text), None, "{text}");
        }
    }
}
