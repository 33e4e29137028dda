//! The command line. Settings are flags of every command that uses them.

mod backup;
mod discard_secrets;
mod migrate;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use harvestman_browser::SANDBOX_INIT_COMMAND;
use harvestman_core::api::command::RequestCommand;
use harvestman_core::ids::KeyId;
use harvestman_engine::{Plans, READ_FILE_COMMAND, RECOGNIZE_TEXT_COMMAND};
use harvestman_store::{DATABASE_FILE, Store, StoreError};

use crate::config::setting::SETTINGS;
use crate::config::{Config, ConfigError, Values, source};
use crate::input::Usage;
use crate::operator::endpoint::OperatorEndpoint;
use crate::telemetry::Telemetry;
use crate::{
    bootstrap, doctor, log, manual, mcp, offline, operator, read_file, recognize_text, request, serve, setup,
};

/// Runs the command in the arguments of the process. Exit codes: 0 success, 1 failure, 2 invalid usage or settings;
/// for request commands also 3 when some pages failed and 130 when interrupted.
pub fn main() -> ExitCode {
    let matches = command().get_matches();
    match run(&matches) {
        Ok(code) => code,
        // The reader of the output has closed it and needs no more.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "harvestman: {error:#}");
            ExitCode::from(if error.is::<ConfigError>() || error.is::<Usage>() {
                2
            } else {
                1
            })
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Builds the command-line grammar.
pub fn command() -> Command {
    let settings = SETTINGS.iter().map(|setting| {
        let arg = Arg::new(setting.key)
            .long(setting.flag())
            .global(true)
            .help_heading("Settings");
        let help = match setting.default.filter(|_| !setting.is_switch()) {
            Some(default) => format!(
                "{} [default: {default}] [env: {}]",
                setting.help,
                setting.environment()
            ),
            None => format!("{} [env: {}]", setting.help, setting.environment()),
        };
        let arg = if setting.is_switch() {
            arg.num_args(0..=1)
                .require_equals(true)
                .default_missing_value("1")
                .value_name("0|1")
        } else {
            arg.value_name(setting.placeholder)
        };
        arg.help(help)
    });
    Command::new("harvestman")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Turns web pages into data: scrape, crawl, and more, behind one API and a console")
        .arg(
            Arg::new("config")
                .long("config")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .global(true)
                .help_heading("Settings")
                .help("Settings file [default: harvestman.toml in the current folder, if present]"),
        )
        .args(settings)
        .subcommand(Command::new("serve").about("Start the server: API and console"))
        .subcommand(keys_command())
        .subcommand(teams_command())
        .subcommand(Command::new("feedback").about(
            "List the newest feedback from clients: time, team, kind and id of the request, rating, body",
        ))
        .subcommand(
            Command::new("config")
                .about("Show the configuration, or print a template for it")
                .subcommand_required(true)
                .subcommand(
                    Command::new("show").about("Show every setting with its value and where it is set"),
                )
                .subcommand(
                    Command::new("template").about("Print a harvestman.toml that explains every setting"),
                ),
        )
        .subcommand(
            Command::new("health").about("Print the state of a running server; exit code 0 if it is ready"),
        )
        .subcommand(Command::new("doctor").about("Check everything on this machine that the server uses"))
        .subcommand(setup::command())
        .subcommands(backup_commands())
        .subcommand(migrate::command())
        .subcommand(discard_secrets::command())
        .subcommands(request::commands().map(|command| without_settings(command, request::local::SETTINGS)))
        .subcommands(request::sessions::commands().map(|command| without_settings(command, &[])))
        .subcommand(without_settings(request::monitors::command(), &[]))
        .subcommand(without_settings(mcp::command(), &[]))
        .subcommand(without_settings(offline::convert_command(), &[]))
        .subcommand(without_settings(offline::robots_command(), &[]))
        .subcommands(manual::commands().map(|command| without_settings(command, &[])))
        .subcommand(without_settings(
            Command::new("version").about("Print the version"),
            &[],
        ))
        .subcommand(
            Command::new(READ_FILE_COMMAND)
                .hide(true)
                .about("Convert the file that the server passes on stdin"),
        )
        .subcommand(
            Command::new(RECOGNIZE_TEXT_COMMAND)
                .hide(true)
                .about("Recognize the text of the image that the server passes on stdin")
                .arg(
                    Arg::new("tesseract")
                        .required(true)
                        .value_parser(value_parser!(OsString)),
                )
                .arg(
                    Arg::new("languages")
                        .required(true)
                        .value_parser(value_parser!(OsString)),
                ),
        )
        .subcommand(
            Command::new(SANDBOX_INIT_COMMAND)
                .hide(true)
                .about("Start a program in a sandbox")
                .arg(Arg::new("stage").required(true)),
        )
}

/// Hides the settings that a command does not use, and rejects them there with a clear message.
fn without_settings(command: Command, used: &[&str]) -> Command {
    let keys = SETTINGS.iter().map(|setting| setting.key).chain(["config"]);
    keys.filter(|key| !used.contains(key))
        .fold(command, |command, key| {
            if command.get_arguments().any(|arg| arg.get_id() == key) {
                return command;
            }
            let flag = key.replace('_', "-");
            let arg = Arg::new(key).long(flag).hide(true).num_args(0..=1);
            command.arg(
                arg.default_missing_value("")
                    .value_parser(request::flags::refused()),
            )
        })
}

fn backup_commands() -> [Command; 2] {
    let file = |help: &'static str| {
        let arg = Arg::new("file").value_name("FILE").required(true);
        arg.value_parser(value_parser!(PathBuf)).help(help)
    };
    let replace = Arg::new("replace").long("replace").action(ArgAction::SetTrue);
    [
        Command::new("backup")
            .about("Copy the database to a file, even while the server runs, and check the copy")
            .arg(file("File to create")),
        Command::new("restore")
            .about("Put a backup into the data folder of a stopped server")
            .arg(file("File that `harvestman backup` created"))
            .arg(replace.help("Rename an existing database")),
    ]
}

fn keys_command() -> Command {
    let team = Arg::new("team")
        .long("team")
        .default_value(bootstrap::TEAM)
        .help("Team of the key");
    let name = Arg::new("name")
        .long("name")
        .default_value("created on the command line")
        .help("Name of the key in usage reports");
    let id = Arg::new("id")
        .required(true)
        .value_parser(value_parser!(KeyId))
        .help("Id of the key, as shown by `keys list`");
    let of_team = Arg::new("team")
        .long("team")
        .help("List only the keys of this team");
    let revoked = Arg::new("revoked")
        .long("revoked")
        .action(ArgAction::SetTrue)
        .help("Include revoked keys");
    Command::new("keys")
        .about("Create, list and revoke API keys; a running server applies changes at once")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Create a key and print it; it is shown only once")
                .args([team, name]),
        )
        .subcommand(
            Command::new("list")
                .about("List keys: id, creation time, last use, last characters, team, name")
                .args([of_team, revoked]),
        )
        .subcommand(
            Command::new("revoke")
                .about("Revoke a key at once; this cannot be undone")
                .arg(id),
        )
}

