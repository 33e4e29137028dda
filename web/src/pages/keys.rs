//! Keys: the API keys of the team and its webhook secret. A new key or secret is shown once, right after it was
//! created, and never stored by the console.

use harvestman_client::ClientError;
use harvestman_core::api::keys::Key;
use harvestman_core::ids::KeyId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::button::{BusyButton, spawn_busy};
use crate::components::code::copy;
use crate::components::dialog::Confirm;
use crate::components::error_notice::error_notice;
use crate::components::icon::{Glyph, Icon};
use crate::components::notice::skeleton;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::route::Screen;
use crate::{browser, display, text};

mod webhooks;

use webhooks::WebhookCard;

/// The list of keys.
#[derive(Clone, Copy)]
struct KeyList {
    console: Console,
    keys: RwSignal<Option<Result<Vec<Key>, ClientError>>>,
    /// The key that was created last, until the user is done with it or revokes it.
    new_key: RwSignal<Option<String>>,
    new_key_id: StoredValue<Option<KeyId>>,
}

impl KeyList {
    fn load(self) {
        spawn_local(async move {
            let response = self
                .console
                .client()
                .keys()
                .await
                .inspect_err(|error| self.console.handle_error(error));
            self.keys.try_set(Some(response.map(|response| response.keys)));
        });
    }

    /// Returns the number of keys that are not revoked.
    fn active_count(self) -> usize {
        self.keys.with(|keys| match keys {
            Some(Ok(keys)) => keys.iter().filter(|key| key.revoked_at.is_none()).count(),
            _ => 0,
        })
    }
}

/// Renders the screen.
#[component]
pub fn KeysPage() -> impl IntoView {
    let console = Console::get();
    let list = KeyList {
        console,
        keys: RwSignal::new(None),
        new_key: RwSignal::new(None),
        new_key_id: StoredValue::new(None),
    };
    list.load();
    let to_revoke = RwSignal::new(None::<Key>);
    let confirming = RwSignal::new(false);
    let on_confirm = Callback::new(move |()| {
        let Some(key) = to_revoke.get_untracked() else {
            return;
        };
        spawn_local(async move {
            match console.client().revoke_key(key.id).await {
                Ok(()) => {
                    console.notify(format!("Key {} revoked", key.name));
                    if list.new_key_id.try_get_value().flatten() == Some(key.id) {
                        list.new_key.try_set(None);
                    }
                    list.load();
                }
                Err(error) => console.notify_error(&error),
            }
        });
    });
    let revoke = Callback::new(move |key: Key| {
        to_revoke.set(Some(key));
        confirming.set(true);
    });
    view! {
        <ScreenHeader title="Keys".to_owned() intro=|| view! { <p>{text::KEYS_INTRO}</p> }/>
        <div class="stack">
            <NewKey list/>
            <section class="card" aria-label="Team keys">
                <div class="card-head">
                    <h2>"Team keys"</h2>
                    <span class="count">{move || list.active_count()}</span>
                </div>
                {move || match list.keys.get() {
                    None => skeleton(3),
                    Some(Err(error)) => error_notice(&error),
                    Some(Ok(keys)) => table(keys, list.active_count() > 1, revoke),
                }}
            </section>
            <WebhookCard/>
        </div>
        <Confirm
            open=confirming
            title="Revoke this key?"
            subject=Signal::derive(move || to_revoke.get().map(|key| key.name).unwrap_or_default())
            text=text::REVOKE_TEXT
            confirm_label="Revoke key"
            cancel_label="Keep key"
            on_confirm
        />
    }
    .into_any()
}

