//! Model of the `webhook` field of requests (docs/API.md section 4.8).

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use crate::api::body::{Body, Node, ToNode};
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Field, FieldType, Fields, Schema, Slot};
use crate::api::problem::bad_request;
use crate::limits::MAX_LIST_ITEMS;
use crate::webhook::{Event, Family};

/// Receiver of the events of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct WebhookSpec {
    /// URL of the receiver; http or https.
    pub url: Url,
    /// Headers added to each delivery; they cannot replace the signature header.
    pub headers: BTreeMap<String, String>,
    /// Metadata that every delivery contains.
    pub metadata: Option<Map<String, Value>>,
    /// Events to deliver; empty means all.
    pub events: Vec<Event>,
}

impl WebhookSpec {
    /// Creates a receiver of all events.
    pub fn new(url: Url) -> Self {
        Self {
            url,
            headers: BTreeMap::new(),
            metadata: None,
            events: Vec::new(),
        }
    }

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

    fn fields(family: Family) -> Vec<Field> {
        let optional = |name, label, help, schema| Field {
            label: Some(label),
            ..Field::new(name, help, schema)
        };
        let events = Schema::List(Box::new(Schema::Word(family.short_names())), 0..=MAX_LIST_ITEMS);
        vec![
            Field {
                required: true,
                label: Some("URL"),
                ..Field::new("url", "URL that receives a POST for each event.", Url::schema(()))
            },
            optional(
                "headers",
                "Headers",
                "Request headers of each delivery; the signature header cannot be replaced.",
                BTreeMap::<String, String>::schema(()),
            ),
            optional(
                "metadata",
                "Metadata",
                "Any JSON object; repeated in each delivery.",
                Map::<String, Value>::schema(()),
            ),
            optional("events", "Events", "Events to deliver. Empty: all.", events),
        ]
    }

    /// Returns whether an event is delivered.
    pub fn wants(&self, event: Event) -> bool {
        self.events.is_empty() || self.events.contains(&event)
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

fn read_events(f: &mut Fields, family: Family) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let read = f.array("events", 0..=MAX_LIST_ITEMS, |slot| {
        let Some(name) = slot.json().as_str().map(str::to_owned) else {
            return slot.string(1..=1).and(None);
        };
        match Event::of(family, &name) {
            Some(event) => Some(event),
            None => {
                let names = family.short_names().join("`, `");
                slot.fail(format!("must be one of `{names}`"))
            }
        }
    });
    for event in read {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    events
}

impl ToNode for WebhookSpec {
    fn to_node(&self) -> Node {
        let mut body = Body::default();
        body.put("url", &self.url);
        body.filled("headers", &self.headers);
        body.some("metadata", &self.metadata);
        let events: Vec<String> = self
            .events
            .iter()
            .map(|event| event.short_name().to_owned())
            .collect();
        body.filled("events", &events);
        match body.fields().len() {
            1 => self.url.to_node(),
            _ => Node::Object(body),
        }
    }
}

/// A URL or an object. Events of the job's family are given by their short or full name.
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
        slot.object_or("url", |f| {
            let url = f.value("url", ());
            Self {
                url: f.required("url", url, Url::HINT),
                headers: f.value("headers", ()).unwrap_or_default(),
                metadata: f.value("metadata", ()),
                events: read_events(f, family),
            }
        })
    }

    fn placeholder() -> Self {
        Self::new(Url::placeholder())
    }
}
