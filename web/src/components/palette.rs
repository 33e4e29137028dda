//! Command palette: finds screens, settings, keys, jobs (on the server, by id or URL) and actions, and runs the
//! selected one. For a URL, it offers actions with that URL; for words, a search of the documentation. Follows the ARIA
//! combobox pattern.

use std::str::FromStr;

use harvestman_core::api::console::ConsoleJob;
use harvestman_core::api::keys::Key;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_navigate;
use web_sys::KeyboardEvent;

use crate::components::dialog::Modal;
use crate::console::Console;
use crate::display;
use crate::limits::{PALETTE_ITEMS, PALETTE_JOBS, PALETTE_PAUSE_MS};
use crate::route::{self, Screen};
use crate::theme::Theme;
use crate::url_list::urls_in;
use crate::{browser, sign_in};

/// The settings of this browser.
const SETTINGS: [&str; 4] = ["Density", "Default formats", "API key", "Local data"];

/// An entry of the palette.
#[derive(Clone, PartialEq)]
struct Entry {
    /// Kind of the entry, shown at the end of the row.
    kind: &'static str,
    name: String,
    /// Also searched, and shown next to the name.
    detail: String,
    action: Action,
}

#[derive(Clone, PartialEq)]
enum Action {
    Go(String),
    /// Opens a page of the documentation.
    Docs(String),
    Theme(Theme),
    Shortcuts,
    SignOut,
}

impl Entry {
    /// Returns how well the entry matches the input: lower is better, `None` if it does not match.
    fn rank(&self, query: &str) -> Option<usize> {
        let name = self.name.to_lowercase();
        let both = format!("{name} {}", self.detail.to_lowercase());
        let mut words = query.split_whitespace().map(display::short_url);
        let matches_all = words.all(|word| both.contains(word));
        matches_all.then(|| if name.starts_with(query) { 0 } else { 1 })
    }
}

fn static_entries(has_key: bool) -> Vec<Entry> {
    let action_entry = |name: &str, action: Action| Entry {
        kind: "action",
        name: name.to_owned(),
        detail: String::new(),
        action,
    };
    let screens = Screen::all().map(|screen| Entry {
        kind: "screen",
        name: screen.name().to_owned(),
        detail: format!("g {}", screen.letter()),
        action: Action::Go(screen.path().to_owned()),
    });
    let settings = SETTINGS.map(|name| Entry {
        kind: "setting",
        name: name.to_owned(),
        detail: String::new(),
        action: Action::Go(Screen::Settings.path().to_owned()),
    });
    let themes =
        Theme::ALL.map(|theme| action_entry(&format!("Theme: {}", theme.name()), Action::Theme(theme)));
    let mut items: Vec<Entry> = screens.chain(settings).chain(themes).collect();
    items.push(action_entry("Keyboard shortcuts", Action::Shortcuts));
    if has_key {
        items.push(action_entry("Change API key", Action::SignOut));
    }
    items
}

fn key_entry(key: Key) -> Entry {
    Entry {
        kind: "key",
        detail: match key.hint.is_empty() {
            true => String::new(),
            false => format!("ends with {}", key.hint),
        },
        name: key.name,
        action: Action::Go(Screen::Keys.path().to_owned()),
    }
}

/// Returns the search of the documentation for the input, unless it is empty.
fn docs_entry(query: &str) -> Option<Entry> {
    let query = query.trim();
    let encoded = String::from(js_sys::encode_uri_component(query));
    (!query.is_empty()).then(|| Entry {
        kind: "docs",
        name: "Search the documentation".to_owned(),
        detail: query.to_owned(),
        action: Action::Docs(format!("/docs?q={encoded}")),
    })
}

fn job_entry(job: ConsoleJob) -> Entry {
    Entry {
        kind: "job",
        name: display::short_url(&job.url).to_owned(),
        detail: format!("{} {} {}", job.kind, job.status, job.id),
        action: Action::Go(route::result_path(&job)),
    }
}

