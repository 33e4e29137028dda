//! Compare tab: the pages of a job compared with those of another run of the same crawl or batch, and the text
//! difference of a page.

use harvestman_client::ClientError;
use harvestman_core::api::console::{ComparedPage, ConsoleJob, JobComparison, PageChange};
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::components::error_notice::error_notice;
use crate::components::notice::skeleton;
use crate::console::Console;
use crate::job_feed::JobFeed;
use crate::limits::PALETTE_JOBS;
use crate::{browser, display, highlight, text};

/// A response, or nothing while it is awaited.
type LoadState<T> = RwSignal<Option<Result<T, ClientError>>>;

/// Renders the choice of the other run, the counts, and the pages that differ.
#[component]
pub fn Compare(feed: JobFeed) -> impl IntoView {
    let console = Console::get();
    let runs: LoadState<Vec<ConsoleJob>> = RwSignal::new(None);
    let chosen = RwSignal::new(None::<JobId>);
    let comparison: LoadState<JobComparison> = RwSignal::new(None);
    Effect::new(move |_| {
        let Some(job) = feed.job.get() else { return };
        spawn_local(async move {
            let list = console.client().console_jobs(&job.url, PALETTE_JOBS).await;
            let list = list.map(|list| {
                let others = list.jobs.into_iter();
                let others = others.filter(|other| is_run_of(other, &job));
                others.collect::<Vec<_>>()
            });
            if let Ok(list) = &list {
                let earlier = list.iter().find(|other| other.created_at < job.created_at);
                chosen.try_set(earlier.or(list.first()).map(|other| other.id));
            }
            runs.try_set(Some(list));
        });
    });
    Effect::new(move |_| {
        let Some(other) = chosen.get() else { return };
        comparison.set(None);
        spawn_local(async move {
            let found = console.client().job_comparison(feed.id, other).await;
            if chosen.try_get_untracked().flatten() == Some(other) {
                comparison.try_set(Some(found));
            }
        });
    });
    let choice = move |list: &[ConsoleJob]| {
        let options = list.iter().map(|other| {
            let id = other.id.to_string();
            let ago = display::ago((browser::now_ms() - other.created_at.0 as f64) / 1000.0);
            let pages = display::plural(other.completed, "page", "pages");
            let label = format!("{ago}, {pages}");
            let is_chosen = chosen.get_untracked() == Some(other.id);
            view! { <option value=id selected=is_chosen>{label}</option> }
        });
        view! {
            <div class="filter">
                <label class="compare-with">
                    "Compare with the run started"
                    <select class="input" on:change=move |event| chosen.set(event_target_value(&event).parse().ok())>
                        {options.collect_view()}
                    </select>
                </label>
            </div>
        }
        .into_any()
    };
    move || match runs.get() {
        None => skeleton(3),
        Some(Err(error)) => error_notice(&error),
        Some(Ok(list)) if list.is_empty() => view! { <p class="empty">{text::NO_OTHER_RUN}</p> }.into_any(),
        Some(Ok(list)) => view! {
            {choice(&list)}
            {move || match (comparison.get(), chosen.get()) {
                (None, _) | (_, None) => skeleton(3),
                (Some(Err(error)), _) => error_notice(&error),
                (Some(Ok(comparison)), Some(other)) => view! { <Changes feed other comparison/> }.into_any(),
            }}
        }
        .into_any(),
    }
}

/// Returns whether a job is another run of the same work: the same kind and start URL.
fn is_run_of(other: &ConsoleJob, job: &ConsoleJob) -> bool {
    other.id != job.id && other.kind == job.kind && other.url == job.url
}

#[component]
fn Changes(feed: JobFeed, other: JobId, comparison: JobComparison) -> impl IntoView {
    let shown = RwSignal::new(None::<PageChange>);
    let counts = comparison.counts;
    let chips = [
        (None, "All", counts.changed + counts.added + counts.removed),
        (Some(PageChange::Changed), "Changed", counts.changed),
        (Some(PageChange::Added), "New", counts.added),
        (Some(PageChange::Removed), "Gone", counts.removed),
    ];
    let chips = chips.map(|(change, label, count)| {
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || (shown.get() == change).to_string()
                on:click=move |_| shown.set(change)
            >
                {label} " " {display::count(count)}
            </button>
        }
    });
    let total = counts.changed + counts.added + counts.removed;
    let unlisted = total - (comparison.pages.len() as u64).min(total);
    let note = (unlisted > 0).then(|| format!("{} more are not listed.", display::count(unlisted)));
    let cut = comparison.cut.then_some(text::COMPARISON_CUT);
    let pages = StoredValue::new(comparison.pages);
    let rows = move || {
        let wanted = shown.get();
        let pages = pages.with_value(|pages| {
            let pages = pages
                .iter()
                .filter(|page| wanted.is_none_or(|change| page.change == change));
            pages.cloned().collect::<Vec<_>>()
        });
        let rows = pages.into_iter().map(|page| view! { <Row feed other page/> });
        rows.collect_view()
    };
    view! {
        <div class="filter">
            <div class="chips" role="group" aria-label="Kind of change">{chips}</div>
            <span class="hint">{display::plural(counts.unchanged, "page is", "pages are")} " the same."</span>
        </div>
        {cut.map(|text| view! { <div class="pad"><p class="notice warn">{text}</p></div> })}
        <Show when=move || total != 0 fallback=|| view! { <p class="empty">{text::NO_CHANGES}</p> }>
            <div class="scroll" tabindex="0" role="region" aria-label="Changed pages">
                <ul class="rows">{rows}</ul>
                {note.clone().map(|note| view! { <p class="pad hint">{note}</p> })}
            </div>
        </Show>
    }
    .into_any()
}

#[component]
fn Row(feed: JobFeed, other: JobId, page: ComparedPage) -> impl IntoView {
    let console = Console::get();
    let difference: LoadState<Option<String>> = RwSignal::new(None);
    let (class, label) = match page.change {
        PageChange::Changed => ("badge warn", "changed"),
        PageChange::Added => ("badge ok", "new"),
        PageChange::Removed => ("badge bad", "gone"),
    };
    let name = view! {
        <span class=class>{label}</span>
        <code class="cut" title=page.url.clone()>{display::url_path(&page.url).to_owned()}</code>
        <span class="hint cut">{page.title.clone()}</span>
    };
    let (Some(before), Some(after)) = (page.before, page.after) else {
        return view! { <li class="change-row">{name}</li> }.into_any();
    };
    let load = move |_| {
        if difference.with_untracked(Option::is_some) {
            return;
        }
        spawn_local(async move {
            let found = console
                .client()
                .page_difference((feed.id, after), (other, before))
                .await;
            difference.try_set(Some(found.map(|found| found.diff.map(|diff| diff.text))));
        });
    };
    view! {
        <li>
            <details on:toggle=load>
                <summary class="change-row">{name}</summary>
                {move || match difference.get() {
                    None => skeleton(1),
                    Some(Err(error)) => error_notice(&error),
                    Some(Ok(None)) => view! { <p class="pad hint">{text::NO_DIFFERENCE}</p> }.into_any(),
                    Some(Ok(Some(text))) => view! { <pre class="diff" tabindex="0" inner_html=highlight::diff(&text)></pre> }.into_any(),
                }}
            </details>
        </li>
    }
    .into_any()
}
