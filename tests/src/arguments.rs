//! Parses `--name NUMBER` pairs of a command line.

use anyhow::{Context, Result, bail};

/// Arguments after the name of the benchmark.
pub struct Arguments {
    words: Vec<String>,
}

impl Arguments {
    /// Takes the words of a command line.
    pub fn new(words: impl IntoIterator<Item = String>) -> Arguments {
        Arguments {
            words: words.into_iter().collect(),
        }
    }

    /// Removes `name` with its number and returns the number, or `default` if it is absent.
    ///
    /// # Errors
    /// If `name` has no number.
    pub fn number(&mut self, name: &str, default: u64) -> Result<u64> {
        let Some(word) = self.word(name)? else {
            return Ok(default);
        };
        let word = word.replace('_', "");
        word.parse()
            .with_context(|| format!("{name} needs a number, not `{word}`"))
    }

    /// Removes `name` with its value and returns the value, if it is given.
    ///
    /// # Errors
    /// If `name` is last.
    pub fn word(&mut self, name: &str) -> Result<Option<String>> {
        let Some(position) = self.words.iter().position(|word| word == name) else {
            return Ok(None);
        };
        self.words.remove(position);
        if position == self.words.len() {
            bail!("{name} needs a value");
        }
        Ok(Some(self.words.remove(position)))
    }

    /// Removes `name` and returns whether it is given.
    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() < before
    }

    /// Checks that no arguments are left.
    ///
    /// # Errors
    /// Names the first one that is left.
    pub fn end(&self) -> Result<()> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => bail!("unknown argument `{word}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_name_and_unknown_arguments_are_errors() {
        let mut arguments = Arguments::new(["--kills", "5", "--pages", "1_000"].map(String::from));
        assert_eq!(arguments.number("--pages", 7).unwrap(), 1_000);
        assert_eq!(arguments.number("--seed", 3).unwrap(), 3);
        assert!(arguments.end().is_err());
        assert_eq!(arguments.number("--kills", 0).unwrap(), 5);
        assert!(!arguments.flag("--kills") && arguments.word("--sites").unwrap().is_none());
        arguments.end().unwrap();
        assert!(
            Arguments::new(["--pages".to_owned()])
                .number("--pages", 7)
                .is_err()
        );
    }
}