/// Returns the actions with the URL, if the input is a URL.
fn url_entries(query: &str) -> Vec<Entry> {
    let found = urls_in(query);
    let [url] = found.as_slice() else {
        return Vec::new();
    };
    let entry = |name: &str, screen: Screen, parameter: &str| Entry {
        kind: "URL",
        name: name.to_owned(),
        detail: display::short_url(url).to_owned(),
        action: Action::Go(screen.path_with(parameter, url)),
    };
    vec![
        entry("Scrape page", Screen::Scrape, "url"),
        entry("Crawl site", Screen::Crawl, "url"),
        entry("Map site", Screen::Map, "url"),
        entry("Extract data", Screen::Extract, "urls"),
        entry("Open browser", Screen::Sessions, "url"),
    ]
}

/// Returns the entries that match the input, best first.
fn best_matches(entries: Vec<Entry>, query: &str) -> Vec<Entry> {
    let query = query.trim().to_lowercase();
    let ranked = entries
        .into_iter()
        .filter_map(|entry| Some((entry.rank(&query)?, entry)));
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked
        .into_iter()
        .map(|(_, entry)| entry)
        .take(PALETTE_ITEMS)
        .collect()
}

fn row(index: usize, entry: Entry, is_selected: bool, choose: Callback<Entry>) -> AnyView {
    let (name, detail, kind) = (entry.name.clone(), entry.detail.clone(), entry.kind);
    view! {
        <li
            role="option"
            id=format!("palette-{index}")
            aria-selected=is_selected.to_string()
            on:click=move |_| choose.run(entry.clone())
        >
            <span class="cut">{name}</span>
            <span class="cut hint">{detail}</span>
            <span class="hint">{kind}</span>
        </li>
    }
    .into_any()
}

/// What the palette searches, and what is selected.
#[derive(Clone, Copy)]
struct PaletteState {
    console: Console,
    query: RwSignal<String>,
    /// The newest jobs, and the keys.
    known: RwSignal<Vec<Entry>>,
    /// The jobs that the server found for the input.
    found: RwSignal<Vec<Entry>>,
    /// Index of the selected entry; may be beyond the last one.
    at: RwSignal<usize>,
}

impl PaletteState {
    fn new(console: Console) -> Self {
        Self {
            console,
            query: RwSignal::new(String::new()),
            known: RwSignal::new(Vec::new()),
            found: RwSignal::new(Vec::new()),
            at: RwSignal::new(0),
        }
    }

    /// Loads the newest jobs and the keys.
    async fn load(self) {
        let client = self.console.client();
        let jobs = client.console_jobs("", PALETTE_JOBS).await;
        let jobs = jobs.map(|list| list.jobs).unwrap_or_default();
        let keys = client.keys().await.map(|list| list.keys).unwrap_or_default();
        let active = keys.into_iter().filter(|key| key.revoked_at.is_none());
        let entries = active.map(key_entry).chain(jobs.into_iter().map(job_entry));
        self.known.try_set(entries.collect());
    }

    /// Searches for jobs on the server, by id or by a part of their URL, once the user stops typing.
    async fn find_jobs(self, words: String) {
        browser::sleep(PALETTE_PAUSE_MS).await;
        let is_current = || self.query.try_with_untracked(|query| query.trim() == words) == Some(true);
        if !is_current() {
            return;
        }
        let client = self.console.client();
        let jobs = match JobId::from_str(&words) {
            Ok(id) => client.console_job(id).await.map(|job| vec![job]),
            Err(_) => {
                let list = client
                    .console_jobs(display::short_url(&words), PALETTE_JOBS)
                    .await;
                list.map(|list| list.jobs)
            }
        };
        if let Ok(jobs) = jobs
            && is_current()
        {
            self.found.try_set(jobs.into_iter().map(job_entry).collect());
        }
    }

