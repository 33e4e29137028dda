//! `harvestman migrate`: moves the data of an embedded database to PostgreSQL.

use std::io::Write;

use clap::{Arg, ArgMatches, Command};
use harvestman_store::DatabaseUrl;

use crate::config::Config;

pub(super) fn command() -> Command {
    Command::new("migrate")
        .about("Copy the data folder of a stopped server into an empty PostgreSQL database")
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("URL")
                .required(true)
                .help("Database, postgres://USER:PASSWORD@HOST/DATABASE"),
        )
}

pub(super) async fn run(config: &Config, given: &ArgMatches, out: &mut impl Write) -> anyhow::Result<()> {
    let url = given.get_one::<String>("to").map_or("", String::as_str);
    let Some(url) = DatabaseUrl::parse(url) else {
        anyhow::bail!("--to is not the URL of a PostgreSQL database, postgres://USER:PASSWORD@HOST/DATABASE");
    };
    let copied = harvestman_store::copy_to_postgres(&config.data_dir, &url).await?;
    for (table, rows) in copied.iter().filter(|(_, rows)| *rows > 0) {
        writeln!(out, "{rows:>10}  {table}")?;
    }
    writeln!(
        out,
        "copied {}; set database_url, and do not start a server on the folder again",
        config.data_dir.display()
    )?;
    if let Some(key) = config.used_key_file() {
        writeln!(
            out,
            "the secrets of the copy are encrypted with {}: set secret_key to its content on every server",
            key.display()
        )?;
    }
    Ok(())
}
