//! Carries out a tool call: checks the arguments, sends the API requests, and builds the result.

mod files;
mod monitors;
mod tool_arguments;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harvestman_core::api::Wire;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest};
use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::interact::InteractRequest;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::support::DocsSearchRequest;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use tool_arguments::ToolArguments;

use super::tool_result::{
    Picture, RestLocation, ToolResult, document_text, picture_of, take_pictures, value_text,
};
use super::tools::{OtherTool, ToolKind, names};
use crate::limits;
use crate::request::api_client::{ApiClient, describe_error};
use crate::request::job::{is_job, streams};
use crate::request::parse::Form;

/// Sender of progress notifications.
pub(super) struct Progress {
    notifications: mpsc::Sender<Value>,
    /// None if the client wants no progress.
    token: Option<Value>,
    last: u64,
}

impl Progress {
    pub(super) fn new(notifications: mpsc::Sender<Value>, token: Option<Value>) -> Progress {
        Progress {
            notifications,
            token,
            last: 0,
        }
    }

    /// Reports the pages of a job, if there are more than at the last report.
    async fn report(&mut self, status: &Value) {
        let Some(token) = &self.token else { return };
        let count = |name: &str| status[name].as_u64().unwrap_or_default();
        let (completed, total) = (count("completed"), count("total"));
        if completed <= self.last {
            return;
        }
        self.last = completed;
        let notification = json!({
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {
                "progressToken": token,
                "progress": completed,
                "total": total.max(completed),
                "message": format!("{completed} of {total} pages"),
            },
        });
        // A client that is gone needs no progress.
        let _ = self.notifications.send(notification).await;
    }
}

/// A tool call.
pub(super) struct Call<'c> {
    pub(super) client: &'c ApiClient,
    /// Whether tools may read files of this machine.
    pub(super) has_files: bool,
    pub(super) progress: Progress,
}