    /// Returns the entries that match the input, best first.
    fn matches(self) -> Vec<Entry> {
        let mut entries = static_entries(self.console.key.with(Option::is_some));
        entries.extend(self.known.get());
        for entry in self.found.get() {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        self.query.with(|query| {
            let mut matches = url_entries(query);
            let docs = docs_entry(query).filter(|_| matches.is_empty());
            matches.extend(best_matches(entries, query));
            matches.extend(docs);
            matches
        })
    }

    fn type_query(self, query: String) {
        self.query.set(query);
        self.at.set(0);
    }
}

/// Renders the palette while it is open.
#[component]
pub fn Palette() -> impl IntoView {
    let console = Console::get();
    let open = console.palette_open;
    let state = PaletteState::new(console);
    Effect::new(move |_| {
        let words = state.query.with(|query| query.trim().to_owned());
        if !words.is_empty() {
            spawn_local(state.find_jobs(words));
        }
    });
    Effect::new(move |_| {
        if open.get() {
            state.type_query(String::new());
            spawn_local(state.load());
        }
    });
    let matches = Memo::new(move |_| state.matches());
    let last = move || matches.with(Vec::len).saturating_sub(1);
    let selected = move || state.at.get().min(last());
    let navigate = use_navigate();
    let choose = Callback::new(move |entry: Entry| {
        open.set(false);
        match entry.action {
            Action::Go(path) => navigate(&path, Default::default()),
            Action::Docs(url) => _ = window().open_with_url_and_target(&url, "_blank"),
            Action::Theme(theme) => {
                theme.choose();
                console.theme.set(theme);
            }
            Action::Shortcuts => console.shortcuts_open.set(true),
            Action::SignOut => sign_in::sign_out(console),
        }
    });
    let on_key = move |event: KeyboardEvent| {
        let (now, last) = untrack(|| (selected(), last()));
        match event.key().as_str() {
            "ArrowDown" => state.at.set(if now == last { 0 } else { now + 1 }),
            "ArrowUp" => state.at.set(if now == 0 { last } else { now - 1 }),
            "Enter" => {
                if let Some(entry) = matches.with_untracked(|matches| matches.get(now).cloned()) {
                    choose.run(entry);
                }
            }
            _ => return,
        }
        event.prevent_default();
        request_animation_frame(|| {
            if let Some(row) = browser::find("#palette-list [aria-selected=true]") {
                row.scroll_into_view_with_bool(false);
            }
        });
    };
    let rows = move || {
        let rows = matches.get().into_iter().enumerate();
        let rows = rows.map(|(index, entry)| row(index, entry, index == selected(), choose));
        rows.collect_view()
    };
    view! {
        <Modal open label="Go to" class="dialog palette">
            <input
                class="palette-input"
                type="text"
                role="combobox"
                aria-expanded="true"
                aria-controls="palette-list"
                aria-autocomplete="list"
                aria-activedescendant=move || format!("palette-{}", selected())
                aria-label="Screen, job, URL or action"
                placeholder="Screen, job, URL or action"
                autocomplete="off"
                spellcheck="false"
                autofocus=true
                prop:value=move || state.query.get()
                on:input=move |event| state.type_query(event_target_value(&event))
                on:keydown=on_key
            />
            <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results">
                {rows}
            </ul>
        </Modal>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_start_with_the_input_rank_first() {
        let item = |name: &str, detail: &str| Entry {
            kind: "job",
            name: name.to_owned(),
            detail: detail.to_owned(),
            action: Action::Shortcuts,
        };
        assert_eq!(item("Crawl", "g c").rank("cr"), Some(0));
        assert_eq!(
            item("example.com/docs", "crawl completed").rank("docs crawl"),
            Some(1)
        );
        assert_eq!(item("Crawl", "").rank("map"), None);
        assert_eq!(item("Crawl", "").rank(""), Some(0));
    }
}
