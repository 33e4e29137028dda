//! Command palette: finds screens, recent jobs (by id or URL) and actions, and runs the selected one. Follows the
//! ARIA combobox pattern.

use harvestman_client::ConsoleJob;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_navigate;
use web_sys::KeyboardEvent;

use crate::console::Console;
use crate::display;
use crate::limits::PALETTE_ITEMS;
use crate::route::{self, Screen};
use crate::theme::Theme;
use crate::{browser, sign_in};

/// An entry of the palette.
#[derive(Clone, PartialEq)]
struct Item {
    /// `screen`, `job` or `action`.
    kind: &'static str,
    name: String,
    /// Also searched, and shown beside the name.
    more: String,
    does: Does,
}

#[derive(Clone, PartialEq)]
enum Does {
    Go(String),
    Theme(Theme),
    Shortcuts,
    SignOut,
}

impl Item {
    /// Returns how well the entry matches the input: lower is better, `None` is no match.
    fn rank(&self, typed: &str) -> Option<usize> {
        let name = self.name.to_lowercase();
        let both = format!("{name} {}", self.more.to_lowercase());
        let fits = typed.split_whitespace().all(|word| both.contains(word));
        fits.then(|| if name.starts_with(typed) { 0 } else { 1 })
    }
}

fn fixed(has_key: bool) -> Vec<Item> {
    let action = |name: &str, does: Does| Item {
        kind: "action",
        name: name.to_owned(),
        more: String::new(),
        does,
    };
    let screens = Screen::all().map(|screen| Item {
        kind: "screen",
        name: screen.name().to_owned(),
        more: format!("g {}", screen.letter()),
        does: Does::Go(screen.path().to_owned()),
    });
    let themes = Theme::ALL.map(|theme| action(&format!("Theme: {}", theme.name()), Does::Theme(theme)));
    let mut items: Vec<Item> = screens.chain(themes).collect();
    items.push(action("Keyboard shortcuts", Does::Shortcuts));
    if has_key {
        items.push(action("Change API key", Does::SignOut));
    }
    items
}

fn of_job(job: ConsoleJob) -> Item {
    let does = match job.kind.as_str() {
        "scrape" => Does::Go(route::scrape_path(&job.url, &job.id)),
        _ => Does::Go(route::job_path(&job.id)),
    };
    Item {
        kind: "job",
        name: display::short_url(&job.url).to_owned(),
        more: format!("{} {} {}", job.kind, job.status, job.id),
        does,
    }
}

/// Renders the palette while it is open.
#[component]
pub fn Palette() -> impl IntoView {
    let console = Console::get();
    let open = console.palette_open;
    let node: NodeRef<html::Dialog> = NodeRef::new();
    let typed = RwSignal::new(String::new());
    let jobs = RwSignal::new(Vec::<Item>::new());
    let at = RwSignal::new(0_usize);
    Effect::new(move |_| {
        let Some(dialog) = node.get() else { return };
        match open.get() {
            true if !dialog.open() => {
                typed.set(String::new());
                at.set(0);
                _ = dialog.show_modal();
                spawn_local(async move {
                    if let Ok(list) = console.client().console_jobs().await {
                        jobs.try_set(list.jobs.into_iter().map(of_job).collect());
                    }
                });
            }
            false if dialog.open() => dialog.close(),
            _ => {}
        }
    });
    let found = Memo::new(move |_| {
        let typed = typed.with(|typed| typed.trim().to_lowercase());
        let all = fixed(console.key.with(Option::is_some));
        let all = jobs.with(|jobs| all.into_iter().chain(jobs.iter().cloned()).collect::<Vec<_>>());
        let ranked = all
            .into_iter()
            .filter_map(|item| Some((item.rank(&typed)?, item)));
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked
            .into_iter()
            .map(|(_, item)| item)
            .take(PALETTE_ITEMS)
            .collect::<Vec<_>>()
    });
    let navigate = use_navigate();
    let choose = Callback::new(move |item: Item| {
        open.set(false);
        match item.does {
            Does::Go(path) => navigate(&path, Default::default()),
            Does::Theme(theme) => {
                theme.choose();
                console.theme.set(theme);
            }
            Does::Shortcuts => console.shortcuts_open.set(true),
            Does::SignOut => sign_in::sign_out(console),
        }
    });
    let on_key = move |event: KeyboardEvent| {
        let count = found.with_untracked(Vec::len);
        let now = at.get_untracked().min(count.saturating_sub(1));
        match event.key().as_str() {
            "ArrowDown" => at.set((now + 1) % count.max(1)),
            "ArrowUp" => at.set((now + count.max(1) - 1) % count.max(1)),
            "Enter" => {
                if let Some(item) = found.with_untracked(|found| found.get(now).cloned()) {
                    choose.run(item);
                }
            }
            _ => return,
        }
        event.prevent_default();
        request_animation_frame(|| {
            if let Some(item) = browser::find("#palette-list [aria-selected=true]") {
                item.scroll_into_view_with_bool(false);
            }
        });
    };
    let rows = move || {
        let chosen = at.get().min(found.with(Vec::len).saturating_sub(1));
        let rows = found.get().into_iter().enumerate().map(|(index, item)| {
            let (name, more, kind) = (item.name.clone(), item.more.clone(), item.kind);
            view! {
                <li
                    role="option"
                    id=format!("palette-{index}")
                    aria-selected=(index == chosen).to_string()
                    on:click=move |_| choose.run(item.clone())
                >
                    <span class="cut">{name}</span>
                    <span class="cut hint">{more}</span>
                    <span class="hint">{kind}</span>
                </li>
            }
        });
        rows.collect_view()
    };
    view! {
        <dialog class="dialog palette" node_ref=node aria-label="Go to" on:close=move |_| open.set(false)>
            <input
                class="palette-input"
                type="text"
                role="combobox"
                aria-expanded="true"
                aria-controls="palette-list"
                aria-autocomplete="list"
                aria-activedescendant=move || format!("palette-{}", at.get().min(found.with(Vec::len).saturating_sub(1)))
                aria-label="Screen, job or action"
                placeholder="Screen, job or action"
                autocomplete="off"
                spellcheck="false"
                autofocus=true
                prop:value=move || typed.get()
                on:input=move |event| {
                    typed.set(event_target_value(&event));
                    at.set(0);
                }
                on:keydown=on_key
            />
            <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results">
                {rows}
            </ul>
            <Show when=move || found.with(Vec::is_empty)>
                <p class="empty">"No matching screen, job or action."</p>
            </Show>
        </dialog>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_start_with_the_input_rank_first() {
        let item = |name: &str, more: &str| Item {
            kind: "job",
            name: name.to_owned(),
            more: more.to_owned(),
            does: Does::Shortcuts,
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
