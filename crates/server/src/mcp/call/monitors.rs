//! Calls of the tools for monitors.

use std::time::Duration;

use anyhow::Context;
use harvestman_core::api::monitor::{MonitorChange, MonitorRequest};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Call, ToolArguments, check_body};
use crate::limits;
use crate::mcp::tool_result::{ToolResult, value_text};
use crate::mcp::tools::{MonitorTool, names};

impl Call<'_> {
    pub(super) async fn monitor(
        &self,
        tool: MonitorTool,
        arguments: &ToolArguments,
        body: Value,
    ) -> anyhow::Result<ToolResult> {
        let client = self.client;
        let list = || {
            let limit = arguments.number(names::LIMIT).unwrap_or(limits::MCP_MONITORS);
            (arguments.number(names::SKIP).unwrap_or(0), limit)
        };
        match tool {
            MonitorTool::Create => {
                check_body::<MonitorRequest>(&body)?;
                Ok(described(&client.post("/v2/monitor", &body).await?["data"]))
            }
            MonitorTool::List => {
                let (skip, limit) = list();
                let response = client
                    .get(&format!("/v2/monitor?offset={skip}&limit={limit}"))
                    .await?;
                Ok(ToolResult::new(value_text(&response["data"])))
            }
            MonitorTool::Update => {
                check_body::<MonitorChange>(&body)?;
                let path = format!("/v2/monitor/{}", arguments.id()?);
                Ok(described(&client.patch(&path, &body).await?["data"]))
            }
            MonitorTool::Run => self.run_check(arguments).await,
            MonitorTool::Checks => {
                let (skip, limit) = list();
                let path = format!("/v2/monitor/{}/checks", arguments.id()?);
                match arguments.text(names::CHECK) {
                    Some(check) => {
                        let query = format!("?skip={skip}&limit={limit}");
                        let response = client.get(&format!("{path}/{check}{query}")).await?;
                        Ok(check_result(&response, skip))
                    }
                    None => {
                        let response = client.get(&format!("{path}?offset={skip}&limit={limit}")).await?;
                        Ok(ToolResult::new(value_text(&response["data"])))
                    }
                }
            }
            MonitorTool::Delete => {
                client.delete(&format!("/v2/monitor/{}", arguments.id()?)).await?;
                Ok(ToolResult::new("The monitor is deleted."))
            }
        }
    }

    async fn run_check(&self, arguments: &ToolArguments) -> anyhow::Result<ToolResult> {
        let monitor = arguments.id()?;
        let path = format!("/v2/monitor/{monitor}");
        let started = self.client.post(&format!("{path}/run"), &json!({})).await?;
        let id = started["id"]
            .as_str()
            .context("the response of the server has no id")?;
        let wait = arguments
            .number(names::WAIT)
            .map_or(limits::MCP_WAIT, Duration::from_secs);
        let deadline = Instant::now() + wait;
        let path = format!("{path}/checks/{id}?limit={}", limits::MCP_MONITORS);
        let response = loop {
            let response = self.client.get(&path).await?;
            let is_running = matches!(response["data"]["status"].as_str(), Some("queued" | "running"));
            if !is_running || Instant::now() >= deadline {
                break response;
            }
            sleep(limits::REMOTE_POLL_INTERVAL.min(deadline - Instant::now())).await;
        };
        let mut result = check_result(&response, 0);
        if response["data"]["finishedAt"].is_null() {
            result.lines.push(format!(
                "Still running. Read it with harvestman_monitor_checks {}.",
                json!({"id": monitor, "check": id})
            ));
        }
        Ok(result)
    }
}

fn described(monitor: &Value) -> ToolResult {
    let mut result = ToolResult::new(value_text(monitor));
    for (label, name) in [
        ("Monitor", "id"),
        ("Status", "status"),
        ("Next check", "nextRunAt"),
    ] {
        result.line(label, &monitor[name]);
    }
    result
}

/// Returns the result for a check with a part of its pages; unchanged pages are only counted.
fn check_result(response: &Value, skip: u64) -> ToolResult {
    let check = &response["data"];
    let pages = check["pages"].as_array().map_or(&[][..], Vec::as_slice);
    let (same, shown): (Vec<&Value>, Vec<&Value>) = pages.iter().partition(|page| page["status"] == "same");
    let shown: Value = shown.into_iter().cloned().collect();
    let mut result = ToolResult::new(value_text(&shown));
    for (label, name) in [
        ("Check", "id"),
        ("Status", "status"),
        ("Error", "error"),
        ("Summary", "summary"),
        ("Credits used", "actualCredits"),
    ] {
        result.line(label, &check[name]);
    }
    if !same.is_empty() {
        result.line("Left out because they have not changed", &same.len().into());
    }
    if !response["next"].is_null() {
        result.lines.push(format!(
            "For more pages, call harvestman_monitor_checks with `check` and `skip`: {}.",
            skip + pages.len() as u64
        ));
    }
    result
}
