//! Commands that need no server, data folder or network: `convert` and `robots`. They read a file or standard input,
//! use all cores, and write results in the order of the input. Memory is bounded by the number of threads and the
//! largest single item.

mod convert;
mod flags;
pub(crate) mod lines;
mod ordered;
mod robots;
mod warc;

pub(crate) use convert::{command as convert_command, run as convert};
pub(crate) use robots::{command as robots_command, run as robots};

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::Context;

/// Error in the arguments of a command.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Opens a file, or standard input for the name `-`.
pub(crate) fn open(name: &Path) -> anyhow::Result<Box<dyn BufRead + Send>> {
    if name.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(name).with_context(|| format!("cannot read {}", name.display()))?;
    Ok(Box::new(BufReader::new(file)))
}
