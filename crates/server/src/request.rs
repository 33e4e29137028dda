//! `harvestman scrape`, `crawl`, `batch`, `map`, `search`, `extract`, `agent`, `parse`, `interact`, `browser`, `monitor`:
//! requests to a server from the command line, or to the engine in this process ([`local`]). Results go to standard output
//! or a file, everything else to standard error. Nothing here knows a field of a request: flags come from the field tables
//! of the core, and the core reports what is wrong with a value.

pub(crate) mod api_client;
pub(crate) mod flags;
pub(crate) mod help;
pub(crate) mod job;
pub(crate) mod local;
pub(crate) mod monitors;
pub(crate) mod output;
mod page_files;
pub(crate) mod parse;
mod progress;
pub(crate) mod sessions;

use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::wire_enum::WireEnum;
use harvestman_core::ids::JobId;
use serde_json::Value;

use crate::input::Usage;
use api_client::ApiClient;
use job::Job;
use local::LocalServer;
use output::Output;

/// Flags of `agent` that print a thread and a trace.
const SHOW_THREAD: &str = "show-thread";
const SHOW_TRACE: &str = "show-trace";
/// Exit code when some pages failed, or the only page is an HTTP error.
const PARTIAL: u8 = 3;
/// Exit code after an interrupt: 128 plus the number of the signal, as in shells.
const INTERRUPTED: u8 = 130;

/// Returns the grammar of every request command.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    RequestCommand::ALL
        .iter()
        .map(|command| grammar(*command))
        .chain([parse::command()])
}

