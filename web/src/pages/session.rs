//! Session: live view, control, runs and remaining time of one browser session.

use std::str::FromStr;

use harvestman_core::api::browser::{ExecuteRequest, ExtendRequest};
use harvestman_core::api::caller::Caller;
use harvestman_core::api::console::ConsoleSession;
use harvestman_core::api::interact::{ExecuteResponse, InteractRequest, Language, Task};
use harvestman_core::api::session_file::SessionFile;
use harvestman_core::api::{ScrapeRequest, Wire};
use harvestman_core::ids::{ScrapeId, SessionId};
use harvestman_core::limits::MAX_SESSION_TTL_S;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::{use_navigate, use_params_map, use_query_map};
use serde_json::json;

use crate::components::badge::live_badge;
use crate::components::button::BusyButton;
use crate::components::dialog::Confirm;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::limits::SESSION_POLL_MS;
use crate::pages::sessions::{session_name, stop};
use crate::route::Screen;
use crate::run_history::{self, Run};
use crate::{browser, clock, display, text};

mod files;
mod live_view;
mod recorder;
mod run;
mod run_result;

use live_view::LiveView;
use recorder::Recording;
use run::RunCard;

/// Command that returns the URL of the page; as the first command of a scrape, it also opens the browser.
const OPEN_COMMAND: &str = "get url";
/// Time that the button adds to a session, seconds.
const EXTENSION_S: u64 = 600;
/// Timeout to open a browser, seconds.
const OPEN_TIMEOUT_S: f64 = 60.0;

/// Renders the screen of the session in the URL; the id belongs to the session or to its scrape.
#[component]
pub fn SessionPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()));
    move || match ScrapeId::from_str(&id.get()) {
        Ok(id) => view! { <Session id/> }.into_any(),
        Err(_) => view! { <crate::pages::not_found::NotFound/> }.into_any(),
    }
}

/// State of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Not loaded yet.
    Unknown,
    /// No browser was opened for the scrape.
    NotOpen,
    /// The browser is open.
    Live,
    /// The browser is closed.
    Ended,
}

/// The signals of one session.
#[derive(Clone, Copy)]
pub struct SessionScreen {
    console: Console,
    /// The id in the URL.
    id: ScrapeId,
    /// The session, if there is one.
    session: RwSignal<Option<ConsoleSession>>,
    /// Its state.
    state: Memo<State>,
    loaded: RwSignal<bool>,
    /// The runs, newest first.
    runs: RwSignal<Vec<Run>>,
    /// Start of the current run, ms since 1970.
    busy: RwSignal<Option<f64>>,
    /// Whether the interactive view is shown.
    has_control: RwSignal<bool>,
    /// Its downloads and uploads; `None` until they are loaded.
    files: RwSignal<Option<Vec<SessionFile>>>,
    recorder: Recording,
}

impl SessionScreen {
    fn new(console: Console, id: ScrapeId) -> Self {
        let session = RwSignal::new(None::<ConsoleSession>);
        let loaded = RwSignal::new(false);
        let state = Memo::new(move |_| {
            match (
                session.with(|session| session.as_ref().map(|session| session.ended_at.is_some())),
                loaded.get(),
            ) {
                (Some(true), _) => State::Ended,
                (Some(false), _) => State::Live,
                (None, true) => State::NotOpen,
                (None, false) => State::Unknown,
            }
        });
        Self {
            console,
            id,
            session,
            state,
            loaded,
            runs: RwSignal::new(run_history::load(&id.to_string())),
            busy: RwSignal::new(None),
            has_control: RwSignal::new(console.opened_session.get_value() == id.to_string()),
            files: RwSignal::new(None),
            recorder: Recording::new(),
        }
    }

    /// Polls the session. Of several sessions of the same scrape, the newest is shown.
    async fn poll(self) {
        match self.console.client().console_sessions().await {
            Ok(response) => {
                let id = self.id.to_string();
                let mine =
                    |session: &ConsoleSession| session.session.id == id || session.scrape_id == Some(self.id);
                let session = response.sessions.into_iter().find(mine);
                let is_news = self.session.try_with_untracked(|known| *known != session) == Some(true);
                if is_news {
                    if session.as_ref().is_none_or(|session| session.ended_at.is_some()) {
                        self.has_control.try_set(false);
                    }
                    self.session.set(session);
                }
                self.loaded.try_set(true);
            }
            Err(error) => self.console.handle_error(&error),
        }
    }

    async fn poll_forever(self) {
        while let Some(state) = self.state.try_get_untracked() {
            if state != State::Ended && !browser::is_hidden() {
                self.poll().await;
            }
            browser::sleep(SESSION_POLL_MS).await;
        }
    }

