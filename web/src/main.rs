//! The console: a Leptos single-page app under `/console/`.
//!
//! `pages/` has one file per screen, `components/` the reusable parts, `screens.rs` the routes. The console talks to
//! the server only through `harvestman-client`, leaves every rule of the API to the core, and treats fetched pages as
//! hostile. It never sends anything to another host and never puts the API key into a URL.

#![allow(
    unreachable_pub,
    reason = "a binary has no users; `pub` marks the items that other modules use"
)]

use std::time::Duration;

use leptos::prelude::set_timeout;

mod app;
mod browser;
mod clock;
mod components;
mod console;
mod csv;
mod deflate;
mod display;
mod draft;
mod exchange;
mod field_value;
mod fields;
mod follow_up;
mod graph_layout;
mod highlight;
mod job_feed;
mod job_socket;
mod job_start;
mod json_position;
mod kept_result;
mod limits;
mod markdown;
mod package;
mod page_row;
mod pages;
mod path_tree;
mod recording;
mod request_form;
mod request_history;
mod result_url;
mod route;
mod run_history;
mod schema_rows;
mod screens;
mod shortcuts;
mod sign_in;
mod storage;
mod text;
mod theme;
mod url_list;
mod zip;

fn main() {
    // Rendering gets its own task, because starting the wasm has already filled this one.
    set_timeout(
        || {
            browser::remove_boot_outline();
            leptos::mount::mount_to_body(app::App);
        },
        Duration::ZERO,
    );
}
