//! Usage: credits or tokens by month and optionally by key, as a bar chart and a table. The selection is in the URL
//! under the API's names.

use harvestman_client::ClientError;
use harvestman_core::api::team::{CreditUsage, UNLIMITED_CREDITS, UsageQuery};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::components::error_notice::error_notice;
use crate::components::icon::{Glyph, Icon};
use crate::components::screen_header::ScreenHeader;
use crate::console::Console;
use crate::route::Screen;
use crate::{browser, display, text};

mod bars;
mod report;

use bars::Bars;
use report::{Report, UsageEntry};

/// The unit of the report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Credits,
    Tokens,
}

impl Unit {
    const ALL: [Unit; 2] = [Unit::Credits, Unit::Tokens];

    fn word(self) -> &'static str {
        match self {
            Unit::Credits => "credits",
            Unit::Tokens => "tokens",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Credits => "Credits",
            Unit::Tokens => "Tokens",
        }
    }
}

/// Renders the screen.
#[component]
pub fn UsagePage() -> impl IntoView {
    let console = Console::get();
    let query = use_query_map();
    let selected_unit = Memo::new(move |_| {
        let requested = query.with(|query| query.get("of"));
        let unit = Unit::ALL
            .into_iter()
            .find(|unit| Some(unit.word()) == requested.as_deref());
        unit.unwrap_or(Unit::Credits)
    });
    let by_key = Memo::new(move |_| query.with(|query| query.get("byApiKey").as_deref() == Some("true")));
    let report = RwSignal::new(None::<Result<Report, ClientError>>);
    let month = RwSignal::new(None::<(CreditUsage, u64)>);
    Effect::new(move |_| {
        let (unit, by_key) = (selected_unit.get(), by_key.get());
        report.set(None);
        spawn_local(async move {
            let usage = fetch_usage(console, unit, by_key).await;
            if let Err(error) = &usage {
                console.handle_error(error);
            }
            if is_current(unit, by_key, query) {
                let now = browser::now_ms() as u64;
                report.try_set(Some(usage.map(|entries| Report::of(entries, now))));
            }
        });
    });
    spawn_local(async move {
        let client = console.client();
        let Ok(usage) = client.credit_usage().await.map(|answer| answer.data) else {
            return;
        };
        // Without a limit, the used credits cannot be derived from the remaining ones.
        if let Ok(history) = client.credit_history(UsageQuery::default()).await {
            let periods = history.periods.iter();
            let this = periods.filter(|period| period.start_date == usage.billing_period_start);
            let used = this.map(|period| period.credits_used).sum();
            month.try_set(Some((usage, used)));
        }
    });
    let save = move |_| {
        let csv = report.with_untracked(|report| match report {
            Some(Ok(report)) => Some(report.csv(selected_unit.get_untracked().word())),
            _ => None,
        });
        if let Some(csv) = csv
            && browser::download(
                &format!("{}.csv", selected_unit.get_untracked().word()),
                "text/csv",
                &csv,
            )
            .is_none()
        {
            console.notify(text::NOT_SAVED);
        }
    };
    let actions = move || {
        view! {
            <button class="btn" on:click=save>
                <Icon glyph=Glyph::Save/>
                "CSV"
            </button>
        }
    };
    view! {
        <ScreenHeader title="Usage".to_owned() intro=|| view! { <p>{text::USAGE_INTRO}</p> } actions/>
        <div class="stack">
            {move || month.get().map(|(usage, used)| this_month(usage, used))}
            <section class="card" aria-label="By month">
                <Choices selected_unit by_key/>
                {move || match report.get() {
                    None => view! { <div class="skeleton"><i></i><i></i><i></i><i></i></div> }.into_any(),
                    Some(Err(error)) => error_notice(&error),
                    Some(Ok(report)) if report.is_empty() => {
                        view! {
                            <div class="empty">
                                <Icon glyph=Glyph::Usage/>
                                <p>{text::USAGE_EMPTY}</p>
                            </div>
                        }
                            .into_any()
                    }
                    Some(Ok(report)) => {
                        let unit = selected_unit.get().word();
                        view! {
                            <Bars report=report.clone() unit/>
                            {table(&report, unit)}
                        }
                            .into_any()
                    }
                }}
            </section>
        </div>
    }
    .into_any()
}

/// Returns whether a response still matches the selection in the URL.
fn is_current(unit: Unit, by_key: bool, query: Memo<leptos_router::params::ParamsMap>) -> bool {
    let now = query.try_get_untracked();
    now.is_some_and(|query| {
        let is_tokens = query.get("of").as_deref() == Some(Unit::Tokens.word());
        is_tokens == (unit == Unit::Tokens) && by_key == (query.get("byApiKey").as_deref() == Some("true"))
    })
}

