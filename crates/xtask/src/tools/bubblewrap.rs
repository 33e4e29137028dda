//! bubblewrap: in PATH, or of the distribution. Nobody else has it prebuilt.

use anyhow::Result;

use super::apt;
use crate::run;

pub(super) fn ensure() -> Result<()> {
    match run::find_in_path("bwrap") {
        Some(_) => Ok(()),
        None => apt::install(&["bubblewrap"], "keep browser sessions apart"),
    }
}
