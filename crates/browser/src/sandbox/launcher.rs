//! The thread that starts sandboxed processes. A sandbox is killed when the thread that started it ends, so
//! this thread lives as long as any sandbox may be needed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::limits;

/// Sends work to the thread. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Launcher {
    commands: mpsc::Sender<LauncherCommand>,
    /// Program that starts first within a sandbox: the server's own.
    pub(super) init: Arc<Path>,
}

enum LauncherCommand {
    Start {
        command: Box<Command>,
        runtime: Handle,
        started: oneshot::Sender<io::Result<Child>>,
    },
    /// Remove the folders of control groups whose processes are about to end.
    Remove {
        folders: Vec<PathBuf>,
        removed: oneshot::Sender<()>,
    },
}

impl Launcher {
    /// Starts the thread. If that fails, every later `spawn` returns an error.
    pub(crate) fn start(init: &Path) -> Launcher {
        let (commands, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("launcher".to_owned())
            .spawn(move || receiver.into_iter().for_each(LauncherCommand::run));
        if let Err(error) = thread {
            tracing::error!(%error, "cannot start the launcher thread");
        }
        Launcher {
            commands,
            init: init.into(),
        }
    }

    /// Starts a process.
    pub(crate) async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (started, child) = oneshot::channel();
        let launcher_command = LauncherCommand::Start {
            command: Box::new(command),
            runtime: Handle::current(),
            started,
        };
        let ended = || io::Error::other("the launcher thread has ended");
        self.commands.send(launcher_command).map_err(|_| ended())?;
        child.await.map_err(|_| ended())?
    }

    /// Removes folders of control groups as soon as they are empty. The receiver may be dropped.
    pub(crate) fn remove(&self, folders: Vec<PathBuf>) -> oneshot::Receiver<()> {
        let (removed, done) = oneshot::channel();
        // If the thread has ended, the next start of the server removes them.
        let _ignored = self.commands.send(LauncherCommand::Remove { folders, removed });
        done
    }
}

impl LauncherCommand {
    fn run(self) {
        match self {
            LauncherCommand::Start {
                mut command,
                runtime,
                started,
            } => {
                let _within = runtime.enter();
                // If the caller has stopped waiting, dropping the child kills it.
                let _ignored = started.send(command.spawn());
            }
            LauncherCommand::Remove { folders, removed } => {
                let deadline = Instant::now() + limits::GROUP_REMOVAL_TIMEOUT;
                for folder in folders {
                    while let Err(error) = std::fs::remove_dir(&folder)
                        && error.kind() != io::ErrorKind::NotFound
                    {
                        if Instant::now() > deadline {
                            tracing::debug!(%error, folder = %folder.display(), "cannot remove a control group");
                            break;
                        }
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
                let _ignored = removed.send(());
            }
        }
    }
}
