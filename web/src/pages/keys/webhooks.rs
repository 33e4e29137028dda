//! Card with the secret that signs the team's webhooks, and a test event for a receiver.

use harvestman_client::ClientError;
use harvestman_core::api::keys::{SecretSource, WebhookSecret, WebhookTested};
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::webhook::Family;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use super::NewSecret;
use crate::components::button::{BusyButton, spawn_busy};
use crate::components::dialog::Confirm;
use crate::components::error_notice::error_notice;
use crate::components::inline_code::inline_code;
use crate::console::Console;
use crate::{browser, display, text};

/// Renders the card.
#[component]
pub(super) fn WebhookCard() -> impl IntoView {
    let console = Console::get();
    let state = RwSignal::new(None::<Result<WebhookSecret, ClientError>>);
    let new_secret = RwSignal::new(None::<String>);
    let confirming = RwSignal::new(false);
    let busy = RwSignal::new(false);
    let load = move || async move {
        let response = console
            .client()
            .webhook_secret()
            .await
            .inspect_err(|error| console.handle_error(error));
        state.try_set(Some(response));
    };
    spawn_local(load());
    let on_confirm = Callback::new(move |()| {
        spawn_busy(busy, async move {
            match console.client().rotate_webhook_secret().await {
                Ok(response) => {
                    new_secret.try_set(Some(response.secret));
                    console.notify("Webhook secret created");
                    browser::focus_soon("#new-secret");
                    load().await;
                }
                Err(error) => console.notify_error(&error),
            }
        });
    });
    let sentence = |secret: WebhookSecret| match secret.source {
        None => text::WEBHOOKS_UNSIGNED,
        Some(SecretSource::Team) => text::WEBHOOKS_TEAM_SECRET,
        Some(SecretSource::Setting) => text::WEBHOOKS_SERVER_SECRET,
    };
    let about = move || match state.get()? {
        Ok(secret) => Some(view! { <p class="pad quiet-text">{sentence(secret)}</p> }.into_any()),
        Err(error) => Some(error_notice(&error)),
    };
    // Without the state, a click could replace a secret that is in use.
    let badge_and_button = move || {
        let secret = state.get()?.ok()?;
        let (class, badge, label) = match secret.set {
            true => ("badge ok", "signed", "Rotate secret"),
            false => ("badge", "not signed", "Create secret"),
        };
        let rotate = Callback::new(move |()| match (busy.get_untracked(), secret.set) {
            (true, _) => {}
            (false, true) => confirming.set(true),
            (false, false) => on_confirm.run(()),
        });
        Some(view! {
            <span class=class>{badge}</span>
            <span class="grow"></span>
            <BusyButton class="btn small" busy label on_click=rotate/>
        })
    };
    view! {
        <section class="card" aria-label="Webhooks">
            <div class="card-head">
                <h2>"Webhook secret"</h2>
                {badge_and_button}
            </div>
            {about}
            {move || new_secret.get().map(|secret| view! { <NewSecret what="secret" id="new-secret" secret shown_secret=new_secret/> })}
            <TestEvent/>
        </section>
        <Confirm
            open=confirming
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
    let test_result = RwSignal::new(None::<Result<WebhookTested, String>>);
    let submit = browser::on_submit(move || {
        let receiver_url = url.with_untracked(|url| url.trim().to_owned());
        if receiver_url.is_empty() || busy.get_untracked() {
            browser::focus_soon("#hook-url");
            return;
        }
        let url_json = Value::from(receiver_url).to_string();
        let receiver = match WebhookSpec::from_json(url_json.as_bytes(), Family::Webhook) {
            Ok(receiver) => receiver,
            Err(error) => return test_result.set(Some(Err(error.to_string()))),
        };
        spawn_busy(busy, async move {
            let response = console.client().test_webhook(&receiver).await;
            test_result.try_set(Some(response.map_err(|error| console.report(&error))));
        });
    });
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
                        bind:value=url
                    />
                    <BusyButton class="btn" busy label="Send test event"/>
                </div>
            </div>
            <div aria-live="polite">{move || test_result.get().map(test_notice)}</div>
        </form>
    }
    .into_any()
}

fn test_notice(test_result: Result<WebhookTested, String>) -> AnyView {
    let test_result = match test_result {
        Ok(test_result) => test_result,
        Err(problem) => return view! { <div class="notice bad">{inline_code(&problem)}</div> }.into_any(),
    };
    let status = test_result
        .status
        .map_or_else(|| "no response".to_owned(), |status| format!("HTTP {status}"));
    let signed = if test_result.signed {
        "signed"
    } else {
        "not signed"
    };
    let class = if test_result.delivered {
        "notice good"
    } else {
        "notice bad"
    };
    let head = if test_result.delivered {
        "Delivered"
    } else {
        "Not delivered"
    };
    let response =
        (!test_result.answer.is_empty()).then(|| view! { <code>{test_result.answer.clone()}</code> });
    view! {
        <div class=class>
            <strong>{head}</strong>
            <span>{format!("{status}, {signed}, {}", display::duration_ms(test_result.duration_ms))}</span>
            {test_result.error.map(|error| view! { <span>{error}</span> })}
            {response}
        </div>
    }
    .into_any()
}
