//! The browser's process: found, started with a pipe for commands, and gone when this value is.
//!
//! Chromium ends by itself when its command pipe closes, so that it does not outlive the server, however that
//! ends. Its profile is a folder made for this process and removed with it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use command_fds::{CommandFdExt, FdMapping};
use serde_json::json;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::cdp::Connection;
use crate::error::BrowserError;
use crate::limits;

/// Where distributions put it, the small one first.
const KNOWN_PLACES: [&str; 6] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

/// The first Chromium of this machine; none when there is none.
pub fn find_chromium() -> Option<PathBuf> {
    KNOWN_PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}

/// A running browser.
pub(crate) struct Process {
    pub(crate) connection: Connection,
    child: Child,
    profile: PathBuf,
}

impl Process {
    /// Starts `program` with `proxy` as its only network and a new folder in `folder` as its profile.
    pub(crate) async fn start(
        program: &Path,
        proxy: SocketAddr,
        folder: &Path,
        name: &str,
    ) -> Result<Process, BrowserError> {
        let profile = folder.join(name);
        let failed = |error: io::Error| BrowserError::Start(error.to_string());
        std::fs::create_dir_all(&profile).map_err(failed)?;
        let (child, from_browser, to_browser) = spawn(program, proxy, &profile).map_err(failed)?;
        let process = Process {
            connection: Connection::start(from_browser, to_browser),
            child,
            profile,
        };
        let first = process.connection.call("Browser.getVersion", json!({}));
        match timeout(limits::START_TIMEOUT, first).await {
            Ok(Ok(version)) => {
                tracing::info!(version = %version["product"], "browser started");
                Ok(process)
            }
            Ok(Err(error)) => Err(BrowserError::Start(format!("it does not answer ({error})"))),
            Err(_) => Err(BrowserError::Start("it does not answer".to_owned())),
        }
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        !self.connection.has_ended() && matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.start_kill();
        if let Err(error) = std::fs::remove_dir_all(&self.profile) {
            tracing::debug!(%error, "the profile of a browser could not be removed");
        }
    }
}

fn spawn(
    program: &Path,
    proxy: SocketAddr,
    profile: &Path,
) -> io::Result<(Child, pipe::Receiver, pipe::Sender)> {
    let (commands_in, commands_out) = io::pipe()?;
    let (answers_in, answers_out) = io::pipe()?;
    let mut command = Command::new(program);
    command
        .args(flags(proxy, profile))
        .env_clear()
        .env("HOME", profile)
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .process_group(0);
    command
        .as_std_mut()
        .fd_mappings(vec![
            FdMapping {
                parent_fd: commands_in.into(),
                child_fd: 3,
            },
            FdMapping {
                parent_fd: answers_out.into(),
                child_fd: 4,
            },
        ])
        .map_err(io::Error::other)?;
    let child = command.spawn()?;
    let from_browser = pipe::Receiver::from_owned_fd(answers_in.into())?;
    let to_browser = pipe::Sender::from_owned_fd(commands_out.into())?;
    Ok((child, from_browser, to_browser))
}

fn flags(proxy: SocketAddr, profile: &Path) -> Vec<String> {
    let fixed = [
        "--headless",
        "--remote-debugging-pipe",
        "--disable-gpu",
        "--no-first-run",
        "--no-default-browser-check",
        "--window-size=1280,720",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--disable-sync",
        "--disable-breakpad",
        "--disable-quic",
        "--hide-scrollbars",
        "--mute-audio",
        "--disable-features=MediaRouter,OptimizationHints,Translate",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--proxy-bypass-list=<-loopback>",
    ];
    let mut flags: Vec<String> = fixed.iter().map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--proxy-server=http://{proxy}"));
    flags.push(format!("--user-data-dir={}", profile.display()));
    if rustix::process::geteuid().is_root() {
        flags.push("--no-sandbox".to_owned());
    }
    flags.push("about:blank".to_owned());
    flags
}
