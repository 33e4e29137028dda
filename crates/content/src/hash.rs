//! Hash tables for the names and URLs of a page, with a hash that is fast for short keys. It differs in each process, as
//! that of the standard library does, so nothing may depend on the order of a table.

pub(crate) use foldhash::{HashMap, HashSet};
