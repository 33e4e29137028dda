//! The log of this process.

use std::io;

use tracing_subscriber::prelude::*;

use crate::config::LogConfig;
use crate::telemetry::Telemetry;

/// Starts logging to stderr; stdout is reserved for the address and the key that a start prints. Spans also go to the
/// collector.
pub(crate) fn start(config: &LogConfig, telemetry: Option<&Telemetry>) {
    let colours = io::IsTerminal::is_terminal(&io::stderr()) && std::env::var_os("NO_COLOR").is_none();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(colours);
    let lines = match config.json {
        true => lines.json().boxed(),
        false => lines.boxed(),
    };
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(config.filter.clone()))
        .with(telemetry.map(Telemetry::layer))
        .try_init();
}
