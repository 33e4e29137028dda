//! How this machine keeps a live browser and its code apart from everything else: bubblewrap.
//!
//! What runs in a sandbox sees the system's programs and libraries, read-only, and a folder in memory of its own; it
//! has no environment, no user, no process and no network of the server's. Its network is a loopback of its own on
//! which one port is served by the server: see [`init`]. It ends with the server, however that ends.

mod bubblewrap;
mod group;
mod init;
mod launcher;

use std::net::TcpListener;

use tokio::process::Child;

pub use bubblewrap::Bubblewrap;
pub use init::{SANDBOX_INIT_COMMAND, sandbox_init};

pub(crate) use bubblewrap::{Access, Room};
pub(crate) use group::Group;
pub(crate) use launcher::Launcher;

/// What there is of a sandbox.
#[derive(Clone, Debug)]
pub enum Sandbox {
    /// Bubblewrap works.
    Bubblewrap(Bubblewrap),
    /// None: live browsers run beside the server, like those of scrapes.
    Off,
}

impl Sandbox {
    /// What this machine has, tried out; why there is none is logged.
    pub async fn detect() -> Sandbox {
        match Bubblewrap::detect().await {
            Ok(bubblewrap) => Sandbox::Bubblewrap(bubblewrap),
            Err(reason) => {
                tracing::warn!("no sandbox for browser sessions and their code: {reason}");
                Sandbox::Off
            }
        }
    }
}

/// A process in a sandbox.
pub(crate) struct Enclosed {
    pub(crate) child: Child,
    /// Removed at the end.
    pub(crate) group: Option<Group>,
    /// The port that is served for it, accepted here.
    pub(crate) port: TcpListener,
}

/// Where the server's program is in a sandbox.
const INIT: &str = "/run/init";
