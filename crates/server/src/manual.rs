//! What the program says about itself: the start page, shell completions, and man pages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

/// The page that the program prints without arguments.
pub(crate) const START_PAGE: &str = "\
Harvestman turns web pages into data.

  harvestman scrape URL                   print a page as Markdown
  harvestman crawl URL --out-dir FOLDER   save a site as a folder of Markdown files
  harvestman map URL                      list the URLs of a site
  harvestman parse FILE                   print a PDF or office document as Markdown

  harvestman serve                        start the server: API and console on http://localhost:3002
  harvestman doctor                       check this machine: browser, sandbox, languages, data folder
  harvestman setup                        install what is missing

`harvestman help` lists all commands; `harvestman COMMAND --help` lists the flags of a command.
";

/// Returns the grammars of `completions` and `man`.
pub(crate) fn commands() -> [Command; 2] {
    let shell = Arg::new("shell")
        .required(true)
        .value_parser(value_parser!(Shell))
        .help("Shell that reads the completions");
    let folder = Arg::new("folder")
        .value_name("FOLDER")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("Folder of the pages, for example /usr/local/share/man/man1");
    [
        Command::new("completions")
            .about("Print completions for a shell")
            .arg(shell),
        Command::new("man")
            .about("Write the man pages of all commands to a folder")
            .arg(folder),
    ]
}

/// Prints the completions of the grammar.
pub(crate) fn complete(given: &ArgMatches, mut grammar: Command) -> anyhow::Result<()> {
    let shell = given
        .get_one::<Shell>("shell")
        .context("the parser requires a shell")?;
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut grammar, "harvestman", &mut script);
    Ok(io::stdout().write_all(&script)?)
}

/// Writes a man page for each visible command of the grammar.
pub(crate) fn write_pages(given: &ArgMatches, grammar: Command) -> anyhow::Result<()> {
    let folder = given
        .get_one::<PathBuf>("folder")
        .context("the parser requires a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut grammar = grammar.disable_help_subcommand(true);
    grammar.build();
    write_page(&grammar, folder)
}

fn write_page(command: &Command, folder: &Path) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or("harvestman").to_owned();
    let path = folder.join(format!("{name}.1"));
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name)).render(&mut page)?;
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        write_page(subcommand, folder)?;
    }
    Ok(())
}
