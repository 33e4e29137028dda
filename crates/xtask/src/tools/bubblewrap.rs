//! bubblewrap: in PATH, or from the distribution, the only source of a prebuilt one.

use anyhow::Result;

use super::apt;
use crate::run;

pub(super) fn ensure() -> Result<()> {
    match run::find_in_path("bwrap") {
        Some(_) => Ok(()),
        None => apt::install(&["bubblewrap"], "sandbox browser sessions"),
    }
}
