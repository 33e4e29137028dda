//! Crawl: form with suggested options, site preview and code. Starting a crawl opens its job.

use harvestman_core::api::CrawlRequest;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_navigate;

use crate::components::code::CodeCard;
use crate::components::panes::Panes;
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::draft::{Draft, Endpoint};
use crate::request_form::RequestForm;
use crate::{browser, request_history, route, text};

mod preview;
mod suggestions;

use preview::Preview;
use suggestions::Suggestions;

/// Renders the screen.
#[component]
pub fn CrawlPage() -> impl IntoView {
    let console = Console::get();
    let navigate = use_navigate();
    let draft = Draft::restore(Endpoint::Crawl);
    let busy = RwSignal::new(false);
    let run = Callback::new(move |()| {
        let Some(request) = draft.submit::<CrawlRequest>() else {
            return;
        };
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        let navigate = navigate.clone();
        spawn_local(async move {
            match console.client().start_crawl(&request).await {
                Ok(started) => {
                    let id = started.id.to_string();
                    request_history::save(&id, serde_json::to_value(&request).unwrap_or_default());
                    console.notify("Crawl started");
                    navigate(&route::job_path(&id), Default::default());
                }
                Err(error) => {
                    console.handle_error(&error);
                    match error.api() {
                        Some(api) => {
                            draft.server_error.try_set(Some(api.clone()));
                            browser::focus_soon("[data-problems]");
                        }
                        None => console.notify(error.to_string()),
                    }
                }
            }
            busy.try_set(false);
        });
    });
    view! {
        <ScreenHeader title="Crawl".to_owned() intro=|| view! { <p>{text::CRAWL_INTRO}</p> }/>
        <Panes result="Preview">
            <RequestForm
                draft
                run
                busy
                action="Start crawl"
                busy_action="Starting"
                after_url=move || view! { <Suggestions draft/> }
            />
            <div class="stack stick">
                <Preview draft/>
                <CodeCard draft/>
            </div>
        </Panes>
    }
    .into_any()
}
