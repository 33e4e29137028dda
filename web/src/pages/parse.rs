//! Parse: converts a file from this device, and shows the result in the same way as a scrape.

use std::str::FromStr;

use harvestman_core::api::Wire;
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::snippet::shell_word;
use harvestman_core::ids::ScrapeId;
use harvestman_core::limits::MAX_UPLOAD_BYTES;
use leptos::prelude::*;
use serde_json::{Value, json};
use web_sys::File;

use crate::components::button::BusyButton;
use crate::components::code::Code;
use crate::components::file_drop::FileDrop;
use crate::components::format_chips::Chips;
use crate::components::icon::Glyph;
use crate::components::screen_header::ScreenHeader;
use crate::components::switch::Switch;
use crate::exchange::{Exchange, ResultCard};
use crate::pages::scrape::{document_of, result_state};
use crate::result_url::ResultUrl;
use crate::route::Screen;
use crate::{browser, display, highlight, text};

/// Formats that every kind of file can be converted to.
const FORMATS: &[FormatKind] = &[
    FormatKind::Markdown,
    FormatKind::Html,
    FormatKind::Links,
    FormatKind::Images,
];

/// What the user has entered. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
struct Input {
    file: RwSignal<Option<File>, LocalStorage>,
    formats: RwSignal<Vec<FormatKind>>,
    main_only: RwSignal<bool>,
    problem: RwSignal<Option<&'static str>>,
}

impl Input {
    fn choose(self, file: File) {
        let is_too_large = file.size() > MAX_UPLOAD_BYTES as f64;
        self.problem
            .set(is_too_large.then_some(text::PARSE_FILE_TOO_LARGE));
        self.file.set(Some(file).filter(|_| !is_too_large));
    }

    /// Returns the part `options` of the request.
    fn options(self) -> Option<ParseOptions> {
        let names = self.formats.with(|formats| {
            formats
                .iter()
                .map(|kind| Value::from(kind.as_str()))
                .collect::<Vec<_>>()
        });
        let options = json!({ "formats": names, "onlyMainContent": self.main_only.get() });
        ParseOptions::from_value(options).ok()
    }
}

/// Renders the screen.
#[component]
pub fn ParsePage() -> impl IntoView {
    let exchange = Exchange::new();
    let input = Input {
        file: RwSignal::new_local(None),
        formats: RwSignal::new(vec![FormatKind::Markdown]),
        main_only: RwSignal::new(true),
        problem: RwSignal::new(None),
    };
    let url = ResultUrl::new(Screen::Parse, move |id| {
        let Ok(id) = ScrapeId::from_str(&id) else { return };
        exchange.send(None, move |client| {
            Some(Box::pin(async move {
                let document = document_of(client.scrape_result(id).await?);
                Ok(result_state(document, None, None))
            }))
        });
    });
    let run = browser::on_submit(move || {
        if exchange.is_pending_without_result() {
            return;
        }
        let Some(file) = input.file.get_untracked() else {
            input.problem.set(Some(text::PARSE_NEEDS_FILE));
            return browser::focus_soon("#parse-file");
        };
        let options = untrack(|| input.options());
        exchange.send(None, move |client| {
            let options = options?;
            Some(Box::pin(async move {
                let started_at = browser::now_ms();
                let document = document_of(client.parse(&file, &file.name(), &options).await?);
                let took_ms = (browser::now_ms() - started_at) as u64;
                if let Some(id) = document.metadata.scrape_id {
                    url.write(&id.to_string());
                }
                browser::reveal_soon("#result");
                Ok(result_state(document, Some(took_ms), None))
            }))
        });
    });
    view! {
        <ScreenHeader title="Parse".to_owned() intro=|| view! { <p>{text::PARSE_INTRO}</p> }/>
        <div class="two even">
            <div class="stack">
                <form class="card pad gap" aria-label="File" novalidate=true on:submit=run>
                    <FileField input/>
                    <div class="field" role="group" aria-labelledby="parse-formats">
                        <span class="field-name" id="parse-formats">
                            "Formats"
                            <code>"formats"</code>
                        </span>
                        <Chips
                            chosen=input.formats
                            offered=FORMATS
                            on_toggle=Callback::new(move |kind| {
                                input
                                    .formats
                                    .update(|formats| match formats.iter().position(|one| *one == kind) {
                                        Some(at) => _ = formats.remove(at),
                                        None => formats.push(kind),
                                    });
                            })
                        />
                    </div>
                    <Switch
                        id="parse-main"
                        label="Main content only"
                        value=input.main_only
                        on_change=move |on| input.main_only.set(on)
                    />
                    <div class="send">
                        <BusyButton busy=exchange.busy() label="Convert file" busy_label="Converting"/>
                    </div>
                </form>
                <section class="card" aria-label="Code">
                    <div class="card-head"><h2>"curl"</h2></div>
                    <Code html=Signal::derive(move || highlight::code(&command(input))) label="Request code"/>
                </section>
            </div>
            <ResultCard exchange label="Result" glyph=Glyph::Parse empty=text::PARSE_EMPTY/>
        </div>
    }
    .into_any()
}

/// Renders the field and drop zone of the file.
#[component]
fn FileField(input: Input) -> impl IntoView {
    let on_file = Callback::new(move |file| input.choose(file));
    let chosen = move || {
        input.file.with(|file| match file {
            Some(file) => format!("{}, {}", file.name(), display::bytes(file.size() as usize)),
            None => text::PARSE_FILE_HELP.to_owned(),
        })
    };
    view! {
        <div class="field">
            <span class="field-name">
                "File"
                <code>"file"</code>
            </span>
            <FileDrop label="Choose file" id="parse-file" described_by="parse-help parse-error" on_file>
                <span class="cut" role="status">{chosen}</span>
            </FileDrop>
            <p class="hint" id="parse-help">{text::PARSE_TYPES_HELP}</p>
            {move || input.problem.get().map(|text| view! { <p class="field-error" id="parse-error">{text}</p> })}
        </div>
    }
    .into_any()
}

/// Returns the command that sends the same request.
fn command(input: Input) -> String {
    let name = input
        .file
        .with(|file| file.as_ref().map_or_else(|| "report.pdf".to_owned(), File::name));
    let options = input
        .options()
        .and_then(|options| serde_json::to_string(&options.to_body()).ok())
        .filter(|options| options != "{}");
    let options = options.map_or_else(String::new, |options| {
        format!(
            " \\\n  --form-string {}",
            shell_word(&format!("options={options}"))
        )
    });
    format!(
        "curl {}/v2/parse \\\n  -H \"Authorization: Bearer $HARVESTMAN_API_KEY\" \\\n  -F {}{options}",
        browser::origin(),
        shell_word(&file_part(&name))
    )
}

/// Returns the part of a form for `curl`, which ends an unquoted name at a comma or a semicolon.
fn file_part(name: &str) -> String {
    format!("file=@\"{}\"", name.replace('\\', r"\\").replace('"', r#"\""#))
}

#[cfg(test)]
mod tests {
    use harvestman_core::api::snippet::shell_word;

    use super::file_part;

    #[test]
    fn a_file_name_is_one_word_of_the_shell() {
        let command = |name| shell_word(&file_part(name));
        assert_eq!(command("it's a.pdf"), r#"'file=@"it'\''s a.pdf"'"#);
        assert_eq!(command(r#"a,b;"c\d".pdf"#), r#"'file=@"a,b;\"c\\d\".pdf"'"#);
    }
}