fn grammar(command: RequestCommand) -> Command {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let mut grammar = Command::new(command.as_str())
        .about(command.summary())
        .after_help(help::AFTER)
        .args(flags::arguments(command))
        .args(api_client::arguments())
        .arg(local::argument())
        .args(output::arguments());
    grammar = match job::streams(command) {
        true => grammar.arg(output::folder_argument()),
        false => grammar.args(output::json_arguments()),
    };
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
        let cancel = of_job("cancel", "Cancel a job");
        grammar = grammar.arg(cancel.conflicts_with_all(["no-wait", "resume"]));
    }
    if command == RequestCommand::Agent {
        let reads = |name: &'static str, help: &'static str| {
            let arg = Arg::new(name).long(name).value_name("ID");
            let arg = arg.value_parser(value_parser!(JobId)).help(help);
            arg.conflicts_with_all(["no-wait", "resume", "cancel"])
        };
        grammar = grammar
            .arg(reads(
                SHOW_THREAD,
                "Print a conversation with its runs and their results",
            ))
            .arg(
                reads(SHOW_TRACE, "Print what a run did, one line of JSON per event")
                    .conflicts_with(SHOW_THREAD),
            );
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

/// What the arguments of a command ask for.
enum Action {
    /// Cancel a job.
    Cancel(JobId),
    /// Follow a job, after a number of documents.
    Resume(JobId, u64),
    /// Print a conversation with an agent.
    ShowThread(JobId),
    /// Print what an agent did.
    ShowTrace(JobId),
    /// Send a request.
    Send(Value),
}

impl Action {
    fn of(command: RequestCommand, given: &ArgMatches) -> anyhow::Result<Action> {
        let of_job = |name: &str| given.try_get_one::<JobId>(name).ok().flatten().copied();
        let (cancel, resume) = (of_job("cancel"), of_job("resume"));
        let skip = given.try_get_one::<u64>("skip").ok().flatten().copied();
        let existing = cancel
            .map(Action::Cancel)
            .or(resume.map(|id| Action::Resume(id, skip.unwrap_or(0))))
            .or(of_job(SHOW_THREAD).map(Action::ShowThread))
            .or(of_job(SHOW_TRACE).map(Action::ShowTrace));
        match existing {
            Some(_) if flags::is_given(command, given) => {
                let sentence = "--resume, --cancel and --show-... take an existing job; remove the request";
                Err(Usage(sentence.to_owned()).into())
            }
            Some(action) => Ok(action),
            None => Ok(Action::Send(flags::body(command, given)?)),
        }
    }

    /// Returns the URLs of the request.
    fn urls(&self) -> Vec<&str> {
        match self {
            Action::Send(body) => local::urls(body),
            _ => Vec::new(),
        }
    }
}

/// Sends the request of the arguments and prints the result.
pub(crate) async fn run(command: RequestCommand, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let action = Action::of(command, given)?;
    if is_local(given) {
        refuse_jobs_elsewhere(&action, given)?;
    }
    let is_job = job::is_job(command);
    let run = async |client: &ApiClient| act(command, &action, client, given).await;
    on_server(given, &action.urls(), is_job, run).await
}

/// Uploads a file and prints its content.
pub(crate) async fn run_parse(given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let options = flags::checked::<ParseOptions>(given)?;
    let run = async |client: &ApiClient| parse::run(client, &options, given).await.map(|()| 0);
    on_server(given, &[], false, run).await
}

/// Rejects what a server in this process cannot do: start a job that outlives it, or use a job that it does not have.
fn refuse_jobs_elsewhere(action: &Action, given: &ArgMatches) -> Result<(), Usage> {
    let no_wait = given.try_get_one::<bool>("no-wait").ok().flatten() == Some(&true);
    let sentence = match action {
        _ if no_wait => "--no-wait needs a server; set its URL with --api-url",
        Action::Send(_) => return Ok(()),
        _ if !local::names_folder(given) => {
            "--resume, --cancel and --show-... need the server of the job (--api-url) or its folder (--data-dir)"
        }
        _ => return Ok(()),
    };
    Err(Usage(sentence.to_owned()))
}

/// Runs a request with the server that the arguments name, else with one in this process that may fetch `urls`. A job
/// handles an interrupt itself and can be resumed afterwards.
async fn on_server(
    given: &ArgMatches,
    urls: &[&str],
    is_job: bool,
    run: impl AsyncFnOnce(&ApiClient) -> anyhow::Result<u8>,
) -> anyhow::Result<ExitCode> {
    if !is_local(given) {
        local::refuse_settings(given)?;
        return Ok(ExitCode::from(run(&ApiClient::of(given)?).await?));
    }
    let server = LocalServer::start(given, urls).await?;
    let code = match is_job {
        true => run(server.client()).await,
        false => until_interrupt(run(server.client())).await,
    };
    let can_resume = is_job && matches!(code, Ok(INTERRUPTED));
    server.stop(can_resume).await?;
    Ok(ExitCode::from(code?))
}

/// Returns whether the request runs in this process.
fn is_local(given: &ArgMatches) -> bool {
    given.get_flag("local") || !api_client::is_configured(given)
}

/// Runs a request until it ends or the user interrupts it.
async fn until_interrupt(run: impl Future<Output = anyhow::Result<u8>>) -> anyhow::Result<u8> {
    tokio::select! {
        code = run => code,
        _ = tokio::signal::ctrl_c() => Ok(INTERRUPTED),
    }
}

async fn act(
    command: RequestCommand,
    action: &Action,
    client: &ApiClient,
    given: &ArgMatches,
) -> anyhow::Result<u8> {
    let body = match action {
        Action::Cancel(id) => {
            client.delete(&format!("{}/{id}", command.path())).await?;
            eprintln!("harvestman: {command} {id} is cancelled");
            return Ok(0);
        }
        Action::Resume(id, skip) => {
            let job = Job::new(client.clone(), command, *id, *skip);
            return job.follow(Output::of(given)?).await;
        }
        Action::ShowThread(id) => {
            let response = client
                .get(&format!("/v2/agent/threads/{id}?includeData=true"))
                .await?;
            Output::of(given)?.value(&response, &response["thread"])?;
            return Ok(0);
        }
        Action::ShowTrace(id) => {
            let response = client.get(&format!("/v2/agent/{id}/trace")).await?;
            sessions::print_lines(&response, "events", given)?;
            return Ok(0);
        }
        Action::Send(body) => body,
    };
    let response = client.post(command.path(), body).await?;
    if !job::is_job(command) {
        warn(&response);
        let mut out = Output::of(given)?;
        match output::picture_url(command, body, &response).filter(|_| out.takes_picture(client)) {
            Some(url) => out.bytes(&client.picture(url).await?)?,
            None => output::result(command, body, &response, &mut out)?,
        }
        return Ok(page_code(&response));
    }
    let id: JobId = response["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .context("the response of the server has no job id")?;
    if given.get_flag("no-wait") {
        Output::of(given)?.text(&id.to_string())?;
        return Ok(0);
    }
    let mut job = Job::new(client.clone(), command, id, 0);
    job.report_invalid(response["invalidURLs"].as_array().into_iter().flatten());
    job.follow(Output::of(given)?).await
}

/// Returns the exit code for a scraped page, and reports an HTTP error of the page's server.
fn page_code(response: &Value) -> u8 {
    let metadata = &response["data"]["metadata"];
    match metadata["statusCode"].as_u64() {
        Some(status) if status >= 400 => {
            let url = metadata["url"].as_str().or(metadata["sourceURL"].as_str());
            eprintln!(
                "harvestman: {} responded with HTTP status {status}",
                url.unwrap_or_default()
            );
            PARTIAL
        }
        _ => 0,
    }
}

/// Prints the warning of a response.
fn warn(response: &Value) {
    if let Some(warning) = response["warning"].as_str() {
        eprintln!("harvestman: {warning}");
    }
}