impl Call<'_> {
    /// Runs the call.
    ///
    /// # Errors
    /// Invalid arguments, or the error of the API.
    pub(super) async fn run(
        mut self,
        tool: ToolKind,
        arguments: Map<String, Value>,
    ) -> anyhow::Result<ToolResult> {
        let (arguments, body) = ToolArguments::split(tool, self.has_files, arguments)?;
        let mut result = match tool {
            ToolKind::Request(command) => self.request(command, &arguments, body).await?,
            ToolKind::Other(OtherTool::Parse) => self.parse(&arguments, body).await?,
            ToolKind::Other(OtherTool::DocsSearch) => {
                check_body::<DocsSearchRequest>(&body)?;
                let response = self.client.post("/v2/support/docs-search", &body).await?;
                let mut result = ToolResult::new(value_text(&response["answer"]));
                let sources = response["evidence"].as_array().into_iter().flatten();
                let sources: Vec<&str> = sources
                    .filter_map(|source| source["pathOrUrl"].as_str())
                    .collect();
                result.line("Sources", &sources.join(", ").into());
                result
            }
            ToolKind::Other(OtherTool::Interact) => {
                check_body::<InteractRequest>(&body)?;
                let path = format!("/v2/scrape/{}/interact", arguments.id()?);
                executed(&self.client.post(&path, &body).await?)
            }
            ToolKind::Other(OtherTool::BrowserExecute) => {
                check_body::<ExecuteRequest>(&body)?;
                let path = format!("/v2/browser/{}/execute", arguments.id()?);
                executed(&self.client.post(&path, &body).await?)
            }
            ToolKind::Other(OtherTool::Browser) => {
                check_body::<BrowserRequest>(&body)?;
                opened(&self.client.post("/v2/browser", &body).await?)
            }
            ToolKind::Other(OtherTool::InteractStop) => {
                let path = format!("/v2/scrape/{}/interact", arguments.id()?);
                ended(&self.client.delete(&path).await?)
            }
            ToolKind::Other(OtherTool::BrowserClose) => {
                let path = format!("/v2/browser/{}", arguments.id()?);
                ended(&self.client.delete(&path).await?)
            }
            ToolKind::Other(OtherTool::BrowserList) => {
                let query = arguments
                    .text(names::STATUS)
                    .map_or(String::new(), |status| format!("?status={status}"));
                let response = self.client.get(&format!("/v2/browser{query}")).await?;
                ToolResult::new(value_text(&response["sessions"]))
            }
            ToolKind::Other(OtherTool::BrowserFiles) => self.session_files(&arguments).await?,
            ToolKind::Other(OtherTool::BrowserUpload) => self.upload(&arguments).await?,
            ToolKind::Other(OtherTool::BrowserDownload) => self.download(&arguments).await?,
            ToolKind::Other(OtherTool::AgentThread) => {
                let path = format!("/v2/agent/threads/{}?includeData=true", arguments.id()?);
                ToolResult::new(value_text(&self.client.get(&path).await?["thread"]))
            }
            ToolKind::Monitor(tool) => self.monitor(tool, &arguments, body).await?,
            ToolKind::Other(OtherTool::Status) => self.status(&arguments).await?,
            ToolKind::Other(OtherTool::Cancel) => {
                let (command, id) = (arguments.kind()?, arguments.id()?);
                self.client.delete(&format!("{}/{id}", command.path())).await?;
                ToolResult::new(format!("The {command} {id} is cancelled."))
            }
        };
        result.offset = arguments.number(names::OFFSET).unwrap_or(0);
        Ok(result)
    }

    async fn request(
        &mut self,
        command: RequestCommand,
        arguments: &ToolArguments,
        body: Value,
    ) -> anyhow::Result<ToolResult> {
        command.check(body.clone()).map_err(|error| problems(&error))?;
        let response = self.client.post(command.path(), &body).await?;
        if is_job(command) {
            let id = response["id"]
                .as_str()
                .context("the response of the server has no job id")?;
            let wait = arguments
                .number(names::WAIT)
                .map_or(limits::MCP_WAIT, Duration::from_secs);
            let mut result = self.job(command, id, 0, limits::MCP_DOCUMENTS, wait).await?;
            result.line("Invalid URLs", &list(&response["invalidURLs"]));
            return Ok(result);
        }
        Ok(match command {
            RequestCommand::Map => {
                let links = response["links"].as_array().map_or(&[][..], Vec::as_slice);
                let lines: Vec<String> = links.iter().map(link_line).collect();
                let mut result = ToolResult::new(lines.join("\n"));
                result.line("URLs", &links.len().into());
                result.line("Warning", &response["warning"]);
                result
            }
            RequestCommand::Search => {
                let mut result = ToolResult::new(results_text(&response["data"]));
                result.line("Warning", &response["warning"]);
                result
            }
            _ => self.page(&response).await,
        })
    }

    async fn parse(&self, arguments: &ToolArguments, body: Value) -> anyhow::Result<ToolResult> {
        check_body::<ParseOptions>(&body)?;
        let response = self.form(arguments, &body)?.send(self.client).await?;
        Ok(self.page(&response).await)
    }

    /// Returns the upload form with these options and the file that the arguments name or contain.
    fn form(&self, arguments: &ToolArguments, options: &Value) -> anyhow::Result<Form> {
        match (
            arguments.text(names::PATH),
            arguments.text(names::TEXT),
            arguments.text(names::BASE64),
        ) {
            (Some(path), None, None) => Form::of_file(Path::new(path), options),
            (None, text, base64) if text.is_some() != base64.is_some() => {
                let name = arguments
                    .text(names::NAME)
                    .context("`name` is required: the name of the file")?;
                let bytes = match (text, base64) {
                    (Some(text), _) => text.as_bytes().to_vec(),
                    (_, base64) => STANDARD
                        .decode(base64.unwrap_or_default())
                        .context("`base64` is not valid Base64")?,
                };
                Form::new(name, &bytes, options)
            }
            _ if self.has_files => bail!("exactly one of `path`, `text` and `base64` is required"),
            _ => bail!("exactly one of `text` and `base64` is required"),
        }
    }

    async fn status(&mut self, arguments: &ToolArguments) -> anyhow::Result<ToolResult> {
        let (command, id) = (arguments.kind()?, arguments.id()?);
        if command == RequestCommand::Scrape {
            let response = self.client.get(&format!("/v2/scrape/{id}")).await?;
            return Ok(self.page(&response).await);
        }
        let skip = arguments.number(names::SKIP).unwrap_or(0);
        let limit = arguments.number(names::LIMIT).unwrap_or(limits::MCP_DOCUMENTS);
        let wait = Duration::from_secs(arguments.number(names::WAIT).unwrap_or(0));
        self.job(command, id, skip, limit, wait).await
    }

    /// Waits for the end of a job, at most `wait`, and returns its state with pages or result.
    async fn job(
        &mut self,
        command: RequestCommand,
        id: &str,
        skip: u64,
        limit: u64,
        wait: Duration,
    ) -> anyhow::Result<ToolResult> {
        let deadline = Instant::now() + wait;
        let path = format!("{}/{id}", command.path());
        let response = loop {
            let query = if streams(command) {
                format!("?skip={skip}&limit={limit}")
            } else {
                String::new()
            };
            let response = self.client.get(&format!("{path}{query}")).await?;
            self.progress.report(&response).await;
            let is_running = matches!(response["status"].as_str(), Some("scraping" | "processing"));
            if !is_running || Instant::now() >= deadline {
                break response;
            }
            sleep(limits::REMOTE_POLL_INTERVAL.min(deadline - Instant::now())).await;
        };
        let content = ["data", "message", "partial"]
            .into_iter()
            .map(|name| &response[name])
            .find(|value| !value.is_null());
        if response["status"] == "failed" && content.is_none() {
            let reason = response["error"].as_str().unwrap_or("no reason given");
            bail!("the {command} {id} failed: {reason}");
        }
        let mut result = match streams(command) {
            true => pages_result(&response, skip),
            false => ToolResult::new(content.map_or(String::new(), value_text)),
        };
        let mut lines = ToolResult::new("");
        lines.line("Job", &format!("{command} {id}").into());
        lines.line("Status", &response["status"]);
        for (label, name) in [
            ("Error", "error"),
            ("Warning", "warning"),
            ("Thread", "threadId"),
            ("Credits used", "creditsUsed"),
        ] {
            lines.line(label, &response[name]);
        }
        if !streams(command) && !response["partial"].is_null() {
            lines
                .lines
                .push("The run has no result; this is what it has found so far.".to_owned());
        }
        if matches!(response["status"].as_str(), Some("scraping" | "processing")) {
            lines.lines.push(format!(
                "Still running. Read it again with harvestman_status {}.",
                json!({"kind": command.as_str(), "id": id, "waitSeconds": limits::MCP_WAIT.as_secs()})
            ));
        }
        result.lines.splice(0..0, lines.lines);
        let rest = match streams(command) {
            true => json!({"kind": command.as_str(), "id": id, "skip": skip, "limit": 1}),
            false => json!({"kind": command.as_str(), "id": id}),
        };
        result.rest = RestLocation::Status(rest.to_string());
        Ok(result)
    }

    /// Returns the result for a page: its status and warnings, its content, its pictures.
    async fn page(&self, response: &Value) -> ToolResult {
        let document = if response["data"].is_null() {
            response
        } else {
            &response["data"]
        };
        let mut result = ToolResult::new(document_text(document));
        page_lines(document, &mut result);
        result.line("Warning", &response["warning"]);
        if let Some(id) = document["metadata"]["scrapeId"].as_str() {
            result.rest = RestLocation::Status(json!({"kind": "scrape", "id": id}).to_string());
        }
        let of_actions = document["actions"]["screenshots"]
            .as_array()
            .into_iter()
            .flatten();
        let urls = [&document["screenshot"]]
            .into_iter()
            .chain(of_actions)
            .filter_map(Value::as_str);
        for url in urls {
            match self.picture(url).await {
                Ok(picture) if result.pictures.len() < limits::MCP_PICTURES => result.pictures.push(picture),
                Ok(_) => result.line("Another picture", &url.into()),
                Err(error) => result.line("Picture not included", &format!("{error:#}").into()),
            }
            if !url.starts_with("data:") {
                result.line("Screenshot", &url.into());
            }
        }
        result
    }

    async fn picture(&self, url: &str) -> anyhow::Result<Picture> {
        if url.starts_with("data:") {
            return picture_of(url).context("it is not a picture");
        }
        let (mime_type, bytes) = self.client.file(url).await?;
        if bytes.len() > limits::MCP_PICTURE_BYTES {
            bail!(
                "it has {} bytes, more than {}",
                bytes.len(),
                limits::MCP_PICTURE_BYTES
            );
        }
        Ok(Picture {
            mime_type,
            base64: STANDARD.encode(bytes),
        })
    }
}

