//! Card to run code or prompts in a session, with a timeout and the history of earlier runs.

use harvestman_core::api::interact::{Language, Task};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::run_result::Answer;
use super::{Shown, State};
use crate::components::tabs::{Tab, Tabs, tab};
use crate::run_history::Run;
use crate::{browser, clock, display, storage, text};

/// Default timeout of a run, seconds; the same as that of the API.
const TIMEOUT_S: f64 = 30.0;

/// The languages in menu order.
const LANGUAGES: [Language; 3] = [Language::Node, Language::Python, Language::Bash];

/// The text in the editors, kept in local storage.
#[derive(Clone, Copy)]
struct Written {
    language: RwSignal<Language>,
    /// One text for each language.
    code: [RwSignal<String>; 3],
    prompt: RwSignal<String>,
    timeout: RwSignal<String>,
}

impl Written {
    fn restore() -> Self {
        let language: Option<String> = storage::read("language");
        let language = language.and_then(|word| Language::parse(&word));
        let code = LANGUAGES.map(|language| kept(code_name(language), example(language)));
        Self {
            language: RwSignal::new(language.unwrap_or(Language::Node)),
            code,
            prompt: kept("prompt", ""),
            timeout: RwSignal::new(TIMEOUT_S.to_string()),
        }
    }

    fn code_of(self, language: Language) -> RwSignal<String> {
        let at = LANGUAGES.iter().position(|one| *one == language);
        self.code[at.unwrap_or_default()]
    }

    /// Loads an earlier run into the editor, and returns the tab for it.
    fn take(self, call: &Run) -> &'static str {
        self.timeout.set(call.timeout.to_string());
        match call.task() {
            Task::Code { code, language } => {
                self.language.set(language);
                self.code_of(language).set(code);
                "code"
            }
            Task::Prompt(prompt) => {
                self.prompt.set(prompt);
                "prompt"
            }
        }
    }
}

/// Returns a text signal that is stored under `name` on every change.
fn kept(name: &'static str, first: &'static str) -> RwSignal<String> {
    let text: Option<String> = storage::read(name);
    let signal = RwSignal::new(text.unwrap_or_else(|| first.to_owned()));
    Effect::new(move |before: Option<()>| {
        let now = signal.get();
        if before.is_some() {
            storage::write(name, &now);
        }
    });
    signal
}

fn code_name(language: Language) -> &'static str {
    match language {
        Language::Node => "code:node",
        Language::Python => "code:python",
        Language::Bash => "code:bash",
    }
}

/// Returns example code that works on every page.
fn example(language: Language) -> &'static str {
    match language {
        Language::Node => "await page.title()",
        Language::Python => "print(await page.title())",
        Language::Bash => "snapshot -i",
    }
}

