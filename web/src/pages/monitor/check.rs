//! The pages of one check, by their state, and the difference of the selected page.

use harvestman_client::ClientError;
use harvestman_core::api::monitor::ListQuery;
use harvestman_core::api::monitor_response::{Check, CheckPage, CheckSummary, Judgment, PageStatus};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::describe;
use crate::components::error_notice::error_notice;
use crate::components::inline_code::inline_code;
use crate::components::tabs::{Tab, Tabs};
use crate::console::Console;
use crate::limits::CHECK_PAGES_LOADED;
use crate::{browser, display, route, text};

/// The states in the order of the tabs, with their ids and labels.
const STATES: [(PageStatus, &str, &str); 5] = [
    (PageStatus::Changed, "changed", "Changed"),
    (PageStatus::New, "new", "New"),
    (PageStatus::Removed, "removed", "Removed"),
    (PageStatus::Error, "error", "Failed"),
    (PageStatus::Same, "same", "Unchanged"),
];

/// The pages of one state, loaded in parts.
#[derive(Clone, Copy)]
struct Pages {
    console: Console,
    /// Ids of the monitor and of the check.
    ids: StoredValue<(String, String)>,
    state: RwSignal<&'static str>,
    /// Incremented by each request, so that only the response of the latest one is shown.
    generation: StoredValue<u64>,
    list: RwSignal<Vec<CheckPage>>,
    more: RwSignal<bool>,
    busy: RwSignal<bool>,
    error: RwSignal<Option<ClientError>>,
    selected: RwSignal<Option<String>>,
}

impl Pages {
    fn restart(self) {
        self.list.set(Vec::new());
        self.selected.set(None);
        self.more.set(false);
        self.load(self.state.get_untracked(), 0);
    }

    fn load(self, state: &'static str, skip: u64) {
        self.busy.set(true);
        let generation = self.generation.get_value() + 1;
        self.generation.set_value(generation);
        spawn_local(async move {
            let Some((monitor, check)) = self.ids.try_get_value() else {
                return;
            };
            let query = ListQuery {
                limit: CHECK_PAGES_LOADED,
                offset: skip,
                status: PageStatus::parse(state),
            };
            let response = self.console.client().monitor_check(&monitor, &check, query).await;
            // Another tab may have been selected meanwhile.
            if self.generation.try_get_value() != Some(generation) {
                return;
            }
            self.busy.set(false);
            match response {
                Ok(response) => {
                    self.error.set(None);
                    self.more.set(response.next.is_some());
                    if self.selected.with_untracked(Option::is_none) {
                        let first = response.data.pages.first();
                        self.selected.set(first.map(|page| page.id.clone()));
                    }
                    self.list.update(|list| list.extend(response.data.pages));
                }
                Err(error) => {
                    self.console.handle_error(&error);
                    self.error.set(Some(error));
                }
            }
        });
    }
}

/// Renders a check.
#[component]
pub(super) fn CheckPanel(monitor: String, check: Check) -> impl IntoView {
    let tabs: Vec<Tab> = STATES
        .iter()
        .filter(|(status, ..)| count(&check.summary, *status) > 0)
        .map(|(status, id, label)| Tab {
            id,
            label,
            count: Some(display::count(count(&check.summary, *status))),
        })
        .collect();
    let when = display::ago((browser::now_ms() - check.created_at.0 as f64) / 1000.0);
    let credits = check
        .actual_credits
        .map(|credits| display::plural(credits, "credit", "credits"));
    let facts = [Some(check.trigger.as_str().to_owned()), Some(when), credits];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let problem = check.error.as_ref().map(|problem| {
        view! {
            <div class="pad">
                <div class="notice bad">{inline_code(problem)}</div>
            </div>
        }
    });
    let pages = (!tabs.is_empty()).then(|| {
        let ids = (monitor, check.id.clone());
        view! { <PagePanes ids tabs/> }
    });
    view! {
        <section class="card" aria-label="Check">
            <div class="card-head">
                <h2>{describe(&check)}</h2>
                <span class="hint">{facts}</span>
            </div>
            {problem}
            {pages}
        </section>
    }
    .into_any()
}

fn count(summary: &CheckSummary, status: PageStatus) -> u64 {
    match status {
        PageStatus::Changed => summary.changed,
        PageStatus::New => summary.new,
        PageStatus::Removed => summary.removed,
        PageStatus::Error => summary.error,
        PageStatus::Same => summary.same,
    }
}

