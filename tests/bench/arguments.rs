//! Parses `--name NUMBER` pairs of a command line.

use anyhow::{Context, Result, bail};

/// Arguments after the name of the benchmark.
pub(crate) struct Arguments {
    words: Vec<String>,
}

impl Arguments {
    pub(crate) fn new(words: impl IntoIterator<Item = String>) -> Arguments {
        Arguments {
            words: words.into_iter().collect(),
        }
    }

    /// Removes `name` with its number and returns the number, or `default` if it is absent.
    pub(crate) fn number(&mut self, name: &str, default: u64) -> Result<u64> {
        let Some(position) = self.words.iter().position(|word| word == name) else {
            return Ok(default);
        };
        self.words.remove(position);
        if position == self.words.len() {
            bail!("{name} needs a number");
        }
        let word = self.words.remove(position).replace('_', "");
        word.parse()
            .with_context(|| format!("{name} needs a number, not `{word}`"))
    }

    /// Checks that no arguments are left.
    pub(crate) fn end(&self) -> Result<()> {
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
        arguments.end().unwrap();
        assert!(
            Arguments::new(["--pages".to_owned()])
                .number("--pages", 7)
                .is_err()
        );
    }
}
