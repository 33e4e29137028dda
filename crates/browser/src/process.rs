//! The browser process: finds the program, starts it with a command pipe, and kills it when this value is
//! dropped.
//!
//! Chromium exits when its command pipe closes, so it does not outlive the server, however the server ends.
//! Its profile is a folder that is created for this process and removed with it.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal, getpriority_process, kill_process_group, setpriority_process};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::cdp::Connection;
use crate::error::BrowserError;
use crate::files::DownloadFolder;
use crate::limits;
use crate::sandbox::{Access, Bubblewrap, DOWNLOADS, Group, Launcher, SandboxSpec, SandboxedProcess};

/// Paths used by distributions, headless shells first.
const KNOWN_PATHS: [&str; 6] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

/// Port of the proxy inside a sandbox.
const PROXY_PORT: u16 = 3128;

/// Finds the first Chromium installed on this machine.
pub fn find_chromium() -> Option<PathBuf> {
    KNOWN_PATHS.iter().map(PathBuf::from).find(|path| path.is_file())
}

/// Returns the program that a distribution's start script runs, because the script needs more of the machine
/// than a sandbox shows.
fn resolve_wrapper(program: &Path) -> PathBuf {
    let mut start = [0; 2];
    let script = std::fs::File::open(program)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok_and(|()| &start == b"#!");
    let name = program.file_name().unwrap_or_default();
    let target = KNOWN_PATHS.iter().map(Path::new).find(|path| {
        let known = path.file_name() == Some(name) && path.starts_with("/usr/lib");
        known && path.is_file()
    });
    match target {
        Some(target) if script => target.to_owned(),
        _ => program.to_owned(),
    }
}

/// Running browsers of this process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of running browsers.
pub fn running_processes() -> usize {
    RUNNING.load(Ordering::Relaxed)
}

/// What a browser is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Pages of scrapes, each in a context of its own. A first window would take a third of the processor time of the
    /// start.
    Scrapes,
    /// A session, which begins with an empty page.
    Session,
}

/// A running browser.
pub(crate) struct Process {
    pub(crate) connection: Connection,
    /// Major version, such as `156`.
    pub(crate) version: String,
    child: Child,
    /// Removed with the process.
    leftovers: Leftovers,
}

/// What a browser leaves on the machine.
enum Leftovers {
    /// The folder of its profile.
    Profile(PathBuf),
    /// The control groups of its sandbox, if any.
    Group(Option<Group>),
}

impl Process {
    /// Starts `program` with `proxy` as its only network access and a new profile in `folder`.
    pub(crate) async fn start(
        program: &Path,
        proxy: SocketAddr,
        folder: &Path,
        name: &str,
        purpose: Purpose,
    ) -> Result<Process, BrowserError> {
        let profile = folder.join(name);
        let failed = |error: io::Error| BrowserError::Start(error.to_string());
        // A killed server may have left a profile of this name.
        let _ignored = std::fs::remove_dir_all(&profile);
        std::fs::create_dir_all(&profile).map_err(failed)?;
        let pipe = Pipe::open().map_err(failed)?;
        let mut command = Command::new(program);
        pipe.child.pass_to(&mut command).map_err(failed)?;
        let sandboxed = !rustix::process::geteuid().is_root();
        command
            .args(flags(proxy, &profile, sandboxed, purpose))
            .env("HOME", &profile)
            .stderr(Stdio::piped());
        let child = command.spawn().map_err(failed)?;
        // It holds the browser's ends of the pipes, which must close with the browser.
        drop(command);
        // The browser's own children inherit the niceness. Without it, the browser only takes more CPU time from
        // others.
        if purpose == Purpose::Scrapes
            && let Some(pid) = id_of(&child)
            && let Err(error) = getpriority_process(None)
                .and_then(|own| setpriority_process(Some(pid), own + limits::SCRAPE_NICENESS))
        {
            tracing::debug!(%error, "cannot lower the priority of a browser");
        }
        Process::handshake(child, pipe.server, Leftovers::Profile(profile)).await
    }

