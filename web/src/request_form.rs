//! The form of a request: main field, common fields, formats, grouped fields, a JSON tab with the same body, and the
//! button that sends it.

use leptos::prelude::*;
use serde_json::Value;

use crate::components::availability::Availability;
use crate::components::button::BusyButton;
use crate::components::field::field_id;
use crate::components::field_group::{FieldRows, GroupView};
use crate::components::format_chips::FormatChips;
use crate::components::inline_code::inline_code;
use crate::components::json_editor::JsonEditor;
use crate::components::problems::Problems;
use crate::components::schema_editor::SchemaEditor;
use crate::components::tabs::{Tabs, tab};
use crate::components::url_import::UrlImport;
use crate::draft::{Draft, Endpoint};
use crate::{browser, fields, text};

/// Renders the form of a draft.
#[component]
pub fn RequestForm(
    draft: Draft,
    /// Sends the request.
    run: Callback<()>,
    /// Aborts the request; omit for requests too short to abort.
    #[prop(optional)]
    stop: Option<Callback<()>>,
    /// Whether a request is in progress.
    #[prop(into)]
    busy: Signal<bool>,
    /// Label of the send button.
    action: &'static str,
    /// Label of the send button while a request is in progress.
    busy_action: &'static str,
    /// Content after the main field.
    #[prop(optional, into)]
    after_url: ViewFn,
) -> impl IntoView {
    let chosen = RwSignal::new("form");
    let written = RwSignal::new(String::new());
    let json = Signal::derive(move || (chosen.get() == "json").then(|| written.get()));
    let tabs = vec![tab("form", "Form"), tab("json", "JSON")];
    let submit = browser::on_submit(move || run.run(()));
    let end = move || {
        view! {
            <button type="button" class="btn small quiet" on:click=move |_| draft.clear()>
                "Clear"
            </button>
        }
    };
    view! {
        <form class="card pane-form" aria-label="Request" novalidate=true on:submit=submit>
            <Tabs name="request" label="Form or JSON" tabs=Signal::stored(tabs) chosen end/>
            <Problems draft written=json/>
            <div role="tabpanel" id="request-panel" aria-labelledby=move || format!("request-{}", chosen.get())>
                {move || match chosen.get() {
                    "json" => view! { <JsonEditor draft written/> }.into_any(),
                    _ => view! { <Fields draft after_url=after_url.clone()/> }.into_any(),
                }}
            </div>
            <div class="pad form-foot">
                <div class="send">
                    <BusyButton busy label=action busy_label=busy_action/>
                    {move || {
                        stop.filter(|_| busy.get())
                            .map(|stop| {
                                view! {
                                    <button type="button" class="btn" data-stop="" on:click=move |_| stop.run(())>
                                        "Stop"
                                    </button>
                                }
                            })
                    }}
                    <span class="grow"></span>
                    <span class="hint top-opt">
                        <kbd>"Ctrl"</kbd>
                        " "
                        <kbd>"Enter"</kbd>
                        " to run"
                    </span>
                </div>
            </div>
        </form>
    }
    .into_any()
}

#[component]
fn Fields(draft: Draft, after_url: ViewFn) -> impl IntoView {
    let first = (!fields::MAIN.fields(draft.endpoint).is_empty())
        .then(|| view! { <div class="first-fields"><FieldRows draft group=&fields::MAIN/></div> });
    let subject = match draft.endpoint {
        Endpoint::Scrape | Endpoint::Crawl | Endpoint::Map => {
            view! { <SubjectField draft label="URL" placeholder="https://example.com/docs"/> }.into_any()
        }
        Endpoint::Search => {
            view! { <SubjectField draft label="Query" placeholder="Search terms"/> }.into_any()
        }
        Endpoint::Batch | Endpoint::Extract | Endpoint::Agent => ().into_any(),
    };
    let own = match draft.endpoint {
        Endpoint::Extract | Endpoint::Agent => view! { <SchemaEditor draft path="schema"/> }.into_any(),
        Endpoint::Scrape | Endpoint::Crawl => view! { <FormatChips draft/> }.into_any(),
        Endpoint::Batch => view! { <UrlImport draft/> <FormatChips draft/> }.into_any(),
        Endpoint::Map => ().into_any(),
        Endpoint::Search => view! {
            <div class="field">
                <FormatChips draft/>
                <p class="hint">{text::SEARCH_FORMATS}</p>
            </div>
        }
        .into_any(),
    };
    let groups = fields::groups(draft.endpoint)
        .iter()
        .map(|group| view! { <GroupView draft group/> });
    view! {
        <div class="pad gap">
            {subject}
            {after_url.run()}
            <Availability draft/>
            {first}
            {own}
            <div>{groups.collect_view()}</div>
        </div>
    }
    .into_any()
}

/// Renders the large field of what the request is about: a URL or a search query.
#[component]
fn SubjectField(draft: Draft, label: &'static str, placeholder: &'static str) -> impl IntoView {
    let name = draft.endpoint.subject();
    let is_url = name == "url";
    let problem = Memo::new(move |_| draft.problem_at(name));
    let value = move || {
        let value = draft.value(name);
        value
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    };
    let on_input = move |event: leptos::ev::Event| {
        let text = event_target_value(&event);
        draft.put(name, (!text.is_empty()).then(|| Value::from(text)));
    };
    let error_id = format!("{}-error", field_id(name));
    view! {
        <div class="field">
            <label class="field-name" for=field_id(name)>
                {label}
                <code>{name}</code>
            </label>
            <input
                class="input big"
                type=if is_url { "text" } else { "search" }
                inputmode=is_url.then_some("url")
                id=field_id(name)
                data-url=""
                autocomplete=if is_url { "url" } else { "off" }
                autocapitalize="none"
                spellcheck="false"
                placeholder=placeholder
                aria-describedby=error_id.clone()
                aria-invalid=move || problem.with(Option::is_some).then_some("true")
                prop:value=value
                on:input=on_input
            />
            {move || {
                let id = error_id.clone();
                problem.get().map(|text| view! { <p class="field-error" id=id>{label} " " {inline_code(&text)}</p> })
            }}
        </div>
    }
    .into_any()
}
