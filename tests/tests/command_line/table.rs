//! A case for every command of the program: its exit code and what it prints. A command without a case fails the test.

use std::collections::BTreeSet;
use std::process::Command;

use harvestman_tests::{TestServer, printed, server};

use crate::{JOB, harvestman, output_of, small_site};

/// Words of the command, its arguments, the exit code, and words of standard output and of standard error. Empty words:
/// nothing may be printed there.
type Case = (
    &'static str,
    &'static [&'static str],
    i32,
    &'static str,
    &'static str,
);

const SCHEMA: &str = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;

/// `PAGE`, `SITE`, `FOLDER`, `FILE` and `JOB` stand for a page, its site, an empty folder, a file in it, and the id of
/// nothing.
#[rustfmt::skip]
const CASES: &[Case] = &[
    ("serve", &["--listen", "x"], 2, "", "listen"),
    ("serve", &["--proxy", "basic=ftp://a:1"], 2, "", "proxy"),
    ("keys create", &["--team", "default"], 0, "fc-", ""),
    ("keys create", &["--team", "nobody"], 1, "", "unknown team `nobody`"),
    ("keys list", &[], 0, "created on the command line", ""),
    ("keys revoke", &["JOB"], 1, "", "JOB"),
    ("teams create", &["green"], 0, "green", ""),
    ("teams create", &[], 2, "", "<team>"),
    ("teams list", &[], 0, "green  0 keys", ""),
    ("teams set-plan", &["green", "vast"], 1, "", "vast"),
    ("teams set-plan", &["green"], 0, "green", ""),
    ("feedback", &[], 0, "", ""),
    ("config show", &[], 0, "data_dir", ""),
    ("config show", &["--port", "1"], 2, "", "--port"),
    ("config template", &[], 0, "# listen", ""),
    ("health", &[], 0, "\"status\": \"ok\"", ""),
    ("health", &["--data-dir", "FOLDER/none"], 1, "", "no server uses this data folder"),
    ("doctor", &[], 0, "Chromium", ""),
    ("setup", &["--port", "1"], 2, "", "--port"),
    ("backup", &["FOLDER/copy.db"], 0, "copy.db", ""),
    ("backup", &["FOLDER/copy.db"], 1, "", "copy.db exists: name a new file"),
    ("restore", &["FOLDER/copy.db"], 1, "", "data folder"),
    ("discard-secrets", &[], 2, "", "add --yes"),
    ("migrate", &["--to", "mysql://u:p@h/d"], 1, "", "PostgreSQL"),
    ("scrape", &["PAGE"], 0, "# A", ""),
    ("crawl", &["SITE"], 0, "# Start", "3 pages, 0 failed"),
    ("batch", &["PAGE"], 0, "# A", "1 page, 0 failed"),
    ("map", &["SITE"], 0, "PAGE", ""),
    ("search", &["start"], 0, "\"web\"", "search provider"),
    ("extract", &["PAGE", "--schema", SCHEMA], 0, "{\"title\":\"A\"}", "extract "),
    ("agent", &["the title", "--urls", "PAGE", "--schema", SCHEMA], 0, "{\"title\":\"A\"}", "agent "),
    ("parse", &["FILE"], 0, "| spider", ""),
    ("parse", &["FOLDER/none.pdf"], 1, "", "none.pdf"),
    ("interact", &["JOB", "click", "Next"], 1, "", "no scrape has this id"),
    ("browser open", &[], 1, "", "browser"),
    ("browser execute", &["JOB", "get", "title"], 1, "", "session"),
    ("browser list", &[], 0, "", ""),
    ("browser list", &["--status", "asleep"], 2, "", "asleep"),
    ("browser extend", &["JOB", "--ttl", "60"], 1, "", "session"),
    ("browser files", &["JOB"], 1, "", "session"),
    ("browser upload", &["JOB", "FILE"], 1, "", "session"),
    ("browser close", &["JOB"], 1, "", "session"),
    ("monitor create", &["PAGE", "--name", "A", "--schedule", "hourly"], 0, "-", ""),
    ("monitor create", &["PAGE", "--name", "A", "--schedule", "whenever"], 1, "", "is not understood"),
    ("monitor list", &[], 0, "\"name\":\"A\"", ""),
    ("monitor show", &["JOB"], 1, "", "no such monitor"),
    ("monitor update", &["JOB", "--name", "B"], 1, "", "no such monitor"),
    ("monitor run", &["JOB"], 1, "", "no such monitor"),
    ("monitor checks", &["JOB"], 1, "", "no such monitor"),
    ("monitor pages", &["JOB", "JOB"], 1, "", "no such"),
    ("monitor delete", &["JOB"], 1, "", "no such monitor"),
    ("mcp", &[], 0, "", ""),
    ("mcp", &["--api-url", "nowhere"], 2, "", "nowhere"),
    ("convert", &["FILE", "--url", "https://site.test/legs.csv"], 0, "| spider", ""),
    ("convert", &["FOLDER/none.html"], 1, "", "none.html"),
    ("robots", &[], 0, "", ""),
    ("robots", &["--port", "1"], 2, "", "--port"),
    ("completions", &["bash"], 0, "only-main-content", ""),
    ("completions", &["tcl"], 2, "", "tcl"),
    ("man", &["FOLDER/man"], 0, "", ""),
    ("man", &["FILE"], 1, "", "table.csv"),
    ("version", &[], 0, concat!("harvestman ", env!("CARGO_PKG_VERSION")), ""),
];

