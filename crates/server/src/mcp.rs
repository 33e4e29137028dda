//! The server of the Model Context Protocol: `harvestman mcp` on standard input and output, one JSON-RPC 2.0 message per
//! line, and `POST /mcp` over HTTP without sessions. Both serve the same requests; tools call the API of a Harvestman
//! server, which checks key, limits and fields. Start reading at [`tools`].

mod call;
pub(crate) mod http;
mod tool_result;
mod tools;

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::thread;

use clap::{ArgMatches, Command};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::limits;
use crate::offline::lines::{Line, Lines};
use crate::request::api_client::{self, ApiClient};
use call::{Call, Progress};
use tools::ToolKind;

/// Supported protocol versions, newest first. They do not differ in the messages used here.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

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

/// What a message asks for.
#[derive(PartialEq, Debug)]
enum Step {
    /// Nothing: a notification, or a response; this server sends no requests.
    Nothing,
    /// A response, which is ready.
    Respond(Value),
    /// The end of a running request.
    Cancel(Value),
    /// A tool call.
    Call(ToolCall),
}

/// A tool call that has not started.
#[derive(PartialEq, Debug)]
struct ToolCall {
    /// Id of the request.
    id: Value,
    tool: ToolKind,
    arguments: Map<String, Value>,
    /// Token for notifications of progress, if the client wants them.
    progress_token: Option<Value>,
}

impl ToolCall {
    /// Runs the call and returns the response. An error of the tool becomes a result, for the model to read.
    /// Notifications are sent to `notifications`.
    async fn run(self, client: &ApiClient, has_files: bool, notifications: mpsc::Sender<Value>) -> Value {
        let call = Call {
            client,
            has_files,
            progress: Progress::new(notifications, self.progress_token),
        };
        let result = match call.run(self.tool, self.arguments).await {
            Ok(result) => result.into_result(),
            Err(error) => tool_result::error_result(&error),
        };
        response(&self.id, Ok(result))
    }
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
    let (notifications, mut notified) = mpsc::channel(limits::MCP_CALLS);
    let mut running: JoinSet<(String, Value)> = JoinSet::new();
    // The protocol forbids a response to a cancelled call.
    let mut handles: HashMap<String, AbortHandle> = HashMap::new();
    let mut open = true;
    while open || !running.is_empty() {
        tokio::select! {
            line = lines.recv(), if open && running.len() < limits::MCP_CALLS => match line {
                Some(line) => match read_line(&line) {
                    Step::Nothing => {}
                    Step::Respond(response) => write_message(&response)?,
                    Step::Cancel(id) => {
                        if let Some(call) = handles.remove(&id.to_string()) {
                            call.abort();
                        }
                    }
                    Step::Call(call) => {
                        let (client, notifications) = (client.clone(), notifications.clone());
                        let key = call.id.to_string();
                        let handle = running.spawn({
                            let key = key.clone();
                            async move { (key, call.run(&client, true, notifications).await) }
                        });
                        handles.insert(key, handle);
                    }
                },
                None => open = false,
            },
            Some(notification) = notified.recv() => write_message(&notification)?,
            Some(ended) = running.join_next(), if !running.is_empty() => match ended {
                Ok((key, response)) => {
                    handles.remove(&key);
                    write_message(&response)?;
                }
                Err(error) if error.is_cancelled() => {}
                Err(error) => return Err(error.into()),
            },
        }
    }
    Ok(())
}

fn write_message(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}

fn read_line(line: &Line) -> Step {
    match line {
        Line::Text(text) => read(text, true),
        Line::TooLong => Step::Respond(response(
            &Value::Null,
            Err((PARSE_ERROR, "the message is too long".to_owned())),
        )),
    }
}

