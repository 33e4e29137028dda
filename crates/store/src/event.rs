//! The webhook events of a job, as both engines store them.

use crate::job::WebhookEvents;

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
