//! `harvestman monitor`: monitors of a server, from the command line. They outlive the command, so they always need a
//! server.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use harvestman_core::api::Wire;
use harvestman_core::api::fields::{Field, WireEnum};
use harvestman_core::api::monitor::{MonitorChange, MonitorRequest};
use harvestman_core::api::monitor_response::{CheckStatus, MonitorStatus, PageStatus};
use harvestman_core::limits::{DEFAULT_MONITOR_LIMIT, MAX_MONITOR_LIMIT};
use serde_json::{Value, json};
use uuid::Uuid;

use super::sessions::{id, id_of, print, print_lines, with_output};
use crate::input::Usage;
use crate::limits;
use crate::request::api_client::ApiClient;
use crate::request::output::Output;
use crate::request::{INTERRUPTED, PARTIAL, flags, help};

/// Name of the command.
pub(crate) const NAME: &str = "monitor";

const URLS: &str = "pages";
const CHECK: &str = "check";

/// Returns the grammar of the command.
pub(crate) fn command() -> Command {
    let monitor = || id("MONITOR", "Id of the monitor");
    let no_wait = Arg::new("no-wait").long("no-wait").action(ArgAction::SetTrue);
    let check = Arg::new(CHECK).value_name("CHECK").required(true);
    let check = check.value_parser(value_parser!(Uuid)).help("Id of the check");
    let subcommands = [
        Command::new("create")
            .about("Create a monitor and print its id; --json prints the whole monitor")
            .arg(urls())
            .args(arguments(&MonitorRequest::fields())),
        with_paging(
            Command::new("list").about("List monitors, newest first, one line of JSON each"),
            MonitorStatus::WORDS,
        ),
        Command::new("show").about("Print a monitor").arg(monitor()),
        Command::new("update")
            .about("Change a monitor; fields that are not given keep their values")
            .arg(monitor())
            .args(arguments(&MonitorChange::fields())),
        Command::new("run")
            .about("Start a check now, wait for its end and print it")
            .arg(monitor())
            .arg(no_wait.help("Print the id of the check and do not wait for it")),
        with_paging(
            Command::new("checks")
                .about("List the checks of a monitor, newest first, one line of JSON each")
                .arg(monitor()),
            CheckStatus::WORDS,
        ),
        Command::new("pages")
            .about("Print the pages of a check, one line of JSON each")
            .arg(monitor())
            .arg(check)
            .arg(status(PageStatus::WORDS)),
        Command::new("delete")
            .about("Delete a monitor with its checks")
            .arg(monitor()),
    ];
    Command::new(NAME)
        .about("Create, list, change, run and delete monitors on a server, and read their checks")
        .after_help(help::AFTER)
        .subcommand_required(true)
        .subcommands(subcommands.map(with_output))
}

fn urls() -> Arg {
    let arg = Arg::new(URLS).value_name("URL").num_args(0..);
    arg.conflicts_with("targets")
        .help("Pages to check, instead of --targets")
}

/// Returns the flags of these fields; a schedule may be plain text.
fn arguments(fields: &[Field]) -> Vec<Arg> {
    let flags = fields.iter().map(|field| match field.name {
        "schedule" => flags::argument(field)
            .value_name("TEXT|JSON")
            .help("When the monitor runs: `every 30 minutes`, or an object with `cron` or `text`"),
        _ => flags::argument(field),
    });
    flags.collect()
}

