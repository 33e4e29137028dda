//! `harvestman mcp`: a Model Context Protocol server on standard input and output, one JSON-RPC 2.0 message per line.
//! Its tools call a Harvestman server. Calls run concurrently, and each can be cancelled. Only protocol messages are
//! written to standard output.

mod tools;

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::thread;

use clap::{ArgMatches, Command};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::limits;
use crate::offline::lines::{Line, Lines};
use crate::request::api_client::{self, ApiClient};

/// Supported protocol versions, newest first. They do not differ in the messages used here.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// Builds the grammar of the command.
pub(crate) fn command() -> Command {
    Command::new("mcp")
        .about(
            "Run a Model Context Protocol server on standard input and output, with tools that call a server",
        )
        .args(api_client::arguments())
}

/// Handles messages until the input ends and the running calls have finished.
pub(crate) async fn run(given: &ArgMatches) -> anyhow::Result<()> {
    let client = ApiClient::of(given)?;
    let (sender, mut lines) = mpsc::channel(limits::MCP_CALLS);
    // A read of standard input cannot be cancelled; the thread ends with the process.
    thread::spawn(move || {
        let input = Lines::new(BufReader::new(io::stdin()), limits::BODY_BYTES);
        for line in input {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    let mut calls = Calls::default();
    let mut open = true;
    while open || !calls.running.is_empty() {
        tokio::select! {
            line = lines.recv(), if open && calls.running.len() < limits::MCP_CALLS => match line {
                Some(line) => {
                    if let Some(response) = read(&line, &client, &mut calls) {
                        write_message(&response)?;
                    }
                }
                None => open = false,
            },
            Some(ended) = calls.running.join_next(), if !calls.running.is_empty() => match ended {
                Ok((id, result)) => {
                    calls.handles.remove(&id.to_string());
                    write_message(&response(&id, Ok(result)))?;
                }
                Err(error) if error.is_cancelled() => {}
                Err(error) => return Err(error.into()),
            },
        }
    }
    Ok(())
}

/// Running tool calls, each with the request id and its result. The protocol forbids a response to a cancelled call.
#[derive(Default)]
struct Calls {
    running: JoinSet<(Value, Value)>,
    handles: HashMap<String, AbortHandle>,
}

fn write_message(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}

/// Handles a message and returns its response, unless it has none or a tool call sends it later.
fn read(line: &Line, client: &ApiClient, calls: &mut Calls) -> Option<Value> {
    let error_response = |code, message: &str| Some(response(&Value::Null, Err((code, message.to_owned()))));
    let Line::Text(text) = line else {
        return error_response(PARSE_ERROR, "the message is too long");
    };
    let Ok(message) = serde_json::from_slice::<Value>(text) else {
        return error_response(PARSE_ERROR, "the message is not JSON on one line");
    };
    let Some(method) = message["method"].as_str() else {
        // A response; this server sends no requests, so it is ignored.
        let is_response = message.get("result").or(message.get("error")).is_some();
        return match is_response {
            true => None,
            false => error_response(INVALID_REQUEST, "the message has no `method`"),
        };
    };
    let params = &message["params"];
    let Some(id) = message.get("id").filter(|id| !id.is_null()) else {
        if method == "notifications/cancelled"
            && let Some(call) = calls.handles.remove(&params["requestId"].to_string())
        {
            call.abort();
        }
        return None;
    };
    let result = match method {
        "initialize" => Ok(initialize_result(params)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": tools::list() })),
        "tools/call" => match tools::Tool::of(params) {
            Ok(tool) => {
                let (id, client) = (id.clone(), client.clone());
                let key = id.to_string();
                let handle = calls.running.spawn(async move { (id, tool.call(&client).await) });
                calls.handles.insert(key, handle);
                return None;
            }
            Err(message) => Err((INVALID_PARAMS, message)),
        },
        _ => Err((METHOD_NOT_FOUND, format!("unknown method `{method}`"))),
    };
    Some(response(id, result))
}

fn response(id: &Value, result: Result<Value, (i64, String)>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    }
}

fn initialize_result(params: &Value) -> Value {
    let requested = params["protocolVersion"].as_str();
    let version = VERSIONS.iter().find(|version| requested == Some(**version));
    json!({
        "protocolVersion": version.unwrap_or(&VERSIONS[0]),
        "capabilities": { "tools": {} },
        "serverInfo": {
            "name": "harvestman",
            "title": "Harvestman",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "instructions": tools::INSTRUCTIONS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_get_the_responses_of_the_protocol() {
        let client = ApiClient::new("http://127.0.0.1:1", None).unwrap();
        let mut calls = Calls::default();
        let mut handle = |text: &str| read(&Line::Text(text.as_bytes().to_vec()), &client, &mut calls);
        let hello = handle(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}"#,
        );
        let hello = hello.unwrap();
        assert_eq!(hello["id"], 1);
        assert_eq!(hello["result"]["protocolVersion"], "2024-11-05");
        let newer =
            handle(r#"{"id":"a","method":"initialize","params":{"protocolVersion":"2999-01-01"}}"#).unwrap();
        assert_eq!(
            (&newer["id"], &newer["result"]["protocolVersion"]),
            (&json!("a"), &json!(VERSIONS[0]))
        );
        assert_eq!(handle(r#"{"method":"notifications/initialized"}"#), None);
        assert_eq!(
            handle(r#"{"method":"notifications/cancelled","params":{"requestId":9}}"#),
            None
        );
        assert_eq!(
            handle(r#"{"id":2,"method":"ping"}"#).unwrap()["result"],
            json!({})
        );
        let code = |response: Option<Value>| response.unwrap()["error"]["code"].as_i64();
        assert_eq!(
            code(handle(r#"{"id":3,"method":"resources/list"}"#)),
            Some(METHOD_NOT_FOUND)
        );
        assert_eq!(
            code(handle(r#"{"id":3,"method":"tools/call","params":{"name":"x"}}"#)),
            Some(INVALID_PARAMS)
        );
        assert_eq!(code(handle("{")), Some(PARSE_ERROR));
        assert_eq!(code(handle("[]")), Some(INVALID_REQUEST));
        assert_eq!(handle(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#), None);
        assert_eq!(code(read(&Line::TooLong, &client, &mut calls)), Some(PARSE_ERROR));
    }

    #[tokio::test]
    async fn a_cancelled_call_has_no_response() {
        let client = ApiClient::new("http://127.0.0.1:1", None).unwrap();
        let mut calls = Calls::default();
        let mut tell = |text: String| read(&Line::Text(text.into_bytes()), &client, &mut calls);
        let call = r#"{"id":7,"method":"tools/call","params":{"name":"harvestman_scrape","arguments":{"url":"a.test"}}}"#;
        assert_eq!(tell(call.to_owned()), None);
        let stop = r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(tell(stop.to_owned()), None);
        assert!(
            calls
                .running
                .join_next()
                .await
                .unwrap()
                .unwrap_err()
                .is_cancelled()
        );
        assert!(calls.handles.is_empty());
    }
}