    /// Starts `program` in a sandbox, where [`PROXY_PORT`] of its loopback interface is its only network
    /// access. Up to `download_bytes` of downloads fit into its files. Returns the listener of that port, too.
    pub(crate) async fn start_sandboxed(
        program: &Path,
        bubblewrap: &Bubblewrap,
        launcher: &Launcher,
        private: Vec<PathBuf>,
        download_bytes: u64,
    ) -> Result<(Process, DownloadFolder, TcpListener), BrowserError> {
        let failed = |error: io::Error| BrowserError::Start(error.to_string());
        let program = &resolve_wrapper(program);
        let mut spec = SandboxSpec::new(Access::Browser, PROXY_PORT, private);
        spec.files_bytes += download_bytes;
        if let Some(folder) = program.parent().filter(|folder| !folder.starts_with("/usr")) {
            spec.visible.push((folder.to_owned(), folder.to_owned()));
        }
        let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, PROXY_PORT));
        let profile = Path::new("/tmp/profile");
        let arguments = flags(proxy, profile, bubblewrap.can_nest(), Purpose::Session);
        let Pipe {
            server: pipe_ends,
            child: child_ends,
        } = Pipe::open().map_err(failed)?;
        let set_up = |command: &mut Command| {
            child_ends.pass_to(command)?;
            command.stderr(Stdio::piped());
            Ok(())
        };
        let sandboxed = bubblewrap
            .start(launcher, &spec, program, arguments, set_up)
            .await;
        let SandboxedProcess {
            child,
            group,
            port,
            downloads,
        } = sandboxed.map_err(failed)?;
        let downloads = downloads.ok_or_else(|| BrowserError::Start("no folder for downloads".to_owned()))?;
        let process = Process::handshake(child, pipe_ends, Leftovers::Group(group)).await?;
        Ok((process, DownloadFolder::new(downloads, DOWNLOADS), port))
    }

    /// Returns a newly started process once the browser responds; [`BrowserError::Gone`] if it ends before.
    async fn handshake(
        mut child: Child,
        (from_browser, to_browser): (pipe::Receiver, pipe::Sender),
        leftovers: Leftovers,
    ) -> Result<Process, BrowserError> {
        let messages = tokio::spawn(last_messages(child.stderr.take()));
        let mut process = Process {
            connection: Connection::start(from_browser, to_browser),
            version: String::new(),
            child,
            leftovers,
        };
        RUNNING.fetch_add(1, Ordering::Relaxed);
        let first = process.connection.call("Browser.getVersion", json!({}));
        let version = match timeout(limits::START_TIMEOUT, first).await {
            Ok(Ok(version)) => version,
            Ok(Err(BrowserError::Gone)) => {
                let ended = async { (process.child.wait().await, messages.await) };
                if let Ok((Ok(status), messages)) = timeout(limits::END_TIMEOUT, ended).await {
                    let messages = messages.unwrap_or_default();
                    tracing::warn!(%status, messages, "the browser ended before it responded");
                }
                return Err(BrowserError::Gone);
            }
            _ => return Err(BrowserError::Start("the browser does not respond".to_owned())),
        };
        tracing::info!(version = %version["product"], "browser started");
        process.version = major(&version);
        Ok(process)
    }

    /// Kills the process with its children, waits until it has ended, and removes what it leaves.
    pub(crate) async fn end(mut self) {
        kill_group(&self.child);
        // The process may have ended already.
        let _ignored = self.child.wait().await;
        match &mut self.leftovers {
            Leftovers::Group(group) => {
                if let Some(group) = group.take() {
                    group.remove().await;
                }
            }
            Leftovers::Profile(profile) => {
                // Children that were killed may write for a moment.
                let deadline = Instant::now() + limits::PROFILE_REMOVAL_TIMEOUT;
                while remove_profile(profile).is_err() && Instant::now() < deadline {
                    sleep(limits::REMOVAL_INTERVAL).await;
                }
            }
        }
    }

    /// Returns whether the process is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        !self.connection.has_ended() && matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
        kill_group(&self.child);
        // Its child processes may survive for a moment and keep the pipe open.
        self.connection.fail_all();
        if let Leftovers::Profile(profile) = &self.leftovers
            && let Err(error) = remove_profile(profile)
        {
            tracing::debug!(%error, "cannot remove the profile of a browser");
        }
    }
}

/// Starts a browser, and retries if it ends before it responds, which happens on a busy machine.
pub(crate) async fn start_with_retries<T, F: Future<Output = Result<T, BrowserError>>>(
    mut start: impl FnMut() -> F,
) -> Result<T, BrowserError> {
    for _ in 0..limits::START_ATTEMPTS {
        match start().await {
            Err(BrowserError::Gone) => {}
            result => return result,
        }
    }
    let reason = "it ends before it responds; the log of the server says how";
    Err(BrowserError::Start(reason.to_owned()))
}

/// Reads what a browser writes to its standard error until it ends. Returns the last part.
async fn last_messages(stderr: Option<ChildStderr>) -> String {
    let mut messages = Vec::new();
    if let Some(mut stderr) = stderr {
        while let Ok(1..) = stderr.read_buf(&mut messages).await {
            let surplus = messages.len().saturating_sub(limits::MAX_MESSAGES_BYTES);
            messages.drain(..surplus);
        }
    }
    String::from_utf8_lossy(&messages).trim().to_owned()
}

/// Returns the identifier of a process that has not ended.
fn id_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
}

/// Kills a process that leads a process group, with the whole group: without a sandbox, children do not end with it.
pub(crate) fn kill_group(child: &Child) {
    if let Some(group) = id_of(child) {
        // The group may have ended already.
        let _ignored = kill_process_group(group, Signal::KILL);
    }
}