/// Returns the commands without subcommands below the words of a command, from the help of the program.
fn commands(words: &str) -> BTreeSet<String> {
    let mut help = Command::new(server::binary().unwrap());
    let help = help.arg("help").args(words.split_whitespace()).output().unwrap();
    let (help, _) = printed(&help, 0);
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return BTreeSet::from([words.to_owned()]);
    };
    list.lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.strip_prefix("  ")?
                .split_whitespace()
                .next()
                .filter(|_| !line.starts_with("   "))
        })
        .filter(|name| *name != "help")
        .flat_map(|name| commands(format!("{words} {name}").trim()))
        .collect()
}

#[test]
fn every_command_has_a_case() {
    let known: BTreeSet<String> = CASES.iter().map(|(words, ..)| (*words).to_owned()).collect();
    let commands = commands("");
    assert!(commands.len() > 40, "{commands:?}");
    assert_eq!(commands, known);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_prints_its_result_or_the_reason() {
    let server = TestServer::start_with(&[("HARVESTMAN_CHROMIUM", "off")]).await;
    let site = small_site().serve().await;
    let folder = server.data_dir().join("cases");
    let file = folder.join("table.csv");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&file, "name,legs\nspider,8\n").unwrap();
    let names = [
        ("PAGE", site.url("/a")),
        ("SITE", site.url("/")),
        ("FOLDER", folder.display().to_string()),
        ("FILE", file.display().to_string()),
        ("JOB", JOB.to_owned()),
    ];
    let named = |text: &str| {
        names
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    };
    for (words, arguments, code, out, err) in CASES {
        let all: Vec<String> = words
            .split(' ')
            .map(str::to_owned)
            .chain(arguments.iter().map(|word| named(word)))
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut command = harvestman(&server, &all);
        command
            .env("HARVESTMAN_DATA_DIR", server.data_dir().join("data"))
            .env("HARVESTMAN_CHROMIUM", "off");
        let output = output_of(command).await;
        let case = format!("{words} {arguments:?}");
        println!("{case}: {:?}", output.status.code());
        let (stdout, stderr) = printed(&output, *code);
        for (expected, text) in [(out, stdout), (err, stderr)] {
            match expected.is_empty() {
                true => assert_eq!(text, "", "{case}"),
                false => assert!(text.contains(&named(expected)), "{case}: {text}"),
            }
        }
    }
}