/// Reads a message. `has_files` says whether tools may read files of this machine.
fn read(text: &[u8], has_files: bool) -> Step {
    let refuse =
        |id: &Value, code, message: &str| Step::Respond(response(id, Err((code, message.to_owned()))));
    let Ok(mut message) = serde_json::from_slice::<Value>(text) else {
        return refuse(&Value::Null, PARSE_ERROR, "the message is not JSON on one line");
    };
    let Some(method) = message["method"].as_str().map(str::to_owned) else {
        let is_response = message.get("result").or(message.get("error")).is_some();
        return match is_response {
            true => Step::Nothing,
            false => refuse(&Value::Null, INVALID_REQUEST, "the message has no `method`"),
        };
    };
    let mut params = match message["params"].take() {
        Value::Object(params) => Value::Object(params),
        _ => json!({}),
    };
    let Some(id) = message.get("id").filter(|id| !id.is_null()).cloned() else {
        return match method.as_str() {
            "notifications/cancelled" => Step::Cancel(params["requestId"].take()),
            _ => Step::Nothing,
        };
    };
    let result = match method.as_str() {
        "initialize" => initialize_result(&params),
        "ping" => json!({}),
        "tools/list" => {
            let tools: Vec<Value> = ToolKind::all().map(|tool| tool.listing(has_files)).collect();
            json!({ "tools": tools })
        }
        "tools/call" => {
            let name = params["name"].as_str().unwrap_or_default();
            let Some(tool) = ToolKind::of_name(name) else {
                return refuse(&id, INVALID_PARAMS, &format!("there is no tool `{name}`"));
            };
            let arguments = match params["arguments"].take() {
                Value::Null => Map::new(),
                Value::Object(arguments) => arguments,
                _ => return refuse(&id, INVALID_PARAMS, "`arguments` must be an object"),
            };
            let token = params.pointer("/_meta/progressToken").cloned();
            return Step::Call(ToolCall {
                id,
                tool,
                arguments,
                progress_token: token,
            });
        }
        _ => return refuse(&id, METHOD_NOT_FOUND, &format!("unknown method `{method}`")),
    };
    Step::Respond(response(&id, Ok(result)))
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

    #[test]
    fn messages_get_the_responses_of_the_protocol() {
        let respond = |text: &str| match read(text.as_bytes(), true) {
            Step::Respond(response) => response,
            step => panic!("{step:?}"),
        };
        let hello = respond(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}"#,
        );
        assert_eq!(hello["id"], 1);
        assert_eq!(hello["result"]["protocolVersion"], "2024-11-05");
        let newer = respond(r#"{"id":"a","method":"initialize","params":{"protocolVersion":"2999-01-01"}}"#);
        assert_eq!(
            (&newer["id"], &newer["result"]["protocolVersion"]),
            (&json!("a"), &json!(VERSIONS[0]))
        );
        assert_eq!(respond(r#"{"id":2,"method":"ping"}"#)["result"], json!({}));
        for (text, code) in [
            (r#"{"id":3,"method":"resources/list"}"#, METHOD_NOT_FOUND),
            (
                r#"{"id":3,"method":"tools/call","params":{"name":"x"}}"#,
                INVALID_PARAMS,
            ),
            (
                r#"{"id":3,"method":"tools/call","params":{"name":"harvestman_map","arguments":[]}}"#,
                INVALID_PARAMS,
            ),
            ("{", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
        ] {
            assert_eq!(respond(text)["error"]["code"], code, "{text}");
        }
        for (text, step) in [
            (r#"{"method":"notifications/initialized"}"#, Step::Nothing),
            (r#"{"jsonrpc":"2.0","id":4,"result":{}}"#, Step::Nothing),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":9}}"#,
                Step::Cancel(json!(9)),
            ),
        ] {
            assert_eq!(read(text.as_bytes(), true), step);
        }
        assert!(matches!(read_line(&Line::TooLong), Step::Respond(_)));
        let call = read(
            br#"{"id":7,"method":"tools/call","params":{"name":"harvestman_map","_meta":{"progressToken":0}}}"#,
            true,
        );
        let Step::Call(call) = call else {
            panic!("{call:?}")
        };
        assert_eq!((call.id, call.progress_token), (json!(7), Some(json!(0))));
    }
}
