//! `/v2/team/...`: activity, usage and remaining credits of the team.

use harvestman_core::api::team::{
    Activity, ConcurrencyCheck, CreditPeriod, CreditUsage, Data, Endpoint, QueueStatus, TokenPeriod,
    UsageHistory, UsageQuery,
};

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Lists the calls of the last 24 hours, newest first. `limit` is 1 to 100; `cursor` comes from the previous
    /// response.
    pub async fn activity(
        &self,
        endpoint: Option<Endpoint>,
        limit: Option<u64>,
        cursor: Option<&str>,
    ) -> Result<Activity, ClientError> {
        let parts = [
            endpoint.map(|endpoint| format!("endpoint={endpoint}")),
            limit.map(|limit| format!("limit={limit}")),
            cursor.map(|cursor| format!("cursor={}", js_sys::encode_uri_component(cursor))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        self.get(&format!("/v2/team/activity?{}", parts.join("&"))).await
    }

    /// Returns credits by month, and by key if requested.
    pub async fn credit_history(&self, query: UsageQuery) -> Result<UsageHistory<CreditPeriod>, ClientError> {
        self.get(&history("credit", query)).await
    }

    /// Returns tokens by month, and by key if requested.
    pub async fn token_history(&self, query: UsageQuery) -> Result<UsageHistory<TokenPeriod>, ClientError> {
        self.get(&history("token", query)).await
    }

    /// Returns the credits of this month.
    pub async fn credit_usage(&self) -> Result<Data<CreditUsage>, ClientError> {
        self.get("/v2/team/credit-usage").await
    }

    /// Returns the number of waiting and running pages.
    pub async fn queue_status(&self) -> Result<QueueStatus, ClientError> {
        self.get("/v2/team/queue-status").await
    }

    /// Returns the number of pages in flight and its limit.
    pub async fn concurrency(&self) -> Result<ConcurrencyCheck, ClientError> {
        self.get("/v2/concurrency-check").await
    }
}

fn history(of: &str, query: UsageQuery) -> String {
    format!("/v2/team/{of}-usage/historical?byApiKey={}", query.by_api_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_query_is_valid_for_the_server() {
        let path = history("credit", UsageQuery { by_api_key: true });
        let (path, query) = path.split_once('?').unwrap();
        assert_eq!(path, "/v2/team/credit-usage/historical");
        assert!(UsageQuery::parse(query).unwrap().by_api_key);
    }
}
