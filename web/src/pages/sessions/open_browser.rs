//! Form that opens a standalone browser: first URL, lifetime, profile and country, all optional.

use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest};
use harvestman_core::api::interact::Language;
use harvestman_core::api::{TargetUrl, Wire};
use harvestman_core::ids::SessionId;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use serde_json::{Map, Value, json};

use crate::components::button::{BusyButton, spawn_busy};
use crate::components::notice::problem_notice;
use crate::components::switch::Switch;
use crate::console::Console;
use crate::route::{self, Screen};
use crate::{browser, text};

/// What the user entered.
#[derive(Clone, Copy)]
struct Input {
    url: RwSignal<String>,
    minutes: RwSignal<String>,
    profile: RwSignal<String>,
    saves_profile: RwSignal<bool>,
    country: RwSignal<String>,
}

impl Input {
    /// Creates the fields; the URL is that of each link to the screen that has one.
    fn new() -> Self {
        let query = Screen::Sessions.query();
        let url = RwSignal::new(String::new());
        Effect::new(move |_| {
            if let Some(linked) = query.with(|query| query.get("url")) {
                url.set(linked);
            }
        });
        Self {
            url,
            minutes: RwSignal::new(String::new()),
            profile: RwSignal::new(String::new()),
            saves_profile: RwSignal::new(true),
            country: RwSignal::new(String::new()),
        }
    }

    /// Returns the request, and the URL to open in the browser.
    ///
    /// # Errors
    /// The message names the field.
    fn read(self) -> Result<(BrowserRequest, Option<TargetUrl>), String> {
        let entered = |signal: RwSignal<String>| {
            let text = signal.with_untracked(|text| text.trim().to_owned());
            (!text.is_empty()).then_some(text)
        };
        let mut body = Map::new();
        if let Some(minutes) = entered(self.minutes) {
            let minutes: f64 = minutes
                .parse()
                .map_err(|_| text::LIFETIME_NOT_A_NUMBER.to_owned())?;
            body.insert("ttl".to_owned(), json!((minutes * 60.0).round()));
        }
        if let Some(name) = entered(self.profile) {
            let profile = json!({ "name": name, "saveChanges": self.saves_profile.get_untracked() });
            body.insert("profile".to_owned(), profile);
        }
        if let Some(country) = entered(self.country) {
            body.insert("location".to_owned(), json!({ "country": country }));
        }
        let request = BrowserRequest::from_value(Value::Object(body)).map_err(|error| error.message)?;
        let url =
            entered(self.url).map(|url| TargetUrl::parse(&url).map_err(|problem| format!("URL {problem}")));
        Ok((request, url.transpose()?))
    }
}

/// Renders the form.
#[component]
pub fn OpenBrowser() -> impl IntoView {
    let console = Console::get();
    let navigate = StoredValue::new_local(use_navigate());
    let input = Input::new();
    let busy = RwSignal::new(false);
    let problem = RwSignal::new(None::<String>);
    let open = browser::on_submit(move || {
        if busy.get_untracked() {
            return;
        }
        let (request, url) = match input.read() {
            Ok(read) => read,
            Err(message) => return problem.set(Some(message)),
        };
        problem.set(None);
        spawn_busy(busy, async move {
            match console.client().browser(&request).await {
                Ok(created) => {
                    console.opened_session.set_value(created.id.clone());
                    if let Some(url) = url {
                        visit(console, &created.id, &url).await;
                    }
                    navigate.try_with_value(|navigate| {
                        let path = route::session_path(&created.id);
                        navigate(&format!("{path}{}", saved_profile(&request)), Default::default());
                    });
                }
                Err(error) => _ = problem.try_set(Some(console.report(&error))),
            }
        });
    });
    let text_field =
        move |id: &'static str, label: &'static str, hint: &'static str, value: RwSignal<String>| {
            view! {
                <div class="field">
                    <label class="field-name" for=id>{label}</label>
                    <input
                        class="input"
                        type="text"
                        id=id
                        autocomplete="off"
                        autocapitalize="none"
                        spellcheck="false"
                        placeholder=hint
                        bind:value=value
                    />
                </div>
            }
        };
    view! {
        <form class="card pad gap open-browser" aria-label="Open browser" novalidate=true on:submit=open>
            {move || problem.get().as_deref().map(problem_notice)}
            <div class="row">
                {text_field("open-url", "First URL", "about:blank", input.url)}
                {text_field("open-minutes", "Lifetime in minutes", "10", input.minutes)}
                {text_field("open-profile", "Profile", "none", input.profile)}
                {text_field("open-country", "Country", "server default", input.country)}
            </div>
            <div class="send">
                <BusyButton busy label="Open browser" busy_label="Opening"/>
                <Show when=move || input.profile.with(|name| !name.trim().is_empty())>
                    <Switch
                        id="open-saves"
                        label="Save changes to the profile"
                        value=input.saves_profile
                        on_change=move |on| input.saves_profile.set(on)
                    />
                </Show>
            </div>
        </form>
    }
    .into_any()
}

/// Returns the query of a session that saves its profile; it passes the name to the screen of the session.
fn saved_profile(request: &BrowserRequest) -> String {
    let saved = request.profile.as_ref().filter(|profile| profile.save_changes);
    let name = saved.map(|profile| js_sys::encode_uri_component(&profile.name));
    name.map_or_else(String::new, |name| format!("?profile={name}"))
}

/// Opens a URL in a session. A page that cannot be opened is reported; the session stays.
async fn visit(console: Console, id: &str, url: &TargetUrl) {
    let Ok(id) = id.parse::<SessionId>() else { return };
    let request = ExecuteRequest {
        language: Language::Bash,
        ..ExecuteRequest::new(format!("open \"{}\"", url.url))
    };
    match console.client().browser_execute(id, &request).await {
        Ok(done) if done.success => {}
        Ok(done) => console.notify(
            done.error
                .or(done.stderr)
                .unwrap_or_else(|| text::NOT_OPENED.to_owned()),
        ),
        Err(error) => console.notify_error(&error),
    }
}
