//! `harvestman scrape`, `crawl`, `batch`, `map`, `search`, `extract`, `agent`: requests to a server from the command
//! line. Results go to standard output or a file, everything else to standard error. Nothing here knows a
//! field of a request: flags come from the field tables of the core, and the core reports what is wrong with a value.

pub(crate) mod flags;
pub(crate) mod help;
pub(crate) mod job;
pub(crate) mod output;
pub(crate) mod remote;

use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::wire_enum::WireEnum;
use harvestman_core::ids::JobId;
use serde_json::Value;

use crate::offline::Usage;
use job::Job;
use output::Output;
use remote::Remote;

/// Exit code when some pages failed.
const PARTIAL: u8 = 3;
/// Exit code after an interrupt: 128 plus the number of the signal, as in shells.
const INTERRUPTED: u8 = 130;

/// Returns the grammar of every request command.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    RequestCommand::ALL.iter().map(|command| grammar(*command))
}

fn grammar(command: RequestCommand) -> Command {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let file = Arg::new("output")
        .short('o')
        .long("output")
        .value_name("FILE")
        .help("Write the result to a file");
    let mut grammar = Command::new(command.as_str())
        .about(command.summary())
        .after_help(help::AFTER)
        .args(flags::arguments(command))
        .args(remote::arguments())
        .arg(file);
    if !job::streams(command) {
        grammar = grammar
            .arg(switch("json", "Print the whole response of the API"))
            .arg(switch("pretty", "Print JSON with line breaks, as on a terminal"));
    }
    if job::is_job(command) {
        let of_job = |name: &'static str, help: &'static str| {
            let arg = Arg::new(name).long(name).value_name("ID");
            arg.value_parser(value_parser!(JobId)).help(help)
        };
        let resume = of_job("resume", "Wait for a running job, or read a finished one");
        grammar = grammar
            .arg(switch(
                "no-wait",
                "Print the id of the job and do not wait for it",
            ))
            .arg(resume.conflicts_with("no-wait"));
        if job::is_cancelled(command) {
            let cancel = of_job("cancel", "Stop a job");
            grammar = grammar.arg(cancel.conflicts_with_all(["no-wait", "resume"]));
        }
    }
    if job::streams(command) {
        let skip = Arg::new("skip")
            .long("skip")
            .value_name("NUMBER")
            .value_parser(value_parser!(u64))
            .default_value("0")
            .requires("resume");
        grammar = grammar.arg(skip.help("With --resume: number of documents to skip"));
    }
    grammar
}

/// Sends the request of the arguments and prints the result.
pub(crate) async fn run(command: RequestCommand, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let remote = Remote::of(given)?;
    let of_job = |name: &str| given.try_get_one::<JobId>(name).ok().flatten().copied();
    let (cancel, resume) = (of_job("cancel"), of_job("resume"));
    if (cancel.is_some() || resume.is_some()) && flags::is_given(command, given) {
        let sentence = "--resume and --cancel take an existing job; remove the request";
        return Err(Usage(sentence.to_owned()).into());
    }
    if let Some(id) = cancel {
        remote.delete(&format!("{}/{id}", command.path())).await?;
        eprintln!("harvestman: {command} {id} is cancelled");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(id) = resume {
        let skip = given.try_get_one::<u64>("skip").ok().flatten().copied();
        let job = Job::new(remote, command, id, skip.unwrap_or(0));
        return job.follow(Output::of(given)?).await;
    }
    let body = flags::body(command, given)?;
    let response = remote.post(command.path(), &body).await?;
    if !job::is_job(command) {
        warn(&response);
        output::result(command, &body, &response, &mut Output::of(given)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let id: JobId = response["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .context("the response of the server has no job id")?;
    if given.get_flag("no-wait") {
        Output::of(given)?.text(&id.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut job = Job::new(remote, command, id, 0);
    job.report_invalid(response["invalidURLs"].as_array().into_iter().flatten());
    job.follow(Output::of(given)?).await
}

/// Prints the warning of a response.
fn warn(response: &Value) {
    if let Some(warning) = response["warning"].as_str() {
        eprintln!("harvestman: {warning}");
    }
}
