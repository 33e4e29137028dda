//! Files of a session: downloads of its pages and uploads of clients.

use harvestman_core::api::session_file::{FileOrigin, SessionFile};
use harvestman_core::ids::SessionId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{SessionScreen, State};
use crate::limits::SESSION_POLL_MS;
use crate::{browser, display, text};

impl SessionScreen {
    /// Polls the files while the list is shown, until the session has ended.
    async fn poll_files(self, shown: RwSignal<bool>) {
        while shown.try_get_untracked() == Some(true) {
            let id = self.session.with_untracked(|session| {
                session
                    .as_ref()
                    .and_then(|session| session.session.id.parse::<SessionId>().ok())
            });
            if let Some(id) = id {
                match self.console.client().session_files(id).await {
                    Ok(response) => {
                        self.files.try_set(Some(response.files));
                    }
                    Err(error) => self.console.handle_error(&error),
                }
                if self.state.try_get_untracked() == Some(State::Ended) {
                    return;
                }
            }
            browser::sleep(SESSION_POLL_MS).await;
        }
    }
}

/// Renders the list.
#[component]
pub fn Files(screen: SessionScreen) -> impl IntoView {
    let shown = RwSignal::new(true);
    spawn_local(screen.poll_files(shown));
    let rows = move || {
        screen
            .files
            .get()
            .unwrap_or_default()
            .into_iter()
            .map(row)
            .collect_view()
    };
    let is_empty = move || {
        screen
            .files
            .with(|files| files.as_ref().is_none_or(Vec::is_empty))
    };
    view! {
        <Show when=move || !is_empty() fallback=|| view! { <p class="empty">{text::NO_SESSION_FILES}</p> }>
            <ul class="rows calls session-files">{rows}</ul>
        </Show>
    }
    .into_any()
}

fn row(file: SessionFile) -> AnyView {
    let size = display::bytes(usize::try_from(file.size_bytes).unwrap_or(usize::MAX));
    let ago = display::ago((browser::now_ms() - file.created_at.0 as f64) / 1000.0);
    let badge = match (&file.error, file.origin) {
        (Some(_), _) => ("badge bad", "cancelled"),
        (None, FileOrigin::Download) => ("badge", "download"),
        (None, FileOrigin::Upload) => ("badge accent", "upload"),
    };
    let name = match &file.url {
        Some(url) => {
            // Only the path, so that the file always comes from this server.
            let url = display::url_path(url).to_owned();
            view! { <a class="cut" href=url download=file.name.clone()>{file.name.clone()}</a> }.into_any()
        }
        None => view! { <span class="cut">{file.name.clone()}</span> }.into_any(),
    };
    let note = file
        .error
        .or(file.path)
        .map(|note| view! { <p class="hint pad">{note}</p> });
    view! {
        <li>
            <p class="send pad">
                <span class=badge.0>{badge.1}</span>
                {name}
                <span class="grow"></span>
                <span class="hint nowrap">{size} " \u{b7} " {ago}</span>
            </p>
            {note}
        </li>
    }
    .into_any()
}
