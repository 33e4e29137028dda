//! Resource limits of the processes that handle one untrusted file. On platforms other than Unix the server's deadline
//! is the only limit.

/// Limits of a process.
pub(crate) struct ProcessLimits {
    pub(crate) memory_bytes: u64,
    pub(crate) cpu_s: u64,
    pub(crate) open_files: u64,
}

impl ProcessLimits {
    /// Applies the limits to this process, forbids writing files and core dumps, and ties it to the server's
    /// lifetime.
    #[cfg(unix)]
    pub(crate) fn apply(&self) {
        use rustix::process::{Resource, Rlimit, setrlimit};

        for (resource, most) in [
            (Resource::As, self.memory_bytes),
            (Resource::Cpu, self.cpu_s),
            (Resource::Nofile, self.open_files),
            (Resource::Fsize, 0),
            (Resource::Core, 0),
        ] {
            let limit = Rlimit {
                current: Some(most),
                maximum: Some(most),
            };
            // Fails if the limit is already lower, which is fine.
            let _ = setrlimit(resource, limit);
        }
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }

    /// Does nothing.
    #[cfg(not(unix))]
    pub(crate) fn apply(&self) {}
}
