//! The fields of a request as flags of a command, and the body that they make. What a field takes is told by the core,
//! what is wrong with a body is too.

use std::io::Read;

use anyhow::Context;
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches};
use harvestman_core::api::ApiError;
use harvestman_core::api::command::{RequestCommand, flag};
use harvestman_core::api::fields::{Field, FieldKind};
use serde_json::{Map, Value};

use crate::limits;
use crate::offline::{Usage, open};
use crate::request::help;

/// Name of the argument without a flag.
const SUBJECT: &str = "subject";
/// Name of the argument for a whole body.
const BODY: &str = "body";

/// The arguments that make the body.
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
        .help("The request as JSON: its text, a file, or - for standard input; flags replace what it says");
    let flags = fields.iter().map(argument);
    [positional, body].into_iter().chain(flags).collect()
}

/// Returns the flag of a field. A hidden field has one too, which the help does not show.
pub(crate) fn argument(field: &Field) -> Arg {
    let name = match field.kind() {
        FieldKind::Any => "TEXT|JSON".to_owned(),
        FieldKind::Bool => "true|false".to_owned(),
        FieldKind::Number => "NUMBER".to_owned(),
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

/// The name of a field's argument, which is that of a setting where both have the same flag.
fn id(field: &str) -> String {
    flag::flag(field).replace('-', "_")
}

/// What the flags of these fields say.
pub(crate) fn said(fields: &[Field], given: &ArgMatches) -> Map<String, Value> {
    let value = |field: &Field| {
        let texts = given.get_many::<String>(&id(field.name))?.map(String::as_str);
        Some((field.name.to_owned(), flag::value(field.kind(), texts)))
    };
    fields.iter().filter_map(value).collect()
}

/// Whether the arguments say anything of a request.
pub(super) fn is_given(command: RequestCommand, given: &ArgMatches) -> bool {
    given.contains_id(BODY) || given.contains_id(SUBJECT) || !said(&command.fields(), given).is_empty()
}

/// The body that the arguments make, acceptable to the core.
pub(super) fn body(command: RequestCommand, given: &ArgMatches) -> anyhow::Result<Value> {
    let fields = command.fields();
    let mut body = match given.get_one::<String>(BODY) {
        Some(source) => read_body(source)?,
        None => Map::new(),
    };
    body.extend(said(&fields, given));
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
    command.check(body.clone()).map_err(|error| Usage(told(&error)))?;
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
    let read = serde_json::from_str(&text);
    Ok(read.map_err(|error| Usage(format!("--{BODY} is no JSON object: {error}")))?)
}

/// What is wrong with a body, a problem a line, fields by their flags.
pub(crate) fn told(error: &ApiError) -> String {
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

/// A value that is never accepted, so that a command does not take a flag which says nothing to it.
pub(crate) fn refused() -> ValueParser {
    ValueParser::new(|_: &str| -> Result<String, String> {
        Err("this is a setting of the server; leave it out here".to_owned())
    })
}
