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
    // The first one, of equal ones.
    let highest = report.periods.iter().rev().max_by_key(|period| period.total());
    let most = highest.map_or(0, Period::total);
    let top = round_up(most);
    let label = format!(
        "{unit} by {}: at most {} in {}",
        report.span.word(),
        display::count(most),
        highest.map(Period::name).unwrap_or_default()
    );
    let lines = [1.0, 0.5, 0.0].map(|share| line(share, top));
    let last = report.periods.len().saturating_sub(1);
    let width = 100.0 / report.periods.len().max(1) as f64;
    let bars = report.periods.iter().enumerate().map(|(at, period)| {
        // The labels of 30 days would overlap on a phone.
        let has_label = report.span == Span::Month || (last - at).is_multiple_of(3);
        let tip = format!("{}: {}", period.name(), display::count(period.total()));
        view! {
            <g>
                <title>{tip}</title>
                {bar(period, top, width * at as f64, width)}
                <text
                    class=if at == last { "bars-label now" } else { "bars-label" }
                    x=format!("{:.3}%", width * (at as f64 + 0.5))
                    y=(TOP_SPACE + HEIGHT + 17.0).to_string()
                >
                    {has_label.then(|| period.short())}
                </text>
            </g>
        }
    });
    view! {
        <figure class="bars">
            <svg width="100%" height=(TOP_SPACE + HEIGHT + BOTTOM_SPACE).to_string() role="img" aria-label=label>
                {lines}
                {bars.collect_view()}
            </svg>
            {report.is_split().then(|| legend(&report.keys))}
        </figure>
    }
    .into_any()
}

/// Renders the horizontal line at a share of the highest number, with that share as a number.
fn line(share: f64, top: u64) -> impl IntoView {
    let y = TOP_SPACE + HEIGHT * (1.0 - share);
    let number = (share > 0.0).then(|| {
        let text = display::count((top as f64 * share) as u64);
        view! { <text class="bars-number" x="0" y=(y - 5.0).to_string()>{text}</text> }
    });
    view! {
        <line class="bars-line" x1="0" x2="100%" y1=y.to_string() y2=y.to_string()></line>
        {number}
    }
}

/// Renders the bar of a month or day, whose space begins at `left`; one part for each key, from the bottom up. `left`
/// and `width` are percentages.
fn bar(period: &Period, top: u64, left: f64, width: f64) -> AnyView {
    let mut y = TOP_SPACE + HEIGHT;
    let mut parts = Vec::new();
    for (key, part) in period.parts.iter().enumerate().filter(|(_, part)| **part > 0) {
        let height = HEIGHT * *part as f64 / top.max(1) as f64;
        y -= height;
        parts.push(view! {
            <rect
                class=format!("key-{}", color(key))
                x=format!("{:.3}%", left + width * (1.0 - BAR_SHARE) / 2.0)
                width=format!("{:.3}%", width * BAR_SHARE)
                y=format!("{y:.2}")
                height=format!("{:.2}", height.max(1.0))
            ></rect>
        });
    }
    parts.into_any()
}

/// Renders the keys with their colors.
fn legend(keys: &[String]) -> AnyView {
    let keys = keys.iter().enumerate().map(|(index, key)| {
        view! {
            <li>
                <span class=format!("key-dot key-{}", color(index))></span>
                {key.clone()}
            </li>
        }
    });
    view! { <ul class="legend" aria-label="Keys">{keys.collect_view()}</ul> }.into_any()
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
