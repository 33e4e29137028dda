//! Apparent location of the visitor, and the browser profile (docs/API.md sections 4.5 and 4.6).

use harvestman_derive::Request;

use crate::api::country;
use crate::api::fields::{Fields, wire};
use crate::limits::{MAX_LANGUAGES, MAX_PROFILE_NAME_CHARS, MAX_SHORT_TEXT_CHARS};

/// Country and languages of the visitor.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct Location {
    /// Country of the visitor, ISO 3166-1 alpha-2.
    #[field(
        default = DEFAULT_COUNTRY.to_owned(),
        bounds = 0..=MAX_SHORT_TEXT_CHARS,
        read = read_country,
        label = "Country",
        example = r#""DE""#
    )]
    pub country: String,
    /// Languages of the visitor in order of preference, BCP 47. Empty: the language of the country.
    #[field(
        bounds = (0..=MAX_LANGUAGES, 1..=MAX_SHORT_TEXT_CHARS),
        read = read_languages,
        effective = Self::effective_languages,
        label = "Languages",
        example = r#"["de-DE"]"#
    )]
    pub languages: Vec<String>,
}

/// Default country of the visitor.
pub(crate) const DEFAULT_COUNTRY: &str = "US";

impl Location {
    /// Returns whether this is the default location, even if its languages are written out.
    pub fn is_default(&self) -> bool {
        let default = Self::default();
        self.country == default.country && self.effective_languages() == default.effective_languages()
    }

    /// Returns the languages in order of preference; never empty.
    pub fn effective_languages(&self) -> Vec<String> {
        if !self.languages.is_empty() {
            return self.languages.clone();
        }
        let language = country::language(&self.country).unwrap_or("en");
        vec![format!("{language}-{}", self.country)]
    }

    /// Returns the languages in order of preference, each followed by its base language: `en-US`, `en`.
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

    /// Returns the value of `Accept-Language`: the languages with descending weights.
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

/// Reads `country` in any letter case.
pub(crate) fn read_country(fields: &mut Fields) -> Option<String> {
    let code = fields
        .value::<String>("country", 0..=MAX_SHORT_TEXT_CHARS)?
        .to_ascii_uppercase();
    if country::language(&code).is_none() {
        fields.fail(
            "country",
            "must be a country code of ISO 3166-1 with two letters, such as US or DE",
        );
        return None;
    }
    Some(code)
}

fn read_languages(fields: &mut Fields) -> Option<Vec<String>> {
    fields.slot("languages")?.array(0..=MAX_LANGUAGES, |slot| {
        let known = slot.json().as_str().is_none_or(is_language_tag);
        match known {
            true => slot.string(1..=MAX_SHORT_TEXT_CHARS),
            false => slot.fail("must be a language tag such as en or en-US"),
        }
    })
}

fn is_language_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let primary = parts.next().unwrap_or("");
    (2..=8).contains(&primary.len())
        && primary.bytes().all(|b| b.is_ascii_alphabetic())
        && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// A browser profile: cookies and storage that are kept under a name.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct Profile {
    /// Name of the profile.
    #[field(required, bounds = 1..=MAX_PROFILE_NAME_CHARS, label = "Profile", example = r#""shop""#)]
    pub name: String,
    /// Save changes to the profile when the page or session ends.
    #[field(default = true, label = "Save changes")]
    pub save_changes: bool,
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
