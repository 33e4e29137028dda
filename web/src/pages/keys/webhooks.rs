//! Card with the secret that signs the team's webhooks, and a test event for a receiver.

use harvestman_core::api::keys::{SecretSource, WebhookSecret, WebhookTested};
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::webhook::Family;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use super::Once;
use crate::components::dialog::Confirm;
use crate::console::Console;
use crate::{browser, display, text};

/// Renders the card.
#[component]
pub(super) fn WebhookCard() -> impl IntoView {
    let console = Console::get();
    let state = RwSignal::new(None::<WebhookSecret>);
    let made = RwSignal::new(None::<String>);
    let asking = RwSignal::new(false);
    let load = move || {
        spawn_local(async move {
            if let Ok(secret) = console.client().webhook_secret().await {
                state.try_set(Some(secret));
            }
        });
    };
    load();
    let on_confirm = Callback::new(move |()| {
        spawn_local(async move {
            match console.client().rotate_webhook_secret().await {
                Ok(answer) => {
                    made.try_set(Some(answer.secret));
                    console.notify("Webhook secret created");
                    load();
                    browser::focus_soon("#new-secret");
                }
                Err(error) => {
                    console.handle_error(&error);
                    console.notify(error.to_string());
                }
            }
        });
    });
    let sentence = move || match state.get().map(|secret| secret.source) {
        None => "",
        Some(None) => text::WEBHOOKS_UNSIGNED,
        Some(Some(SecretSource::Team)) => text::WEBHOOKS_TEAM_SECRET,
        Some(Some(SecretSource::Setting)) => text::WEBHOOKS_SERVER_SECRET,
    };
    let is_set = move || state.get().is_some_and(|secret| secret.set);
    let verb = move || {
        if is_set() {
            "Rotate secret"
        } else {
            "Create secret"
        }
    };
    let rotate = move |_| match is_set() {
        true => asking.set(true),
        false => on_confirm.run(()),
    };
    view! {
        <section class="card" aria-label="Webhooks">
            <div class="card-head">
                <h2>"Webhook secret"</h2>
                <span class=move || if is_set() { "badge ok" } else { "badge" }>
                    {move || if is_set() { "signed" } else { "not signed" }}
                </span>
                <span class="grow"></span>
                <button class="btn small" on:click=rotate>
                    {verb}
                </button>
            </div>
            <p class="pad quiet-text">{sentence}</p>
            {move || made.get().map(|secret| view! { <Once what="secret" id="new-secret" secret hides=made/> })}
            <TestEvent/>
        </section>
        <Confirm
            open=asking
            title="Rotate the webhook secret?"
            text=text::ROTATE_TEXT
            confirm_label="Rotate secret"
            cancel_label="Keep secret"
            on_confirm
        />
    }
    .into_any()
}

#[component]
fn TestEvent() -> impl IntoView {
    let console = Console::get();
    let url = RwSignal::new(String::new());
    let busy = RwSignal::new(false);
    let tested = RwSignal::new(None::<Result<WebhookTested, String>>);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let address = url.with_untracked(|url| url.trim().to_owned());
        if address.is_empty() || busy.get_untracked() {
            browser::focus_soon("#hook-url");
            return;
        }
        let written = Value::from(address).to_string();
        let receiver = match WebhookSpec::from_json(written.as_bytes(), Family::Webhook) {
            Ok(receiver) => receiver,
            Err(error) => return tested.set(Some(Err(error.to_string()))),
        };
        busy.set(true);
        spawn_local(async move {
            let answer = console.client().test_webhook(&receiver).await;
            if let Err(error) = &answer {
                console.handle_error(error);
            }
            tested.try_set(Some(answer.map_err(|error| error.to_string())));
            busy.try_set(false);
        });
    };
    view! {
        <form class="pad gap test-event" on:submit=submit>
            <div class="field">
                <label class="field-name" for="hook-url">
                    "Test receiver URL"
                    <code>"webhook.url"</code>
                </label>
                <div class="with-button">
                    <input
                        class="input mono"
                        id="hook-url"
                        inputmode="url"
                        autocomplete="url"
                        spellcheck="false"
                        placeholder="https://example.com/hook"
                        prop:value=move || url.get()
                        on:input=move |event| url.set(event_target_value(&event))
                    />
                    <button class="btn" type="submit" aria-disabled=move || busy.get().to_string()>
                        {move || busy.get().then(|| view! { <span class="spin"></span> })}
                        "Send test event"
                    </button>
                </div>
            </div>
            <div aria-live="polite">{move || tested.get().map(outcome)}</div>
        </form>
    }
    .into_any()
}

fn outcome(tested: Result<WebhookTested, String>) -> AnyView {
    let tested = match tested {
        Ok(tested) => tested,
        Err(problem) => return view! { <div class="notice bad">{problem}</div> }.into_any(),
    };
    let status = tested
        .status
        .map_or_else(|| "no response".to_owned(), |status| format!("HTTP {status}"));
    let signed = if tested.signed { "signed" } else { "not signed" };
    let class = if tested.delivered {
        "notice good"
    } else {
        "notice bad"
    };
    let head = if tested.delivered {
        "Delivered"
    } else {
        "Not delivered"
    };
    let answer = (!tested.answer.is_empty()).then(|| view! { <code>{tested.answer.clone()}</code> });
    view! {
        <div class=class>
            <strong>{head}</strong>
            <span>{format!("{status}, {signed}, {}", display::duration_ms(tested.duration_ms))}</span>
            {tested.error.map(|error| view! { <span>{error}</span> })}
            {answer}
        </div>
    }
    .into_any()
}
