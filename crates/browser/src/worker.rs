//! Code for a live browser: one process per language, with the variable `page`, that lives on between calls.
//!
//! A [`Worker`] is started and loaded in advance, then connected to one browser, then runs one piece of code
//! after the other. It runs in a sandbox whose only network access is the browser's DevTools protocol;
//! without a sandbox it is started only if the operator has allowed it. It is killed at the timeout or when
//! the session ends.

mod languages;
mod output;
mod runtime;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use crate::cdp_server::CdpServer;
use crate::error::BrowserError;
use crate::files::{BrowserFiles, WorkerPipe};
use crate::limits;
use crate::multiplexer::Multiplexer;
use crate::process::{ChildPipeEnds, Pipe, kill_group};
use crate::sandbox::{Access, Bubblewrap, Group, SandboxSpec, SandboxedProcess};
use output::{Output, Stream};

pub(crate) use runtime::Runtime;

pub(crate) use languages::{CodeConfig, Languages};
pub use runtime::{find_node, find_python, is_supported_node};

/// The result of running code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// Captured standard output, cut at [`crate::limits::MAX_OUTPUT_BYTES`].
    pub stdout: String,
    /// Captured standard error, cut at [`crate::limits::MAX_OUTPUT_BYTES`].
    pub stderr: String,
    /// Value of the last expression: a string unchanged, anything else as JSON; `None` for `undefined`.
    pub result: Option<String>,
    /// 0: success; 1: an exception; 124: timeout; otherwise the exit code of the code.
    pub exit_code: i32,
    /// Whether the code was stopped by the timeout.
    pub killed: bool,
    /// What went wrong; `None` if the exit code is 0.
    pub error: Option<String>,
}

/// A process that runs code of one language.
pub(crate) struct Worker {
    child: Child,
    group: Option<Group>,
    commands: Arc<WorkerPipe>,
    messages: mpsc::Receiver<WorkerMessage>,
    output: Arc<Output>,
    /// The port for the browser's endpoint, then the server on it.
    port: Option<TcpListener>,
    server: Option<CdpServer>,
}

/// A message of a worker.
#[derive(Debug, Deserialize)]
#[serde(tag = "said", rename_all = "lowercase")]
enum WorkerMessage {
    /// The worker is loaded and can be connected.
    Loaded,
    /// The worker is connected.
    Ready,
    /// The code has started.
    Begun,
    Output {
        stream: Stream,
        text: String,
    },
    Done {
        result: Option<String>,
        error: Option<String>,
        target: Option<String>,
    },
    /// The worker exits.
    Exit {
        code: i32,
    },
    /// A command failed.
    Failed {
        reason: String,
    },
}

/// A piece of code to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) code: &'a str,
    /// Target id of the page that becomes `page`.
    pub(crate) target: &'a str,
    pub(crate) time: Duration,
}

/// The outcome of a piece of code.
pub(crate) struct CodeOutcome {
    pub(crate) execution: Execution,
    /// Target id of the page that is `page` at the end.
    pub(crate) target: Option<String>,
    /// Whether the code was started.
    pub(crate) begun: bool,
    /// Whether the worker can be used again.
    pub(crate) alive: bool,
}

/// Port of the DevTools endpoint in a sandbox.
const CDP_PORT: u16 = 9222;
/// Exit code of code that was stopped by the timeout.
pub(crate) const TIMED_OUT: i32 = 124;