fn teams_command() -> Command {
    let name = |help: &'static str| Arg::new("team").required(true).help(help);
    let plan = Arg::new("plan").help("Plan from harvestman.toml; omit it to return to the default limits");
    Command::new("teams")
        .about("Create and list teams, and set their plans; a running server applies changes at once")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Create a team without keys")
                .arg(name("Name of the team")),
        )
        .subcommand(Command::new("list").about("List teams: id, creation time, name, keys, plan"))
        .subcommand(
            Command::new("set-plan")
                .about("Apply the limits of a plan to a team")
                .args([name("Name of the team"), plan]),
        )
}

fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    match matches.subcommand() {
        Some((request::parse::NAME, given)) => runtime()?.block_on(request::run_parse(given)),
        Some((request::sessions::INTERACT, given)) => runtime()?.block_on(request::sessions::interact(given)),
        Some((request::sessions::BROWSER, given)) => runtime()?.block_on(request::sessions::browser(given)),
        Some((request::monitors::NAME, given)) => runtime()?.block_on(request::monitors::run(given)),
        Some((name, given)) if let Some(command) = RequestCommand::parse(name) => {
            runtime()?.block_on(request::run(command, given))
        }
        _ => run_local(matches).map(|()| ExitCode::SUCCESS),
    }
}

