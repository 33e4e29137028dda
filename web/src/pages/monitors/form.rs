//! Form that creates a monitor: what to check, when, and which changes matter.

use harvestman_client::ClientError;
use harvestman_core::api::monitor::MonitorRequest;
use harvestman_core::api::{ApiError, Wire};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_navigate;
use serde_json::{Value, json};

use crate::components::error_notice::error_notice;
use crate::components::inline_code::inline_code;
use crate::console::Console;
use crate::{browser, route, text};

/// Kinds of targets: the value of the control, its label, and the label and example of its field.
static KINDS: [(&str, &str, &str, &str); 3] = [
    (
        "scrape",
        "Pages",
        "URLs, one per line",
        "https://example.com/prices",
    ),
    (
        "crawl",
        "A site",
        "URL where the crawl starts",
        "https://example.com/docs",
    ),
    (
        "search",
        "Search results",
        "Queries, one per line",
        "new language model",
    ),
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
            kind: RwSignal::new(KINDS[0].0),
            subject: RwSignal::new(String::new()),
            schedule: RwSignal::new("hourly".to_owned()),
            timezone: RwSignal::new(browser::time_zone()),
            goal: RwSignal::new(String::new()),
            webhook: RwSignal::new(String::new()),
        }
    }

    /// Returns the request; the name of an unnamed monitor is its subject.
    fn request(self) -> Result<MonitorRequest, ApiError> {
        let text = |field: RwSignal<String>| field.with_untracked(|text| text.trim().to_owned());
        let subject = text(self.subject);
        let lines = subject.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        let target = match self.kind.get_untracked() {
            "crawl" => json!({ "type": "crawl", "url": subject }),
            "search" => json!({ "type": "search", "queries": lines }),
            _ => json!({ "type": "scrape", "urls": lines }),
        };
        let first = || lines.first().copied().unwrap_or("Monitor");
        let name = match text(self.name) {
            name if name.is_empty() => first().chars().take(100).collect(),
            name => name,
        };
        let mut body = json!({
            "name": name,
            "schedule": schedule(&text(self.schedule), &text(self.timezone)),
            "targets": [target],
        });
        for (field, value) in [("goal", text(self.goal)), ("webhook", text(self.webhook))] {
            if !value.is_empty() {
                body[field] = value.into();
            }
        }
        MonitorRequest::from_value(body)
    }
}

/// Returns the schedule of a text, which may be a cron expression.
fn schedule(text: &str, timezone: &str) -> Value {
    let is_cron = text.split_whitespace().count() == 5
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || " */,-?#LW".contains(c));
    let mut schedule = match is_cron {
        true => json!({ "cron": text }),
        false => json!({ "text": text }),
    };
    if !timezone.is_empty() {
        schedule["timezone"] = timezone.into();
    }
    schedule
}

/// Why a monitor was not created.
#[derive(Clone)]
enum Problem {
    /// The form is invalid.
    Form(String),
    /// The server refused the request.
    Server(ClientError),
}

/// Renders the form.
#[component]
pub fn NewMonitor() -> impl IntoView {
    let console = Console::get();
    let navigate = StoredValue::new_local(use_navigate());
    let draft = Draft::new();
    let problem = RwSignal::new(None::<Problem>);
    let busy = RwSignal::new(false);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        let request = match draft.request() {
            Ok(request) => request,
            Err(error) => {
                problem.set(Some(Problem::Form(error.message)));
                return;
            }
        };
        busy.set(true);
        problem.set(None);
        spawn_local(async move {
            match console.client().create_monitor(&request).await {
                Ok(monitor) => {
                    console.notify("Monitor created");
                    navigate.with_value(|navigate| {
                        navigate(&route::monitor_path(&monitor.id), Default::default());
                    });
                }
                Err(error) => {
                    console.handle_error(&error);
                    problem.try_set(Some(Problem::Server(error)));
                }
            }
            busy.try_set(false);
        });
    };
    let kind = move || {
        let chosen = draft.kind.get();
        KINDS.iter().find(|kind| kind.0 == chosen).unwrap_or(&KINDS[0])
    };
    let kinds = KINDS.iter().map(|(value, label, ..)| {
        view! {
            <label class="choice">
                <input
                    type="radio"
                    name="monitor-kind"
                    value=*value
                    prop:checked=move || draft.kind.get() == *value
                    on:change=move |_| draft.kind.set(value)
                />
                {*label}
            </label>
        }
    });
    view! {
        <section class="card" aria-label="New monitor">
            <div class="card-head">
                <h2>"New monitor"</h2>
            </div>
            <form class="pad gap" on:submit=submit>
                <fieldset class="choices">
                    <legend class="field-name">"What to check"</legend>
                    {kinds.collect_view()}
                </fieldset>
                <div class="field">
                    <label class="field-name" for="monitor-subject">{move || kind().2}</label>
                    <textarea
                        class="input mono"
                        id="monitor-subject"
                        rows="3"
                        spellcheck="false"
                        placeholder=move || kind().3
                        prop:value=move || draft.subject.get()
                        on:input=move |event| draft.subject.set(event_target_value(&event))
                    ></textarea>
                </div>
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
                    Problem::Form(text) => view! { <div class="notice bad" role="alert">{inline_code(&text)}</div> }.into_any(),
                    Problem::Server(error) => error_notice(&error),
                })}
                <div class="send">
                    <button class="btn primary" type="submit" data-run="" aria-disabled=move || busy.get().to_string()>
                        {move || busy.get().then(|| view! { <span class="spin"></span> })}
                        "Create monitor"
                    </button>
                </div>
            </form>
        </section>
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
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
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
        let words = json!({ "text": "every monday at 9 am" });
        assert_eq!(schedule("every monday at 9 am", ""), words);
    }
}