#[component]
fn PagePanes(ids: (String, String), tabs: Vec<Tab>) -> impl IntoView {
    let pages = Pages {
        console: Console::get(),
        ids: StoredValue::new(ids),
        state: RwSignal::new(tabs.first().map_or("changed", |tab| tab.id)),
        generation: StoredValue::new(0),
        list: RwSignal::new(Vec::new()),
        more: RwSignal::new(false),
        busy: RwSignal::new(false),
        error: RwSignal::new(None),
        selected: RwSignal::new(None),
    };
    Effect::new(move |_| {
        pages.state.track();
        pages.restart();
    });
    let load_more = move |_| {
        let loaded = pages.list.with_untracked(Vec::len) as u64;
        pages.load(pages.state.get_untracked(), loaded);
    };
    let shown = move || {
        let selected = pages.selected.get();
        pages.list.with(|list| {
            let page = list.iter().find(|page| Some(&page.id) == selected.as_ref());
            page.map(details)
        })
    };
    view! {
        <Tabs name="check" label="State of the pages" tabs chosen=pages.state/>
        <div class="check-panes" role="tabpanel" id="check-panel" aria-labelledby=move || format!("check-{}", pages.state.get())>
            <div class="check-list">
                <ul class="rows">
                    <For each=move || pages.list.get() key=|page| page.id.clone() let:page>
                        <PageRow page selected=pages.selected/>
                    </For>
                </ul>
                {move || pages.error.get().map(|error| error_notice(&error))}
                <Show when=move || pages.busy.get()>
                    <div class="skeleton"><i></i><i></i></div>
                </Show>
                <Show when=move || pages.more.get() && !pages.busy.get()>
                    <div class="card-foot">
                        <button class="btn small" on:click=load_more>"Load more pages"</button>
                    </div>
                </Show>
            </div>
            <div class="check-page">{shown}</div>
        </div>
    }
    .into_any()
}

#[component]
fn PageRow(page: CheckPage, selected: RwSignal<Option<String>>) -> impl IntoView {
    let id = StoredValue::new(page.id.clone());
    let is_selected = move || {
        selected
            .with(|selected| id.with_value(|id| selected.as_ref() == Some(id)))
            .to_string()
    };
    let mark = page.judgment.as_ref().map(|judgment| match judgment.meaningful {
        true => view! { <span class="badge accent">"matters"</span> }.into_any(),
        false => view! { <span class="badge">"minor"</span> }.into_any(),
    });
    view! {
        <li>
            <button type="button" class="page-pick" aria-pressed=is_selected on:click=move |_| selected.set(Some(id.get_value()))>
                <span class="mono cut">{display::short_url(&page.url).to_owned()}</span>
                {mark}
            </button>
        </li>
    }
    .into_any()
}

fn details(page: &CheckPage) -> AnyView {
    let title = page
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.get("title")?.as_str().map(str::to_owned));
    let stored = page.current_scrape_id.as_ref().map(|id| {
        let href = format!("{}{}", route::BASE, route::scrape_path(&page.url, id));
        view! { <a class="btn small" href=href>"Open page"</a> }
    });
    let diff = page.diff.as_ref();
    let text = diff.and_then(|diff| diff["text"].as_str());
    let fields = diff.map(|diff| &diff["json"]).filter(|fields| fields.is_object());
    let difference = match (text, fields) {
        (Some(text), _) => view! { <Diff text=text.to_owned()/> }.into_any(),
        (None, Some(fields)) => {
            let fields = serde_json::to_string_pretty(fields).unwrap_or_default();
            view! { <pre class="page-diff" tabindex="0" role="region" aria-label="Changed fields">{fields}</pre> }
                .into_any()
        }
        (None, None) => view! { <p class="hint">{without_diff(page.status)}</p> }.into_any(),
    };
    let error = page
        .error
        .as_ref()
        .map(|error| view! { <div class="notice bad">{inline_code(error)}</div> });
    view! {
        <div class="pad gap">
            <div class="check-page-head">
                <div>
                    {title.map(|title| view! { <h3>{title}</h3> })}
                    <a class="mono" href=page.url.clone() target="_blank" rel="noreferrer noopener">{page.url.clone()}</a>
                </div>
                {stored}
            </div>
            {error}
            {page.judgment.as_ref().map(judged)}
            {difference}
        </div>
    }
    .into_any()
}

fn without_diff(status: PageStatus) -> &'static str {
    match status {
        PageStatus::New => text::PAGE_IS_NEW,
        PageStatus::Same => text::PAGE_IS_SAME,
        PageStatus::Removed => text::PAGE_IS_REMOVED,
        PageStatus::Changed | PageStatus::Error => "",
    }
}

fn judged(judgment: &Judgment) -> AnyView {
    let (class, verdict) = match judgment.meaningful {
        true => ("notice accent", "This change matters for the goal"),
        false => ("notice", "This change does not matter for the goal"),
    };
    view! {
        <div class=class>
            <strong>{format!("{verdict} ({} confidence)", judgment.confidence.as_str())}</strong>
            <p>{judgment.reason.clone()}</p>
        </div>
    }
    .into_any()
}

/// Renders a unified diff; added and removed lines have their sign and a color.
#[component]
fn Diff(text: String) -> impl IntoView {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("--- ") && !line.starts_with("+++ "));
    let lines = lines.map(|line| {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b'@') => "at",
            _ => "",
        };
        view! { <span class=class>{line.to_owned()}</span> }
    });
    let lines = lines.collect_view();
    view! { <pre class="page-diff" tabindex="0" role="region" aria-label="Difference">{lines}</pre> }
        .into_any()
}
