//! Reproducible random numbers.

/// A generator (splitmix64): the same seed always gives the same numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns a number from `from` up to, not including, `to`.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        from + (number ^ (number >> 31)) % (to - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_numbers_in_their_range() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            let numbers = std::iter::repeat_with(move || random.between(3, 9));
            numbers.take(100).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!((3..9).all(|number| numbers(1).contains(&number)));
        assert!(numbers(1).iter().all(|number| (3..9).contains(number)));
    }
}
