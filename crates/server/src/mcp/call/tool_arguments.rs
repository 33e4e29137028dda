//! The arguments of a tool call that are not fields of its API request.

use anyhow::{Context, bail};
use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::fields::{FieldKind, Slot};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::limits;
use crate::mcp::tools::{ToolKind, names};

/// The arguments of a call that are not fields of its API request.
pub(super) struct ToolArguments(Map<String, Value>);

impl ToolArguments {
    /// Separates these arguments from the body of the request, and checks their types.
    pub(super) fn split(
        tool: ToolKind,
        has_files: bool,
        mut arguments: Map<String, Value>,
    ) -> anyhow::Result<(ToolArguments, Value)> {
        let mut own = Map::new();
        for field in tool.own_fields(has_files) {
            let Some(value) = arguments.remove(field.name).filter(|value| !value.is_null()) else {
                if field.required {
                    bail!("`{}` is required", field.name);
                }
                continue;
            };
            let problem = match (field.kind(), &value) {
                (FieldKind::Number, value)
                    if value.as_u64().is_some_and(|number| number <= Slot::UNBOUNDED) =>
                {
                    None
                }
                (FieldKind::Number, _) => Some("must be a whole number of at least 0".to_owned()),
                (FieldKind::Word(words), Value::String(word)) if words.contains(&word.as_str()) => None,
                (FieldKind::Word(words), _) => Some(format!("must be one of {}", words.join(", "))),
                (_, Value::String(text))
                    if ![names::ID, names::CHECK].contains(&field.name) || Uuid::try_parse(text).is_ok() =>
                {
                    None
                }
                (_, Value::String(_)) => Some("must be an id that a harvestman tool returned".to_owned()),
                _ => Some("must be a string".to_owned()),
            };
            if let Some(problem) = problem {
                bail!("`{}` {problem}", field.name);
            }
            own.insert(field.name.to_owned(), value);
        }
        if let Some(name) = arguments.keys().next()
            && tool.request_fields().is_empty()
        {
            bail!("`{name}` is not a known field");
        }
        let mut own = ToolArguments(own);
        own.bound(names::WAIT, limits::MCP_WAIT_MAX.as_secs());
        own.bound(names::LIMIT, limits::MCP_DOCUMENTS_MAX);
        Ok((own, Value::Object(arguments)))
    }

    /// Reduces a number to a maximum.
    fn bound(&mut self, name: &str, most: u64) {
        if let Some(value) = self.0.get_mut(name)
            && value.as_u64().is_some_and(|number| number > most)
        {
            *value = most.into();
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    pub(super) fn id(&self) -> anyhow::Result<&str> {
        self.text(names::ID).context("`id` is required")
    }

    /// Returns the command that started the job.
    pub(super) fn kind(&self) -> anyhow::Result<RequestCommand> {
        let kind = self.text(names::KIND).and_then(RequestCommand::parse);
        kind.context("`kind` is required")
    }
}
