//! Where a visitor seems to come from, and which browser profile is used (contract sections 4.5
//! and 4.6).

use crate::api::body::Body;
use crate::api::country;
use crate::api::fields::{Fields, Wire, wire};
use crate::limits::{MAX_LANGUAGES, MAX_PROFILE_NAME_CHARS, MAX_SHORT_TEXT_CHARS};

/// Country and languages of the visitor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// ISO 3166-1 alpha-2, upper case, known.
    pub country: String,
    /// BCP 47 tags in order of preference; empty: that of the country.
    pub languages: Vec<String>,
}

impl Default for Location {
    fn default() -> Self {
        Self {
            country: "US".to_owned(),
            languages: Vec::new(),
        }
    }
}

impl Location {
    /// The languages in order of preference, never empty.
    pub fn effective_languages(&self) -> Vec<String> {
        if !self.languages.is_empty() {
            return self.languages.clone();
        }
        let language = country::language(&self.country).unwrap_or("en");
        vec![format!("{language}-{}", self.country)]
    }

    /// Both fields with their effective values.
    pub(crate) fn filled(&self) -> Body {
        let mut body = Body::default();
        body.put("country", &self.country);
        body.put("languages", &self.effective_languages());
        body
    }

    /// The languages in order of preference, each followed by its plain form: `en-US`, `en`.
    pub fn accepted_languages(&self) -> Vec<String> {
        let mut accepted: Vec<String> = Vec::new();
        for tag in self.effective_languages() {
            let primary = tag.split('-').next().unwrap_or(&tag).to_owned();
            for tag in [tag, primary] {
                if accepted.iter().all(|known| !known.eq_ignore_ascii_case(&tag)) {
                    accepted.push(tag);
                }
            }
        }
        accepted
    }

    /// Value of `Accept-Language`: the languages with falling weight.
    pub fn accept_language(&self) -> String {
        let accepted = self.accepted_languages();
        let weighted = accepted.iter().enumerate().map(|(index, tag)| match index {
            0 => tag.clone(),
            1..=8 => format!("{tag};q=0.{}", 10 - index),
            _ => format!("{tag};q=0.1"),
        });
        weighted.collect::<Vec<_>>().join(",")
    }
}

impl Wire for Location {
    fn read(f: &mut Fields) -> Self {
        let country = read_country(f, "country").unwrap_or_else(|| "US".to_owned());
        let languages = f.array("languages", 0..=MAX_LANGUAGES, |slot| {
            let known = slot.json().as_str().is_none_or(is_language_tag);
            match known {
                true => slot.string(1..=MAX_SHORT_TEXT_CHARS),
                false => slot.fail("must be a language tag such as en or en-US"),
            }
        });
        Self { country, languages }
    }

    fn write(&self, body: &mut Body) {
        body.put("country", &self.country);
        body.filled("languages", &self.languages);
    }
}

/// Reads a country code of any letter case.
pub(crate) fn read_country(f: &mut Fields, name: &'static str) -> Option<String> {
    let code = f.opt_string(name, 0..=MAX_SHORT_TEXT_CHARS)?.to_ascii_uppercase();
    if country::language(&code).is_none() {
        f.fail(
            name,
            "must be a country code of ISO 3166-1 with two letters, such as US or DE",
        );
        return None;
    }
    Some(code)
}

fn is_language_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let primary = parts.next().unwrap_or("");
    (2..=8).contains(&primary.len())
        && primary.bytes().all(|b| b.is_ascii_alphabetic())
        && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// A browser profile whose cookies and storage are kept under a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// 1 to 128 characters.
    pub name: String,
    /// Write the state back when the session ends.
    pub save_changes: bool,
}

impl Wire for Profile {
    fn read(f: &mut Fields) -> Self {
        Self {
            name: f.string("name", 1..=MAX_PROFILE_NAME_CHARS),
            save_changes: f.bool("saveChanges", true),
        }
    }

    fn write(&self, body: &mut Body) {
        body.put("name", &self.name);
        body.differs("saveChanges", &self.save_changes, &true);
    }
}

wire!(Location, Profile);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_fall_in_weight_and_follow_the_country() {
        let check = |country: &str, languages: &[&str], expected: &str| {
            let languages = languages.iter().map(|tag| (*tag).to_owned()).collect();
            let location = Location {
                country: country.to_owned(),
                languages,
            };
            assert_eq!(location.accept_language(), expected);
        };
        check("US", &[], "en-US,en;q=0.9");
        check("DE", &[], "de-DE,de;q=0.9");
        check("DE", &["en", "de-AT"], "en,de-AT;q=0.9,de;q=0.8");
    }
}
