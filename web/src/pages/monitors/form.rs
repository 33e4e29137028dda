//! Form that creates or changes a monitor: what to check, when, and which changes matter.

use std::pin::Pin;

use harvestman_client::ClientError;
use harvestman_core::api::monitor::{MonitorChange, MonitorRequest};
use harvestman_core::api::monitor_response::Monitor;
use harvestman_core::api::{ApiError, Wire};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use serde_json::{Map, Value, json};

use crate::components::button::{BusyButton, spawn_busy};
use crate::components::error_notice::error_notice;
use crate::components::inline_code::inline_code;
use crate::components::notice::problem_notice;
use crate::console::Console;
use crate::{browser, route, text};

/// A kind of target that the form offers.
struct TargetKind {
    /// The `type` of the target.
    name: &'static str,
    label: &'static str,
    field_label: &'static str,
    placeholder: &'static str,
}

static KINDS: [TargetKind; 3] = [
    TargetKind {
        name: "scrape",
        label: "Pages",
        field_label: "URLs, one per line",
        placeholder: "https://example.com/prices",
    },
    TargetKind {
        name: "crawl",
        label: "Site",
        field_label: "URL where the crawl starts",
        placeholder: "https://example.com/docs",
    },
    TargetKind {
        name: "search",
        label: "Search results",
        field_label: "Queries, one per line",
        placeholder: "new language model",
    },
];

/// Fields of the form.
#[derive(Clone, Copy)]
struct Draft {
    name: RwSignal<String>,
    kind: RwSignal<&'static str>,
    subject: RwSignal<String>,
    schedule: RwSignal<String>,
    timezone: RwSignal<String>,
    goal: RwSignal<String>,
    webhook: RwSignal<String>,
}

impl Draft {
    fn new() -> Self {
        Self {
            name: RwSignal::new(String::new()),
            kind: RwSignal::new(KINDS[0].name),
            subject: RwSignal::new(String::new()),
            schedule: RwSignal::new("hourly".to_owned()),
            timezone: RwSignal::new(browser::time_zone()),
            goal: RwSignal::new(String::new()),
            webhook: RwSignal::new(String::new()),
        }
    }

    /// Returns the fields of a monitor; a target that the form cannot show stays out of it.
    fn of(monitor: &Monitor) -> Self {
        let draft = Self::new();
        draft.name.set(monitor.name.clone());
        draft.schedule.set(monitor.schedule.cron.clone());
        draft.timezone.set(monitor.schedule.timezone.clone());
        draft.goal.set(monitor.goal.clone().unwrap_or_default());
        let webhook = monitor.webhook.as_ref();
        let receiver = webhook.and_then(|webhook| webhook["url"].as_str().or(webhook.as_str()));
        draft.webhook.set(receiver.unwrap_or_default().to_owned());
        if let Some((kind, subject)) = monitor.targets.first().and_then(subject_of) {
            draft.kind.set(kind);
            draft.subject.set(subject);
        }
        draft
    }

    /// Returns what differs from `before`, the fields of `monitor`.
    fn change(self, before: Self, monitor: &Monitor) -> Result<MonitorChange, ApiError> {
        let mut body = Map::new();
        let fields = [("name", self.name, before.name), ("goal", self.goal, before.goal)];
        for (name, now, before) in fields {
            if trimmed(now) != trimmed(before) {
                body.insert(name.to_owned(), trimmed(now).into());
            }
        }
        if trimmed(self.webhook) != trimmed(before.webhook) {
            let webhook = webhook_with_url(monitor.webhook.as_ref(), trimmed(self.webhook));
            body.insert("webhook".to_owned(), webhook);
        }
        if trimmed(self.schedule) != trimmed(before.schedule)
            || trimmed(self.timezone) != trimmed(before.timezone)
        {
            body.insert(
                "schedule".to_owned(),
                schedule(&trimmed(self.schedule), &trimmed(self.timezone)),
            );
        }
        if trimmed(self.subject) != trimmed(before.subject)
            || self.kind.get_untracked() != before.kind.get_untracked()
        {
            let mut target = self.target();
            let old = monitor
                .targets
                .first()
                .and_then(Value::as_object)
                .filter(|old| old.get("type") == target.get("type"));
            // Options of the target that the form does not show are kept.
            if let (Some(old), Some(new)) = (old, target.as_object_mut()) {
                for (name, value) in old {
                    new.entry(name).or_insert_with(|| value.clone());
                }
            }
            body.insert("targets".to_owned(), json!([target]));
        }
        MonitorChange::from_value(Value::Object(body))
    }

    fn target(self) -> Value {
        let subject = trimmed(self.subject);
        let lines: Vec<&str> = lines_of(&subject).collect();
        match self.kind.get_untracked() {
            "crawl" => json!({ "type": "crawl", "url": subject }),
            "search" => json!({ "type": "search", "queries": lines }),
            _ => json!({ "type": "scrape", "urls": lines }),
        }
    }

