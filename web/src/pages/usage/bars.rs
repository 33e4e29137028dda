//! Stacked bar chart by month or day. Widths are percentages of the available width, heights are pixels, so that text is
//! never stretched.

use leptos::prelude::*;

use super::Span;
use super::report::{Period, Report};
use crate::display;

/// Height of the tallest bar, px.
const HEIGHT: f64 = 180.0;
/// Space above the bars for the number at the top line, px.
const TOP_SPACE: f64 = 20.0;
/// Space below the bars for the names of months or days, px.
const BOTTOM_SPACE: f64 = 24.0;
/// Share of the width of a month or day that its bar fills.
const BAR_SHARE: f64 = 0.62;
/// Number of key colors; further keys share the last one.
const COLORS: usize = 6;

/// Returns the color number of the key at an index.
pub(super) fn color(index: usize) -> usize {
    index.min(COLORS - 1)
}

/// Renders the chart; the table below it has the same figures.
#[component]
pub(super) fn Bars(report: Report, unit: &'static str) -> impl IntoView {
    let highest = report.periods.iter().map(Period::total).max().unwrap_or(0);
    let top = round_up(highest);
    let count = report.periods.len().max(1) as f64;
    let period_width = 100.0 / count;
    let label = format!(
        "{unit} by {}: at most {} in {}",
        report.span.word(),
        display::count(highest),
        report
            .periods
            .iter()
            .find(|period| period.total() == highest)
            .map(Period::name)
            .unwrap_or_default()
    );
    let lines = [1.0, 0.5, 0.0].map(|share: f64| {
        let y = TOP_SPACE + HEIGHT * (1.0 - share);
        let number = (share > 0.0).then(|| {
            let text = display::count((top as f64 * share) as u64);
            view! { <text class="bars-number" x="0" y=(y - 5.0).to_string()>{text}</text> }
        });
        view! {
            <line class="bars-line" x1="0" x2="100%" y1=y.to_string() y2=y.to_string()></line>
            {number}
        }
    });
    let last = report.periods.len().saturating_sub(1);
    let periods = report.periods.iter().enumerate().map(|(at, period)| {
        let left = period_width * at as f64;
        let mut y = TOP_SPACE + HEIGHT;
        let parts = period
            .parts
            .iter()
            .enumerate()
            .filter(|(_, part)| **part > 0)
            .map(|(key, part)| {
                let height = HEIGHT * *part as f64 / top.max(1) as f64;
                y -= height;
                view! {
                    <rect
                        class=format!("key-{}", color(key))
                        x=format!("{:.3}%", left + period_width * (1.0 - BAR_SHARE) / 2.0)
                        width=format!("{:.3}%", period_width * BAR_SHARE)
                        y=format!("{y:.2}")
                        height=format!("{:.2}", height.max(1.0))
                    ></rect>
                }
            });
        let parts: Vec<_> = parts.collect();
        // The labels of 30 days would overlap on a phone.
        let label = report.span == Span::Month || (last - at).is_multiple_of(3);
        let tip = format!("{}: {}", period.name(), display::count(period.total()));
        view! {
            <g>
                <title>{tip}</title>
                {parts}
                <text
                    class=if at == last { "bars-label now" } else { "bars-label" }
                    x=format!("{:.3}%", left + period_width / 2.0)
                    y=(TOP_SPACE + HEIGHT + 17.0).to_string()
                >
                    {label.then(|| period.short())}
                </text>
            </g>
        }
    });
    let legend = report.is_split().then(|| {
        let keys = report.keys.iter().enumerate().map(|(index, key)| {
            view! {
                <li>
                    <span class=format!("key-dot key-{}", color(index))></span>
                    {key.clone()}
                </li>
            }
        });
        view! { <ul class="legend" aria-label="Keys">{keys.collect_view()}</ul> }
    });
    view! {
        <figure class="bars">
            <svg width="100%" height=(TOP_SPACE + HEIGHT + BOTTOM_SPACE).to_string() role="img" aria-label=label>
                {lines}
                {periods.collect_view()}
            </svg>
            {legend}
        </figure>
    }
    .into_any()
}

/// Returns the smallest number of the form 2, 4 or 10 times a power of ten that is at least `number`. It is even, so
/// that half of it is whole.
fn round_up(number: u64) -> u64 {
    let mut unit = 1_u64;
    loop {
        for step in [2, 4, 10] {
            let candidate = unit.saturating_mul(step);
            if candidate >= number {
                return candidate;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_line_is_a_round_number() {
        for (number, top) in [(0, 2), (2, 2), (3, 4), (7, 10), (11, 20), (399, 400), (401, 1000)] {
            assert_eq!(round_up(number), top, "{number}");
        }
        assert_eq!(round_up(u64::MAX), u64::MAX);
    }
}
