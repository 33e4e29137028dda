//! `harvestman discard-secrets`: deletes the stored secrets whose key is lost.

use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches, Command};
use harvestman_store::{SecretKind, Store};

use super::existing_database;
use crate::config::Config;
use crate::input::Usage;

pub(super) const NAME: &str = "discard-secrets";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Delete the secrets in the database of a stopped server that its keys do not decrypt")
        .arg(
            Arg::new("yes")
                .long("yes")
                .action(ArgAction::SetTrue)
                .help("Confirm: this cannot be undone"),
        )
}

pub(super) async fn run(config: &Config, given: &ArgMatches, out: &mut impl Write) -> anyhow::Result<()> {
    if !given.get_flag("yes") {
        let sentence = "deletes every secret in the database that the keys in the settings and in the data folder do \
                        not decrypt; this cannot be undone. If it is what you want, add --yes";
        return Err(Usage(sentence.to_owned()).into());
    }
    if config.database_url.is_none() {
        existing_database(config)?;
    }
    let discarded = Store::discard_lost_secrets(&config.store()).await?;
    let values = discarded
        .values
        .iter()
        .map(|(kind, number)| (*number, name(*kind)));
    let effects = [
        (discarded.failed_jobs, "unfinished jobs failed because of it"),
        (discarded.paused_monitors, "monitors are paused because of it"),
    ];
    for (number, name) in values.chain(effects).filter(|(number, _)| *number > 0) {
        writeln!(out, "{number:>10}  {name}")?;
    }
    match discarded.values.is_empty() {
        true => writeln!(out, "every secret can be decrypted: nothing was discarded")?,
        false => writeln!(out, "discarded; the server can start now")?,
    }
    Ok(())
}

fn name(kind: SecretKind) -> &'static str {
    match kind {
        SecretKind::WebhookSecret => "webhook secrets of teams",
        SecretKind::JobRequest => "requests of jobs: headers, actions and webhooks",
        SecretKind::MonitorRequest => "requests of monitors: headers, actions and webhooks",
        SecretKind::Receiver => "webhook receivers of jobs, with their undelivered events",
        SecretKind::Profile => "browser profiles",
    }
}
