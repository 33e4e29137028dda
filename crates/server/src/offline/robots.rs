//! `harvestman robots`: reads lines `{"id","robots","agent","url"}` and writes `allowed` or `disallowed` for each.

use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use harvestman_core::robots::{Robots, path_and_query};
use serde::Deserialize;

use crate::input::open;
use crate::limits;
use crate::offline::lines::{Line, Lines};
use crate::offline::ordered::in_order;

#[derive(Deserialize)]
struct RobotsQuery<'a> {
    #[serde(borrow)]
    robots: Cow<'a, str>,
    #[serde(borrow)]
    agent: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
}

/// Builds the grammar of the command.
pub(crate) fn command() -> Command {
    let file = Arg::new("file")
        .value_name("FILE")
        .default_value("-")
        .value_parser(value_parser!(PathBuf))
        .help("JSON lines; - for standard input");
    Command::new("robots")
        .about("Check URLs against robots.txt, given as lines {\"id\",\"robots\",\"agent\",\"url\"}")
        .arg(file)
}

/// Checks every line. For an invalid line it writes `error`, logs the reason to standard error, and exits with code 1
/// at the end.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let file = matches.get_one::<PathBuf>("file").expect("it has a default");
    let mut lines = Lines::new(open(file)?, limits::LINE_BYTES);
    let mut out = BufWriter::new(std::io::stdout());
    let (mut number, mut invalid) = (0_u64, 0_u64);
    in_order(
        &mut lines,
        |line| check(&line),
        |result| {
            number += 1;
            match result {
                Ok(true) => writeln!(out, "allowed"),
                Ok(false) => writeln!(out, "disallowed"),
                Err(reason) => {
                    invalid += 1;
                    let _ = writeln!(std::io::stderr(), "harvestman: line {number}: {reason}");
                    writeln!(out, "error")
                }
            }
        },
    )?;
    out.flush()?;
    lines.end()?;
    anyhow::ensure!(invalid == 0, "{invalid} of {number} lines are invalid");
    Ok(())
}

fn check(line: &Line) -> Result<bool, String> {
    let Line::Text(text) = line else {
        return Err(format!("longer than {} bytes", limits::LINE_BYTES));
    };
    let query: RobotsQuery<'_> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let robots = Robots::parse(query.robots.as_bytes(), &query.agent);
    Ok(robots.allows(&path_and_query(&query.url)))
}
