//! Tools: small tools for page content, crawl scope, robots.txt, sitemaps and webhook signatures. They run in this
//! page with the wasm of the npm package and send nothing to the server.

use leptos::prelude::*;
use leptos_router::hooks::{use_navigate, use_query_map};
use serde_json::Value;

use crate::components::notice::{problem_in_card, skeleton};
use crate::components::screen_header::ScreenHeader;
use crate::components::tabs::{Tabs, tab};
use crate::package::Package;
use crate::route::Screen;
use crate::text;

mod page;
mod robots;
mod scope;
mod sitemap;
mod webhook;

/// The tools: id in the URL, and label.
const TOOLS: [(&str, &str); 5] = [
    ("page", "HTML to Markdown"),
    ("scope", "Crawl scope"),
    ("robots", "robots.txt"),
    ("sitemap", "Sitemap"),
    ("webhook", "Webhook signature"),
];

/// Renders the screen.
#[component]
pub fn ToolsPage() -> impl IntoView {
    let package = Package::load_now();
    let query = use_query_map();
    let requested_tool = move || query.with(|query| query.get("tool"));
    let tool_id = move |requested_tool: Option<String>| {
        let tool = TOOLS
            .iter()
            .find(|(id, _)| Some(*id) == requested_tool.as_deref());
        tool.map_or(TOOLS[0].0, |(id, _)| *id)
    };
    let chosen = RwSignal::new(tool_id(query.with_untracked(|query| query.get("tool"))));
    Effect::new(move |_| chosen.set(tool_id(requested_tool())));
    let navigate = use_navigate();
    Effect::new(move |before: Option<&'static str>| {
        let now = chosen.get();
        if before.is_some_and(|before| before != now) {
            let options = leptos_router::NavigateOptions {
                replace: true,
                scroll: false,
                ..Default::default()
            };
            navigate(&format!("{}?tool={now}", Screen::Tools.path()), options);
        }
        now
    });
    let tabs = TOOLS.map(|(id, name)| tab(id, name)).to_vec();
    view! {
        <ScreenHeader title="Tools".to_owned() intro=|| view! { <p>{text::TOOLS_INTRO}</p> }/>
        {move || match package.state.get() {
            Some(Err(problem)) => {
                view! {
                    <div class="notice bad" role="alert">
                        <div class="notice-line">
                            <span>{text::PACKAGE_FAILED} " " {problem}</span>
                            <button class="btn small danger" on:click=move |_| package.load()>
                                "Retry"
                            </button>
                        </div>
                    </div>
                }
                    .into_any()
            }
            _ => ().into_any(),
        }}
        <div class="tool-tabs card">
            <Tabs name="tool" label="Tools" tabs=Signal::stored(tabs) chosen/>
        </div>
        <div role="tabpanel" id="tool-panel" aria-labelledby=move || format!("tool-{}", chosen.get())>
            {move || match chosen.get() {
                "scope" => view! { <scope::ScopeTool package/> }.into_any(),
                "robots" => view! { <robots::RobotsTool package/> }.into_any(),
                "sitemap" => view! { <sitemap::SitemapTool package/> }.into_any(),
                "webhook" => view! { <webhook::WebhookTool package/> }.into_any(),
                _ => view! { <page::PageTool package/> }.into_any(),
            }}
        </div>
    }
    .into_any()
}

/// Result of a tool; none without input or package.
type ToolOutput = Memo<Option<Result<Value, String>>>;

/// Runs a tool whenever its input changes; `input` returns `None` while the input is incomplete.
fn run_tool(
    package: Package,
    tool: &'static str,
    input: impl Fn() -> Option<Value> + Send + Sync + 'static,
) -> ToolOutput {
    Memo::new(move |_| package.run(tool, &input()?))
}

/// Renders the input of a tool next to its result.
#[component]
fn ToolLayout(
    /// The input fields.
    children: Children,
    package: Package,
    output: ToolOutput,
    /// Empty state of the result.
    empty: &'static str,
    /// Renders a result.
    render: fn(&Value) -> AnyView,
) -> impl IntoView {
    let result = move || match output.get() {
        Some(Ok(value)) => render(&value),
        Some(Err(problem)) => problem_in_card(&problem),
        None if package.state.with(Option::is_none) => skeleton(3),
        None => view! { <p class="empty">{empty}</p> }.into_any(),
    };
    view! {
        <div class="two even">
            <section class="card" aria-label="Input">
                <div class="pad gap">{children()}</div>
            </section>
            <section class="card" id="tool-result" aria-label="Result">
                {result}
            </section>
        </div>
    }
    .into_any()
}

/// Renders a text field.
#[component]
fn Input(
    id: &'static str,
    label: &'static str,
    #[prop(optional)] hint: &'static str,
    value: RwSignal<String>,
    /// Number of lines; 0 is a single-line field.
    #[prop(optional)]
    rows: u32,
    #[prop(optional)] placeholder: &'static str,
) -> impl IntoView {
    let on_input = move |event: leptos::ev::Event| value.set(event_target_value(&event));
    let control = match rows {
        0 => view! {
            <input class="input mono" type="text" id=id autocomplete="off" spellcheck="false" placeholder=placeholder prop:value=move || value.get() on:input=on_input/>
        }
        .into_any(),
        _ => view! {
            <textarea class="input mono" id=id rows=rows.to_string() spellcheck="false" placeholder=placeholder prop:value=move || value.get() on:input=on_input></textarea>
        }
        .into_any(),
    };
    view! {
        <div class="field">
            <label class="field-name" for=id>
                {label}
            </label>
            {control}
            {(!hint.is_empty()).then(|| view! { <p class="hint">{hint}</p> })}
        </div>
    }
    .into_any()
}

/// Returns the non-empty lines.
fn lines(text: RwSignal<String>) -> Vec<String> {
    text.with(|text| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    })
}

/// Returns the trimmed text if it is not empty.
fn non_empty(text: RwSignal<String>) -> Option<String> {
    text.with(|text| Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// Renders a verdict badge.
fn verdict_badge(good: bool, word: &'static str) -> AnyView {
    view! { <span class=if good { "badge ok" } else { "badge bad" }>{word}</span> }.into_any()
}

/// Returns the strings of a JSON array.
fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Renders URLs below a heading, or nothing if there are none.
fn url_list(title: &'static str, list: Vec<String>) -> AnyView {
    if list.is_empty() {
        return ().into_any();
    }
    let count = crate::display::count(list.len() as u64);
    let items = list.into_iter().map(|url| view! { <li>{url}</li> });
    view! {
        <div class="card-head">
            <h2>{title}</h2>
            <span class="count">{count}</span>
        </div>
        <div class="scroll pad" tabindex="0" role="region" aria-label=title>
            <ul class="links">{items.collect_view()}</ul>
        </div>
    }
    .into_any()
}