#[component]
fn NewKey(list: KeyList) -> impl IntoView {
    let console = list.console;
    let name = RwSignal::new(String::new());
    let new_key = list.new_key;
    let problem = RwSignal::new(None::<String>);
    let busy = RwSignal::new(false);
    let submit = browser::on_submit(move || {
        let new_name = name.with_untracked(|name| name.trim().to_owned());
        if new_name.is_empty() || busy.get_untracked() {
            problem.set(new_name.is_empty().then(|| text::KEY_NEEDS_NAME.to_owned()));
            browser::focus_soon("#key-name");
            return;
        }
        problem.set(None);
        spawn_busy(busy, async move {
            match console.client().create_key(&new_name).await {
                Ok(response) => {
                    list.new_key_id.try_set_value(Some(response.listed.id));
                    new_key.try_set(Some(response.key));
                    name.try_set(String::new());
                    console.notify("Key created");
                    list.load();
                    browser::focus_soon("#new-key");
                }
                Err(error) => _ = problem.try_set(Some(console.report(&error))),
            }
        });
    });
    view! {
        <section class="card" aria-label="New key">
            <form class="pad gap" on:submit=submit>
                <div class="field">
                    <label class="field-name" for="key-name">
                        "Key name"
                        <code>"name"</code>
                    </label>
                    <div class="with-button">
                        <input
                            class="input"
                            id="key-name"
                            autocomplete="off"
                            placeholder="ci, laptop, app"
                            aria-describedby="key-name-error"
                            aria-invalid=move || problem.with(Option::is_some).then_some("true")
                            bind:value=name
                        />
                        <BusyButton busy label="Create key"/>
                    </div>
                    {move || problem.get().map(|text| view! { <p class="field-error" id="key-name-error">{text}</p> })}
                </div>
            </form>
            {move || new_key.get().map(|key| view! { <NewSecret what="key" id="new-key" secret=key shown_secret=new_key/> })}
        </section>
    }
    .into_any()
}

/// Renders a new secret, which is shown only once.
#[component]
fn NewSecret(
    what: &'static str,
    id: &'static str,
    secret: String,
    /// Cleared when the user is done.
    shown_secret: RwSignal<Option<String>>,
) -> impl IntoView {
    let console = Console::get();
    let secret_to_copy = secret.clone();
    view! {
        <div class="new-secret" id=id tabindex="-1" role="group" aria-label=format!("New {what}")>
            <p>{format!("Copy the {what} now. It is shown only once.")}</p>
            <div class="with-button">
                <code class="secret">{secret}</code>
                <button type="button" class="btn" on:click=move |_| copy(console, secret_to_copy.clone())>
                    <Icon glyph=Glyph::Copy/>
                    "Copy"
                </button>
                <button type="button" class="btn quiet" on:click=move |_| shown_secret.set(None)>
                    "Done"
                </button>
            </div>
        </div>
    }
    .into_any()
}

fn table(keys: Vec<Key>, may_revoke: bool, revoke: Callback<Key>) -> AnyView {
    let now = browser::now_ms();
    let ago = move |at: harvestman_core::time::Timestamp| display::ago((now - at.0 as f64) / 1000.0);
    let rows = keys.into_iter().map(move |key| {
        let used = key.last_used_at.map_or_else(|| "never".to_owned(), ago);
        let created = ago(key.created_at);
        let state = match (&key.revoked_at, key.current) {
            (Some(_), _) => view! { <span class="badge bad">"revoked"</span> }.into_any(),
            (None, true) => view! { <span class="badge ok">"in use here"</span> }.into_any(),
            (None, false) => ().into_any(),
        };
        let hint =
            (!key.hint.is_empty()).then(|| view! { <code class="hint">"\u{2026}"{key.hint.clone()}</code> });
        let calls = format!("{}?key={}", Screen::Activity.href(), key.id);
        let action = key.revoked_at.is_none().then(|| {
            let to_revoke = key.clone();
            view! {
                <button
                    class="btn small danger"
                    disabled=!may_revoke
                    title=(!may_revoke).then_some(text::LAST_KEY)
                    aria-label=format!("Revoke {}", key.name)
                    on:click=move |_| revoke.run(to_revoke.clone())
                >
                    "Revoke"
                </button>
            }
        });
        view! {
            <tr class:revoked=key.revoked_at.is_some()>
                <th scope="row">
                    <span class="key-name"><a href=calls title="Show calls with this key">{key.name.clone()}</a> {hint} {state}</span>
                    <span class="phone-only hint">"Used " {used.clone()}</span>
                </th>
                <td class="opt quiet-text">{created}</td>
                <td class="opt quiet-text">{used}</td>
                <td class="do">{action}</td>
            </tr>
        }
    });
    let last = (!may_revoke).then(|| view! { <p class="card-foot">{text::LAST_KEY}</p> });
    view! {
        <table class="table keys-table">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col" class="opt">"Created"</th>
                    <th scope="col" class="opt">"Last used"</th>
                    <th scope="col">
                        <span class="sr-only">"Actions"</span>
                    </th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        {last}
    }
    .into_any()
}
