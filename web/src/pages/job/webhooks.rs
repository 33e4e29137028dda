//! Webhooks tab: the delivery log of a job. Each event has its attempts, its next attempt and a button to send it
//! again. The log is polled while events are pending or the job runs.

use harvestman_core::api::console::{DeliveryAttempt, WebhookEvent, WebhookLog};
use harvestman_core::ids::{JobId, WebhookId};
use harvestman_core::webhook::DeliveryState;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::components::notice::{problem_in_card, skeleton};
use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::limits::ERRORS_POLL_MS;
use crate::{clock, display, text};

const FILTERS: [(&str, Option<DeliveryState>); 4] = [
    ("All", None),
    ("Pending", Some(DeliveryState::Pending)),
    ("Delivered", Some(DeliveryState::Delivered)),
    ("Given up", Some(DeliveryState::GivenUp)),
];

/// The log on screen.
#[derive(Clone, Copy)]
struct DeliveryLog {
    console: Console,
    feed: JobFeed,
    filter: RwSignal<Option<DeliveryState>>,
    log: RwSignal<Option<WebhookLog>>,
    problem: RwSignal<Option<String>>,
    is_polling: StoredValue<bool>,
}

impl DeliveryLog {
    /// Reloads as many events as are shown, or with `more` at least one more.
    async fn load(self, more: bool) {
        let shown = self
            .log
            .try_with_untracked(|log| log.as_ref().map_or(0, |log| log.events.len()));
        let (Some(filter), Some(shown)) = (self.filter.try_get_untracked(), shown) else {
            return;
        };
        let response = fetch_log(self.console, self.feed.id, filter, shown + usize::from(more)).await;
        // The user may have changed the filter meanwhile.
        if self.filter.try_get_untracked() != Some(filter) {
            return;
        }
        match response {
            Ok(log) => {
                self.problem.try_set(None);
                // Setting an equal log would only reset the scroll position and the focus.
                if self.log.try_with_untracked(|known| known.as_ref() != Some(&log)) == Some(true) {
                    self.log.set(Some(log));
                }
            }
            Err(error) => _ = self.problem.try_set(Some(self.console.report(&error))),
        }
    }

    /// Polls until the job has ended and no event is pending.
    async fn poll(self) {
        if self.is_polling.try_get_value() != Some(false) {
            return self.load(false).await;
        }
        self.is_polling.set_value(true);
        loop {
            self.load(false).await;
            let waiting = self
                .log
                .try_with_untracked(|log| log.as_ref().is_none_or(|log| log.pending > 0));
            match waiting {
                None => return,
                Some(false) if self.feed.ended_untracked() => {
                    self.is_polling.try_set_value(false);
                    return;
                }
                Some(_) => browser::sleep(ERRORS_POLL_MS).await,
            }
        }
    }

    fn resend(self, event: WebhookId) {
        spawn_local(async move {
            match self.console.client().resend_webhook(self.feed.id, event).await {
                Ok(()) => {
                    self.console.notify(text::WEBHOOK_RESENT);
                    self.poll().await;
                }
                Err(error) => self.console.notify_error(&error),
            }
        });
    }
}

/// Fetches the log from the start until it has at least `events` events, or ends.
async fn fetch_log(
    console: Console,
    id: JobId,
    filter: Option<DeliveryState>,
    events: usize,
) -> Result<WebhookLog, harvestman_client::ClientError> {
    let mut log = console.client().webhook_log(id, 0, filter).await?;
    while let Some(after) = log.next
        && log.events.len() < events
    {
        let part = console.client().webhook_log(id, after, filter).await?;
        log.events.extend(part.events);
        log.next = part.next;
    }
    Ok(log)
}

