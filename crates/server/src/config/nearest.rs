//! Suggestion of a known name for a mistyped one.

/// Returns the closest of `known` to `name`, if it is close enough for a typing mistake.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_gets_a_suggestion_and_an_unrelated_name_gets_none() {
        let known = ["listen", "data_dir", "public_url"];
        assert_eq!(nearest("lisen", known), Some("listen"));
        assert_eq!(nearest("data-dir", known), Some("data_dir"));
        assert_eq!(nearest("publicurl", known), Some("public_url"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
    }
}