impl Worker {
    /// Starts a worker, which then loads in the background.
    async fn start(languages: &Languages, runtime: &Runtime) -> Result<Worker, BrowserError> {
        let failed = |error: io::Error| BrowserError::Start(format!("cannot start a worker: {error}"));
        let Pipe {
            server: pipe_ends,
            child: child_ends,
        } = Pipe::open().map_err(failed)?;
        let (child, group, port) = match &languages.config.sandbox {
            Some(bubblewrap) => start_sandboxed(languages, bubblewrap, runtime, child_ends).await,
            None => start_unsandboxed(languages, runtime, child_ends).await,
        }
        .map_err(failed)?;
        let (from_worker, commands) = pipe_ends;
        let output = Arc::new(Output::default());
        let (sender, messages) = mpsc::channel(limits::MAX_WORKER_MESSAGES);
        let mut worker = Worker {
            child,
            group,
            commands: Arc::new(WorkerPipe::new(commands)),
            messages,
            output: output.clone(),
            port: Some(port),
            server: None,
        };
        if let Some(stdout) = worker.child.stdout.take() {
            tokio::spawn(capture(stdout, Stream::Stdout, output.clone()));
        }
        if let Some(stderr) = worker.child.stderr.take() {
            tokio::spawn(capture(stderr, Stream::Stderr, output.clone()));
        }
        tokio::spawn(listen(from_worker, sender, output));
        Ok(worker)
    }

    /// Connects the worker to its browser; does nothing if it is connected already.
    pub(crate) async fn connect(
        &mut self,
        browser: &Multiplexer,
        files: &BrowserFiles,
    ) -> Result<(), BrowserError> {
        let Some(port) = self.port.take() else {
            return Ok(());
        };
        let failed =
            |reason: String| BrowserError::Start(format!("cannot connect code to the browser: {reason}"));
        let server = tokio::net::TcpListener::from_std(port)
            .and_then(|port| CdpServer::start(port, browser.clone(), &token()?))
            .map_err(|error| failed(error.to_string()))?;
        let server = self.server.insert(server);
        let command = json!({"connect": server.url(), "downloads": files.code_downloads()});
        let exchange = async {
            self.commands.command(&command).await?;
            loop {
                match self.messages.recv().await {
                    Some(WorkerMessage::Ready) => {
                        files.add_worker(&self.commands).await;
                        return Ok(());
                    }
                    Some(WorkerMessage::Failed { reason }) => return Err(reason),
                    Some(_) => {}
                    None => {
                        let (_, stderr) = self.output.take();
                        return Err(format!("the worker exited; {}", stderr.trim()));
                    }
                }
            }
        };
        let result = timeout(limits::WORKER_START_TIMEOUT, exchange).await;
        result
            .unwrap_or_else(|_| Err("the worker does not respond".to_owned()))
            .map_err(failed)
    }

    /// Runs code. At the timeout the worker is killed. A caller that stops waiting must drop the worker.
    pub(crate) async fn run(&mut self, Task { code, target, time }: Task<'_>) -> CodeOutcome {
        let deadline = Instant::now() + time;
        let command = json!({"run": code, "target": target});
        let mut begun = false;
        let exchange = async {
            // If the worker is gone, the end of its messages shows it.
            let _ignored = self.commands.command(&command).await;
            loop {
                match self.messages.recv().await {
                    Some(WorkerMessage::Begun) => begun = true,
                    Some(WorkerMessage::Loaded | WorkerMessage::Ready | WorkerMessage::Output { .. }) => {}
                    other => return other,
                }
            }
        };
        let message = timeout_at(deadline, exchange).await;
        let mut outcome = CodeOutcome {
            execution: Execution::default(),
            target: None,
            begun,
            alive: false,
        };
        let execution = &mut outcome.execution;
        match message {
            Ok(Some(WorkerMessage::Done {
                result,
                error,
                target,
            })) => {
                execution.exit_code = i32::from(error.is_some());
                execution.result = result.map(|text| output::truncate(text, limits::MAX_OUTPUT_BYTES));
                execution.error = error.map(|text| output::truncate(text, limits::MAX_OUTPUT_BYTES));
                outcome.target = target;
                outcome.alive = true;
            }
            Ok(Some(WorkerMessage::Exit { code })) => {
                execution.exit_code = code;
                execution.error = (code != 0).then(|| format!("the code exited with code {code}"));
            }
            Ok(Some(WorkerMessage::Failed { reason })) => {
                execution.exit_code = 1;
                execution.error = Some(reason);
            }
            Ok(_) => {
                let status = timeout(limits::CLOSE_TIMEOUT, self.child.wait()).await;
                execution.exit_code = exit_code_of(status.ok().and_then(Result::ok));
                execution.error = Some("the worker process ended unexpectedly".to_owned());
            }
            Err(_) => {
                execution.exit_code = TIMED_OUT;
                execution.killed = true;
                let seconds = time.as_secs_f64();
                execution.error = Some(format!("the code timed out after {seconds} s; raise `timeout`"));
            }
        }
        if !outcome.alive {
            self.kill().await;
        }
        let execution = &mut outcome.execution;
        (execution.stdout, execution.stderr) = self.output.take();
        outcome
    }

