//! A compiled list of patterns, by a smaller matcher for wasm, which only its own user can slow down.

use regex::bytes::{RegexSet, RegexSetBuilder};

use crate::crawl::limits::PATTERN_SET_COMPILED_MAX_BYTES;

/// A list of patterns.
#[derive(Clone, Debug)]
pub(super) struct PatternList(RegexSet);

impl PatternList {
    /// Compiles patterns that are valid; `None` if they are too large together.
    pub(super) fn compile(patterns: &[String]) -> Option<Self> {
        RegexSetBuilder::new(patterns)
            .size_limit(PATTERN_SET_COMPILED_MAX_BYTES)
            .build()
            .ok()
            .map(Self)
    }

    /// Returns whether any pattern matches.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        Some(self.0.is_match(text.as_bytes()))
    }
}