    /// Returns whether the browser continues no scrape; such a browser runs code, but no prompts.
    fn is_standalone(self) -> bool {
        self.session.with(|session| {
            session
                .as_ref()
                .is_some_and(|session| session.scrape_id.is_none())
        })
    }

    /// Runs a task. The first task of a scrape opens its browser.
    async fn run(self, task: Task, timeout: f64) {
        if self.busy.try_get_untracked() != Some(None) {
            return;
        }
        let at = browser::now_ms();
        self.busy.set(Some(at));
        let outcome = self.send(task.clone(), timeout).await;
        let (kind, text) = Run::kind_and_text(&task);
        let run = Run {
            at,
            took_ms: browser::now_ms() - at,
            kind: kind.to_owned(),
            text: text.to_owned(),
            timeout,
            outcome,
        };
        self.console.notify(if run.succeeded() {
            "Run completed"
        } else {
            "Run failed"
        });
        // Also if the user has left the screen meanwhile.
        run_history::add(&self.id.to_string(), &run);
        self.runs.try_update(|runs| runs.insert(0, run));
        self.busy.try_set(None);
        self.poll().await;
    }

    async fn send(self, task: Task, timeout: f64) -> Result<ExecuteResponse, String> {
        let client = self.console.client();
        let scrape = self
            .session
            .with_untracked(|session| session.as_ref().map(|session| session.scrape_id));
        match (scrape, task) {
            (Some(None), Task::Code { code, language }) => self.execute(code, language, timeout).await,
            (scrape, task) => {
                let mut request = InteractRequest::new(task);
                request.timeout = timeout;
                let scrape = match scrape {
                    Some(None) => {
                        request.existing_session_id = Some(self.id.to_string());
                        self.scrape_page(timeout).await?
                    }
                    scrape => scrape.flatten().unwrap_or(self.id),
                };
                let response = client.interact(scrape, &request).await;
                response.map_err(|error| self.console.report(&error))
            }
        }
    }

    /// Runs code in a browser that continues no scrape.
    async fn execute(
        self,
        code: String,
        language: Language,
        timeout: f64,
    ) -> Result<ExecuteResponse, String> {
        let request = ExecuteRequest {
            code,
            language,
            timeout,
            caller: Caller::default(),
        };
        let response = self
            .console
            .client()
            .browser_execute(SessionId(self.id.0), &request)
            .await;
        response.map_err(|error| self.console.report(&error))
    }

    /// Returns the URL of the page that the browser shows.
    async fn shown_url(self, timeout: f64) -> Result<String, String> {
        let shown = self
            .execute(OPEN_COMMAND.to_owned(), Language::Bash, timeout)
            .await?;
        Ok(shown.stdout.unwrap_or_default().trim().to_owned())
    }

    /// Scrapes the page that the browser shows, so that the session can continue the scrape and take prompts.
    async fn scrape_page(self, timeout: f64) -> Result<ScrapeId, String> {
        let url = self.shown_url(timeout).await?;
        let request = ScrapeRequest::from_value(json!({ "url": url }))
            .map_err(|_| text::PROMPT_NEEDS_PAGE.to_owned())?;
        let response = self.console.client().scrape(&request).await;
        let document = response.map_err(|error| self.console.report(&error))?.data;
        let id = document.and_then(|document| document.metadata.scrape_id);
        id.ok_or_else(|| text::PROMPT_NEEDS_PAGE.to_owned())
    }

    /// Extends the lifetime of the session.
    async fn extend(self) {
        let ends_at = self.session.with_untracked(|session| {
            let session = session.as_ref()?;
            Some((SessionId::from_str(&session.session.id).ok()?, session.ends_at?))
        });
        let Some((id, ends_at)) = ends_at else { return };
        let left = ((ends_at.0 as f64 - browser::now_ms()) / 1000.0).max(0.0);
        let request = ExtendRequest {
            ttl: (left as u64 + EXTENSION_S).min(MAX_SESSION_TTL_S),
            caller: Caller::default(),
        };
        match self.console.client().extend_browser(id, &request).await {
            Ok(_) => self.console.notify(text::SESSION_EXTENDED),
            Err(error) => self.console.notify_error(&error),
        }
        self.poll().await;
    }

    fn session_id(self) -> Option<String> {
        self.session
            .with_untracked(|session| session.as_ref().map(|session| session.session.id.clone()))
    }

    async fn stop(self) {
        if let Some(id) = self.session_id() {
            stop(self.console, &id).await;
            self.poll().await;
        }
    }

    fn open(self) {
        let task = Task::Code {
            code: OPEN_COMMAND.to_owned(),
            language: Language::Bash,
        };
        spawn_local(self.run(task, OPEN_TIMEOUT_S));
    }
}

