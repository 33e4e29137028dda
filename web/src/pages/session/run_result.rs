//! Outcome of a run: status, duration and outputs.

use leptos::prelude::*;

use crate::components::button::IconButton;
use crate::components::code::copy;
use crate::components::icon::Glyph;
use crate::components::inline_code::inline_code;
use crate::components::notice::problem_notice;
use crate::console::Console;
use crate::display;
use crate::run_history::Run;

/// Returns CSS class and text of the badge for a run.
pub fn badge(run: &Run) -> (&'static str, String) {
    match &run.outcome {
        Err(_) => ("badge bad", "error".to_owned()),
        Ok(response) if response.killed == Some(true) => ("badge warn", "killed".to_owned()),
        Ok(response) => {
            let class = if response.success { "badge ok" } else { "badge bad" };
            let word = match response.exit_code {
                Some(code) => format!("exit {code}"),
                None if response.success => "done".to_owned(),
                None => "failed".to_owned(),
            };
            (class, word)
        }
    }
}

/// Renders the outcome of a run.
#[component]
pub fn RunResult(run: Run) -> impl IntoView {
    let (class, word) = badge(&run);
    let took = match run.took_ms {
        ms if ms < 10_000.0 => format!("{} ms", display::count(ms as u64)),
        ms => display::duration(ms / 1000.0),
    };
    let blocks = match run.outcome {
        Err(problem) => problem_notice(&problem),
        Ok(response) => {
            let killed = (response.killed == Some(true)).then(|| {
                format!(
                    "The run exceeded its timeout of {} s and was stopped.",
                    run.timeout
                )
            });
            let problem = response.error.or(killed);
            let problem = problem.map(|text| view! { <div class="notice bad">{inline_code(&text)}</div> });
            let texts = [
                ("output", response.output),
                ("result", response.result),
                ("stdout", response.stdout),
                ("stderr", response.stderr),
            ];
            let texts = texts
                .into_iter()
                .filter_map(|(name, text)| Some((name, text.filter(|text| !text.is_empty())?)))
                .map(|(name, text)| view! { <Block name text/> });
            let texts = texts.collect_view();
            let is_silent = texts.is_empty() && problem.is_none();
            view! {
                {problem}
                {texts}
                {is_silent.then(|| view! { <p class="hint">"No result and no output."</p> })}
            }
            .into_any()
        }
    };
    view! {
        <div class="pad gap answer">
            <p class="send">
                <span class=class>{word}</span>
                <span class="hint">{took}</span>
            </p>
            {blocks}
        </div>
    }
    .into_any()
}

#[component]
fn Block(name: &'static str, text: String) -> impl IntoView {
    let console = Console::get();
    let text_to_copy = text.clone();
    view! {
        <div class="answer-block">
            <div class="send">
                <h3 class="field-name">{name}</h3>
                <span class="grow"></span>
                <IconButton
                    label=format!("Copy {name}")
                    glyph=Glyph::Copy
                    on_click=Callback::new(move |()| copy(console, text_to_copy.clone()))
                />
            </div>
            <pre class="code wrap" tabindex="0" role="region" aria-label=name>{text}</pre>
        </div>
    }
    .into_any()
}