/// Runs any command other than the request commands.
fn run_local(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut out = io::stdout();
    match matches.subcommand() {
        None if matches.args_present() => {
            let sentence =
                "no command; `harvestman serve` starts the server, `harvestman help` lists all commands";
            return Err(Usage(sentence.to_owned()).into());
        }
        None => return Ok(out.write_all(manual::START_PAGE.as_bytes())?),
        Some(("mcp", given)) => return runtime()?.block_on(mcp::run(given)),
        Some(("version", _)) => return Ok(writeln!(out, "harvestman {}", env!("CARGO_PKG_VERSION"))?),
        Some(("completions", given)) => return manual::complete(given, command()),
        Some(("man", given)) => return manual::write_pages(given, command()),
        Some(("convert", given)) => return offline::convert(given),
        Some(("robots", given)) => return offline::robots(given),
        Some((READ_FILE_COMMAND, _)) => return read_file::run(),
        Some((RECOGNIZE_TEXT_COMMAND, given)) => {
            let argument = |name: &str| given.get_one::<OsString>(name).cloned().unwrap_or_default();
            return recognize_text::run(&argument("tesseract"), &argument("languages"));
        }
        Some((SANDBOX_INIT_COMMAND, given)) => return sandbox_init(given),
        Some(("config", inner)) if inner.subcommand_name() == Some("template") => {
            return Ok(out.write_all(template().as_bytes())?);
        }
        _ => {}
    }
    let values = Values::gather(
        |setting| matches.get_one::<String>(setting.key).cloned(),
        |name| std::env::var(name).ok(),
        matches.get_one::<PathBuf>("config").map(PathBuf::as_path),
    )?;
    let config = Config::parse(&values)?;
    match matches.subcommand() {
        Some(("config", _)) => Ok(out.write_all(show(&values).as_bytes())?),
        Some(("doctor", _)) => {
            let (report, works) = runtime()?.block_on(doctor::report(&config));
            out.write_all(report.as_bytes())?;
            anyhow::ensure!(works, "some checks failed");
            Ok(())
        }
        Some(("health", _)) => {
            let (state, ready) = runtime()?.block_on(OperatorEndpoint::ready(&config.data_dir))?;
            writeln!(out, "{state:#}")?;
            anyhow::ensure!(ready, "the server is not ready");
            Ok(())
        }
        Some(("setup", given)) => runtime()?.block_on(setup::run(&config, given.get_flag("yes"))),
        Some(("backup", given)) => runtime()?.block_on(backup::backup(&config, given, &mut out)),
        Some(("restore", given)) => runtime()?.block_on(backup::restore(&config, given, &mut out)),
        Some(("migrate", given)) => runtime()?.block_on(migrate::run(&config, given, &mut out)),
        Some((discard_secrets::NAME, given)) => {
            runtime()?.block_on(discard_secrets::run(&config, given, &mut out))
        }
        Some(("feedback", _)) => {
            runtime()?.block_on(run_operator_command(&config, operator::Command::ListFeedback))
        }
        Some((area @ ("keys" | "teams"), inner)) => {
            runtime()?.block_on(run_operator_command(&config, operator_command(area, inner)))
        }
        _ => run_server(config),
    }
}

