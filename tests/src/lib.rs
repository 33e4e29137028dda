//! Whole-product tests: the real binary, fixture sites, real clients.
