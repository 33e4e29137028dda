//! CPU time and memory of a process on Linux.

use std::fs;

use anyhow::{Context, Result};

/// Clock ticks per second of `/proc/PID/stat`, the same on every Linux.
const TICKS_PER_S: f64 = 100.0;

/// Returns the CPU seconds of all threads so far, in user and system mode.
pub(crate) fn cpu_s(pid: u32) -> Result<f64> {
    // Fields after the name in brackets: state is the first, utime and stime are the 12th and 13th.
    stat_s(pid, 11)
}

/// Returns the CPU seconds of the children that have ended and were waited for.
pub(crate) fn children_cpu_s(pid: u32) -> Result<f64> {
    stat_s(pid, 13)
}

/// Returns the sum of a field of `/proc/PID/stat` and the next one, in seconds.
fn stat_s(pid: u32, field: usize) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("/proc/PID/stat")?;
    let (_, rest) = stat.rsplit_once(')').context("stat has no program name")?;
    let ticks = |index| -> Result<f64> {
        let field = rest
            .split_whitespace()
            .nth(index)
            .context("stat has too few fields")?;
        Ok(field.parse()?)
    };
    Ok((ticks(field)? + ticks(field + 1)?) / TICKS_PER_S)
}

/// Returns the current resident memory in bytes.
pub(crate) fn resident_bytes(pid: u32) -> Result<u64> {
    status_bytes(pid, "VmRSS:")
}

/// Returns the peak resident memory in bytes since the start or the last [`reset_peak`].
pub(crate) fn peak_bytes(pid: u32) -> Result<u64> {
    status_bytes(pid, "VmHWM:")
}

/// Resets the peak to the current resident memory.
pub(crate) fn reset_peak(pid: u32) -> Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("/proc/PID/clear_refs")
}

fn status_bytes(pid: u32, name: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("/proc/PID/status")?;
    let line = status.lines().find(|line| line.starts_with(name));
    let kib: u64 = line
        .and_then(|line| line.split_whitespace().nth(1))
        .with_context(|| format!("no {name} in /proc/PID/status"))?
        .parse()?;
    Ok(kib * 1024)
}

/// Returns the size in bytes of all files directly in a folder.
pub(crate) fn folder_bytes(folder: &std::path::Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let data = entry?.metadata()?;
        bytes += if data.is_file() { data.len() } else { 0 };
    }
    Ok(bytes)
}