fn run_server(config: Config) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let telemetry = match &config.otlp_endpoint {
        Some(endpoint) => {
            let _runtime = runtime.enter();
            let fetcher = serve::service_fetcher(&config, endpoint)?;
            Some(Telemetry::new(endpoint, &config.otlp_headers, fetcher))
        }
        None => None,
    };
    log::start(&config.log, telemetry.as_ref());
    for name in source::unknown_variables(environment()) {
        tracing::warn!("ignoring {name}: this version has no such setting");
    }
    runtime.block_on(serve::serve(config, telemetry))
}

/// Replaces this process with the program that the server starts in a sandbox.
fn sandbox_init(matches: &ArgMatches) -> anyhow::Result<()> {
    let stage = matches.get_one::<String>("stage").map(String::as_str);
    Ok(harvestman_browser::sandbox_init(stage.unwrap_or_default()).map(|never| match never {})?)
}

/// Returns the environment variables that are valid UTF-8.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Number of tasks that a thread runs between checks for I/O events: below the default, because converting a small page
/// takes about 300 microseconds.
const EVENT_INTERVAL: u32 = 13;

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .event_interval(EVENT_INTERVAL)
        .build()
}

/// Builds the operator command from the arguments.
fn operator_command(area: &str, matches: &ArgMatches) -> operator::Command {
    use operator::Command as OperatorCommand;
    let (verb, given) = matches.subcommand().expect("the parser requires a subcommand");
    let optional = |name: &str| given.get_one::<String>(name).cloned();
    let text = |name: &str| optional(name).unwrap_or_default();
    match (area, verb) {
        ("keys", "create") => OperatorCommand::CreateKey {
            team: text("team"),
            name: text("name"),
        },
        ("keys", "revoke") => OperatorCommand::RevokeKey {
            id: *given.get_one::<KeyId>("id").expect("the parser requires the id"),
        },
        ("keys", _) => OperatorCommand::ListKeys {
            team: optional("team"),
            revoked: given.get_flag("revoked"),
        },
        (_, "create") => OperatorCommand::CreateTeam { name: text("team") },
        (_, "set-plan") => OperatorCommand::SetPlan {
            team: text("team"),
            plan: optional("plan"),
        },
        (_, _) => OperatorCommand::ListTeams,
    }
}

/// Fails if the data folder has no database, which suggests that it is not the intended one.
fn existing_database(config: &Config) -> anyhow::Result<()> {
    let database = config.data_dir.join(DATABASE_FILE);
    anyhow::ensure!(
        database.exists(),
        "no database {}: set the server's folder with --data-dir or HARVESTMAN_DATA_DIR, or start the server \
         once, which creates it",
        database.display()
    );
    Ok(())
}

/// Runs an operator command: through the server that holds the data folder if one is running, else directly. On
/// PostgreSQL always directly; running nodes notice within seconds.
async fn run_operator_command(config: &Config, command: operator::Command) -> anyhow::Result<()> {
    if config.database_url.is_none() {
        existing_database(config)?;
    }
    let text = match Store::open(&config.store()).await {
        Ok(store) => {
            let plans = Plans::new(config.limits, config.plans.clone());
            let output = operator::execute(command, &store, &plans).await;
            store.close().await?;
            output
                .map_err(|failure| anyhow::anyhow!("{}", failure.0.message))?
                .text
        }
        Err(StoreError::Locked(_)) => OperatorEndpoint::send(&config.data_dir, &command).await?,
        Err(error) => return Err(error.into()),
    };
    Ok(io::stdout().write_all(text.as_bytes())?)
}

