//! Input of the command line: files or standard input, and the error of wrong arguments.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::Context;

/// Error in the arguments of a command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Opens a file, or standard input for the name `-`.
pub(crate) fn open(name: &Path) -> anyhow::Result<Box<dyn BufRead + Send>> {
    if name.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(name).with_context(|| format!("cannot read {}", name.display()))?;
    Ok(Box::new(BufReader::new(file)))
}
