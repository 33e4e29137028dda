//! Webhook events: names, payloads and signature (docs/API.md section 14). Delivery is up to the engine.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::Sha256;

use crate::api::wire_enum::{WireEnum, wire_enum};
use crate::ids::{JobId, WebhookId};

/// Header that carries the signature.
pub const SIGNATURE_HEADER: &str = "X-Service-Signature";

wire_enum! {
    /// Kind of job that an event belongs to.
    Family {
        /// Crawl.
        Crawl = "crawl",
        /// Batch scrape.
        BatchScrape = "batch_scrape",
        /// Extract.
        Extract = "extract",
        /// Agent.
        Agent = "agent",
        /// Monitor.
        Monitor = "monitor",
        /// A test of a receiver.
        Webhook = "webhook",
    }
}

wire_enum! {
    /// An event sent to a receiver.
    Event {
        /// The crawl started.
        CrawlStarted = "crawl.started",
        /// A page of the crawl is done.
        CrawlPage = "crawl.page",
        /// The crawl ended.
        CrawlCompleted = "crawl.completed",
        /// The crawl failed without fetching a page.
        CrawlFailed = "crawl.failed",
        /// The batch started.
        BatchScrapeStarted = "batch_scrape.started",
        /// A page of the batch is done.
        BatchScrapePage = "batch_scrape.page",
        /// The batch ended.
        BatchScrapeCompleted = "batch_scrape.completed",
        /// The batch failed without fetching a page.
        BatchScrapeFailed = "batch_scrape.failed",
        /// The extract started.
        ExtractStarted = "extract.started",
        /// The extract ended.
        ExtractCompleted = "extract.completed",
        /// The extract failed.
        ExtractFailed = "extract.failed",
        /// The agent started.
        AgentStarted = "agent.started",
        /// The agent performed an action.
        AgentAction = "agent.action",
        /// The agent ended.
        AgentCompleted = "agent.completed",
        /// The agent failed.
        AgentFailed = "agent.failed",
        /// The agent was cancelled.
        AgentCancelled = "agent.cancelled",
        /// A page of a monitor check.
        MonitorPage = "monitor.page",
        /// A monitor check ended.
        MonitorCheckCompleted = "monitor.check.completed",
        /// A test event that a user requested.
        WebhookTest = "webhook.test",
    }
}

wire_enum! {
    /// State of the delivery of an event.
    DeliveryState {
        /// Another attempt follows.
        Pending = "pending",
        /// Acknowledged.
        Delivered = "delivered",
        /// No further automatic attempt follows.
        GivenUp = "given_up",
    }
}

impl Family {
    /// Returns the names by which requests select its events: without the family, except for monitors, whose clients
    /// know only the full names.
    pub fn event_names(self) -> &'static [&'static str] {
        match self {
            Family::Crawl | Family::BatchScrape => &["started", "page", "completed", "failed"],
            Family::Extract => &["started", "completed", "failed"],
            Family::Agent => &["started", "action", "completed", "failed", "cancelled"],
            Family::Monitor => &["monitor.page", "monitor.check.completed"],
            Family::Webhook => &["test"],
        }
    }
}

impl Event {
    /// Returns the kind of job of this event.
    pub fn family(self) -> Family {
        let name = self.as_str().split('.').next().unwrap_or_default();
        Family::parse(name).expect("every event begins with its family")
    }

    /// Returns the name without the family, for example `page` or `check.completed`.
    pub fn short_name(self) -> &'static str {
        self.as_str()
            .split_once('.')
            .map_or(self.as_str(), |(_, short)| short)
    }

    /// Returns the name by which requests select the event, one of [`Family::event_names`].
    pub fn selector(self) -> &'static str {
        match self.family() {
            Family::Monitor => self.as_str(),
            _ => self.short_name(),
        }
    }

    /// Finds the event of a family by its short or full name.
    pub fn of(family: Family, name: &str) -> Option<Self> {
        let mut events = Event::ALL
            .iter()
            .copied()
            .filter(|event| event.family() == family);
        events.find(|event| event.short_name() == name || event.as_str() == name)
    }

    /// Returns the value of `success` in the payload.
    pub fn is_success(self) -> bool {
        !matches!(
            self,
            Event::CrawlFailed
                | Event::BatchScrapeFailed
                | Event::ExtractFailed
                | Event::AgentFailed
                | Event::AgentCancelled
        )
    }
}

