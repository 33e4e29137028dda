//! `harvestman backup` and `harvestman restore`, for the embedded database.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::ArgMatches;
use harvestman_store::KeyState;

use super::existing_database;
use crate::config::Config;
use crate::config::secret_keys::MISSING_KEY;

pub(super) async fn backup(config: &Config, given: &ArgMatches, out: &mut impl Write) -> anyhow::Result<()> {
    let file = backup_file(given)?;
    only_embedded(config, "copy it with pg_dump --schema=harvestman")?;
    existing_database(config)?;
    harvestman_store::backup(&config.data_dir, file).await?;
    writeln!(out, "copied the database to {}", file.display())?;
    if let Some(key) = config.used_key_file() {
        writeln!(
            out,
            "its secrets are encrypted with {}: keep a copy of that file elsewhere",
            key.display()
        )?;
    }
    Ok(())
}

pub(super) async fn restore(config: &Config, given: &ArgMatches, out: &mut impl Write) -> anyhow::Result<()> {
    let (file, folder) = (backup_file(given)?, &config.data_dir);
    only_embedded(config, "load a dump of it with psql")?;
    if let Some(replaced) = harvestman_store::restore(folder, file, given.get_flag("replace")).await? {
        writeln!(out, "renamed the old database to {}", replaced.display())?;
    }
    writeln!(out, "restored {} to {}", file.display(), folder.display())?;
    if KeyState::of(&config.store()).await? == KeyState::Missing {
        writeln!(out, "{MISSING_KEY}")?;
    }
    Ok(())
}

/// Fails if the data is on PostgreSQL.
fn only_embedded(config: &Config, advice: &str) -> anyhow::Result<()> {
    if config.database_url.is_some() {
        anyhow::bail!("`database_url` names a PostgreSQL database: {advice}");
    }
    Ok(())
}

fn backup_file(given: &ArgMatches) -> anyhow::Result<&PathBuf> {
    given.get_one("file").context("the parser requires a file")
}
