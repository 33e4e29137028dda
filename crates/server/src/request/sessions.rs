//! `harvestman interact` and `harvestman browser`: live browsers of a server, from the command line. They outlive the
//! command, so they always need a server.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use harvestman_core::api::Wire;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest, ExtendRequest, SessionStatus};
use harvestman_core::api::fields::WireEnum;
use harvestman_core::api::interact::InteractRequest;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::request::api_client::{self, ApiClient};
use crate::request::output::{self, Output};
use crate::request::parse::Form;
use crate::request::{flags, help};

/// Name of the command for the browser of a scrape.
pub(crate) const INTERACT: &str = "interact";
/// Name of the command for sessions without a scrape.
pub(crate) const BROWSER: &str = "browser";

const ID: &str = "id";
const WORDS: &str = "words";
const FILE: &str = "file";

/// Returns the grammar of both commands.
pub(crate) fn commands() -> [Command; 2] {
    [interact_command(), browser_command()]
}

fn interact_command() -> Command {
    let stop = Arg::new("stop").long("stop").action(ArgAction::SetTrue);
    with_output(Command::new(INTERACT))
        .about("Continue a scraped page in a live browser, with a prompt or code")
        .after_help(help::AFTER)
        .arg(id(
            "SCRAPE",
            "Id of the scrape: `metadata.scrapeId` of its document",
        ))
        .arg(words("What to do, in words").conflicts_with_all(["prompt", "code"]))
        .arg(
            stop.conflicts_with_all([WORDS, "prompt", "code"])
                .help("End the browser"),
        )
        .args(InteractRequest::fields().iter().map(flags::argument))
}

fn browser_command() -> Command {
    let status = Arg::new("status")
        .long("status")
        .value_parser(SessionStatus::WORDS.to_vec())
        .help("List only sessions in this state");
    let session = || id("SESSION", "Id of the session");
    let file = Arg::new(FILE).value_name("FILE").required(true);
    let file = file.value_parser(value_parser!(PathBuf)).help("The file");
    let subcommands = [
        Command::new("open")
            .about("Open a session and print its id; --json prints its URLs too")
            .args(BrowserRequest::fields().iter().map(flags::argument)),
        Command::new("execute")
            .about("Run code in a session; without --code the words are browser commands")
            .arg(session())
            .arg(
                words("Browser commands, such as: open https://example.com '&&' get title")
                    .conflicts_with("code"),
            )
            .args(ExecuteRequest::fields().iter().map(flags::argument)),
        Command::new("list")
            .about("List the sessions of the last 24 hours, one line of JSON each")
            .arg(status),
        Command::new("extend")
            .about("Extend the lifetime of a session")
            .arg(session())
            .args(ExtendRequest::fields().iter().map(flags::argument)),
        Command::new("files")
            .about("List the files downloaded in and uploaded to a session, one line of JSON each")
            .arg(session()),
        Command::new("upload")
            .about("Upload a file to a session and print its path for code")
            .arg(session())
            .arg(file),
        Command::new("close").about("End a session").arg(session()),
    ];
    Command::new(BROWSER)
        .about("Open, use, list and close live browsers on a server")
        .subcommand_required(true)
        .subcommands(subcommands.map(with_output))
}

pub(super) fn with_output(command: Command) -> Command {
    command
        .args(api_client::arguments())
        .args(output::arguments())
        .args(output::json_arguments())
}

pub(super) fn id(name: &'static str, help: &'static str) -> Arg {
    let arg = Arg::new(ID).value_name(name).required(true);
    arg.value_parser(value_parser!(Uuid)).help(help)
}

fn words(help: &'static str) -> Arg {
    let arg = Arg::new(WORDS).value_name("WORDS").num_args(0..);
    arg.trailing_var_arg(true).help(help)
}

/// Runs `harvestman interact`.
pub(crate) async fn interact(given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let client = ApiClient::of(given)?;
    let path = format!("/v2/scrape/{}/interact", id_of(given)?);
    if given.get_flag("stop") {
        return ended(&client.delete(&path).await?, given);
    }
    let mut body = flags::values(&InteractRequest::fields(), given);
    add_words(&mut body, "prompt", given);
    executed(&client, &path, flags::check::<InteractRequest>(body)?, given).await
}

