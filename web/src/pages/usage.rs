//! Usage: credits, tokens or pages by month or day and optionally by key, as a bar chart and a table. The selection is in
//! the URL under the API's names.

use harvestman_client::ClientError;
use harvestman_core::api::team::{CreditUsage, UNLIMITED_CREDITS, UsageQuery};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use leptos_router::params::ParamsMap;

use crate::components::error_notice::error_notice;
use crate::components::icon::{Glyph, Icon};
use crate::components::notice::{empty_state, skeleton};
use crate::components::screen_header::ScreenHeader;
use crate::components::switch::Switch;
use crate::console::Console;
use crate::route::Screen;
use crate::{browser, display, text};

mod bars;
mod report;

use bars::Bars;
use report::{DAYS, Report, UsageEntry};

/// The unit of the report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Credits,
    Tokens,
    /// Only by day.
    Pages,
}

impl Unit {
    const ALL: [Unit; 3] = [Unit::Credits, Unit::Tokens, Unit::Pages];

    fn word(self) -> &'static str {
        match self {
            Unit::Credits => "credits",
            Unit::Tokens => "tokens",
            Unit::Pages => "pages",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Credits => "Credits",
            Unit::Tokens => "Tokens",
            Unit::Pages => "Pages",
        }
    }
}

/// What a bar stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Span {
    Month,
    Day,
}

impl Span {
    const ALL: [Span; 2] = [Span::Month, Span::Day];

    fn word(self) -> &'static str {
        match self {
            Span::Month => "month",
            Span::Day => "day",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Span::Month => "By month",
            Span::Day => "By day",
        }
    }
}

/// What the report shows.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Selection {
    unit: Unit,
    span: Span,
    by_key: bool,
}

impl Selection {
    /// Reads the query of the URL. Pages are counted by day only.
    fn of(query: &ParamsMap) -> Self {
        let given = |name| query.get(name);
        let unit = Unit::ALL
            .into_iter()
            .find(|unit| Some(unit.word()) == given("of").as_deref());
        let span = Span::ALL
            .into_iter()
            .find(|span| Some(span.word()) == given("by").as_deref());
        let unit = unit.unwrap_or(Unit::Credits);
        Self {
            unit,
            span: match unit {
                Unit::Pages => Span::Day,
                _ => span.unwrap_or(Span::Month),
            },
            by_key: given("byApiKey").as_deref() == Some("true"),
        }
    }

    fn href(self) -> String {
        let (path, unit, span, by_key) = (
            Screen::Usage.path(),
            self.unit.word(),
            self.span.word(),
            self.by_key,
        );
        format!("{path}?of={unit}&by={span}&byApiKey={by_key}")
    }
}

/// Renders the screen.
#[component]
pub fn UsagePage() -> impl IntoView {
    let console = Console::get();
    let query = use_query_map();
    let selection = Memo::new(move |_| query.with(Selection::of));
    let report = RwSignal::new(None::<Result<Report, ClientError>>);
    let month = RwSignal::new(None::<(CreditUsage, u64)>);
    Effect::new(move |_| {
        let selected = selection.get();
        report.set(None);
        spawn_local(async move {
            let usage = fetch_usage(console, selected)
                .await
                .inspect_err(|error| console.handle_error(error));
            if selection.try_get_untracked() == Some(selected) {
                let now = browser::now_ms() as u64;
                report.try_set(Some(usage.map(|entries| Report::of(selected.span, entries, now))));
            }
        });
    });
    spawn_local(async move {
        let client = console.client();
        let Ok(usage) = client.credit_usage().await.map(|response| response.data) else {
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
        let unit = selection.get_untracked().unit.word();
        let csv = report.with_untracked(|report| match report {
            Some(Ok(report)) => Some(report.csv(unit)),
            _ => None,
        });
        if let Some(csv) = csv
            && browser::download(&format!("{unit}.csv"), "text/csv", &csv).is_none()
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
            <section class="card" aria-label="History">
                <Choices selection/>
                {move || match report.get() {
                    None => skeleton(4),
                    Some(Err(error)) => error_notice(&error),
                    Some(Ok(report)) if report.is_empty() => { empty_state(Glyph::Usage, text::USAGE_EMPTY) }
                    Some(Ok(report)) => {
                        let unit = selection.get().unit;
                        view! {
                            <Bars report=report.clone() unit=unit.word()/>
                            {table(&report, unit.name())}
                        }
                            .into_any()
                    }
                }}
            </section>
        </div>
    }
    .into_any()
}

async fn fetch_usage(console: Console, selected: Selection) -> Result<Vec<UsageEntry>, ClientError> {
    let Selection { unit, span, by_key } = selected;
    let client = console.client();
    Ok(match span {
        Span::Month => {
            let history = client.credit_history(UsageQuery { by_api_key: by_key }).await?;
            let periods = history.periods.into_iter();
            periods.map(|period| UsageEntry::of_month(period, unit)).collect()
        }
        Span::Day => {
            let days = client.usage_by_day(DAYS).await?.days.into_iter();
            days.map(|day| UsageEntry::of_day(day, unit, by_key)).collect()
        }
    })
}

#[component]
fn Choices(selection: Memo<Selection>) -> impl IntoView {
    let navigate = use_navigate();
    let go = Callback::new(move |change: fn(&mut Selection)| {
        let mut selected = selection.get_untracked();
        change(&mut selected);
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&selected.href(), options);
    });
    let chip = move |name: &'static str, is_chosen: fn(Selection) -> bool, choose: fn(&mut Selection)| {
        view! {
            <button
                type="button"
                class="chip"
                aria-pressed=move || is_chosen(selection.get()).to_string()
                on:click=move |_| go.run(choose)
            >
                {name}
            </button>
        }
    };
    view! {
        <div class="card-head wrap">
            <div class="chips" role="group" aria-label="Unit">
                {chip(Unit::Credits.name(), |one| one.unit == Unit::Credits, |one| one.unit = Unit::Credits)}
                {chip(Unit::Tokens.name(), |one| one.unit == Unit::Tokens, |one| one.unit = Unit::Tokens)}
                {chip(Unit::Pages.name(), |one| one.unit == Unit::Pages, |one| one.unit = Unit::Pages)}
            </div>
            <div class="chips" role="group" aria-label="Period">
                <Show when=move || selection.get().unit != Unit::Pages>
                    {chip(Span::Month.name(), |one| one.span == Span::Month, |one| one.span = Span::Month)}
                </Show>
                {chip(Span::Day.name(), |one| one.span == Span::Day, |one| one.span = Span::Day)}
            </div>
            <span class="grow"></span>
            <Switch
                id="by-key"
                label="By key"
                value=Signal::derive(move || selection.get().by_key)
                on_change=move |_| go.run(|one| one.by_key = !one.by_key)
            />
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
                aria-label="Credits used from this month's budget"
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

/// Renders the figures of the bars as a table, newest first.
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
        .periods
        .iter()
        .rev()
        .filter(|period| period.total() > 0)
        .map(|period| {
            let parts = period
                .parts
                .iter()
                .map(|part| view! { <td class="num">{display::count(*part)}</td> });
            let parts = is_split.then(|| parts.collect_view());
            view! {
                <tr>
                    <th scope="row">{period.name()}</th>
                    {parts}
                    <td class="num">{display::count(period.total())}</td>
                </tr>
            }
        });
    let (label, head) = match report.span {
        Span::Month => ("Usage by month", "Month"),
        Span::Day => ("Usage by day", "Day"),
    };
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label=label>
            <table class="table">
                <thead>
                    <tr>
                        <th scope="col">{head}</th>
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
