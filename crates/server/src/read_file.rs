//! `harvestman read-file`: the process in which one file is read. It limits itself before it looks at a
//! byte, reads what the server hands over on stdin, answers on stdout, and ends. It opens nothing.

use std::io::{self, BufRead, Read, Write};

use harvestman_core::scrape::{FileRequest, read_file};
use harvestman_engine::FileAnswer;

pub(crate) fn run() -> anyhow::Result<()> {
    limit();
    let mut input = io::stdin().lock();
    let mut head = String::new();
    input.read_line(&mut head)?;
    let request: FileRequest = serde_json::from_str(&head)?;
    let mut body = Vec::new();
    input.read_to_end(&mut body)?;
    let answer: FileAnswer = read_file(&request, &body);
    drop(body);
    let mut output = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut output, &answer)?;
    Ok(output.flush()?)
}

/// Memory, processor time, nothing opened or written to disk, no core dump; and no life after the server's.
#[cfg(unix)]
fn limit() {
    use harvestman_engine::limits::{FILE_READER_CPU_S, FILE_READER_MEMORY_BYTES};
    use rustix::process::{Resource, Rlimit, setrlimit};

    for (resource, most) in [
        (Resource::As, FILE_READER_MEMORY_BYTES),
        (Resource::Cpu, FILE_READER_CPU_S),
        (Resource::Nofile, 0),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // A limit that is lower already stays.
        let _ = setrlimit(resource, limit);
    }
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Elsewhere the server's deadline is the only limit.
#[cfg(not(unix))]
fn limit() {}
