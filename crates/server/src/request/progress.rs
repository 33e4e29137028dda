//! Progress of a job on a terminal: one line on standard error with pages, rate, failures and remaining time. Nothing
//! is shown when standard error is not a terminal.

use std::fmt;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::limits;

const TEMPLATE: &str = "{bar:24} {pos} of {len} pages, {rate}, {msg}, {eta} left";

/// The line, removed when dropped.
pub(super) struct Progress {
    bar: ProgressBar,
    failures_read: Option<Instant>,
}

impl Progress {
    /// Starts with `seen` pages that an earlier command has printed.
    pub(super) fn start(seen: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_position(seen);
        bar.reset_eta();
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
                let _ = write!(out, "{:.1}/s", state.per_sec());
            };
            bar.set_style(style.with_key("rate", rate).progress_chars("=> "));
        }
        bar.set_message("0 failed");
        Progress {
            bar,
            failures_read: None,
        }
    }

    /// Returns whether to read the number of failures again. Reading it fetches a list, which may be long.
    pub(super) fn wants_failures(&self) -> bool {
        let is_old = |read: Instant| read.elapsed() >= limits::PROGRESS_FAILURES_INTERVAL;
        !self.bar.is_hidden() && self.failures_read.is_none_or(is_old)
    }

    pub(super) fn show_failures(&mut self, failures: u64) {
        self.failures_read = Some(Instant::now());
        self.bar.set_message(format!("{failures} failed"));
    }

    pub(super) fn show_pages(&self, completed: u64, total: u64) {
        self.bar.set_length(total.max(completed));
        self.bar.set_position(completed);
    }

    /// Runs something that prints lines, above the progress.
    pub(super) fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
