//! Query strings: unknown parameters are ignored, known ones are parsed strictly, except that booleans may be
//! `true`, `false`, `1` or `0` (docs/API.md section 3).

use std::ops::RangeInclusive;

use url::form_urlencoded;

use crate::api::error::ApiError;
use crate::api::fields::Slot;
use crate::api::problem::bad_field;
use crate::api::wire_enum::WireEnum;

/// Parsed query string. If a name occurs more than once, the last value counts.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the part of a URL after `?`.
    pub fn parse(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Returns the text of a parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns a boolean parameter.
    ///
    /// # Errors
    /// 400 if the value is not a boolean.
    pub fn bool(&self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.text(name) {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(_) => Err(bad_field(name, "must be true or false")),
        }
    }

    /// Returns an integer parameter within bounds. Error messages omit an upper bound of [`Slot::UNBOUNDED`].
    ///
    /// # Errors
    /// 400 if the value is not an integer or is out of bounds.
    pub fn integer(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, ApiError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(value) if digits && range.contains(&value) => Ok(Some(value)),
            _ => Err(bad_field(
                name,
                match *range.end() {
                    Slot::UNBOUNDED => format!("must be a whole number of at least {}", range.start()),
                    max => format!("must be a whole number from {} to {max}", range.start()),
                },
            )),
        }
    }

    /// Returns a parameter with a word of a closed set.
    ///
    /// # Errors
    /// 400 if the value is not one of the words.
    pub fn word<E: WireEnum>(&self, name: &str) -> Result<Option<E>, ApiError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let words: Vec<&str> = E::ALL.iter().map(|word| word.as_str()).collect();
        match E::parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(bad_field(
                name,
                format!("must be one of `{}`", words.join("`, `")),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_parameters_are_strict_and_others_do_not_matter() {
        let query = Query::parse("limit=5&limit=7&flag=1&x=y&skip=-1&empty=&name=a%20b");
        assert_eq!(query.integer("limit", 1..=10).unwrap(), Some(7));
        assert_eq!(query.integer("absent", 1..=10).unwrap(), None);
        assert_eq!(query.bool("flag").unwrap(), Some(true));
        assert_eq!(query.text("name"), Some("a b"));
        for bad in [
            query.integer("limit", 1..=6),
            query.integer("skip", 0..=9),
            query.integer("empty", 0..=9),
        ] {
            assert_eq!(bad.unwrap_err().status(), 400);
        }
        for bad in ["+5", "5.0", "0x5", "99999999999999999999", "five"] {
            let query = Query::parse(&format!("limit={bad}"));
            assert_eq!(
                query.integer("limit", 0..=Slot::UNBOUNDED).unwrap_err().status(),
                400,
                "{bad}"
            );
        }
        let error = query.bool("limit").unwrap_err();
        assert_eq!(error.message, "`limit` must be true or false.");
    }
}