async fn fetch_usage(console: Console, unit: Unit, by_api_key: bool) -> Result<Vec<UsageEntry>, ClientError> {
    let query = UsageQuery { by_api_key };
    Ok(match unit {
        Unit::Credits => {
            let periods = console.client().credit_history(query).await?.periods.into_iter();
            periods
                .map(|period| UsageEntry::new(period.start_date, period.api_key, period.credits_used))
                .collect()
        }
        Unit::Tokens => {
            let periods = console.client().token_history(query).await?.periods.into_iter();
            periods
                .map(|period| UsageEntry::new(period.start_date, period.api_key, period.tokens_used))
                .collect()
        }
    })
}

#[component]
fn Choices(selected_unit: Memo<Unit>, by_key: Memo<bool>) -> impl IntoView {
    let navigate = use_navigate();
    let go = Callback::new(move |(unit, by_key): (Unit, bool)| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        let path = Screen::Usage.path();
        navigate(&format!("{path}?of={}&byApiKey={by_key}", unit.word()), options);
    });
    let chips = Unit::ALL.map(|one| {
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || (selected_unit.get() == one).to_string()
                on:click=move |_| go.run((one, by_key.get_untracked()))
            >
                {one.name()}
            </button>
        }
    });
    view! {
        <div class="card-head">
            <div class="chips" role="group" aria-label="Unit">
                {chips}
            </div>
            <span class="grow"></span>
            <div class="switch">
                <input
                    type="checkbox"
                    role="switch"
                    id="by-key"
                    prop:checked=move || by_key.get()
                    on:change=move |event| go.run((selected_unit.get_untracked(), event_target_checked(&event)))
                />
                <label class="field-name" for="by-key">
                    "By key"
                </label>
            </div>
        </div>
    }
    .into_any()
}

fn this_month(usage: CreditUsage, used: u64) -> AnyView {
    let unlimited = usage.plan_credits >= UNLIMITED_CREDITS;
    let share = used as f64 / usage.plan_credits.max(1) as f64;
    let (year, month) = display::month_of(usage.billing_period_start.0);
    let budget = match unlimited {
        true => "unlimited".to_owned(),
        false => display::count(usage.plan_credits),
    };
    let left = match unlimited {
        true => "unlimited".to_owned(),
        false => display::count(usage.remaining_credits),
    };
    let bar = (!unlimited).then(|| {
        view! {
            <div
                class="bar"
                role="progressbar"
                aria-label="Credits used of this month's budget"
                aria-valuenow=used.to_string()
                aria-valuemin="0"
                aria-valuemax=usage.plan_credits.to_string()
            >
                <i style:transform=format!("scaleX({:.4})", share.min(1.0))></i>
            </div>
        }
    });
    view! {
        <section class="card" aria-label="This month">
            {bar}
            <dl class="stats month">
                <div class="stat">
                    <dt>{format!("Credits in {} {year}", display::month_name(month))}</dt>
                    <dd>{display::count(used)}</dd>
                </div>
                <div class="stat">
                    <dt>"Left this month"</dt>
                    <dd>{left}</dd>
                </div>
                <div class="stat">
                    <dt>"Monthly budget"</dt>
                    <dd>{budget}</dd>
                </div>
            </dl>
        </section>
    }
    .into_any()
}

/// Renders the figures of the bars as a table, newest month first.
fn table(report: &Report, unit: &'static str) -> AnyView {
    let keys = report.keys.iter().enumerate().map(|(index, key)| {
        let class = format!("key-dot key-{}", bars::color(index));
        view! {
            <th scope="col" class="num">
                <span class=class></span>
                {key.clone()}
            </th>
        }
    });
    let is_split = report.is_split();
    let keys = is_split.then(|| keys.collect_view());
    let rows = report
        .months
        .iter()
        .rev()
        .filter(|month| month.total() > 0)
        .map(|month| {
            let parts = month
                .parts
                .iter()
                .map(|part| view! { <td class="num">{display::count(*part)}</td> });
            let parts = is_split.then(|| parts.collect_view());
            view! {
                <tr>
                    <th scope="row">{month.name()}</th>
                    {parts}
                    <td class="num">{display::count(month.total())}</td>
                </tr>
            }
        });
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Usage by month">
            <table class="table">
                <thead>
                    <tr>
                        <th scope="col">"Month"</th>
                        {keys}
                        <th scope="col" class="num">
                            {if is_split { "Total" } else { unit }}
                        </th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
