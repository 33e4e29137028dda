//! The log of this process.

use std::io;

/// Starts logging to stderr; stdout is reserved for the address and the key that a start prints.
pub(crate) fn start(filter: &str) {
    use tracing_subscriber::prelude::*;
    let filter: tracing_subscriber::filter::Targets =
        filter.parse().expect("the configuration checked the filter");
    let colours = io::IsTerminal::is_terminal(&io::stderr()) && std::env::var_os("NO_COLOR").is_none();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(colours);
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init();
}