/// Checks the body of a request.
fn check_body<W: Wire>(body: &Value) -> anyhow::Result<()> {
    W::from_value(body.clone())
        .map(drop)
        .map_err(|error| problems(&error))
}

fn problems(error: &ApiError) -> anyhow::Error {
    let details = error.details.clone().unwrap_or_default();
    anyhow::anyhow!("{}", describe_error(&error.message, &details))
}

/// Adds lines with the metadata of a page.
fn page_lines(document: &Value, result: &mut ToolResult) {
    let metadata = &document["metadata"];
    let url = Some(&metadata["url"]).filter(|url| !url.is_null());
    result.line("URL", url.unwrap_or(&metadata["sourceURL"]));
    result.line("Status", &metadata["statusCode"]);
    if metadata["statusCode"]
        .as_u64()
        .is_some_and(|status| status >= 400)
    {
        result
            .lines
            .push("The site returned an error; this may be an error page.".to_owned());
    }
    result.line("Error", &metadata["error"]);
    result.line("Title", &metadata["title"]);
    result.line("Pages", &metadata["numPages"]);
    result.line("Scrape id", &metadata["scrapeId"]);
    result.line("Warning", &document["warning"]);
}

/// Returns the result for the documents of a job: as many whole ones as fit, or a part of the first.
fn pages_result(response: &Value, skip: u64) -> ToolResult {
    let documents = response["data"].as_array().map_or(&[][..], Vec::as_slice);
    let (mut content, mut shown, mut chars) = (String::new(), 0_u64, 0);
    for document in documents {
        let mut page = ToolResult::new("");
        page_lines(document, &mut page);
        let text = format!("{}\n\n{}\n\n", page.lines.join("\n"), document_text(document));
        let size = text.chars().count();
        if shown > 0 && chars + size > limits::MCP_RESULT_CHARS - 4 * limits::MCP_LINE_CHARS {
            break;
        }
        content.push_str(&format!("--- Page {} ---\n{text}", skip + shown));
        chars += size + limits::MCP_PAGE_MARK_CHARS;
        shown += 1;
    }
    let mut result = ToolResult::new(content);
    let completed = response["completed"].as_u64().unwrap_or_default();
    result.line(
        "Pages",
        &format!("{completed} read, {} known", response["total"]).into(),
    );
    if shown > 0 {
        result.line("Shown", &format!("pages {skip} to {}", skip + shown - 1).into());
    }
    if skip + shown < completed {
        result.lines.push(format!(
            "For more pages, call harvestman_status with `skip`: {}.",
            skip + shown
        ));
    }
    result
}

