//! robots.txt (RFC 9309).

/// Parsed rules of one file.
#[derive(Clone, Debug, Default)]
pub struct Robots {}
