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