fn status(words: &[&'static str]) -> Arg {
    let arg = Arg::new("status").long("status");
    arg.value_parser(words.to_vec())
        .help("List only monitors in this state")
}

fn with_paging(command: Command, words: &[&'static str]) -> Command {
    let number = |name: &'static str| Arg::new(name).long(name).value_name("NUMBER");
    let limit = number("limit").value_parser(value_parser!(u64).range(1..=MAX_MONITOR_LIMIT));
    let offset = number("offset").value_parser(value_parser!(u64));
    command
        .arg(status(words))
        .arg(limit.help(format!(
            "Maximum number of lines [default: {DEFAULT_MONITOR_LIMIT}]"
        )))
        .arg(offset.help("Number of lines to skip"))
}

/// Runs `harvestman monitor`.
pub(crate) async fn run(given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let (verb, given) = given.subcommand().context("the parser requires a subcommand")?;
    let client = ApiClient::of(given)?;
    if verb == "create" {
        let body = body::<MonitorRequest>(given)?;
        let response = client.post("/v2/monitor", &body).await?;
        return print(&response, &response["data"]["id"], given);
    }
    if verb == "list" {
        let response = client.get(&format!("/v2/monitor{}", query(given, 0))).await?;
        return print_lines(&response, "data", given);
    }
    let path = format!("/v2/monitor/{}", id_of(given)?);
    match verb {
        "show" => {
            let response = client.get(&path).await?;
            print(&response, &response["data"], given)
        }
        "update" => {
            let response = client.patch(&path, &body::<MonitorChange>(given)?).await?;
            print(&response, &response["data"], given)
        }
        "run" => run_check(&client, &path, given).await,
        "checks" => {
            let response = client.get(&format!("{path}/checks{}", query(given, 0))).await?;
            print_lines(&response, "data", given)
        }
        "pages" => {
            let check = given
                .get_one::<Uuid>(CHECK)
                .context("the parser requires a check")?;
            print_pages(&client, &format!("{path}/checks/{check}"), given).await?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            let response = client.delete(&path).await?;
            print(&response, &Value::from(""), given)?;
            eprintln!("harvestman: the monitor is deleted");
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Builds the request body from the flags and URLs, and checks it.
fn body<W: Wire>(given: &ArgMatches) -> Result<Value, Usage> {
    let mut body = flags::values(&W::fields(), given);
    if let Some(schedule @ Value::String(_)) = body.get("schedule") {
        let schedule = json!({ "text": schedule });
        body.insert("schedule".to_owned(), schedule);
    }
    let urls = given.try_get_many::<String>(URLS).ok().flatten();
    let urls: Vec<&str> = urls.into_iter().flatten().map(String::as_str).collect();
    if !urls.is_empty() {
        let targets = json!([{ "type": "scrape", "urls": urls }]);
        body.insert("targets".to_owned(), targets);
    }
    flags::check::<W>(body)
}

/// Returns the query of a list.
fn query(given: &ArgMatches, skip: u64) -> String {
    let number = |name: &str| given.try_get_one::<u64>(name).ok().flatten().copied();
    let parameters = [
        ("limit", number("limit").map(|limit| limit.to_string())),
        ("offset", number("offset").map(|offset| offset.to_string())),
        (
            "skip",
            Some(skip).filter(|skip| *skip > 0).map(|skip| skip.to_string()),
        ),
        ("status", given.get_one::<String>("status").cloned()),
    ];
    let parameters = parameters
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    format!("?{}", parameters.collect::<Vec<_>>().join("&"))
}

/// Prints all pages of a check.
async fn print_pages(client: &ApiClient, path: &str, given: &ArgMatches) -> anyhow::Result<()> {
    let mut out = Output::of(given)?;
    let mut seen = 0;
    loop {
        let response = client.get(&format!("{path}{}", query(given, seen))).await?;
        let pages = response["data"]["pages"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        for page in pages {
            out.document(page)?;
        }
        seen += pages.len() as u64;
        if pages.is_empty() || response["next"].is_null() {
            return out.flush().context("cannot write the pages");
        }
    }
}

/// Starts a check and prints it when it has ended. An interrupt ends the command, not the check.
async fn run_check(client: &ApiClient, monitor: &str, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let started = client.post(&format!("{monitor}/run"), &json!({})).await?;
    let id = started["id"]
        .as_str()
        .context("the response of the server has no id")?;
    if given.get_flag("no-wait") {
        return print(&started, &started["id"], given);
    }
    eprintln!("harvestman: check {id}");
    let path = format!("{monitor}/checks/{id}?limit=1");
    let ended = async {
        loop {
            let response = client.get(&path).await?;
            if !matches!(response["data"]["status"].as_str(), Some("queued" | "running")) {
                return anyhow::Ok(response);
            }
            tokio::time::sleep(limits::REMOTE_POLL_INTERVAL).await;
        }
    };
    let mut response = tokio::select! {
        response = ended => response?,
        _ = tokio::signal::ctrl_c() => {
            eprintln!("harvestman: interrupted; the check continues");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    // Another command prints the pages.
    if let Some(check) = response["data"].as_object_mut() {
        check.remove("pages");
    }
    print(&response, &response["data"], given)?;
    let check = &response["data"];
    let status = check["status"].as_str().unwrap_or_default();
    let reason = check["error"]
        .as_str()
        .map_or(String::new(), |error| format!(": {error}"));
    match status {
        "completed" => Ok(ExitCode::SUCCESS),
        _ => {
            eprintln!("harvestman: the check is {status}{reason}");
            Ok(ExitCode::from(if status == "partial" { PARTIAL } else { 1 }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_flag() {
        let command = command();
        for (name, fields) in [
            ("create", MonitorRequest::fields()),
            ("update", MonitorChange::fields()),
        ] {
            let subcommand = command.find_subcommand(name).unwrap();
            for field in fields {
                let flag = harvestman_core::api::command::flag::flag(field.name);
                let is_known = subcommand
                    .get_arguments()
                    .any(|arg| arg.get_long() == Some(flag.as_str()));
                assert!(is_known, "{name} --{flag}");
            }
        }
    }

    #[test]
    fn words_are_a_schedule_and_urls_are_a_target() {
        let body_of = |arguments: &[&str]| {
            let given = command().get_matches_from([&[NAME, "create"], arguments].concat());
            let (_, given) = given.subcommand().unwrap();
            body::<MonitorRequest>(given).unwrap()
        };
        assert_eq!(
            body_of(&["https://a.test/", "--name", "A", "--schedule", "hourly"]),
            json!({ "name": "A", "schedule": { "text": "hourly" },
                "targets": [{ "type": "scrape", "urls": ["https://a.test/"] }] })
        );
        assert_eq!(
            body_of(&[
                "https://a.test/", "--name", "A", "--schedule", r#"{"cron":"0 9 * * 1"}"#
            ])["schedule"],
            json!({ "cron": "0 9 * * 1" })
        );
    }
}