/// Renders the log of all events, or of those in the `filter` state.
#[component]
pub fn Webhooks(feed: JobFeed, filter: RwSignal<Option<DeliveryState>>) -> impl IntoView {
    let deliveries = DeliveryLog {
        console: Console::get(),
        feed,
        filter,
        log: RwSignal::new(None),
        problem: RwSignal::new(None),
        is_polling: StoredValue::new(false),
    };
    spawn_local(deliveries.poll());
    let now = clock::now();
    let rows = move || {
        deliveries.log.with(|log| match log {
            None => skeleton(3),
            Some(log) if log.url.is_none() => view! { <p class="empty">{text::NO_WEBHOOK}</p> }.into_any(),
            Some(log) if log.events.is_empty() => view! { <p class="empty">{text::NO_EVENTS}</p> }.into_any(),
            Some(log) => view! {
                <div class="scroll" tabindex="0" role="region" aria-label="Webhook events">
                    <ul class="rows">{log.events.iter().map(|event| row(deliveries, event, now)).collect_view()}</ul>
                </div>
            }
            .into_any(),
        })
    };
    let more = move || {
        deliveries
            .log
            .with(|log| log.as_ref().is_some_and(|log| log.next.is_some()))
    };
    let receiver = move || deliveries.log.with(|log| log.as_ref()?.url.clone());
    view! {
        {move || deliveries.problem.get().as_deref().map(problem_in_card)}
        <Show when=move || receiver().is_some()>
            <div class="pad gap">
                <p class="mono">{receiver}</p>
                <div class="chips" role="group" aria-label="Event filter">
                    {FILTERS.map(|(name, state)| chip(deliveries, name, state)).collect_view()}
                </div>
            </div>
        </Show>
        {rows}
        <Show when=more>
            <div class="card-foot">
                <button class="btn small" on:click=move |_| spawn_local(deliveries.load(true))>
                    "Show more"
                </button>
            </div>
        </Show>
    }
    .into_any()
}

fn chip(deliveries: DeliveryLog, name: &'static str, state: Option<DeliveryState>) -> AnyView {
    let count = move || {
        deliveries
            .log
            .with(|log| log.as_ref().map(|log| display::count(count_in(log, state))))
    };
    let choose = move |_| {
        deliveries.filter.set(state);
        spawn_local(deliveries.load(false));
    };
    view! {
        <button
            type="button"
            class="chip"
            aria-pressed=move || (deliveries.filter.get() == state).to_string()
            on:click=choose
        >
            {name} " " {count}
        </button>
    }
    .into_any()
}

fn count_in(log: &WebhookLog, state: Option<DeliveryState>) -> u64 {
    match state {
        None => log.pending + log.delivered + log.given_up,
        Some(DeliveryState::Pending) => log.pending,
        Some(DeliveryState::Delivered) => log.delivered,
        Some(DeliveryState::GivenUp) => log.given_up,
    }
}

fn row(deliveries: DeliveryLog, event: &WebhookEvent, now: ReadSignal<f64>) -> AnyView {
    let id = event.webhook_id;
    let (class, word) = match event.state {
        DeliveryState::Delivered => ("badge ok", "delivered"),
        DeliveryState::Pending => ("badge run", "pending"),
        DeliveryState::GivenUp => ("badge bad", "given up"),
    };
    let attempts = event.attempts.iter().map(|one| attempt(one, now));
    let next = event
        .next_attempt_at
        .filter(|_| !event.attempts.is_empty())
        .map(|at| {
            let words = move || {
                let seconds = ((at.0 as f64 - now.get()) / 1000.0).max(0.0);
                format!("next attempt in {}", display::duration(seconds))
            };
            view! { <span class="what">{words}</span> }
        });
    let resend_button = (event.state != DeliveryState::Pending).then(|| {
        let label = format!("Send {} event {} again", event.event, event.number);
        view! {
            <button class="btn small quiet" aria-label=label on:click=move |_| deliveries.resend(id)>
                "Send again"
            </button>
        }
    });
    view! {
        <li class="error-row">
            <div class="send">
                <span class=class>{word}</span>
                <code>{event.event.clone()}</code>
                <span class="grow"></span>
                {resend_button}
            </div>
            <code class="what">{id.to_string()}</code>
            {attempts.collect_view()}
            {next}
        </li>
    }
    .into_any()
}

fn attempt(attempt: &DeliveryAttempt, now: ReadSignal<f64>) -> AnyView {
    let at = attempt.at.0 as f64;
    let took = format!("{} ms", display::count(attempt.duration_ms));
    let result = match (&attempt.error, attempt.status) {
        (Some(error), _) => error.clone(),
        (None, Some(status)) => format!("HTTP {status}"),
        (None, None) => String::new(),
    };
    let words = move || {
        let ago = display::ago((now.get() - at) / 1000.0);
        format!("{ago}, {took}: {result}")
    };
    view! { <span class="what">{words}</span> }.into_any()
}
