//! Model of the `webhook` field of requests (docs/API.md section 4.8).

use std::collections::BTreeMap;

use harvestman_derive::Request;
use serde_json::{Map, Value};
use url::Url;

use crate::api::body::{Body, Node, ToNode};
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{FieldType, Schema, Slot};
use crate::api::problem::bad_request;
use crate::limits::MAX_LIST_ITEMS;
use crate::webhook::{Event, Family};

/// Receiver of the events of a job.
#[derive(Clone, PartialEq, Debug, Request)]
#[request(given(family: Family))]
pub struct WebhookSpec {
    /// URL that receives a POST for each event.
    #[field(required, label = "URL")]
    pub url: Url,
    /// Request headers of each delivery; the signature header cannot be replaced.
    #[field(label = "Headers")]
    pub headers: BTreeMap<String, String>,
    /// Any JSON object; repeated in each delivery.
    #[field(label = "Metadata")]
    pub metadata: Option<Map<String, Value>>,
    /// Events to deliver. Empty: all.
    #[field(bounds = (0..=MAX_LIST_ITEMS, family), distinct = |event| *event, label = "Events")]
    pub events: Vec<WantedEvent>,
}

impl WebhookSpec {
    fn name(family: Family) -> &'static str {
        match family {
            Family::Crawl => "CrawlWebhook",
            Family::BatchScrape => "BatchScrapeWebhook",
            Family::Extract => "ExtractWebhook",
            Family::Agent => "AgentWebhook",
            Family::Monitor => "MonitorWebhook",
            Family::Webhook => "TestWebhook",
        }
    }

    /// Returns whether an event is delivered.
    pub fn wants(&self, event: Event) -> bool {
        self.events.is_empty() || self.events.contains(&WantedEvent(event))
    }

    /// Parses the value of `webhook` alone, as stored with a request.
    ///
    /// # Errors
    /// 400 with every problem.
    pub fn from_json(bytes: &[u8], family: Family) -> Result<Self, ApiError> {
        let value = serde_json::from_slice(bytes)
            .map_err(|error| ApiError::new(ErrorCode::InvalidJson, error.to_string()))?;
        let mut problems = Vec::new();
        let read = Self::from_slot(Slot::new(value, Vec::new(), &mut problems), family);
        read.filter(|_| problems.is_empty())
            .ok_or_else(|| bad_request(&problems))
    }
}

impl ToNode for WebhookSpec {
    fn to_node(&self) -> Node {
        let mut body = Body::default();
        self.write(&mut body);
        match body.fields().len() {
            1 => self.url.to_node(),
            _ => Node::Object(body),
        }
    }
}

/// A URL or an object.
impl FieldType for WebhookSpec {
    type Bounds = Family;

    const HINT: &'static str = Url::HINT;

    fn schema(family: Family) -> Schema {
        Schema::OneOf(vec![
            Url::schema(()),
            Schema::Object(Self::name(family), Self::fields(family)),
        ])
    }

    fn from_slot(slot: Slot<'_>, family: Family) -> Option<Self> {
        slot.object_or("url", |f| Self::read(f, family))
    }

    fn placeholder() -> Self {
        Self::new(Url::placeholder())
    }
}

/// Event to deliver, by its short or full name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WantedEvent(pub Event);

impl ToNode for WantedEvent {
    fn to_node(&self) -> Node {
        self.0.selector().to_node()
    }
}

impl FieldType for WantedEvent {
    type Bounds = Family;

    fn schema(family: Family) -> Schema {
        Schema::Word(family.event_names())
    }

    fn from_slot(slot: Slot<'_>, family: Family) -> Option<Self> {
        let Some(name) = slot.json().as_str() else {
            return slot.wrong_type("a string");
        };
        match Event::of(family, name) {
            Some(event) => Some(Self(event)),
            None => {
                let names = family.event_names();
                let full = names.first().and_then(|name| Event::of(family, name));
                let full = full
                    .map(|event| event.as_str())
                    .filter(|full| !names.contains(full));
                let also = full.map_or_else(String::new, |full| format!(", or a full name such as `{full}`"));
                slot.fail(format!("must be one of `{}`{also}", names.join("`, `")))
            }
        }
    }

    fn placeholder() -> Self {
        Self(Event::WebhookTest)
    }
}
