//! Card to run code or prompts in a session, with a timeout and the history of earlier runs.

use harvestman_core::api::interact::{Language, Task};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::files::Files;
use super::recorder::Recorder;
use super::run_result::RunResult;
use super::{SessionScreen, State};
use crate::components::tabs::{Tab, Tabs, tab};
use crate::run_history::Run;
use crate::{browser, clock, display, storage, text};

/// Default timeout of a run, seconds; the same as that of the API.
const TIMEOUT_S: f64 = 30.0;

/// The languages in menu order.
const LANGUAGES: [Language; 3] = [Language::Node, Language::Python, Language::Bash];

/// The text in the editors, kept in local storage.
#[derive(Clone, Copy)]
struct EditorTexts {
    language: RwSignal<Language>,
    /// One text for each language.
    code: [RwSignal<String>; 3],
    prompt: RwSignal<String>,
    timeout: RwSignal<String>,
}

impl EditorTexts {
    fn restore() -> Self {
        let language: Option<String> = storage::read("language");
        let language = language.and_then(|word| Language::parse(&word));
        let code = LANGUAGES.map(|language| stored_text(code_name(language), example(language)));
        Self {
            language: RwSignal::new(language.unwrap_or(Language::Node)),
            code,
            prompt: stored_text("prompt", ""),
            timeout: RwSignal::new(TIMEOUT_S.to_string()),
        }
    }

    fn code_of(self, language: Language) -> RwSignal<String> {
        let at = LANGUAGES.iter().position(|candidate| *candidate == language);
        self.code[at.unwrap_or_default()]
    }

    /// Loads an earlier run into the editor, and returns the tab for it.
    fn load_run(self, run: &Run) -> &'static str {
        self.timeout.set(run.timeout.to_string());
        match run.task() {
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
fn stored_text(name: &'static str, first: &'static str) -> RwSignal<String> {
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
pub fn RunCard(screen: SessionScreen) -> impl IntoView {
    let texts = EditorTexts::restore();
    let chosen = RwSignal::new("code");
    let tabs = Signal::derive(move || {
        let runs = screen.runs.with(Vec::len);
        vec![
            tab("code", "Code"),
            tab("prompt", "Prompt"),
            tab("record", "Recorder"),
            tab("files", "Files"),
            Tab {
                id: "history",
                label: "History",
                count: (runs > 0).then(|| display::count(runs as u64)),
            },
        ]
    });
    let end = move || {
        view! {
            <Show when=move || chosen.get() == "code">
                <Languages language=texts.language/>
            </Show>
        }
    };
    view! {
        <section class="card" aria-label="Run in the browser">
            <Tabs name="run" label="What to run" tabs chosen end/>
            <div role="tabpanel" id="run-panel" aria-labelledby=move || format!("run-{}", chosen.get())>
                {move || match chosen.get() {
                    "record" => view! { <Recorder screen/> }.into_any(),
                    "files" => view! { <Files screen/> }.into_any(),
                    "history" => view! { <History screen texts chosen/> }.into_any(),
                    kind => view! { <RunForm screen texts is_prompt=kind == "prompt"/> }.into_any(),
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
    let options = LANGUAGES.map(|candidate| {
        view! {
            <option value=candidate.as_str() selected=move || language.get() == candidate>
                {candidate.as_str()}
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
fn RunForm(screen: SessionScreen, texts: EditorTexts, is_prompt: bool) -> impl IntoView {
    let busy = move || screen.busy.with(Option::is_some);
    let text_of = move || match is_prompt {
        true => texts.prompt,
        false => texts.code_of(texts.language.get()),
    };
    let error = RwSignal::new(None::<&'static str>);
    let submit = browser::on_submit(move || {
        let input = untrack(text_of).get_untracked();
        let timeout = texts
            .timeout
            .with_untracked(|timeout| timeout.trim().parse::<f64>().ok());
        match (
            input.trim().is_empty(),
            timeout.filter(|seconds| (1.0..=300.0).contains(seconds)),
        ) {
            (true, _) => error.set(Some(text::NOTHING_TO_RUN)),
            (false, None) => error.set(Some(text::TIMEOUT_OUT_OF_RANGE)),
            (false, Some(seconds)) => {
                error.set(None);
                let task = match is_prompt {
                    true => Task::Prompt(input),
                    false => Task::Code {
                        code: input,
                        language: texts.language.get_untracked(),
                    },
                };
                spawn_local(screen.run(task, seconds));
            }
        }
    });
    let help = move || match is_prompt {
        true if screen.is_standalone() => text::FIRST_PROMPT_HELP,
        true => text::PROMPT_HELP,
        false => text::CODE_HELP,
    };
    let is_ended = move || screen.state.get() == State::Ended;
    let last = move || screen.runs.with(|runs| runs.first().cloned());
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
                <button class="btn primary" type="submit" data-run="" disabled=is_ended aria-disabled=move || busy().to_string()>
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
                    prop:value=move || texts.timeout.get()
                    on:input=move |event| texts.timeout.set(event_target_value(&event))
                />
                <span class="hint">"s"</span>
                <span class="grow"></span>
                <span class="hint top-opt"><kbd>"Ctrl"</kbd>" "<kbd>"Enter"</kbd>" to run"</span>
            </div>
            <p class="pad hint run-help" id="run-help">{help}</p>
            {move || error.get().map(|words| view! { <div class="pad"><p class="field-error" role="alert">{words}</p></div> })}
        </form>
        {move || screen.busy.get().map(|since| view! { <Busy since/> })}
        {move || last().map(|run| view! { <RunResult run/> })}
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
fn History(screen: SessionScreen, texts: EditorTexts, chosen: RwSignal<&'static str>) -> impl IntoView {
    let run_again = move |run: &Run| {
        chosen.set(texts.load_run(run));
        spawn_local(screen.run(run.task(), run.timeout));
    };
    let row = move |run: Run| {
        let (badge, word) = super::run_result::badge(&run);
        let first = run.text.lines().next().unwrap_or_default().to_owned();
        let ago = display::ago((browser::now_ms() - run.at) / 1000.0);
        let (to_run, to_edit) = (StoredValue::new(run.clone()), StoredValue::new(run.clone()));
        let code = run.text.clone();
        view! {
            <li>
                <details class="call">
                    <summary>
                        <span class=badge>{word}</span>
                        <code class="cut">{first}</code>
                        <span class="grow"></span>
                        <span class="hint nowrap">{run.kind.clone()} " \u{b7} " {ago}</span>
                    </summary>
                    <pre class="code wrap" tabindex="0">{code}</pre>
                    <div class="pad send">
                        <button
                            class="btn small"
                            disabled=move || screen.state.get() == State::Ended
                            on:click=move |_| to_run.with_value(run_again)
                        >
                            "Run again"
                        </button>
                        <button class="btn small quiet" on:click=move |_| chosen.set(to_edit.with_value(|run| texts.load_run(run)))>
                            "Edit"
                        </button>
                    </div>
                    <RunResult run/>
                </details>
            </li>
        }
    };
    let rows = move || screen.runs.get().into_iter().map(row).collect_view();
    view! {
        <Show when=move || screen.runs.with(|runs| !runs.is_empty()) fallback=|| view! { <p class="empty">{text::HISTORY_EMPTY}</p> }>
            <ul class="rows calls">{rows}</ul>
        </Show>
    }
    .into_any()
}
