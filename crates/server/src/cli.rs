//! The command line: every setting is a flag of every command; without a command the server starts.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgMatches, Command, value_parser};
use harvestman_browser::SANDBOX_INIT_COMMAND;
use harvestman_core::ids::KeyId;
use harvestman_engine::READ_FILE_COMMAND;
use harvestman_store::{Revoked, Store, StoreConfig};

use crate::config::setting::SETTINGS;
use crate::config::{Config, ConfigError, Values, source};
use crate::offline::Usage;
use crate::{bootstrap, keys, offline, read_file, serve};

/// Runs the command that the arguments name. Exit codes: 0 done, 1 failed, 2 usage or settings.
pub fn main() -> ExitCode {
    let matches = command().get_matches();
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has read enough.
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

/// The command line's grammar.
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
                .help("File with settings [default: harvestman.toml in this folder, if there is one]"),
        )
        .args(settings)
        .subcommand(Command::new("serve").about("Start the server (what happens without a command, too)"))
        .subcommand(keys_command())
        .subcommand(
            Command::new("config")
                .about("See and start a configuration")
                .subcommand_required(true)
                .subcommand(Command::new("show").about("Show every setting, its value and who said it"))
                .subcommand(
                    Command::new("template").about("Print a harvestman.toml with every setting explained"),
                ),
        )
        .subcommand(offline::convert_command())
        .subcommand(offline::robots_command())
        .subcommand(Command::new("version").about("Print the version"))
        .subcommand(
            Command::new(READ_FILE_COMMAND)
                .hide(true)
                .about("Read the file that the server hands over"),
        )
        .subcommand(
            Command::new(SANDBOX_INIT_COMMAND)
                .hide(true)
                .about("Start a program in a sandbox")
                .arg(Arg::new("stage").required(true)),
        )
}

fn keys_command() -> Command {
    let team = Arg::new("team")
        .long("team")
        .default_value(bootstrap::TEAM)
        .help("Team of the key; made when new");
    let name = Arg::new("name")
        .long("name")
        .default_value("made by hand")
        .help("Name of the key in reports");
    let id = Arg::new("id")
        .required(true)
        .value_parser(value_parser!(String))
        .help("Id of the key, as `keys list` shows it");
    Command::new("keys")
        .about("Make, list and revoke API keys while the server is stopped")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Make a key and print it, once")
                .args([team, name]),
        )
        .subcommand(Command::new("list").about("List keys: id, team, name, when made"))
        .subcommand(Command::new("revoke").about("Revoke a key").arg(id))
}

fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut out = io::stdout();
    if let Some(("version", _)) = matches.subcommand() {
        return Ok(writeln!(out, "harvestman {}", env!("CARGO_PKG_VERSION"))?);
    }
    match matches.subcommand() {
        Some(("convert", given)) => return offline::convert(given),
        Some(("robots", given)) => return offline::robots(given),
        Some((READ_FILE_COMMAND, _)) => return read_file::run(),
        Some((SANDBOX_INIT_COMMAND, given)) => return sandbox_init(given),
        _ => {}
    }
    if let Some(("config", inner)) = matches.subcommand()
        && inner.subcommand_name() == Some("template")
    {
        return Ok(out.write_all(template().as_bytes())?);
    }
    let values = Values::gather(
        |setting| matches.get_one::<String>(setting.key).cloned(),
        |name| std::env::var(name).ok(),
        matches.get_one::<PathBuf>("config").map(PathBuf::as_path),
    )?;
    let config = Config::parse(&values)?;
    match matches.subcommand() {
        Some(("config", _)) => Ok(out.write_all(show(&values).as_bytes())?),
        Some(("keys", inner)) => runtime()?.block_on(manage_keys(&config, inner)),
        _ => {
            start_log(&config.log);
            for name in source::unread(environment()) {
                tracing::warn!("{name} is not a setting of this version and does nothing");
            }
            runtime()?.block_on(serve::serve(config))
        }
    }
}

/// Becomes what the server wants to have in a sandbox.
fn sandbox_init(matches: &ArgMatches) -> anyhow::Result<()> {
    let stage = matches.get_one::<String>("stage").map(String::as_str);
    Ok(harvestman_browser::sandbox_init(stage.unwrap_or_default()).map(|never| match never {})?)
}

/// The variables that are text.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// The log goes to stderr: stdout is for the facts of a start.
fn start_log(filter: &str) {
    use tracing_subscriber::prelude::*;
    let filter: tracing_subscriber::filter::Targets =
        filter.parse().expect("the configuration checked the filter");
    let colours = io::IsTerminal::is_terminal(&io::stderr()) && std::env::var_os("NO_COLOR").is_none();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(colours);
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init();
}

async fn manage_keys(config: &Config, matches: &ArgMatches) -> anyhow::Result<()> {
    let store = Store::open(&StoreConfig::new(&config.data_dir)).await?;
    let mut out = io::stdout();
    match matches.subcommand() {
        Some(("create", given)) => {
            let text = |name: &str| given.get_one::<String>(name).cloned().unwrap_or_default();
            let key = keys::new_key().context("the system gave no random bytes for a key")?;
            let team = store.ensure_team(&text("team")).await?;
            store
                .add_key(team, &text("name"), keys::print(&key), harvestman_engine::now())
                .await?;
            writeln!(out, "{key}")?;
        }
        Some(("revoke", given)) => {
            let text = given
                .get_one::<String>("id")
                .map(String::as_str)
                .unwrap_or_default();
            let id: KeyId = text
                .parse()
                .map_err(|_| anyhow::anyhow!("`{text}` is not the id of a key"))?;
            if store.revoke_key(None, id, harvestman_engine::now()).await? != Revoked::Revoked {
                anyhow::bail!("there is no key {id}, or it is revoked already");
            }
            writeln!(out, "revoked {id}")?;
        }
        _ => {
            let keys = store.keys(None).await?;
            for key in keys.iter().filter(|key| key.revoked_at.is_none()) {
                writeln!(
                    out,
                    "{}  {}  {}  {}",
                    key.id, key.created_at, key.team_name, key.name
                )?;
            }
        }
    }
    store.close().await?;
    Ok(())
}

fn show(values: &Values) -> String {
    let line = |setting: &crate::config::setting::Setting| match values.of(setting.key) {
        None => format!("# {} is not set\n", setting.key),
        Some((_, origin)) if setting.secret => format!("{} = \"(hidden)\"  # {origin}\n", setting.key),
        Some((text, origin)) => format!("{} = {}  # {origin}\n", setting.key, quoted(text)),
    };
    SETTINGS.iter().map(line).collect()
}

fn template() -> String {
    let entry = |setting: &crate::config::setting::Setting| {
        let value = match setting.default {
            Some(_) if setting.is_switch() => "false".to_owned(),
            default => quoted(default.unwrap_or_default()),
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
        "# Settings of Harvestman. A flag wins over the environment, the environment over this file.\n\n";
    std::iter::once(head.to_owned())
        .chain(SETTINGS.iter().map(entry))
        .collect()
}

/// A TOML string: JSON's quoting is a part of TOML's.
fn quoted(text: &str) -> String {
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
    fn the_template_with_its_marks_removed_is_a_valid_file() {
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
        assert!(!shown.contains("fc-secret") && !shown.contains("hush"), "{shown}");
        assert!(
            shown.contains("listen = \"127.0.0.1:3002\"  # default"),
            "{shown}"
        );
    }
}