/// Body of a delivery.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payload {
    /// Whether the event reports a success.
    pub success: bool,
    /// The event.
    #[serde(rename = "type")]
    pub event: Event,
    /// Id of the job.
    pub id: JobId,
    /// Id of the event, the same on every retry.
    pub webhook_id: WebhookId,
    /// Data of the event; see the constructors.
    #[serde(default)]
    pub data: Vec<Value>,
    /// The configured metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Reason of a failure; absent on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Payload {
    /// Creates a payload without data, as for `started` and `completed`.
    pub fn new(event: Event, id: JobId, webhook_id: WebhookId, metadata: Option<Map<String, Value>>) -> Self {
        Self {
            success: event.is_success(),
            event,
            id,
            webhook_id,
            data: Vec::new(),
            metadata,
            error: None,
        }
    }

    /// Sets one element of data: a document, an action or a result.
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = vec![data];
        self
    }

    /// Marks the event as failed.
    pub fn with_error(mut self, error: impl Into<String>) -> Self {
        self.success = false;
        self.error = Some(error.into());
        self
    }

    /// Marks the event as a page that could not be fetched.
    pub fn with_failed_page(self, source_url: &str, error: &str) -> Self {
        self.with_data(json!({ "metadata": { "sourceURL": source_url, "error": error } }))
            .with_error(error)
    }

    /// Returns the exact bytes that are sent and signed.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a payload has only string keys")
    }
}

/// Returns the value of the signature header for these exact body bytes: `sha256=<lower-case hex>`.
pub fn sign(secret: &[u8], body: &[u8]) -> String {
    format!(
        "sha256={}",
        hex::encode(mac(secret, body).finalize().into_bytes())
    )
}

/// Verifies a signature header in constant time.
pub fn verify(secret: &[u8], body: &[u8], signature: &str) -> bool {
    let Some(hex) = signature.trim().strip_prefix("sha256=") else {
        return false;
    };
    match hex::decode(hex) {
        Ok(bytes) => mac(secret, body).verify_slice(&bytes).is_ok(),
        Err(_) => false,
    }
}

fn mac(secret: &[u8], body: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(body);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_match_rfc_4231() {
        // Test case 2.
        let expected = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(sign(b"Jefe", b"what do ya want for nothing?"), expected);
        assert!(verify(b"Jefe", b"what do ya want for nothing?", expected));
        assert!(verify(
            b"Jefe",
            b"what do ya want for nothing?",
            &expected.replace('b', "B")
        ));
        for wrong in [
            "",
            "sha256=",
            "5bdc",
            "sha256=zz",
            "sha256=5bdc",
            &expected[..expected.len() - 1],
        ] {
            assert!(
                !verify(b"Jefe", b"what do ya want for nothing?", wrong),
                "{wrong}"
            );
        }
        assert!(!verify(b"jefe", b"what do ya want for nothing?", expected));
        assert!(!verify(b"Jefe", b"what do ya want for something?", expected));
    }

    #[test]
    fn every_event_is_found_by_its_short_and_full_name() {
        for event in Event::ALL {
            assert_eq!(Event::of(event.family(), event.as_str()), Some(*event));
            assert_eq!(Event::of(event.family(), event.short_name()), Some(*event));
        }
        for family in Family::ALL {
            let events = Event::ALL.iter().filter(|event| event.family() == *family);
            let names: Vec<&str> = events.map(|event| event.selector()).collect();
            assert_eq!(family.event_names(), names);
        }
        assert_eq!(Event::of(Family::Crawl, "batch_scrape.page"), None);
        assert_eq!(Event::of(Family::Crawl, "cancelled"), None);
    }

    #[test]
    fn payloads_match_the_documentation() {
        let id: JobId = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
        let hook = WebhookId("018f2f9e-0000-7000-8000-000000000002".parse().unwrap());
        let payload = Payload::new(Event::BatchScrapeCompleted, id, hook, None);
        assert_eq!(
            payload.to_json(),
            r#"{"success":true,"type":"batch_scrape.completed","id":"018f2f9e-0000-7000-8000-000000000001","webhookId":"018f2f9e-0000-7000-8000-000000000002","data":[]}"#
        );
        let metadata = Map::from_iter([("k".to_owned(), json!([1]))]);
        let payload = Payload::new(Event::CrawlPage, id, hook, Some(metadata))
            .with_failed_page("https://a.test/", "refused");
        let value: Value = serde_json::from_str(&payload.to_json()).unwrap();
        assert_eq!(value["success"], false);
        assert_eq!(value["error"], "refused");
        assert_eq!(value["metadata"], json!({"k": [1]}));
        assert_eq!(
            value["data"],
            json!([{"metadata": {"sourceURL": "https://a.test/", "error": "refused"}}])
        );
        assert_eq!(
            serde_json::from_str::<Payload>(&payload.to_json()).unwrap(),
            payload
        );
    }
}
