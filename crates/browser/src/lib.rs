//! Chromium, driven with the DevTools protocol over a pipe.
//!
//! [`Browser`] renders pages: each in its own browser context, isolated from the others, in one shared
//! process that is started on demand, monitored, and replaced when it dies or has rendered many pages.
//! [`LiveBrowsers`] are the browsers of sessions: one sandboxed process each, with code, commands and
//! viewers. This crate opens no network connection: Chromium's only network access is the given proxy, so the
//! address guard applies to everything that a page does. It never decides what to fetch and never converts
//! HTML; it asks the core whether the content of a page has loaded.

mod actions;
mod blocker;
mod browser;
mod cdp;
mod cdp_server;
pub mod commands;
mod consent;
mod element;
mod error;
mod files;
mod frames;
mod input;
mod keys;
pub mod limits;
mod live;
mod multiplexer;
mod page;
mod picture;
mod pointer;
mod probe;
mod process;
mod program;
mod sandbox;
mod screencast;
mod settle;
mod snapshot;
mod storage;
mod visit;
mod visitor;
mod worker;

pub use actions::ActionResults;
pub use blocker::Blocker;
pub use browser::{Browser, BrowserConfig, RenderRequest, Rendering, find_chromium};
pub use cdp_server::CdpPath;
pub use error::BrowserError;
pub use files::{Download, FileLimits};
pub use input::{Input, KeyInput, KeyKind, MouseInput, MouseKind, Point, Reply, SelectList, SelectOption};
pub use live::{LiveBrowser, LiveBrowsers, LiveConfig, LiveEgress, ServeEgress};
pub use multiplexer::CdpClient;
pub use picture::{Picture, PictureFormat};
pub use probe::{check_node_packages, check_python_packages, check_sandbox};
pub use process::running_processes;
pub use program::{in_path, program_version};
pub use sandbox::{Bubblewrap, SANDBOX_INIT_COMMAND, Sandbox, sandbox_init};
pub use screencast::{Frame, LiveView, OpenDialog, Tab, Tabs, ViewUpdate, Viewer};
pub use snapshot::{Snapshot, SnapshotElement};
pub use storage::{OriginStorage, Storage};
pub use worker::{Execution, find_node, find_python, is_supported_node};
