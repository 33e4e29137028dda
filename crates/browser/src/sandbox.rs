//! Isolation of live browsers and their code from the rest of the machine, with bubblewrap.
//!
//! A process in a sandbox sees the system's programs and libraries, read-only, and its own in-memory folder;
//! it sees none of the server's environment, users, processes or network. Its network is a private loopback
//! interface on which the server serves one port: see [`init`]. It ends with the server, however the server
//! ends.

mod bubblewrap;
mod group;
mod init;
mod launcher;

use std::net::TcpListener;
use std::os::fd::OwnedFd;

use tokio::process::Child;

pub use bubblewrap::Bubblewrap;
pub use init::{SANDBOX_INIT_COMMAND, sandbox_init};

pub(crate) use bubblewrap::{Access, SandboxSpec};
pub(crate) use group::Group;
pub(crate) use launcher::Launcher;

/// The available sandbox.
#[derive(Clone, Debug)]
pub enum Sandbox {
    /// Bubblewrap.
    Bubblewrap(Bubblewrap),
    /// None: live browsers run without isolation, like the browser of scrapes.
    Off,
}

impl Sandbox {
    /// Detects the sandbox by running it; logs why there is none.
    pub async fn detect() -> Sandbox {
        match Bubblewrap::detect().await {
            Ok(bubblewrap) => {
                tracing::info!(path = %bubblewrap.program().display(), "bubblewrap");
                Sandbox::Bubblewrap(bubblewrap)
            }
            Err(reason) => {
                tracing::warn!("browser sessions and their code run without a sandbox: {reason}");
                Sandbox::Off
            }
        }
    }
}

/// A process in a sandbox.
pub(crate) struct SandboxedProcess {
    pub(crate) child: Child,
    /// Removed with the process.
    pub(crate) group: Option<Group>,
    /// Listener of the served port, accepted in this process.
    pub(crate) port: TcpListener,
    /// The folder [`DOWNLOADS`] of a browser.
    pub(crate) downloads: Option<OwnedFd>,
}

/// Folder that a browser in a sandbox writes downloads to.
pub(crate) const DOWNLOADS: &str = "/tmp/downloads";
/// Path of the server's program in a sandbox.
const INIT: &str = "/run/init";
