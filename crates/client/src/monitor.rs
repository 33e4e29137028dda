//! `/v2/monitor`: pages that are checked on a schedule.

use harvestman_core::api::monitor::{ListQuery, MonitorChange, MonitorRequest};
use harvestman_core::api::monitor_response::{
    Check, CheckPages, CheckStarted, CheckStatus, Monitor, MonitorStatus, PageStatus,
};
use harvestman_core::api::team::Data;
use harvestman_core::api::wire_enum::WireEnum;
use serde_json::{Value, json};

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Creates a monitor.
    pub async fn create_monitor(&self, request: &MonitorRequest) -> Result<Monitor, ClientError> {
        data(self.post("/v2/monitor", request).await)
    }

    /// Lists monitors, newest first.
    pub async fn monitors(&self, query: ListQuery<MonitorStatus>) -> Result<Vec<Monitor>, ClientError> {
        data(self.get(&format!("/v2/monitor?{}", list(query, "offset"))).await)
    }

    /// Returns a monitor.
    pub async fn monitor(&self, id: &str) -> Result<Monitor, ClientError> {
        data(self.get(&format!("/v2/monitor/{id}")).await)
    }

    /// Changes a monitor.
    pub async fn update_monitor(&self, id: &str, change: &MonitorChange) -> Result<Monitor, ClientError> {
        data(self.patch(&format!("/v2/monitor/{id}"), change).await)
    }

    /// Deletes a monitor with its checks.
    pub async fn delete_monitor(&self, id: &str) -> Result<(), ClientError> {
        self.delete::<Value>(&format!("/v2/monitor/{id}")).await.map(drop)
    }

    /// Starts a check now.
    pub async fn run_monitor(&self, id: &str) -> Result<Check, ClientError> {
        let started: CheckStarted = self.post(&format!("/v2/monitor/{id}/run"), &json!({})).await?;
        Ok(started.data)
    }

    /// Lists checks of a monitor, newest first.
    pub async fn monitor_checks(
        &self,
        id: &str,
        query: ListQuery<CheckStatus>,
    ) -> Result<Vec<Check>, ClientError> {
        data(
            self.get(&format!("/v2/monitor/{id}/checks?{}", list(query, "offset")))
                .await,
        )
    }

    /// Returns a check with a part of its pages.
    pub async fn monitor_check(
        &self,
        id: &str,
        check: &str,
        query: ListQuery<PageStatus>,
    ) -> Result<CheckPages, ClientError> {
        let query = list(query, "skip");
        self.get(&format!("/v2/monitor/{id}/checks/{check}?{query}"))
            .await
    }
}

fn data<T>(response: Result<Data<T>, ClientError>) -> Result<T, ClientError> {
    response.map(|response| response.data)
}

fn list<S: WireEnum>(query: ListQuery<S>, offset: &str) -> String {
    let status = query.status.map(|status| format!("&status={}", status.as_str()));
    format!(
        "limit={}&{offset}={}{}",
        query.limit,
        query.offset,
        status.unwrap_or_default()
    )
}