fn link_line(link: &Value) -> String {
    let text = |name: &str| link[name].as_str().unwrap_or_default();
    let words = [text("title"), text("description")];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        true => text("url").to_owned(),
        false => format!("{}  {}", text("url"), words.join(" - ").replace('\n', " ")),
    }
}

/// Returns the results of a search as text, by kind.
fn results_text(data: &Value) -> String {
    let mut text = String::new();
    for (kind, results) in data.as_object().into_iter().flatten() {
        for (at, found) in results.as_array().into_iter().flatten().enumerate() {
            let mut rest = found.clone();
            let mut take = |name: &str| match rest.get_mut(name).map(Value::take) {
                Some(Value::String(text)) => text,
                _ => String::new(),
            };
            let lines = [take("title"), take("url"), take("description"), take("snippet")];
            let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            text.push_str(&format!("[{kind} {}] {}\n", at + 1, lines.join("\n")));
            let more = document_text(&rest);
            if !more.is_empty() {
                text.push_str(&more);
                text.push('\n');
            }
            text.push('\n');
        }
    }
    match text.is_empty() {
        true => "No results.".to_owned(),
        false => text,
    }
}

/// Returns the result for code or a prompt that ran in a browser.
fn executed(response: &Value) -> ToolResult {
    let mut pictures = Vec::new();
    let mut parts = Vec::new();
    for name in ["output", "stdout", "result", "stderr"] {
        if let Some(text) = response[name].as_str().filter(|text| !text.trim().is_empty()) {
            parts.push(format!("=== {name} ===\n{}", take_pictures(text, &mut pictures)));
        }
    }
    let mut result = ToolResult::new(parts.join("\n"));
    result.pictures = pictures
        .into_iter()
        .filter(|one| one.base64.len() <= limits::MCP_PICTURE_BYTES * 4 / 3)
        .collect();
    result.rest = RestLocation::Nowhere;
    for (label, name) in [
        ("Exit code", "exitCode"),
        ("Killed by the timeout", "killed"),
        ("Error", "error"),
        ("Live view", "liveViewUrl"),
        ("Interactive live view", "interactiveLiveViewUrl"),
    ] {
        if response[name] != false {
            result.line(label, &response[name]);
        }
    }
    result
}

fn opened(response: &Value) -> ToolResult {
    let mut result = ToolResult::new("");
    for (label, name) in [
        ("Session id", "id"),
        ("Live view", "liveViewUrl"),
        ("Interactive live view", "interactiveLiveViewUrl"),
        ("Debugging protocol", "cdpUrl"),
        ("Ends at", "expiresAt"),
    ] {
        result.line(label, &response[name]);
    }
    result
}

fn ended(response: &Value) -> ToolResult {
    let mut result = ToolResult::new("The session has ended.");
    result.line("Duration in ms", &response["sessionDurationMs"]);
    result.line("Credits billed", &response["creditsBilled"]);
    result
}

/// Returns a list as text; null for an empty one.
fn list(value: &Value) -> Value {
    match value.as_array().map(Vec::len) {
        None | Some(0) => Value::Null,
        Some(_) => value_text(value).replace('\n', ", ").into(),
    }
}