/// Removes the folder of a profile, if it is there.
fn remove_profile(profile: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(profile) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The two pipes of the protocol.
pub(crate) struct Pipe {
    pub(crate) server: (pipe::Receiver, pipe::Sender),
    pub(crate) child: ChildPipeEnds,
}

/// The browser's pipe ends: it reads commands from descriptor 3 and writes messages to 4.
pub(crate) struct ChildPipeEnds {
    commands: OwnedFd,
    messages: OwnedFd,
}

impl Pipe {
    pub(crate) fn open() -> io::Result<Pipe> {
        let (commands_in, commands_out) = io::pipe()?;
        let (messages_in, messages_out) = io::pipe()?;
        Ok(Pipe {
            server: (
                pipe::Receiver::from_owned_fd(messages_in.into())?,
                pipe::Sender::from_owned_fd(commands_out.into())?,
            ),
            child: ChildPipeEnds {
                commands: commands_in.into(),
                messages: messages_out.into(),
            },
        })
    }
}

impl ChildPipeEnds {
    /// Passes these descriptors to `command`, with a clean environment and none of the server's other
    /// descriptors.
    pub(crate) fn pass_to(self, command: &mut Command) -> io::Result<()> {
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .process_group(0);
        let mappings = vec![
            FdMapping {
                parent_fd: self.commands,
                child_fd: 3,
            },
            FdMapping {
                parent_fd: self.messages,
                child_fd: 4,
            },
        ];
        let mapped = command.as_std_mut().fd_mappings(mappings);
        mapped.map(drop).map_err(io::Error::other)
    }
}

/// Returns the major version, such as `156` of `HeadlessChrome/156.0.1.2`.
fn major(version: &Value) -> String {
    let product = version["product"].as_str().unwrap_or_default();
    let number = product.rsplit('/').next().unwrap_or_default();
    number.split('.').next().unwrap_or_default().to_owned()
}

/// Returns the command-line flags. `sandboxed`: whether the browser uses its own sandbox for pages.
fn flags(proxy: SocketAddr, profile: &Path, sandboxed: bool, purpose: Purpose) -> Vec<String> {
    let fixed = [
        "--headless",
        "--remote-debugging-pipe",
        "--disable-gpu",
        "--no-first-run",
        "--no-default-browser-check",
        "--window-size=1280,720",
        "--disable-background-networking",
        // Playwright and Puppeteer cannot follow a page that is restored from this cache.
        "--disable-back-forward-cache",
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
    if !sandboxed {
        flags.push("--no-sandbox".to_owned());
    }
    let first_window = match purpose {
        Purpose::Scrapes => "--no-startup-window",
        Purpose::Session => "about:blank",
    };
    flags.push(first_window.to_owned());
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a browser whose program ends `ends` times before it becomes Chromium, and ends it. Returns the number of
    /// starts, too.
    async fn start(name: &str, ends: usize) -> (Result<(), BrowserError>, usize) {
        let chromium = std::env::var_os("HARVESTMAN_CHROMIUM")
            .map(PathBuf::from)
            .or_else(find_chromium)
            .unwrap();
        let folder = std::env::temp_dir().join(format!("harvestman-process-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [script, program, starts] = ["script", "program", "starts"].map(|name| folder.join(name));
        let text = format!(
            "#!/bin/sh\necho >> {starts}\n[ $(wc -l < {starts}) -gt {ends} ] || exit 3\nexec {} \"$@\"\n",
            chromium.display(),
            starts = starts.display(),
        );
        std::fs::write(&script, text).unwrap();
        // Another process writes the file, because a file that this process or its forks have open for writing cannot
        // be run.
        let mut install = Command::new("install");
        let installed = install.args(["-m", "755"]).args([&script, &program]).status();
        assert!(installed.await.unwrap().success());
        // Nothing listens there; no page is opened.
        let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        let start = || Process::start(&program, proxy, &folder, "profile", Purpose::Session);
        let result = match start_with_retries(start).await {
            Ok(process) => {
                process.end().await;
                Ok(())
            }
            Err(error) => Err(error),
        };
        let starts = std::fs::read_to_string(&starts).unwrap().lines().count();
        std::fs::remove_dir_all(folder).unwrap();
        (result, starts)
    }

    #[tokio::test]
    async fn a_browser_that_ends_at_its_start_is_started_again() {
        assert_eq!(start("twice", 2).await, (Ok(()), 3));
    }

    #[tokio::test]
    async fn a_browser_that_ends_at_every_start_is_an_error() {
        let (result, starts) = start("always", 100).await;
        let reason = result.unwrap_err().to_string();
        assert!(reason.contains("ends before it responds"), "{reason}");
        assert_eq!(starts, 3);
    }

    #[tokio::test]
    async fn the_last_messages_of_a_browser_are_kept() {
        let mut child = Command::new("/bin/sh")
            .args(["-c", "seq 100000 >&2"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let messages = last_messages(child.stderr.take()).await;
        assert!(messages.ends_with("99999\n100000"), "{messages}");
        assert!(messages.len() < limits::MAX_MESSAGES_BYTES);
    }
}