fn show(values: &Values) -> String {
    let line = |setting: &crate::config::setting::Setting| match values.of(setting.key) {
        None => match setting.help.split_once(" [default: ") {
            Some((_, default)) => format!(
                "# {} is not set (default: {})\n",
                setting.key,
                default.trim_end_matches(']')
            ),
            None => format!("# {} is not set\n", setting.key),
        },
        Some((_, origin)) if setting.secret => format!("{} = \"(hidden)\"  # {origin}\n", setting.key),
        Some((text, origin)) => format!("{} = {}  # {origin}\n", setting.key, quote(text)),
    };
    let plan = |(plan, _): (&str, Values)| {
        let own = values.plan_overrides(plan);
        let lines = own.map(|(key, text, origin)| format!("{key} = {}  # {origin}\n", quote(text)));
        format!(
            "\n[{}.{}]\n{}",
            source::PLANS,
            quote(plan),
            lines.collect::<String>()
        )
    };
    SETTINGS
        .iter()
        .map(line)
        .chain(values.plans().map(plan))
        .collect()
}

/// Last part of the template: tables come last in TOML.
const PLAN_TEMPLATE: &str = "\
# Limits of teams with a plan (`harvestman teams set-plan TEAM NAME`). Limits that a plan omits are as above.
#     [plans.NAME]
#     max_concurrency = 8
#     key_max_concurrency = 4
#     max_sessions = 1
#     rate_limit = 60
#     key_rate_limit = 30
#     credit_budget = 10000
";

fn template() -> String {
    let entry = |setting: &crate::config::setting::Setting| {
        let value = match setting.default {
            Some(_) if setting.is_switch() => "false".to_owned(),
            default => quote(default.unwrap_or_default()),
        };
        format!(
            "# {}\n# Also --{} and {}.\n# {} = {value}\n\n",
            setting.help,
            setting.flag(),
            setting.environment(),
            setting.key
        )
    };
    let head =
        "# Settings of Harvestman. Flags override environment variables, which override this file.\n\n";
    std::iter::once(head.to_owned())
        .chain(SETTINGS.iter().map(entry))
        .chain(std::iter::once(PLAN_TEMPLATE.to_owned()))
        .collect()
}

/// Quotes a TOML string; JSON's escapes are a subset of TOML's.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn settings_are_flags_before_and_after_the_command() {
        for arguments in [
            ["harvestman", "--listen=a", "serve"],
            ["harvestman", "serve", "--listen=a"],
        ] {
            let matches = command().try_get_matches_from(arguments).unwrap();
            assert_eq!(matches.get_one::<String>("listen").map(String::as_str), Some("a"));
        }
        let matches = command()
            .try_get_matches_from(["harvestman", "--no-auth", "--trust-proxy=0"])
            .unwrap();
        assert_eq!(
            matches.get_one::<String>("no_auth").map(String::as_str),
            Some("1")
        );
        assert_eq!(
            matches.get_one::<String>("trust_proxy").map(String::as_str),
            Some("0")
        );
        assert_eq!(matches.get_one::<String>("insecure"), None);
    }

    #[test]
    fn the_template_without_comment_marks_is_a_valid_file() {
        let text: String = template()
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')))
            .fold(String::new(), |text, line| text + line + "\n");
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table.len(), SETTINGS.len());
        assert!(
            table
                .keys()
                .all(|key| crate::config::setting::setting(key).is_some())
        );
    }

    #[test]
    fn shown_settings_hide_secrets() {
        let environment = |name: &str| match name {
            "HARVESTMAN_API_KEYS" => Some("fc-secret=team".to_owned()),
            "HARVESTMAN_WEBHOOK_SECRET" => Some("hush".to_owned()),
            _ => None,
        };
        let shown = show(&Values::gather(|_| None, environment, None).unwrap());
        assert!(
            shown.contains("# max_concurrency is not set (default: 64)\n"),
            "{shown}"
        );
        assert!(!shown.contains("fc-secret") && !shown.contains("hush"), "{shown}");
        assert!(
            shown.contains("listen = \"127.0.0.1:3002\"  # default"),
            "{shown}"
        );
    }
}