/// Renders the card.
#[component]
pub fn RunCard(shown: Shown) -> impl IntoView {
    let written = Written::restore();
    let chosen = RwSignal::new("code");
    let tabs = Signal::derive(move || {
        let calls = shown.calls.with(Vec::len);
        vec![
            tab("code", "Code"),
            tab("prompt", "Prompt"),
            Tab {
                id: "history",
                label: "History",
                count: (calls > 0).then(|| display::count(calls as u64)),
            },
        ]
    });
    let end = move || {
        view! {
            <Show when=move || chosen.get() == "code">
                <Languages language=written.language/>
            </Show>
        }
    };
    view! {
        <section class="card" aria-label="Run in the browser">
            <Tabs name="run" label="What to run" tabs chosen end/>
            <div role="tabpanel" id="run-panel" aria-labelledby=move || format!("run-{}", chosen.get())>
                {move || match chosen.get() {
                    "history" => view! { <History shown written chosen/> }.into_any(),
                    "prompt" if shown.is_own() => view! { <p class="empty">{text::STANDALONE_NO_PROMPTS}</p> }.into_any(),
                    kind => view! { <Form shown written is_prompt=kind == "prompt"/> }.into_any(),
                }}
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn Languages(language: RwSignal<Language>) -> impl IntoView {
    let choose = move |event: leptos::ev::Event| {
        if let Some(chosen) = Language::parse(&event_target_value(&event)) {
            language.set(chosen);
            storage::write("language", &chosen.as_str());
        }
    };
    let options = LANGUAGES.map(|one| {
        view! {
            <option value=one.as_str() selected=move || language.get() == one>
                {one.as_str()}
            </option>
        }
    });
    view! {
        <select class="input mono small" aria-label="Language" on:change=choose>
            {options.collect_view()}
        </select>
    }
    .into_any()
}

#[component]
fn Form(shown: Shown, written: Written, is_prompt: bool) -> impl IntoView {
    let busy = move || shown.busy.with(Option::is_some);
    let text_of = move || match is_prompt {
        true => written.prompt,
        false => written.code_of(written.language.get()),
    };
    let wrong = RwSignal::new(None::<&'static str>);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let said = untrack(text_of).get_untracked();
        let timeout = written
            .timeout
            .with_untracked(|timeout| timeout.trim().parse::<f64>().ok());
        match (
            said.trim().is_empty(),
            timeout.filter(|seconds| (1.0..=300.0).contains(seconds)),
        ) {
            (true, _) => wrong.set(Some(text::NOTHING_TO_RUN)),
            (false, None) => wrong.set(Some(text::TIMEOUT_OUT_OF_RANGE)),
            (false, Some(seconds)) => {
                wrong.set(None);
                let task = match is_prompt {
                    true => Task::Prompt(said),
                    false => Task::Code {
                        code: said,
                        language: written.language.get_untracked(),
                    },
                };
                spawn_local(shown.run(task, seconds));
            }
        }
    };
    let help = match is_prompt {
        true => text::PROMPT_HELP,
        false => text::CODE_HELP,
    };
    let off = move || shown.state.get() == State::Ended;
    let last = move || shown.calls.with(|calls| calls.first().cloned());
    view! {
        <form aria-label=if is_prompt { "Prompt" } else { "Code" } on:submit=submit>
            <textarea
                class=if is_prompt { "input code-edit words" } else { "input mono code-edit" }
                aria-label=if is_prompt { "Prompt" } else { "Code" }
                aria-describedby="run-help"
                rows="9"
                spellcheck="false"
                autocapitalize="none"
                placeholder=if is_prompt { text::PROMPT_EXAMPLE } else { "" }
                prop:value=move || text_of().get()
                on:input=move |event| untrack(text_of).set(event_target_value(&event))
            ></textarea>
            <div class="pad run-line">
                <button class="btn primary" type="submit" data-run="" disabled=off aria-disabled=move || busy().to_string()>
                    {move || busy().then(|| view! { <span class="spin"></span> })}
                    {move || if busy() { "Running" } else { "Run" }}
                </button>
                <label class="hint" for="run-timeout">
                    "Timeout"
                </label>
                <input
                    class="input mono small"
                    id="run-timeout"
                    type="text"
                    inputmode="decimal"
                    size="4"
                    prop:value=move || written.timeout.get()
                    on:input=move |event| written.timeout.set(event_target_value(&event))
                />
                <span class="hint">"s"</span>
                <span class="grow"></span>
                <span class="hint top-opt"><kbd>"Ctrl"</kbd>" "<kbd>"Enter"</kbd>" to run"</span>
            </div>
            <p class="pad hint run-help" id="run-help">{help}</p>
            {move || wrong.get().map(|words| view! { <div class="pad"><p class="field-error" role="alert">{words}</p></div> })}
        </form>
        {move || shown.busy.get().map(|since| view! { <Busy since/> })}
        {move || last().map(|call| view! { <Answer call/> })}
    }
    .into_any()
}

#[component]
fn Busy(since: f64) -> impl IntoView {
    let now = clock::now();
    view! {
        <p class="pad hint run-busy" role="status">
            <span class="spin"></span>
            {move || format!("Running for {}", display::duration((now.get() - since) / 1000.0))}
        </p>
    }
    .into_any()
}

#[component]
fn History(shown: Shown, written: Written, chosen: RwSignal<&'static str>) -> impl IntoView {
    let again = move |call: &Run| {
        chosen.set(written.take(call));
        spawn_local(shown.run(call.task(), call.timeout));
    };
    let row = move |call: Run| {
        let (badge, word) = super::run_result::badge(&call);
        let first = call.text.lines().next().unwrap_or_default().to_owned();
        let ago = display::ago((browser::now_ms() - call.at) / 1000.0);
        let (to_run, to_edit) = (StoredValue::new(call.clone()), StoredValue::new(call.clone()));
        let code = call.text.clone();
        view! {
            <li>
                <details class="call">
                    <summary>
                        <span class=badge>{word}</span>
                        <code class="cut">{first}</code>
                        <span class="grow"></span>
                        <span class="hint nowrap">{call.kind.clone()} " \u{b7} " {ago}</span>
                    </summary>
                    <pre class="code wrap" tabindex="0">{code}</pre>
                    <div class="pad send">
                        <button
                            class="btn small"
                            disabled=move || shown.state.get() == State::Ended
                            on:click=move |_| to_run.with_value(again)
                        >
                            "Run again"
                        </button>
                        <button class="btn small quiet" on:click=move |_| chosen.set(to_edit.with_value(|call| written.take(call)))>
                            "Edit"
                        </button>
                    </div>
                    <Answer call/>
                </details>
            </li>
        }
    };
    let rows = move || shown.calls.get().into_iter().map(row).collect_view();
    view! {
        <Show when=move || shown.calls.with(|calls| !calls.is_empty()) fallback=|| view! { <p class="empty">{text::HISTORY_EMPTY}</p> }>
            <ul class="rows calls">{rows}</ul>
        </Show>
    }
    .into_any()
}
