//! How this machine keeps a live browser and its code apart from everything else.

/// What there is of a sandbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sandbox {
    /// None: live browsers run beside the server, like those of scrapes.
    Off,
}

impl Sandbox {
    /// What this machine has.
    pub async fn detect() -> Sandbox {
        Sandbox::Off
    }
}
