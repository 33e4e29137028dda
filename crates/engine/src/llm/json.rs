//! Answers in the form of a JSON schema. Endpoints differ in what they take: the schema, JSON in any form, or neither;
//! whatever they take, what comes back is JSON that somebody still has to judge.

use harvestman_core::api::support::ModelUsage;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Llm, LlmError, Message, Reply, wire};
use crate::limits;

/// What an answer shall look like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Form<'a> {
    /// Words.
    Words,
    /// A JSON object.
    Object,
    /// JSON after a schema, and a name for it: letters, digits and `_`.
    Schema(&'static str, &'a Value),
}

/// An answer in JSON; whether it has the form that was asked for is not checked.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct JsonReply {
    pub(crate) value: Value,
    /// Of all attempts that were answered.
    pub(crate) usage: ModelUsage,
}

/// Statuses of endpoints that do not know a form of answers.
const UNKNOWN_FORM: [u16; 3] = [400, 422, 501];
/// What is said to a model that answered otherwise.
const ONLY_JSON: &str = "Answer with the JSON object alone: no words around it, no code fence.";

impl Llm {
    /// The model's answer as a JSON object. The conversation should describe the form too.
    ///
    /// # Errors
    /// Every [`LlmError`]; [`LlmError::Unreadable`] also when the model gives no JSON.
    pub(crate) async fn chat_json(
        &self,
        messages: &[Message],
        form: Form<'_>,
        deadline: Instant,
    ) -> Result<JsonReply, LlmError> {
        let mut messages = messages.to_vec();
        let mut usage = ModelUsage::default();
        for _ in 0..limits::LLM_JSON_ROUNDS {
            let (reply, used) = self.answer(&messages, form, deadline).await?;
            usage.input_tokens += used.input_tokens;
            usage.output_tokens += used.output_tokens;
            usage.total_tokens += used.total_tokens;
            if let Some(value) = reply.text.as_deref().and_then(object) {
                return Ok(JsonReply { value, usage });
            }
            if reply.text.is_some() {
                messages.push(Message::Assistant(reply));
            }
            messages.push(Message::User(ONLY_JSON.to_owned()));
        }
        Err(LlmError::Unreadable("it is no JSON object".to_owned()))
    }

    /// The model's answer in a form, without tools, and what it used; whether it has the form is not checked.
    ///
    /// # Errors
    /// Every [`LlmError`].
    pub(crate) async fn answer(
        &self,
        messages: &[Message],
        form: Form<'_>,
        deadline: Instant,
    ) -> Result<(Reply, ModelUsage), LlmError> {
        let object = || json!({"type": "json_object"});
        let forms = match form {
            Form::Words => vec![None],
            Form::Object => vec![Some(object()), None],
            Form::Schema(name, schema) => {
                let schema = json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}});
                vec![Some(schema), Some(object()), None]
            }
        };
        let mut refusal = LlmError::Timeout;
        for form in forms {
            let mut body = wire::request(&self.shared.config.model, messages, &[]);
            if let Some(form) = form {
                body["response_format"] = form;
            }
            match self.converse(&body, deadline).await {
                Err(LlmError::Refused { status, message }) if UNKNOWN_FORM.contains(&status) => {
                    refusal = LlmError::Refused { status, message };
                }
                answer => return answer,
            }
        }
        Err(refusal)
    }
}

/// The JSON object in what a model says, which may have put it into a fence or between words.
fn object(text: &str) -> Option<Value> {
    let within = &text[text.find('{')?..=text.rfind('}')?];
    let value: Value = serde_json::from_str(within).ok()?;
    value.is_object().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_in_what_is_said() {
        assert_eq!(object("{\"a\":1}"), Some(json!({"a": 1})));
        assert_eq!(object("Sure!\n```json\n{\"a\": {}}\n```"), Some(json!({"a": {}})));
        for text in ["", "no", "}{", "[1]", "{a}", "{\"a\":1} and {\"b\":2}"] {
            assert_eq!(object(text), None, "{text}");
        }
    }
}
