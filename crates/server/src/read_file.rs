//! `harvestman read-file`: the process that converts one untrusted file. It limits its own resources before it reads
//! a byte, reads the file on stdin, writes the result to stdout as one line of JSON and the images of
//! its pages, and exits. It opens no files.

use std::io::{self, BufRead, Read, Write};

use harvestman_core::scrape::{FileRequest, read_file};
use harvestman_engine::FileResult;
use harvestman_engine::limits::{FILE_READER_CPU_S, FILE_READER_MEMORY_BYTES};

use crate::process_limits::ProcessLimits;

pub(crate) fn run() -> anyhow::Result<()> {
    ProcessLimits {
        memory_bytes: FILE_READER_MEMORY_BYTES,
        cpu_s: FILE_READER_CPU_S,
        open_files: 0,
    }
    .apply();
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