    /// Returns whether the worker is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        !self.messages.is_closed() && matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the worker and removes its files and groups.
    pub(crate) async fn end(mut self) {
        self.kill().await;
        if let Some(group) = self.group.take() {
            group.remove().await;
        }
    }

    async fn kill(&mut self) {
        kill_group(&self.child);
        // The process may have ended already.
        let _ignored = self.child.kill().await;
        // Read what it wrote before it was killed.
        while timeout(limits::LAST_OUTPUT_TIMEOUT, self.messages.recv())
            .await
            .is_ok_and(|message| message.is_some())
        {}
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        kill_group(&self.child);
    }
}

async fn start_sandboxed(
    languages: &Languages,
    bubblewrap: &Bubblewrap,
    runtime: &Runtime,
    child_ends: ChildPipeEnds,
) -> io::Result<(Child, Option<Group>, TcpListener)> {
    let mut spec = SandboxSpec::new(Access::Code, CDP_PORT, languages.config.private.clone());
    spec.visible.clone_from(&runtime.visible);
    spec.files_bytes += languages.config.files_bytes;
    let set_up = |command: &mut Command| {
        child_ends.pass_to(command)?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(())
    };
    let arguments = runtime.arguments.clone();
    let start = bubblewrap.start(&languages.launcher, &spec, &runtime.inside, arguments, set_up);
    let SandboxedProcess {
        child, group, port, ..
    } = start.await?;
    Ok((child, group, port))
}

async fn start_unsandboxed(
    languages: &Languages,
    runtime: &Runtime,
    child_ends: ChildPipeEnds,
) -> io::Result<(Child, Option<Group>, TcpListener)> {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    port.set_nonblocking(true)?;
    let folder = &languages.config.folder;
    std::fs::create_dir_all(folder)?;
    let mut command = Command::new(&runtime.program);
    child_ends.pass_to(&mut command)?;
    command
        .args(&runtime.arguments_outside)
        .env("HOME", folder)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok((languages.launcher.spawn(command).await?, None, port))
}

/// Forwards the worker's messages until it ends or sends one that is too long.
async fn listen(from_worker: pipe::Receiver, messages: mpsc::Sender<WorkerMessage>, output: Arc<Output>) {
    let mut lines = BufReader::new(from_worker);
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = limits::MAX_WORKER_MESSAGE_BYTES;
        match (&mut lines).take(limit).read_until(b'\n', &mut line).await {
            Ok(1..) if line.ends_with(b"\n") => {}
            _ => return,
        }
        match serde_json::from_slice(&line) {
            Ok(WorkerMessage::Output { stream, text }) => output.add(stream, text.as_bytes()),
            Ok(other) => {
                if messages.send(other).await.is_err() {
                    return;
                }
            }
            Err(error) => tracing::debug!(%error, "ignoring an invalid message of a worker"),
        }
    }
}

/// Captures output that bypasses the worker's messages, such as that of child processes.
async fn capture(mut from: impl AsyncRead + Unpin, stream: Stream, output: Arc<Output>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        output.add(stream, &buffer[..read]);
    }
}

/// Returns the exit code of a process as a shell reports it.
fn exit_code_of(status: Option<ExitStatus>) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let of = |status: ExitStatus| status.code().or(status.signal().map(|signal| 128 + signal));
    // A process that exits without a message has failed, whatever its code.
    status.and_then(of).filter(|code| *code != 0).unwrap_or(1)
}

/// Creates the token of a worker's DevTools endpoint, so that no other process of the machine can use it.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex::encode(bytes))
}
