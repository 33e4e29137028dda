//! Project tasks: serve, test, check, npm.

fn main() {}
