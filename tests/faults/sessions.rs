//! Browser sessions while servers fail. A session ends with its server, and every session is charged once.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Method;
use serde_json::json;
use tokio_postgres::Client;

use crate::work::Worker;

/// `ttl` of a session, which ends the session if the client that opened it got no answer.
const TTL_S: u64 = 30;
/// Time within which every session must end: after its `ttl`, or once its server counts as dead.
const ENDS_WITHIN: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(500);

impl Worker {
    /// Opens, extends and ends one session after the other until it is stopped.
    pub(crate) async fn use_sessions(self) -> Result<()> {
        let request = json!({ "ttl": TTL_S }).to_string();
        while !*self.stopped.borrow() {
            let opened = self.send(Method::POST, "/v2/browser", "", &request).await?;
            let path = format!(
                "/v2/browser/{}",
                opened["id"].as_str().context("a session has an id")?
            );
            // It may have ended with its server, or by a request whose answer was lost.
            for (method, path) in [(Method::POST, format!("{path}/extend")), (Method::DELETE, path)] {
                self.send_until(method, &path, "", &request, &[200, 404, 410])
                    .await?;
            }
        }
        Ok(())
    }
}

/// Waits until every session has ended, and checks that each was charged once.
pub(crate) async fn check(client: &Client) -> Result<()> {
    let since = Instant::now();
    loop {
        let row = client
            .query_one(
                "SELECT count(*) AS all, count(*) FILTER (WHERE ended_at IS NULL) AS live,
                    count(*) FILTER (WHERE ended_at IS NOT NULL AND (entries <> 1 OR charged <> credits)) AS wrong
                 FROM harvestman.session,
                    LATERAL (SELECT count(*) AS entries, sum(ledger.credits) AS charged FROM harvestman.ledger
                        WHERE job_id = session.id) AS ledger",
                &[],
            )
            .await?;
        let count = |column| row.get::<_, i64>(column);
        let (all, live, wrong) = (count("all"), count("live"), count("wrong"));
        ensure!(wrong == 0, "{wrong} of {all} sessions are not charged once");
        if live == 0 {
            println!("  {all} sessions ended and charged once");
            return Ok(());
        }
        ensure!(
            since.elapsed() < ENDS_WITHIN,
            "{live} of {all} sessions do not end"
        );
        tokio::time::sleep(POLL).await;
    }
}
