//! The webhook events of a job, as both engines store them.

use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::job::{JobKind, WebhookEvents};
use crate::new_id::new_id;
use crate::value::int;

/// A webhook event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Started,
    /// A page was stored under this seq.
    Page(u64),
    /// A page failed; its error has this number.
    PageFailed(u64),
    Completed,
    Failed,
    /// An agent took an action.
    Action,
    /// An agent was cancelled.
    Cancelled,
    /// A page of a check was compared.
    CheckPage,
    /// A check of a monitor ended.
    CheckCompleted,
}

impl Event {
    /// Returns whether a receiver with these subscriptions gets this event.
    pub(crate) fn is_subscribed(self, subscriptions: WebhookEvents) -> bool {
        match self {
            Self::Started => subscriptions.started,
            Self::Page(_) | Self::PageFailed(_) | Self::Action | Self::CheckPage => subscriptions.page,
            Self::Completed | Self::CheckCompleted => subscriptions.completed,
            Self::Failed => subscriptions.failed,
            Self::Cancelled => subscriptions.cancelled,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Page(_) | Self::PageFailed(_) | Self::CheckPage => "page",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Action => "action",
            Self::Cancelled => "cancelled",
            Self::CheckCompleted => "check.completed",
        }
    }
}

/// The events of a job: number and time of the latest, and those that this transaction adds. The time never goes back,
/// whatever the clock does, so that events are delivered in order.
#[derive(Default, Debug)]
pub(crate) struct EventLog {
    pub(crate) count: u64,
    pub(crate) last_at: u64,
    pub(crate) added: Vec<NewEvent>,
    subscriptions: WebhookEvents,
}

/// An event to store.
#[derive(Debug)]
pub(crate) struct NewEvent {
    pub(crate) number: u64,
    pub(crate) id: Uuid,
    pub(crate) name: String,
    /// Number of the page or of the error that it reports.
    pub(crate) seq: Option<u64>,
    pub(crate) error_no: Option<u64>,
    pub(crate) data: Option<String>,
}

impl EventLog {
    /// Returns the empty log of a new job.
    pub(crate) fn of(subscriptions: WebhookEvents) -> Self {
        Self {
            subscriptions,
            ..Self::default()
        }
    }

    /// Reads the log of a job from a row with `event_count`, `last_event_at` and `webhook_events`.
    pub(crate) fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            count: row.count("event_count")?,
            last_at: row.count("last_event_at")?,
            added: Vec::new(),
            subscriptions: WebhookEvents::from_bits(int(row.count("webhook_events")?)),
        })
    }

    /// Adds the event of the end of a job without a result.
    pub(crate) fn add_end(&mut self, kind: JobKind, event: Event, now: Timestamp) {
        let data = (kind == JobKind::Agent).then(|| r#"{"creditsUsed":0}"#.to_owned());
        self.add(kind, event, data, now);
    }

    /// Adds an event, with its own data as JSON text, if the receiver subscribed to it.
    pub(crate) fn add(&mut self, kind: JobKind, event: Event, data: Option<String>, now: Timestamp) {
        if !event.is_subscribed(self.subscriptions) {
            return;
        }
        self.count += 1;
        self.last_at = self.last_at.max(now.0);
        let (seq, error_no) = match event {
            Event::Page(seq) => (Some(seq), None),
            Event::PageFailed(no) => (None, Some(no)),
            _ => (None, None),
        };
        self.added.push(NewEvent {
            number: self.count,
            id: new_id(),
            name: format!("{}.{}", kind.as_str(), event.word()),
            seq,
            error_no,
            data,
        });
    }
}
