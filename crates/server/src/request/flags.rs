//! The fields of a request as flags of a command, and the request body that they make. The core defines what a field
//! takes and checks the body.

use std::io::Read;

use anyhow::Context;
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches};
use harvestman_core::api::command::{RequestCommand, flag};
use harvestman_core::api::fields::{Field, FieldKind};
use harvestman_core::api::{ApiError, Wire};
use serde_json::{Map, Value};

use crate::input::{Usage, open};
use crate::limits;
use crate::request::help;

/// Id of the positional argument.
const SUBJECT: &str = "subject";
/// Id of the argument with the whole body.
const BODY: &str = "body";
/// Some editors and shells begin every text file with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the arguments that make the request body.
pub(super) fn arguments(command: RequestCommand) -> Vec<Arg> {
    let subject = command.subject();
    let fields = command.fields();
    let is_list = fields
        .iter()
        .any(|field| field.name == subject && field.kind() == FieldKind::List);
    let (name, most) = match (subject, is_list) {
        ("url", _) => ("URL", 1),
        (_, true) => ("URL", usize::MAX),
        _ => ("WORDS", usize::MAX),
    };
    let about = fields.iter().find(|field| field.name == subject).map(help::of);
    let positional = Arg::new(SUBJECT)
        .value_name(name)
        .num_args(1..=most)
        .conflicts_with(id(subject))
        .help(about.unwrap_or_default());
    let body = Arg::new(BODY)
        .long(BODY)
        .value_name("FILE|-|JSON")
        .allow_hyphen_values(true)
        .help("The request as JSON: text, a file, or - for standard input; flags override its fields");
    let flags = fields.iter().map(argument);
    [positional, body].into_iter().chain(flags).collect()
}

/// Returns the flag of a field. A hidden field has a flag too, but the help does not show it.
pub(crate) fn argument(field: &Field) -> Arg {
    let name = match field.kind() {
        FieldKind::Any => "TEXT|JSON".to_owned(),
        FieldKind::Bool => "true|false".to_owned(),
        FieldKind::Number => field.unit.unwrap_or("number").to_ascii_uppercase(),
        FieldKind::Text => "TEXT".to_owned(),
        FieldKind::Word(words) => words.join("|"),
        FieldKind::List => "LIST".to_owned(),
        FieldKind::Object => "JSON".to_owned(),
    };
    let action = match field.kind() {
        FieldKind::List => ArgAction::Append,
        _ => ArgAction::Set,
    };
    Arg::new(id(field.name))
        .long(flag::flag(field.name))
        .value_name(name)
        .action(action)
        .allow_hyphen_values(true)
        .help_heading("Request")
        .hide(field.hidden)
        .help(help::of(field))
}

/// Returns the id of a field's argument; a setting with the same flag has the same id.
fn id(field: &str) -> String {
    flag::flag(field).replace('-', "_")
}

/// Returns the values of these fields' flags.
pub(crate) fn values(fields: &[Field], given: &ArgMatches) -> Map<String, Value> {
    let value = |field: &Field| {
        let texts = given.get_many::<String>(&id(field.name))?.map(String::as_str);
        Some((field.name.to_owned(), flag::value(field.kind(), texts)))
    };
    fields.iter().filter_map(value).collect()
}

/// Returns the request that the flags of its fields make, if it is valid.
pub(super) fn checked<W: Wire>(given: &ArgMatches) -> Result<Value, Usage> {
    check::<W>(values(&W::fields(), given))
}

/// Returns the request if it is valid.
pub(super) fn check<W: Wire>(body: Map<String, Value>) -> Result<Value, Usage> {
    let body = Value::Object(body);
    match W::from_value(body.clone()) {
        Ok(_) => Ok(body),
        Err(error) => Err(Usage(describe(&error))),
    }
}

/// Returns whether the arguments contain a part of a request.
pub(super) fn is_given(command: RequestCommand, given: &ArgMatches) -> bool {
    given.contains_id(BODY) || given.contains_id(SUBJECT) || !values(&command.fields(), given).is_empty()
}

/// Builds the request body and checks it.
pub(super) fn body(command: RequestCommand, given: &ArgMatches) -> anyhow::Result<Value> {
    let fields = command.fields();
    let mut body = match given.get_one::<String>(BODY) {
        Some(source) => read_body(source)?,
        None => Map::new(),
    };
    body.extend(values(&fields, given));
    if let Some(words) = given.get_many::<String>(SUBJECT) {
        let subject = fields.iter().find(|field| field.name == command.subject());
        let words: Vec<&str> = words.map(String::as_str).collect();
        let value = match subject.map(Field::kind) {
            Some(FieldKind::List) => Value::from(words),
            _ => Value::from(words.join(" ")),
        };
        body.insert(command.subject().to_owned(), value);
    }
    let body = Value::Object(body);
    command
        .check(body.clone())
        .map_err(|error| Usage(describe(&error)))?;
    Ok(body)
}

fn read_body(source: &str) -> anyhow::Result<Map<String, Value>> {
    let text = match source.trim_start().starts_with('{') {
        true => source.to_owned(),
        false => {
            let mut text = String::new();
            let file = open(source.as_ref())?;
            file.take(limits::BODY_BYTES as u64)
                .read_to_string(&mut text)
                .with_context(|| format!("{source} cannot be read"))?;
            text
        }
    };
    let read = serde_json::from_str(text.trim_start_matches(BYTE_ORDER_MARK));
    Ok(read.map_err(|error| Usage(format!("--{BODY} is not a JSON object: {error}")))?)
}

/// Describes the problems of a body, one per line, naming fields by their flags.
pub(crate) fn describe(error: &ApiError) -> String {
    let details = error.details.as_ref().and_then(Value::as_array);
    let lines: Vec<String> = details.into_iter().flatten().map(problem).collect();
    match lines.is_empty() {
        true => error.message.clone(),
        false => lines.join("\n"),
    }
}

fn problem(detail: &Value) -> String {
    let message = detail["message"].as_str().unwrap_or_default();
    let mut place = String::new();
    for part in detail["path"].as_array().into_iter().flatten() {
        match part {
            Value::String(name) if place.is_empty() => place = format!("--{}", flag::flag(name)),
            Value::String(name) => place.push_str(&format!(".{name}")),
            index => place.push_str(&format!("[{index}]")),
        }
    }
    match place.is_empty() {
        true => format!("the request {message}"),
        false => format!("{place} {message}"),
    }
}

/// Returns a parser that rejects every value: for settings of the server, which have no effect on a request.
pub(crate) fn refused() -> ValueParser {
    ValueParser::new(|_: &str| -> Result<String, String> {
        Err("this is a setting of the server and has no effect here; remove it".to_owned())
    })
}
