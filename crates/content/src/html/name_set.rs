//! A fixed set of names, matched ignoring ASCII case. Most names of a page are in no set: they are recognized by their
//! length and first letter.

/// Length of the longest name.
const LONGEST: usize = 32;

/// A fixed set of ASCII names.
pub(crate) struct NameSet {
    names: &'static [&'static str],
    /// The first letters of the names of each length, as bits.
    starts: [u32; LONGEST + 1],
}

impl NameSet {
    /// Returns the set of these names, of 1 to 32 bytes.
    pub(crate) const fn of(names: &'static [&'static str]) -> NameSet {
        let mut starts = [0; LONGEST + 1];
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            starts[name.len()] |= start(name[0]);
            at += 1;
        }
        NameSet { names, starts }
    }

    /// Returns whether the set contains a name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        let first = name.as_bytes().first().copied().unwrap_or_default();
        self.starts
            .get(name.len())
            .is_some_and(|starts| starts & start(first) != 0)
            && self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Returns the bit of a first byte, the same for both cases of a letter.
const fn start(byte: u8) -> u32 {
    1 << (byte % 32)
}

#[cfg(test)]
mod tests {
    use super::NameSet;

    #[test]
    fn names_are_found_in_any_case() {
        static SET: NameSet = NameSet::of(&["ln", "line-number", "x"]);
        for name in ["ln", "LN", "Line-Number", "X"] {
            assert!(SET.contains(name), "{name}");
        }
        let long = "l".repeat(40);
        for name in ["", "l", "la", "line-numbers", "é", &long] {
            assert!(!SET.contains(name), "{name}");
        }
    }
}
