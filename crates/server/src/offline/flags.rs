//! Scrape options as flags of `convert`: the API's names in kebab case, parsed by the API's own parser.

use clap::{Arg, ArgMatches};
use harvestman_core::api::Wire;
use harvestman_core::api::fields::Field;
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::scrape::{Capabilities, check_supported, missing_backend};
use serde_json::Value;

use crate::input::Usage;
use crate::request::flags;

/// Options that have an effect without a server.
const OPTIONS: &[&str] = &[
    "formats", "onlyMainContent", "onlyCleanContent", "includeTags", "excludeTags", "removeBase64Images",
    "parsers", "redactPII",
];

/// Returns the flags.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    fields()
        .into_iter()
        .map(|field| flags::argument(&field).help_heading("Scrape options"))
}

fn fields() -> Vec<Field> {
    let mut fields = ScrapeOptions::fields();
    fields.retain(|field| OPTIONS.contains(&field.name));
    fields
}

/// Returns the flags as scrape options in JSON.
pub(super) fn body(matches: &ArgMatches) -> Value {
    Value::Object(flags::values(&fields(), matches))
}

/// Parses the flags.
///
/// # Errors
/// The error of the API for an invalid option, or for one that needs a browser, a language model or earlier versions.
pub(super) fn options(matches: &ArgMatches) -> Result<ScrapeOptions, Usage> {
    let options = ScrapeOptions::from_value(body(matches)).map_err(|error| Usage(flags::describe(&error)))?;
    let none = Capabilities::default();
    for format in &options.formats {
        let need = match format.kind() {
            FormatKind::ChangeTracking => Some("the page history of a server"),
            _ => missing_backend(format, &none),
        };
        if let Some(need) = need {
            let kind = format.kind();
            let message =
                format!("The format `{kind}` needs {need}, which `convert` does not use; remove it.");
            return Err(Usage(message));
        }
    }
    check_supported(&options, &none).map_err(|error| Usage(error.message))?;
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expected: Result<&str, &str>) {
        let command = clap::Command::new("convert").no_binary_name(true);
        let matches = command
            .args(super::arguments())
            .try_get_matches_from(arguments)
            .unwrap();
        match (options(&matches), expected) {
            (Ok(found), Ok(json)) => {
                assert_eq!(found, ScrapeOptions::from_json(json.as_bytes()).unwrap());
            }
            (Err(error), Err(words)) => assert!(error.0.contains(words), "{}", error.0),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn flags_are_parsed_like_the_options_of_the_api() {
        check(&[], Ok("{}"));
        check(
            &["--formats", "markdown, links", "--only-main-content", "false"],
            Ok(r#"{"formats":["markdown","links"],"onlyMainContent":false}"#),
        );
        check(
            &[
                "--include-tags", "article,.a", "--include-tags", "#b", "--formats=",
            ],
            Ok(r##"{"includeTags":["article",".a","#b"],"formats":[]}"##),
        );
        check(
            &[
                "--formats",
                r#"["html",{"type":"attributes","selectors":[{"selector":"a","attribute":"id"}]}]"#,
            ],
            Ok(
                r#"{"formats":["html",{"type":"attributes","selectors":[{"selector":"a","attribute":"id"}]}]}"#,
            ),
        );
        check(&["--formats", "markdwon"], Err("formats"));
        check(
            &["--formats", "screenshot"],
            Err("needs a browser, which `convert` does not use"),
        );
        check(&["--formats", "markdown,changeTracking"], Err("changeTracking"));
        check(&["--only-main-content", "maybe"], Err("--only-main-content"));
        check(&["--exclude-tags", "a[["], Err("excludeTags"));
    }
}
