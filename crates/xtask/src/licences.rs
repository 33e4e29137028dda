//! `licences`: checks that every dependency has a permissive licence, or one whose copyleft is limited to its files.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::project::Project;

const ALLOWED: &[&str] = &[
    "0BSD", "Apache-2.0", "BSD-1-Clause", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "OpenSSL", "Unicode-3.0", "Unlicense", "Zlib",
];
const ALLOWED_EXCEPTIONS: &[&str] = &["LLVM-exception"];

/// Checks the licences of all packages.
///
/// # Errors
/// Names every package without an allowed licence.
pub(crate) fn check(project: &Project) -> Result<()> {
    let metadata = project.metadata()?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata has no list of packages")?;
    let refused: Vec<String> = packages.iter().filter_map(refusal).collect();
    if !refused.is_empty() {
        bail!("licences that are not allowed:\n  {}", refused.join("\n  "));
    }
    println!(
        "licences: {} packages, all under allowed licences",
        packages.len()
    );
    Ok(())
}

fn refusal(package: &Value) -> Option<String> {
    let licence = package["license"].as_str().unwrap_or_default();
    let name = format!("{} {}", package["name"].as_str()?, package["version"].as_str()?);
    match is_allowed(licence) {
        Ok(true) => None,
        Ok(false) => Some(format!("{name}: {licence}")),
        Err(error) => Some(format!("{name}: `{licence}`: {error}")),
    }
}

/// Returns whether an SPDX expression (AND, OR, WITH, parentheses; `/` is an old OR) can be met by allowed licences.
fn is_allowed(expression: &str) -> Result<bool> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allowed = or_expression(&mut rest)?;
    if let Some(word) = rest.first() {
        bail!("unexpected `{word}`");
    }
    Ok(allowed)
}

fn or_expression(rest: &mut &[&str]) -> Result<bool> {
    let mut allowed = and_expression(rest)?;
    while take(rest, "OR") {
        allowed |= and_expression(rest)?;
    }
    Ok(allowed)
}

fn and_expression(rest: &mut &[&str]) -> Result<bool> {
    let mut allowed = term(rest)?;
    while take(rest, "AND") {
        allowed &= term(rest)?;
    }
    Ok(allowed)
}

fn term(rest: &mut &[&str]) -> Result<bool> {
    if take(rest, "(") {
        let allowed = or_expression(rest)?;
        if !take(rest, ")") {
            bail!("a parenthesis is not closed");
        }
        return Ok(allowed);
    }
    let Some((licence, after)) = rest.split_first() else {
        bail!("a licence is missing")
    };
    *rest = after;
    let mut allowed = ALLOWED.contains(licence);
    if take(rest, "WITH") {
        let Some((exception, after)) = rest.split_first() else {
            bail!("an exception is missing")
        };
        *rest = after;
        allowed &= ALLOWED_EXCEPTIONS.contains(exception);
    }
    Ok(allowed)
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, after)) if *first == word => {
            *rest = after;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    fn check(expression: &str, expected: Option<bool>) {
        assert_eq!(is_allowed(expression).ok(), expected, "{expression}");
    }

    #[test]
    fn a_choice_is_allowed_if_one_side_is() {
        check("MIT", Some(true));
        check("MIT/Apache-2.0", Some(true));
        check("GPL-3.0-only OR MIT", Some(true));
        check("Apache-2.0 WITH LLVM-exception OR MIT", Some(true));
        check("(MIT OR GPL-2.0) AND Unicode-3.0", Some(true));
    }

    #[test]
    fn copyleft_and_unknown_words_are_refused() {
        check("GPL-3.0-only", Some(false));
        check("AGPL-3.0-or-later", Some(false));
        check("SSPL-1.0", Some(false));
        check("MIT AND GPL-2.0", Some(false));
        check("(MIT OR Apache-2.0) AND LGPL-3.0", Some(false));
        check("", None);
        check("MIT OR", None);
        check("(MIT", None);
        check("MIT MIT", None);
    }
}
