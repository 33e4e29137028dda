//! A compiled list of patterns. Matching is linear in the text, but each character may cost as much as the list is
//! large, so the work is bounded: a lazy automaton that outgrows its memory gives up.

use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;

use crate::crawl::limits::{
    PATTERN_DEBT_MAX, PATTERN_DEBT_PER_FAILURE, PATTERN_MEMORY_BYTES, PATTERN_SET_COMPILED_MAX_BYTES,
};

/// A list of patterns. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct PatternList(Arc<Mutex<Automaton>>);

#[derive(Debug)]
struct Automaton {
    dfa: DFA,
    cache: Cache,
    /// Grows with each text that was given up, and shrinks with each other one.
    debt: u32,
}

impl PatternList {
    /// Compiles patterns that are valid; `None` if they are too large together.
    pub(super) fn compile(patterns: &[String]) -> Option<Self> {
        let config = DFA::config()
            .cache_capacity(PATTERN_MEMORY_BYTES)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(1))
            // URLs are ASCII, where both kinds of word boundaries agree.
            .unicode_word_boundary(true);
        let dfa = DFA::builder()
            .configure(config)
            .syntax(syntax::Config::new().utf8(false))
            .thompson(
                thompson::Config::new()
                    .utf8(false)
                    .nfa_size_limit(Some(PATTERN_SET_COMPILED_MAX_BYTES))
                    .which_captures(WhichCaptures::None),
            )
            .build_many(patterns)
            .ok()?;
        let cache = dfa.create_cache();
        Some(Self(Arc::new(Mutex::new(Automaton { dfa, cache, debt: 0 }))))
    }

    /// Returns whether any pattern matches; `None` if finding out takes too long, or has taken too long for many recent
    /// texts.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        let mut automaton = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Automaton { dfa, cache, debt } = &mut *automaton;
        *debt = debt.saturating_sub(1);
        if *debt > PATTERN_DEBT_MAX {
            return None;
        }
        if cache.clear_count() > 0 {
            cache.reset(dfa);
        }
        match dfa.try_search_fwd(cache, &Input::new(text).earliest(true)) {
            Ok(found) => Some(found.is_some()),
            Err(_) => {
                *debt += PATTERN_DEBT_PER_FAILURE;
                None
            }
        }
    }
}
