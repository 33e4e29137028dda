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

    use harvestman_engine::limits::{RECOGNIZER_CPU_S, RECOGNIZER_FILES, RECOGNIZER_MEMORY_BYTES};

    use crate::process_limits::ProcessLimits;

    ProcessLimits {
        memory_bytes: RECOGNIZER_MEMORY_BYTES,
        cpu_s: RECOGNIZER_CPU_S,
        open_files: RECOGNIZER_FILES,
    }
    .apply();
    let mut command = Command::new(tesseract);
    command.args(["stdin", "stdout", "-l"]).arg(languages);
    // Detects the blocks of a page and its orientation.
    command.args(["--psm", "1"]);
    Err(anyhow::anyhow!("cannot start tesseract: {}", command.exec()))
}

#[cfg(not(unix))]
pub(crate) fn run(_tesseract: &OsString, _languages: &OsString) -> anyhow::Result<()> {
    anyhow::bail!("cannot start tesseract within limits on this platform")
}