    /// Returns the request; the name of an unnamed monitor is its subject.
    fn request(self) -> Result<MonitorRequest, ApiError> {
        let subject = trimmed(self.subject);
        let first = || lines_of(&subject).next().unwrap_or("Monitor");
        let name = match trimmed(self.name) {
            name if name.is_empty() => first().chars().take(100).collect(),
            name => name,
        };
        let mut body = json!({
            "name": name,
            "schedule": schedule(&trimmed(self.schedule), &trimmed(self.timezone)),
            "targets": [self.target()],
        });
        for (field, value) in [("goal", trimmed(self.goal)), ("webhook", trimmed(self.webhook))] {
            if !value.is_empty() {
                body[field] = value.into();
            }
        }
        MonitorRequest::from_value(body)
    }
}

fn trimmed(field: RwSignal<String>) -> String {
    field.with_untracked(|text| text.trim().to_owned())
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Returns kind and subject of a target.
fn subject_of(target: &Value) -> Option<(&'static str, String)> {
    let kind = KINDS
        .iter()
        .find(|kind| Some(kind.name) == target["type"].as_str())?
        .name;
    let lines = |list: &Value| {
        let lines = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.collect::<Vec<_>>().join("\n")
    };
    let subject = match kind {
        "crawl" => target["url"].as_str().unwrap_or_default().to_owned(),
        "search" => lines(&target["queries"]),
        _ => lines(&target["urls"]),
    };
    Some((kind, subject))
}

/// Returns a webhook with another URL and its other options; null for an empty URL, which removes the webhook.
fn webhook_with_url(old: Option<&Value>, url: String) -> Value {
    if url.is_empty() {
        return Value::Null;
    }
    let mut webhook = match old {
        Some(Value::Object(old)) => old.clone(),
        _ => Map::new(),
    };
    webhook.insert("url".to_owned(), url.into());
    Value::Object(webhook)
}

/// Returns the schedule of a text, which may be a cron expression.
fn schedule(text: &str, timezone: &str) -> Value {
    let fields: Vec<&str> = text.split_whitespace().collect();
    // Months and weekdays, the last two fields, may have names.
    let is_cron_field = |at: usize| {
        let mut chars = fields[at].chars();
        chars.all(|c| c.is_ascii_digit() || "*/,-?#LW".contains(c) || (at > 2 && c.is_ascii_alphabetic()))
    };
    let is_cron = fields.len() == 5 && (0..5).all(is_cron_field);
    let mut schedule = match is_cron {
        true => json!({ "cron": text }),
        false => json!({ "text": text }),
    };
    if !timezone.is_empty() {
        schedule["timezone"] = timezone.into();
    }
    schedule
}

/// Why a monitor was not saved.
#[derive(Clone)]
enum Problem {
    /// The form is invalid.
    Form(String),
    /// The server refused the request.
    Server(ClientError),
}

/// Renders the form that creates a monitor and opens it.
#[component]
pub fn NewMonitor() -> impl IntoView {
    let console = Console::get();
    let navigate = StoredValue::new_local(use_navigate());
    let draft = Draft::new();
    let save = Callback::new(move |()| -> Saving {
        let request = draft.request()?;
        Ok(Box::pin(async move {
            let monitor = console.client().create_monitor(&request).await?;
            console.notify("Monitor created");
            navigate
                .try_with_value(|navigate| navigate(&route::monitor_path(&monitor.id), Default::default()));
            Ok(())
        }))
    });
    view! {
        <section class="card" aria-label="New monitor">
            <div class="card-head">
                <h2>"New monitor"</h2>
            </div>
            <Form draft save action="Create monitor" with_target=true/>
        </section>
    }
    .into_any()
}

/// Renders the form that changes a monitor. `on_end` is called after a change, and when the user cancels.
#[component]
pub fn EditMonitor(monitor: Monitor, on_end: Callback<()>) -> impl IntoView {
    let console = Console::get();
    let (draft, before) = (Draft::of(&monitor), Draft::of(&monitor));
    let has_other_targets = monitor.targets.len() > 1;
    let monitor = StoredValue::new(monitor);
    let save = Callback::new(move |()| -> Saving {
        let change = monitor.with_value(|monitor| draft.change(before, monitor))?;
        let id = monitor.with_value(|monitor| monitor.id.clone());
        Ok(Box::pin(async move {
            console.client().update_monitor(&id, &change).await?;
            console.notify("Monitor changed");
            on_end.try_run(());
            Ok(())
        }))
    });
    view! {
        <section class="card" aria-label="Edit monitor">
            <div class="card-head">
                <h2>"Edit monitor"</h2>
                <span class="grow"></span>
                <button type="button" class="btn small quiet" on:click=move |_| on_end.run(())>
                    "Discard changes"
                </button>
            </div>
            {has_other_targets.then(|| view! { <p class="pad quiet-text">{text::MONITOR_HAS_TARGETS}</p> })}
            <Form draft save action="Save changes" with_target=!has_other_targets/>
        </section>
    }
    .into_any()
}

/// The request that saves the form, or why it is invalid.
type Saving = Result<Pin<Box<dyn Future<Output = Result<(), ClientError>>>>, ApiError>;

#[component]
fn Form(
    draft: Draft,
    save: Callback<(), Saving>,
    /// Label of the button.
    action: &'static str,
    /// Whether the target can be changed.
    with_target: bool,
) -> impl IntoView {
    let console = Console::get();
    let problem = RwSignal::new(None::<Problem>);
    let busy = RwSignal::new(false);
    let submit = browser::on_submit(move || {
        if busy.get_untracked() {
            return;
        }
        let saving = match save.run(()) {
            Ok(saving) => saving,
            Err(error) => {
                problem.set(Some(Problem::Form(error.message)));
                return;
            }
        };
        problem.set(None);
        spawn_busy(busy, async move {
            if let Err(error) = saving.await {
                console.handle_error(&error);
                let message = error.to_string();
                // If the user has left the screen, a toast shows the error.
                if problem.try_set(Some(Problem::Server(error))).is_some() {
                    console.notify(message);
                }
            }
        });
    });
    view! {
        <form class="pad gap" on:submit=submit>
            {with_target.then(|| view! { <TargetFields draft/> })}
            <div class="pair">
                <TextField id="monitor-schedule" label="Schedule" help=text::MONITOR_SCHEDULE_HELP value=draft.schedule/>
                <TextField id="monitor-timezone" label="Time zone" help=text::MONITOR_TIMEZONE_HELP value=draft.timezone/>
            </div>
            <TextField id="monitor-goal" label="Goal" help=text::MONITOR_GOAL_HELP value=draft.goal/>
            <div class="pair">
                <TextField id="monitor-name" label="Name" help=text::MONITOR_NAME_HELP value=draft.name/>
                <TextField id="monitor-webhook" label="Webhook" help=text::MONITOR_WEBHOOK_HELP value=draft.webhook/>
            </div>
            {move || problem.get().map(|problem| match problem {
                Problem::Form(text) => problem_notice(&text),
                Problem::Server(error) => error_notice(&error),
            })}
            <div class="send">
                <BusyButton busy label=action/>
            </div>
        </form>
    }
    .into_any()
}

/// Renders the kind of the target and its URLs or queries.
#[component]
fn TargetFields(draft: Draft) -> impl IntoView {
    let kind = move || {
        let chosen = draft.kind.get();
        KINDS.iter().find(|kind| kind.name == chosen).unwrap_or(&KINDS[0])
    };
    let kinds = KINDS.iter().map(|TargetKind { name, label, .. }| {
        view! {
            <label class="choice">
                <input
                    type="radio"
                    name="monitor-kind"
                    value=*name
                    prop:checked=move || draft.kind.get() == *name
                    on:change=move |_| draft.kind.set(name)
                />
                {*label}
            </label>
        }
    });
    view! {
        <fieldset class="choices">
            <legend class="field-name">"What to check"</legend>
            {kinds.collect_view()}
        </fieldset>
        <div class="field">
            <label class="field-name" for="monitor-subject">{move || kind().field_label}</label>
            <textarea
                class="input mono"
                id="monitor-subject"
                rows="3"
                spellcheck="false"
                placeholder=move || kind().placeholder
                prop:value=move || draft.subject.get()
                on:input=move |event| draft.subject.set(event_target_value(&event))
            ></textarea>
        </div>
    }
    .into_any()
}

#[component]
fn TextField(
    id: &'static str,
    label: &'static str,
    /// Help below the field.
    help: &'static str,
    value: RwSignal<String>,
) -> impl IntoView {
    let help_id = format!("{id}-help");
    view! {
        <div class="field">
            <label class="field-name" for=id>{label}</label>
            <input
                class="input"
                id=id
                autocomplete="off"
                aria-describedby=help_id.clone()
                bind:value=value
            />
            <p class="hint" id=help_id>{inline_code(help)}</p>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_of_five_cron_fields_is_cron() {
        let cron = json!({ "cron": "*/30 9-17 * * 1-5", "timezone": "UTC" });
        assert_eq!(schedule("*/30 9-17 * * 1-5", "UTC"), cron);
        let named = json!({ "cron": "0 9 * jan-jun MON-FRI" });
        assert_eq!(schedule("0 9 * jan-jun MON-FRI", ""), named);
        let words = json!({ "text": "every monday at 9 am" });
        assert_eq!(schedule("every monday at 9 am", ""), words);
    }

    #[test]
    fn another_webhook_url_keeps_the_other_options() {
        let old = json!({ "url": "https://e.com/a", "headers": { "X-Team": "1" }, "events": ["page"] });
        let new = json!({ "url": "https://e.com/b", "headers": { "X-Team": "1" }, "events": ["page"] });
        assert_eq!(webhook_with_url(Some(&old), "https://e.com/b".to_owned()), new);
        assert_eq!(webhook_with_url(Some(&old), String::new()), Value::Null);
    }
}
