//! One monitor: its schedule and goal, the timeline of its checks, and the pages of the selected check with their
//! differences. The selected check is in the URL.

use harvestman_client::{Client, ClientError};
use harvestman_core::api::monitor::{ListQuery, MonitorChange, MonitorSwitch};
use harvestman_core::api::monitor_response::{Check, CheckStatus, Monitor, MonitorStatus};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::{use_navigate, use_params_map, use_query_map};

use crate::components::dialog::Confirm;
use crate::components::error_notice::error_notice;
use crate::components::notice::skeleton;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::limits::{CHECKS_LISTED, MONITOR_POLL_MS};
use crate::pages::monitors::{EditMonitor, status_badge, summary_line};
use crate::route::Screen;
use crate::{browser, clock, display, text};

mod check;
mod timeline;

use check::CheckPanel;
use timeline::Timeline;

/// Renders the screen of the monitor in the URL.
#[component]
pub fn MonitorPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()));
    move || view! { <OneMonitor id=id.get()/> }.into_any()
}

/// A monitor and its checks, as far as they are loaded.
#[derive(Clone, Copy)]
struct MonitorState {
    console: Console,
    id: StoredValue<String>,
    monitor: RwSignal<Option<Result<Monitor, ClientError>>>,
    /// Newest first.
    checks: RwSignal<Vec<Check>>,
}

impl MonitorState {
    /// Loads the monitor and its checks. Returns false once the screen is removed.
    async fn load(self) -> bool {
        let Some(id) = self.id.try_get_value() else {
            return false;
        };
        let monitor = match self.fetch(&id).await {
            Ok((monitor, checks)) => {
                if self.checks.try_with_untracked(|known| *known == checks) == Some(false) {
                    self.checks.try_set(checks);
                }
                Ok(monitor)
            }
            Err(error) => {
                self.console.handle_error(&error);
                Err(error)
            }
        };
        let known = self.monitor.try_with_untracked(|known| match (known, &monitor) {
            (Some(Ok(known)), Ok(monitor)) => known == monitor,
            // Known data is more useful than the error of a failed poll, unless the monitor was deleted.
            (Some(Ok(_)), Err(error)) => !error.is_not_found(),
            _ => false,
        });
        if known == Some(false) {
            self.monitor.try_set(Some(monitor));
        }
        known.is_some()
    }

    async fn fetch(self, id: &str) -> Result<(Monitor, Vec<Check>), ClientError> {
        let client = self.console.client();
        let query = ListQuery {
            limit: CHECKS_LISTED,
            offset: 0,
            status: None::<CheckStatus>,
        };
        Ok((client.monitor(id).await?, client.monitor_checks(id, query).await?))
    }

    /// Runs an action on the monitor with its id, then reloads it.
    fn act(
        self,
        done: &'static str,
        action: impl AsyncFnOnce(Client, String) -> Result<(), ClientError> + 'static,
    ) {
        spawn_local(async move {
            match action(self.console.client(), self.id.get_value()).await {
                Ok(()) => {
                    self.console.notify(done);
                    self.load().await;
                }
                Err(error) => self.console.notify_error(&error),
            }
        });
    }

    fn monitor(self) -> Option<Monitor> {
        self.monitor.get().and_then(Result::ok)
    }
}

#[component]
fn OneMonitor(id: String) -> impl IntoView {
    let console = Console::get();
    let known = MonitorState {
        console,
        id: StoredValue::new(id),
        monitor: RwSignal::new(None),
        checks: RwSignal::new(Vec::new()),
    };
    spawn_local(async move {
        while known.load().await {
            browser::sleep(MONITOR_POLL_MS).await;
        }
    });
    let query = use_query_map();
    let selected = Memo::new(move |_| {
        let wanted = query.with(|query| query.get("check"));
        known.checks.with(|checks| {
            let found = checks.iter().find(|check| Some(&check.id) == wanted.as_ref());
            // The newest check that has ended, so that something can be read while another runs.
            let ended = || checks.iter().find(|check| check.finished_at.is_some());
            found.or_else(ended).or(checks.first()).cloned()
        })
    });
    let title = move || {
        known
            .monitor()
            .map_or_else(|| "Monitor".to_owned(), |monitor| monitor.name)
    };
    let body = move || match known.monitor.get() {
        None => skeleton(3),
        Some(Err(error)) => view! { <section class="card">{error_notice(&error)}</section> }.into_any(),
        Some(Ok(monitor)) => facts(&monitor),
    };
    let editing = RwSignal::new(false);
    let edit_form = move || {
        let monitor = editing.get().then(|| untrack(|| known.monitor())).flatten()?;
        let on_end = Callback::new(move |()| {
            editing.set(false);
            spawn_local(async move { _ = known.load().await });
        });
        Some(view! { <EditMonitor monitor on_end/> })
    };
    let has_checks = Memo::new(move |_| known.checks.with(|checks| !checks.is_empty()));
    view! {
        <ScreenHeader
            title=Signal::derive(title)
            after_title=move || view! { {move || known.monitor().map(|monitor| status_badge(monitor.status))} }
            actions=move || view! { <Actions known editing/> }
        />
        <div class="stack">
            {edit_form}
            {body}
            <Show when=move || has_checks.get() fallback=move || no_checks(known)>
                <Timeline known selected/>
            </Show>
            {move || selected.get().map(|check| view! { <CheckPanel monitor=known.id.get_value() check/> })}
        </div>
    }
    .into_any()
}

