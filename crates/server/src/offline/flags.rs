//! Scrape options as flags: the API's names in kebab case, read by the API's own reader.

use clap::{Arg, ArgAction, ArgMatches};
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::scrape::{Capabilities, check_supported};
use serde_json::{Map, Value};

use crate::offline::Usage;

/// How the text of a flag becomes JSON.
enum Kind {
    Bool,
    /// Separated by commas, or a JSON array.
    List,
    /// A boolean or a JSON object.
    Switch,
}

/// Flag, name in the API, kind, help.
const FLAGS: &[(&str, &str, Kind, &str)] = &[
    (
        "formats",
        "formats",
        Kind::List,
        "What to make of the page: markdown, html, rawHtml, links, images, summary, or a JSON array as in the API \
         [default: markdown]",
    ),
    (
        "only-main-content",
        "onlyMainContent",
        Kind::Bool,
        "Leave out navigation, headers, footers and the like [default: true]",
    ),
    (
        "only-clean-content",
        "onlyCleanContent",
        Kind::Bool,
        "Remove leftovers from the Markdown in a second pass [default: false]",
    ),
    (
        "include-tags",
        "includeTags",
        Kind::List,
        "CSS selectors: keep only what matches",
    ),
    (
        "exclude-tags",
        "excludeTags",
        Kind::List,
        "CSS selectors: leave out what matches",
    ),
    (
        "remove-base64-images",
        "removeBase64Images",
        Kind::Bool,
        "Replace data: pictures in the Markdown by a placeholder [default: true]",
    ),
    (
        "parsers",
        "parsers",
        Kind::List,
        "Document parsers, as in the API; empty: documents as base64 [default: pdf]",
    ),
    (
        "redact-pii",
        "redactPII",
        Kind::Switch,
        "Remove personal data: true, false or a JSON object as in the API [default: false]",
    ),
];

/// The flags.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    FLAGS.iter().map(|(flag, _, kind, help)| {
        let arg = Arg::new(*flag)
            .long(*flag)
            .help(*help)
            .help_heading("Scrape options");
        match kind {
            Kind::Bool => arg.value_name("true|false"),
            Kind::List => arg.value_name("LIST").action(ArgAction::Append),
            Kind::Switch => arg.value_name("JSON"),
        }
    })
}

/// What the flags ask for. Errors: what the API would answer, also for what needs a browser, a model or a history.
pub(super) fn options(matches: &ArgMatches) -> Result<ScrapeOptions, Usage> {
    let mut body = Map::new();
    for (flag, name, kind, _) in FLAGS {
        let Some(values) = matches.get_many::<String>(flag) else {
            continue;
        };
        body.insert((*name).to_owned(), value(kind, values.map(String::as_str)));
    }
    let options = ScrapeOptions::from_json(Value::Object(body).to_string().as_bytes())
        .map_err(|error| Usage(error.message))?;
    check_supported(&options, &Capabilities::default()).map_err(|error| Usage(error.message))?;
    if options.wants(FormatKind::ChangeTracking) {
        let message = "The format `changeTracking` needs the history of a server; leave it out.";
        return Err(Usage(message.to_owned()));
    }
    Ok(options)
}

fn value<'a>(kind: &Kind, texts: impl Iterator<Item = &'a str>) -> Value {
    match kind {
        Kind::List => texts.flat_map(list).collect(),
        Kind::Bool | Kind::Switch => {
            let text = texts.last().unwrap_or_default();
            serde_json::from_str(text).unwrap_or_else(|_| text.into())
        }
    }
}

/// `a,b`, `["a","b"]` or `{"type":"a"}`.
fn list(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(Value::Array(list)) => list,
        Ok(object @ Value::Object(_)) => vec![object],
        _ => {
            let words = text.split(',').map(str::trim);
            words.filter(|word| !word.is_empty()).map(Value::from).collect()
        }
    }
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
    fn flags_are_the_options_of_the_api() {
        check(&[], Ok("{}"));
        check(
            &["--formats", "markdown, links", "--only-main-content", "false"],
            Ok(r#"{"formats":["markdown","links"],"onlyMainContent":false}"#),
        );
        check(
            &[
                "--include-tags",
                "article,.a",
                "--include-tags",
                "#b",
                "--formats=",
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
        check(&["--formats", "screenshot"], Err("browser"));
        check(&["--formats", "markdown,changeTracking"], Err("changeTracking"));
        check(&["--only-main-content", "maybe"], Err("onlyMainContent"));
        check(&["--exclude-tags", "a[["], Err("excludeTags"));
    }
}