/// Runs `harvestman browser`.
pub(crate) async fn browser(given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let (verb, given) = given.subcommand().context("the parser requires a subcommand")?;
    let client = ApiClient::of(given)?;
    match verb {
        "open" => {
            let response = client
                .post("/v2/browser", &flags::checked::<BrowserRequest>(given)?)
                .await?;
            print(&response, &response["id"], given)
        }
        "execute" => {
            let mut body = flags::values(&ExecuteRequest::fields(), given);
            if !body.contains_key("code") {
                body.entry("language").or_insert_with(|| "bash".into());
            }
            add_words(&mut body, "code", given);
            let path = format!("/v2/browser/{}/execute", id_of(given)?);
            executed(&client, &path, flags::check::<ExecuteRequest>(body)?, given).await
        }
        "list" => {
            let status = given.get_one::<String>("status");
            let query = status.map_or(String::new(), |status| format!("?status={status}"));
            let response = client.get(&format!("/v2/browser{query}")).await?;
            print_lines(&response, "sessions", given)
        }
        "extend" => {
            let path = format!("/v2/browser/{}/extend", id_of(given)?);
            let response = client
                .post(&path, &flags::checked::<ExtendRequest>(given)?)
                .await?;
            print(&response, &response["expiresAt"], given)
        }
        "files" => {
            let response = client
                .get(&format!("/v2/browser/{}/files", id_of(given)?))
                .await?;
            print_lines(&response, "files", given)
        }
        "upload" => {
            let file = given
                .get_one::<PathBuf>(FILE)
                .context("the parser requires a file")?;
            let path = format!("/v2/browser/{}/files", id_of(given)?);
            let response = Form::of_file(file, &Value::Null)?.send_to(&client, &path).await?;
            print(&response, &response["file"]["path"], given)
        }
        _ => {
            let path = format!("/v2/browser/{}", id_of(given)?);
            ended(&client.delete(&path).await?, given)
        }
    }
}

pub(super) fn id_of(given: &ArgMatches) -> anyhow::Result<&Uuid> {
    given.get_one::<Uuid>(ID).context("the parser requires an id")
}

/// Sets a field to the words of the arguments, if there are any.
fn add_words(body: &mut Map<String, Value>, field: &str, given: &ArgMatches) {
    if let Some(words) = given.get_many::<String>(WORDS) {
        let words: Vec<&str> = words.map(String::as_str).collect();
        body.insert(field.to_owned(), words.join(" ").into());
    }
}

/// Runs code or a prompt, and prints what it printed. The exit code is 1 if it failed.
async fn executed(
    client: &ApiClient,
    path: &str,
    body: Value,
    given: &ArgMatches,
) -> anyhow::Result<ExitCode> {
    let response = client.post(path, &body).await?;
    let text = |name: &str| response[name].as_str().unwrap_or_default();
    // The result of a prompt or of code; the output of commands.
    let shown = ["output", "stdout", "result"]
        .into_iter()
        .find(|name| !text(name).trim().is_empty());
    print(&response, &shown.map_or("", text).into(), given)?;
    io::stderr().write_all(text("stderr").as_bytes())?;
    if response["success"] == true {
        return Ok(ExitCode::SUCCESS);
    }
    let reason = match (response["killed"].as_bool(), text("error")) {
        (Some(true), "") => "stopped by the timeout",
        (_, "") => "the code failed",
        (_, reason) => reason,
    };
    eprintln!("harvestman: {reason}");
    Ok(ExitCode::FAILURE)
}

fn ended(response: &Value, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    print(response, &Value::from(""), given)?;
    let credits = output::count(response["creditsBilled"].as_u64().unwrap_or_default(), "credit");
    eprintln!(
        "harvestman: the session has ended after {} ms, {credits}",
        response["sessionDurationMs"]
    );
    Ok(ExitCode::SUCCESS)
}

/// Prints a part of a response; with `--json` the whole of it.
pub(super) fn print(response: &Value, part: &Value, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    Output::of(given)?.value(response, part)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the entries of a list in a response, one line of JSON each; with `--json` the whole response.
pub(super) fn print_lines(response: &Value, list: &str, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let entries = response[list].as_array().into_iter().flatten();
    let lines: Vec<String> = entries.map(Value::to_string).collect();
    print(response, &lines.join("\n").into(), given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_flag() {
        let [interact, browser] = commands();
        let flags: Vec<String> = std::iter::once(&interact)
            .chain(browser.get_subcommands())
            .flat_map(Command::get_arguments)
            .filter_map(|arg| arg.get_long().map(str::to_owned))
            .collect();
        for field in [
            InteractRequest::fields(),
            BrowserRequest::fields(),
            ExecuteRequest::fields(),
            ExtendRequest::fields(),
        ]
        .concat()
        {
            let flag = harvestman_core::api::command::flag::flag(field.name);
            assert!(flags.contains(&flag), "{flag}");
        }
    }
}
