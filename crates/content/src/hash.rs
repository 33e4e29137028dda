//! Hash tables for the names and URLs of a page, with a hash that is fast for short keys. Like the hash of the standard
//! library, it differs in each process, so nothing may depend on the order of a table.

pub(crate) use foldhash::{HashMap, HashSet};