fn no_checks(known: MonitorState) -> AnyView {
    let empty = move || {
        known.monitor().map(
            |_| view! { <section class="card"><div class="empty"><p>{text::NO_CHECKS}</p></div></section> },
        )
    };
    view! { {empty} }.into_any()
}

fn facts(monitor: &Monitor) -> AnyView {
    let now = clock::now();
    let next_run_at = monitor.next_run_at;
    let next = move || match next_run_at {
        Some(at) => {
            let seconds = (at.0 as f64 - now.get()) / 1000.0;
            format!("in {}", display::duration(seconds.max(0.0)))
        }
        None => "none while paused".to_owned(),
    };
    let length = |list: &serde_json::Value| list.as_array().map_or(0, Vec::len) as u64;
    let targets: Vec<String> = monitor
        .targets
        .iter()
        .map(|target| match target["type"].as_str() {
            Some("crawl") => format!("crawl of {}", target["url"].as_str().unwrap_or_default()),
            Some("search") => display::plural(length(&target["queries"]), "search", "searches"),
            _ => match target["urls"].as_array().map(Vec::as_slice) {
                Some([only]) => only.as_str().unwrap_or_default().to_owned(),
                _ => display::plural(length(&target["urls"]), "page", "pages"),
            },
        })
        .collect();
    let goal = monitor.goal.clone().map(|goal| fact("Goal", goal));
    let schedule =
        view! { <code>{monitor.schedule.cron.clone()}</code>" "{monitor.schedule.timezone.clone()} };
    let kept = display::plural(monitor.retention_days, "day", "days");
    view! {
        <section class="card" aria-label="Monitor">
            <dl class="facts pad">
                {fact("Target", targets.join(", "))} {fact("Schedule", schedule)} {fact("Next check", next)} {goal}
                {fact("Retention", kept)}
            </dl>
        </section>
    }
    .into_any()
}

fn fact(name: &'static str, value: impl IntoView + 'static) -> AnyView {
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
        </div>
    }
    .into_any()
}

#[component]
fn Actions(known: MonitorState, editing: RwSignal<bool>) -> impl IntoView {
    let console = known.console;
    let navigate = StoredValue::new_local(use_navigate());
    let confirming = RwSignal::new(false);
    let state = Memo::new(move |_| known.monitor().map(|monitor| monitor.status));
    let is_active = move || state.get() == Some(MonitorStatus::Active);
    let run = move |_| {
        known.act("Check started", async |client, id| {
            client.run_monitor(&id).await.map(drop)
        });
    };
    let switch = move |_| {
        let (status, done) = match is_active() {
            true => (MonitorSwitch::Paused, "Monitor paused"),
            false => (MonitorSwitch::Active, "Monitor resumed"),
        };
        let change = MonitorChange {
            status: Some(status),
            ..MonitorChange::default()
        };
        known.act(done, async move |client, id| {
            client.update_monitor(&id, &change).await.map(drop)
        });
    };
    let on_confirm = Callback::new(move |()| {
        spawn_local(async move {
            match console.client().delete_monitor(&known.id.get_value()).await {
                Ok(()) => {
                    console.notify("Monitor deleted");
                    navigate.try_with_value(|navigate| navigate(Screen::Monitors.path(), Default::default()));
                }
                Err(error) => console.notify_error(&error),
            }
        });
    });
    view! {
        <Show when=move || state.with(Option::is_some)>
            <button class="btn primary" on:click=run>"Check now"</button>
            <button class="btn" on:click=switch>
                {move || if is_active() { "Pause" } else { "Resume" }}
            </button>
            <button class="btn" aria-pressed=move || editing.get().to_string() on:click=move |_| editing.update(|on| *on = !*on)>
                "Edit"
            </button>
            <button class="btn danger" on:click=move |_| confirming.set(true)>"Delete"</button>
        </Show>
        <Confirm
            open=confirming
            title=text::DELETE_MONITOR_TITLE
            subject=Signal::derive(move || known.monitor().map(|monitor| monitor.name).unwrap_or_default())
            text=text::DELETE_MONITOR_TEXT
            confirm_label="Delete monitor"
            cancel_label="Keep monitor"
            on_confirm
        />
    }
    .into_any()
}

/// Returns the state and the page counts of a check in words.
fn describe(check: &Check) -> String {
    match check.status {
        CheckStatus::Completed => summary_line(Some(&check.summary)),
        CheckStatus::SkippedOverlap => "skipped: the previous check was running".to_owned(),
        CheckStatus::SkippedNoCredits => "skipped: no credits".to_owned(),
        status => format!("{}: {}", status.as_str(), summary_line(Some(&check.summary))),
    }
}
