//! The tools of an agent: search, read a page, list the pages of a site, and finish with a result. All of
//! them only read.

use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::limits::MAX_SEARCH_QUERY_CHARS;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::llm::{Tool, ToolCall};

/// A parsed tool call.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum AgentCall {
    /// Do something on the web.
    Act(AgentAction),
    /// Finish with data, or with a text in chat mode.
    Done(Value),
}

/// What an agent does on the web.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum AgentAction {
    /// Search for pages; 1 to 500 characters.
    Search(String),
    /// Read a page.
    Scrape(TargetUrl),
    /// List the pages of a site; those that match the words come first.
    Map(TargetUrl, Option<String>),
}

/// Returns the tools of a run. `schema` is the schema of the result; without one, the result is any JSON, or a text
/// in chat mode.
pub(super) fn tools(schema: Option<&Value>, strict: bool, chat: bool) -> Vec<Tool> {
    let url = json!({"type": "string", "description": "Absolute URL"});
    let result = match (schema, chat) {
        (_, true) => {
            json!({"type": "string", "description": "The answer to the user, in the language of the task"})
        }
        (Some(schema), false) => schema.clone(),
        (None, false) => json!({"description": "The data as JSON, with field names that fit the task"}),
    };
    let mut tools = vec![Tool {
        name: "scrape",
        description: "Reads a page: its text and its links.",
        parameters: json!({"type": "object", "properties": {"url": url}, "required": ["url"]}),
    }];
    if !strict {
        tools.push(Tool {
            name: "map",
            description: "Lists pages of a site. With `search`, matching pages come first.",
            parameters: json!({"type": "object", "required": ["url"],
                "properties": {"url": url, "search": {"type": "string"}}}),
        });
        tools.push(Tool {
            name: "search",
            description: "Finds pages by words and returns their URLs, titles and descriptions.",
            parameters: json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
        });
    }
    tools.push(Tool {
        name: "done",
        description: "Finishes the task with its result.",
        parameters: json!({"type": "object", "properties": {"result": result}, "required": ["result"]}),
    });
    tools
}

#[derive(Deserialize)]
struct UrlArguments {
    url: String,
    search: Option<String>,
}

#[derive(Deserialize)]
struct QueryArguments {
    query: String,
}

#[derive(Deserialize)]
struct ResultArguments {
    result: Value,
}

/// Parses a tool call.
///
/// # Errors
/// What is wrong with the call, for the model.
pub(super) fn parse_call(call: &ToolCall, strict: bool) -> Result<AgentCall, String> {
    fn read<'a, T: Deserialize<'a>>(call: &'a ToolCall) -> Result<T, String> {
        serde_json::from_str(&call.arguments)
            .map_err(|error| format!("invalid arguments of `{}`: {error}", call.name))
    }
    let url_arguments = || -> Result<(TargetUrl, Option<String>), String> {
        let arguments: UrlArguments = read(call)?;
        let url = TargetUrl::parse(&arguments.url).map_err(|why| format!("`url` {why}"))?;
        Ok((url, arguments.search.filter(|search| !search.trim().is_empty())))
    };
    let action = match call.name.as_str() {
        "done" => return Ok(AgentCall::Done(read::<ResultArguments>(call)?.result)),
        "scrape" => AgentAction::Scrape(url_arguments()?.0),
        "map" if !strict => {
            let (url, search) = url_arguments()?;
            AgentAction::Map(url, search)
        }
        "search" if !strict => match read::<QueryArguments>(call)?.query.trim() {
            "" => return Err("`query` is empty".to_owned()),
            query => AgentAction::Search(query.chars().take(MAX_SEARCH_QUERY_CHARS).collect()),
        },
        name => return Err(format!("unknown tool `{name}`")),
    };
    Ok(AgentCall::Act(action))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn calls_are_parsed_or_rejected_with_a_reason() {
        let scrape = parse_call(&call("scrape", r#"{"url":"https://a.test/x"}"#), true).unwrap();
        assert!(
            matches!(scrape, AgentCall::Act(AgentAction::Scrape(url)) if url.url.as_str() == "https://a.test/x")
        );
        let map = parse_call(&call("map", r#"{"url":"https://a.test","search":" "}"#), false).unwrap();
        assert!(matches!(map, AgentCall::Act(AgentAction::Map(_, None))));
        let done = parse_call(&call("done", r#"{"result":{"a":1}}"#), true).unwrap();
        assert_eq!(done, AgentCall::Done(json!({"a": 1})));
        let search = parse_call(&call("search", r#"{"query":" cups "}"#), false).unwrap();
        assert_eq!(search, AgentCall::Act(AgentAction::Search("cups".to_owned())));
        let wordless = parse_call(&call("search", r#"{"query":" "}"#), false).unwrap_err();
        assert!(wordless.contains("is empty"), "{wordless}");
        for (name, arguments, why) in [
            ("search", r#"{"query":"cups"}"#, "unknown tool `search`"),
            ("map", r#"{"url":"https://a.test"}"#, "unknown tool `map`"),
            ("scrape", r#"{"url":"file:///etc/passwd"}"#, "`url`"),
            ("scrape", "{", "invalid arguments"),
            ("delete", "{}", "unknown tool"),
            ("done", "{}", "invalid arguments"),
        ] {
            let wrong = parse_call(&call(name, arguments), true).unwrap_err();
            assert!(wrong.contains(why), "{wrong}");
        }
    }

    #[test]
    fn a_strict_run_has_no_tools_that_find_other_pages() {
        let names =
            |strict| -> Vec<&str> { tools(None, strict, false).iter().map(|tool| tool.name).collect() };
        assert_eq!(names(true), ["scrape", "done"]);
        assert_eq!(names(false), ["scrape", "map", "search", "done"]);
        let schema = json!({"type": "object"});
        assert_eq!(
            tools(Some(&schema), true, false)[1].parameters["properties"]["result"],
            schema
        );
    }
}
