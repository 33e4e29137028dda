//! Chromium, driven over its own debugging protocol on a pipe.
//!
//! [`Browser`] renders pages: each in a context of its own that shares nothing with others, in one shared process
//! that is started when first needed, watched, and replaced when it dies or grows old. [`LiveBrowsers`] are for
//! sessions: a process for each, in a sandbox, with code, commands and viewers beside it. This crate opens no network
//! connection: Chromium's only network is the proxy whose address it is given, so that the address rule holds for
//! everything a page does. It never decides what to fetch and never turns HTML into anything else; it asks
//! the core whether the content of a page has arrived.

mod actions;
mod browser;
mod cdp;
mod cdp_server;
pub mod commands;
mod element;
mod error;
mod frames;
mod input;
mod keys;
pub mod limits;
mod live;
mod multiplexer;
mod page;
mod picture;
mod pointer;
mod process;
mod sandbox;
mod screencast;
mod settle;
mod snapshot;
mod visitor;
mod worker;

pub use browser::{
    Browser, BrowserConfig, PageHtml, RenderRequest, Rendering, ScriptValue, Steps, find_chromium,
};
pub use cdp_server::CdpPath;
pub use error::BrowserError;
pub use input::{Input, KeyKind, MouseKind, Point, Reply, SelectList, SelectOption};
pub use live::{LiveBrowser, LiveBrowsers, LiveConfig, OriginStorage, ServeEgress, Storage};
pub use multiplexer::CdpClient;
pub use picture::{Picture, PictureFormat};
pub use sandbox::{Bubblewrap, SANDBOX_INIT_COMMAND, Sandbox, sandbox_init};
pub use screencast::{Frame, LiveView, OpenDialog, Sight, Tab, Tabs, Viewer};
pub use snapshot::{Snapshot, SnapshotElement};
pub use worker::{Execution, find_node, find_python};