#[component]
fn Session(id: ScrapeId) -> impl IntoView {
    let console = Console::get();
    let screen = SessionScreen::new(console, id);
    spawn_local(screen.poll_forever());
    let title = Memo::new(move |_| {
        screen.session.with(|session| {
            session
                .as_ref()
                .map_or_else(|| "Session".to_owned(), session_name)
        })
    });
    let after_title = move || {
        move || match screen.state.get() {
            State::Unknown => ().into_any(),
            State::NotOpen => view! { <span class="badge">"not opened"</span> }.into_any(),
            State::Live => live_badge(),
            State::Ended => view! { <span class="badge">"ended"</span> }.into_any(),
        }
    };
    view! {
        <ScreenHeader
            title
            after_title
            intro=move || view! { <Clock screen/> }
            actions=move || view! { <Actions screen/> }
        />
        <div class="two session">
            <LiveView screen/>
            <RunCard screen/>
        </div>
    }
    .into_any()
}

#[component]
fn Clock(screen: SessionScreen) -> impl IntoView {
    let now = clock::now();
    let words = move || {
        let id = screen.id.to_string();
        let parts = screen.session.with(|session| {
            let session = session.as_ref()?;
            let until = session.ended_at.map_or_else(|| now.get(), |at| at.0 as f64);
            let lived = display::duration((until - session.session.created_at.0 as f64) / 1000.0);
            let credits = display::plural(session.credits, "credit", "credits");
            let left = session.ends_at.map(|at| {
                let seconds = ((at.0 as f64 - now.get()) / 1000.0).max(0.0);
                format!("stops automatically in {}", display::duration(seconds))
            });
            Some([Some(lived), Some(credits), left])
        });
        let parts = parts.into_iter().flatten().flatten();
        std::iter::once(id)
            .chain(parts)
            .collect::<Vec<_>>()
            .join(" \u{b7} ")
    };
    view! { <p class="mono">{words}</p> }.into_any()
}

#[component]
fn Actions(screen: SessionScreen) -> impl IntoView {
    let confirming = RwSignal::new(false);
    let has_view = move || {
        screen.session.with(|session| {
            session
                .as_ref()
                .is_some_and(|session| !session.session.interactive_live_view_url.is_empty())
        })
    };
    let is_live = move || screen.state.get() == State::Live;
    let switch = move |_| {
        screen
            .has_control
            .update(|has_control| *has_control = !*has_control);
        screen.console.notify(match screen.has_control.get_untracked() {
            true => text::CONTROL_TAKEN,
            false => text::CONTROL_RELEASED,
        });
    };
    let profile = use_query_map().with_untracked(|query| query.get("profile"));
    let scrape = profile.map(|profile| view! { <ScrapeWithProfile screen profile/> });
    let subject = Signal::derive(move || {
        screen
            .session
            .with(|session| session.as_ref().map(session_name).unwrap_or_default())
    });
    let on_confirm = Callback::new(move |()| spawn_local(screen.stop()));
    view! {
        {scrape}
        <Show when=move || is_live() && has_view()>
            <button class="btn" on:click=switch>
                {move || if screen.has_control.get() { "Release control" } else { "Take control" }}
            </button>
        </Show>
        <Show when=is_live>
            <button class="btn" on:click=move |_| spawn_local(screen.extend())>
                "Add 10 minutes"
            </button>
        </Show>
        <Show when=is_live>
            <button class="btn danger" on:click=move |_| confirming.set(true)>
                "Stop"
            </button>
        </Show>
        <Confirm open=confirming title=text::STOP_TITLE subject text=text::STOP_TEXT confirm_label="Stop session" cancel_label="Keep session" on_confirm/>
    }
    .into_any()
}

/// Renders the button that ends a session, which saves its profile, and opens the scrape form with the profile and the
/// page that the browser shows.
#[component]
fn ScrapeWithProfile(screen: SessionScreen, profile: String) -> impl IntoView {
    let navigate = StoredValue::new_local(use_navigate());
    let busy = RwSignal::new(false);
    let save = Callback::new(move |()| {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        let (id, profile) = (screen.session_id(), profile.clone());
        spawn_local(async move {
            let url = screen.shown_url(OPEN_TIMEOUT_S).await.unwrap_or_default();
            // Even if the user has left the screen: stopping the browser saves the profile.
            if let Some(id) = id {
                stop(screen.console, &id).await;
            }
            let [url, profile] = [url, profile].map(|text| js_sys::encode_uri_component(&text));
            let form = format!("{}?url={url}&profile.name={profile}", Screen::Scrape.path());
            // Does nothing if the user has left the screen.
            navigate.try_with_value(|navigate| navigate(&form, Default::default()));
        });
    });
    view! {
        <Show when=move || screen.state.get() == State::Live>
            <BusyButton busy class="btn" label="Save profile and scrape" busy_label="Saving profile" on_click=save/>
        </Show>
    }
    .into_any()
}
