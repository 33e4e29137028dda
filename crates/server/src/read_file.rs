//! `harvestman read-file`: the process that converts one untrusted file. It limits its own resources before it reads
//! a byte, reads the file on stdin, writes the result to stdout as one line of JSON and the images of
//! its pages, and exits. It opens no files.

use std::io::{self, BufRead, Read, Write};

use harvestman_core::scrape::{FileRequest, read_file};
use harvestman_engine::FileResult;

pub(crate) fn run() -> anyhow::Result<()> {
    limit();
    let mut input = io::stdin().lock();
    let mut head = String::new();
    input.read_line(&mut head)?;
    let request: FileRequest = serde_json::from_str(&head)?;
    let mut body = Vec::new();
    input.read_to_end(&mut body)?;
    let response: FileResult = read_file(&request, &body);
    drop(body);
    let mut output = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut output, &response)?;
    output.write_all(b"\n")?;
    for scan in response.iter().flat_map(|document| &document.scans) {
        output.write_all(&scan.data)?;
    }
    Ok(output.flush()?)
}

/// Limits memory and CPU time, forbids opening and writing files and core dumps, and ties the process to the
/// server's lifetime.
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
        // Fails if the limit is already lower, which is fine.
        let _ = setrlimit(resource, limit);
    }
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Does nothing: on this platform the server's deadline is the only limit.
#[cfg(not(unix))]
fn limit() {}
