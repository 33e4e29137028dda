//! The console: a Leptos single-page app.

fn main() {}
