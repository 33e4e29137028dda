//! What runs in a sandboxed process before its program. Outside the sandbox: joins the control groups and
//! sets its limits. Inside: opens the port, creates the folder for a browser's downloads, and passes both out.
//!
//! Both stages run the server's own program, because a process with threads cannot do this between fork and
//! exec. Each stage is single-threaded, opens nothing else, and becomes the next by exec.

use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use tokio::io::Interest;

use crate::limits;

/// Command-line argument that runs a stage; its parameters for [`sandbox_init`] follow.
pub const SANDBOX_INIT_COMMAND: &str = "sandbox-init";

/// A stage of the start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Outside: join the groups, set limits, become bubblewrap.
    Confine {
        /// `cgroup.procs` files of the groups to join.
        groups: Vec<PathBuf>,
        /// User to switch to, if the server runs as root.
        user: Option<u32>,
        /// Limit of the writable memory of each process.
        data_bytes: Option<u64>,
        program: PathBuf,
        arguments: Vec<String>,
    },
    /// Inside: open the port, create the folder, pass both out, become the program.
    Enter {
        port: u16,
        folder: Option<PathBuf>,
        program: PathBuf,
        arguments: Vec<String>,
    },
}

impl Stage {
    /// Returns the command-line arguments that run this stage.
    pub(crate) fn arguments(&self) -> [String; 2] {
        let stage = serde_json::to_string(self).expect("a stage is plain data");
        [SANDBOX_INIT_COMMAND.to_owned(), stage]
    }
}

/// Runs the stage given in the argument after [`SANDBOX_INIT_COMMAND`] and becomes another program.
///
/// # Errors
/// If any step fails.
pub fn sandbox_init(argument: &str) -> io::Result<Infallible> {
    match serde_json::from_str(argument)? {
        Stage::Confine {
            groups,
            user,
            data_bytes,
            program,
            arguments,
        } => {
            for group in &groups {
                OpenOptions::new().write(true).open(group)?.write_all(b"0")?;
            }
            limit(data_bytes, groups.is_empty());
            let mut command = Command::new(program);
            if let Some(user) = user {
                // This also drops supplementary groups.
                command.uid(user).gid(user);
            }
            Err(command.args(arguments).env_clear().exec())
        }
        Stage::Enter {
            port,
            folder,
            program,
            arguments,
        } => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
            let folder = folder.map(|path| std::fs::create_dir(&path).and_then(|()| File::open(path)));
            pass_out(&listener, folder.transpose()?.as_ref())?;
            // Replacing stdin closes the socket.
            Err(Command::new(program).args(arguments).stdin(Stdio::null()).exec())
        }
    }
}

fn limit(data_bytes: Option<u64>, without_groups: bool) {
    let limits = [
        (Resource::Nofile, Some(limits::SANDBOX_DESCRIPTORS)),
        (Resource::Core, Some(0)),
        (Resource::Data, data_bytes),
        (Resource::Nproc, without_groups.then_some(limits::USER_TASKS)),
    ];
    for (resource, value) in limits {
        if let Some(value) = value {
            let limit = Rlimit {
                current: Some(value),
                maximum: Some(value),
            };
            // If the limit is already lower, it stays.
            let _ = setrlimit(resource, limit);
        }
    }
}

/// Passes the listener and the folder out over the socket at stdin.
fn pass_out(listener: &TcpListener, folder: Option<&File>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = [Some(listener.as_fd()), folder.map(AsFd::as_fd)]
        .into_iter()
        .flatten()
        .collect();
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    let socket = io::stdin();
    rustix::net::sendmsg(&socket, &[IoSlice::new(b"p")], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Receives what a sandboxed process passes out: its listener, and its folder if it has one.
///
/// # Errors
/// If the process ends first.
pub(super) async fn receive(socket: UnixStream) -> io::Result<(TcpListener, Option<OwnedFd>)> {
    socket.set_nonblocking(true)?;
    let socket = tokio::net::UnixStream::from_std(socket)?;
    let receive = || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let mut bytes = [IoSliceMut::new(&mut byte)];
        rustix::net::recvmsg(&socket, &mut bytes, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let passed = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next().map(|listener| (listener, fds.next())),
            _ => None,
        });
        passed.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    };
    let (listener, folder) = socket.async_io(Interest::READABLE, receive).await?;
    let listener = TcpListener::from(listener);
    listener.set_nonblocking(true)?;
    Ok((listener, folder))
}
