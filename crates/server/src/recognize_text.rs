//! `harvestman recognize-text`: limits its own resources, then becomes tesseract, which reads one untrusted image on
//! stdin and writes its text to stdout.

use std::ffi::OsString;

/// Replaces this process with tesseract.
///
/// # Errors
/// If tesseract cannot be started.
#[cfg(unix)]
pub(crate) fn run(tesseract: &OsString, languages: &OsString) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    limit();
    let mut command = Command::new(tesseract);
    command.args(["stdin", "stdout", "-l"]).arg(languages);
    // Finds the blocks of a page, and which way up it is.
    command.args(["--psm", "1"]);
    Err(anyhow::anyhow!("cannot start tesseract: {}", command.exec()))
}

#[cfg(not(unix))]
pub(crate) fn run(_tesseract: &OsString, _languages: &OsString) -> anyhow::Result<()> {
    anyhow::bail!("cannot start tesseract within limits on this platform")
}

/// Limits memory, CPU time and open files, forbids writing files and core dumps, and ties the process to the
/// server's lifetime.
#[cfg(unix)]
fn limit() {
    use harvestman_engine::limits::{RECOGNIZER_CPU_S, RECOGNIZER_FILES, RECOGNIZER_MEMORY_BYTES};
    use rustix::process::{Resource, Rlimit, setrlimit};

    for (resource, most) in [
        (Resource::As, RECOGNIZER_MEMORY_BYTES),
        (Resource::Cpu, RECOGNIZER_CPU_S),
        (Resource::Nofile, RECOGNIZER_FILES),
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
