//! `score`: scores the Markdown on a corpus of annotated pages, and compares it with the scores of its peers.
//!
//! The user provides the corpus as a folder with `pages-SUITE.jsonl.gz`, `truth.jsonl.gz` and the `score.py` that
//! computes the metrics. The project contains only scores, in `crates/content/score/peers.json`, and no pages.

mod peers;

use std::{
    fs::{self, File},
    io::{BufReader, copy},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::{project::Project, run, tools::Tools};

/// Environment variable with the folder of a corpus.
pub(crate) const CORPUS: &str = "HARVESTMAN_CORPUS";
/// Flag that runs other extractors as well.
const PEERS: &str = "--peers";
/// Suites with their converter flags: `conv` is clean HTML that is all content.
const SUITES: &[(&str, &[&str])] = &[
    ("article", &["--main"]),
    ("typed", &["--main"]),
    ("traps", &["--main"]),
    ("conv", &[]),
    ("phrases", &["--main"]),
];

/// Converts and scores the corpus, and prints the tables.
///
/// # Errors
/// A page without Markdown, or a score below its bar.
pub(crate) fn score(project: &Project, tools: &Tools, arguments: &[String]) -> Result<()> {
    let (flags, folders): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|it| it.starts_with('-'));
    if let Some(unknown) = flags.iter().find(|flag| **flag != PEERS) {
        bail!("unknown option {unknown}: `score` takes only {PEERS}");
    }
    let folder = match folders[..] {
        [] => std::env::var_os(CORPUS).map(PathBuf::from),
        [folder] => Some(PathBuf::from(folder)),
        _ => bail!("too many arguments: give one folder"),
    };
    let folder = folder.with_context(|| format!("no corpus given: pass its folder, or set {CORPUS}"))?;
    ensure!(
        folder.join("score.py").is_file(),
        "{} has no score.py",
        folder.display()
    );
    let corpus = Corpus {
        folder,
        python: tools.scorer(project)?,
    };
    let peers = match flags.is_empty() {
        true => Vec::new(),
        false => peers::prepare(project, tools),
    };
    tools.release()?;
    run::run(project.cargo().args([
        "build", "--release", "--package", "harvestman-content", "--example", "convert",
    ]))?;
    let convert = project.target().join("release/examples/convert");
    let folder = project.target().join("score");
    fs::create_dir_all(&folder)?;
    let results = folder.join("results.jsonl");
    let out = File::create(&results).with_context(|| results.display().to_string())?;
    for (suite, flags) in SUITES {
        let mut command = run::command(&convert);
        command.args(*flags).args(["--fragments", "--time"]);
        corpus.convert(&mut command, suite, &out)?;
    }
    let empty = empty_pages(&results)?;
    ensure!(empty.is_empty(), "no Markdown for pages {}", empty.join(", "));
    let figures = corpus.figures(&results)?;
    if !peers.is_empty() {
        println!("{}", peers::measure(&corpus, &peers, &folder, &figures)?);
    }
    let known = fs::read_to_string(project.path("crates/content/score/peers.json"))?;
    let known: Value = serde_json::from_str(&known).context("peers.json is invalid")?;
    println!("{}", against_peers(&figures, &known)?);
    let (table, short) = against_bars(&figures, &known)?;
    println!("{table}");
    println!("Markdown of every page: {}", results.display());
    ensure!(short.is_empty(), "scores below their bar: {}", short.join(", "));
    Ok(())
}

/// Returns the ids of the pages without Markdown.
fn empty_pages(results: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for line in fs::read_to_string(results)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["markdown"].as_str().is_none_or(|text| text.trim().is_empty()) {
            found.push(row["id"].to_string());
        }
    }
    Ok(found)
}

/// Annotated pages and their scorers.
struct Corpus {
    folder: PathBuf,
    /// A Python with the packages of the scorers.
    python: PathBuf,
}

impl Corpus {
    /// Runs a converter with the pages of a suite as its input. A corpus may lack a suite.
    fn convert(&self, command: &mut Command, suite: &str, out: &File) -> Result<()> {
        let packed = self.folder.join(format!("pages-{suite}.jsonl.gz"));
        if !packed.is_file() {
            return Ok(());
        }
        run::print_step(&format!("converting {suite}"));
        let file = File::open(&packed).with_context(|| packed.display().to_string())?;
        let mut child = command.stdin(Stdio::piped()).stdout(out.try_clone()?).spawn()?;
        let mut input = child.stdin.take().context("the converter has no input")?;
        copy(&mut MultiGzDecoder::new(BufReader::new(file)), &mut input)
            .context("cannot write to the converter")?;
        drop(input);
        ensure!(
            child.wait()?.success(),
            "the converter failed on {}",
            packed.display()
        );
        Ok(())
    }

    /// Returns the scores of a results file.
    fn figures(&self, results: &Path) -> Result<Value> {
        run::print_step(&format!("scoring {}", results.display()));
        let mut figures = self.run("score.py", results)?;
        if self.folder.join("phrases.py").is_file() {
            let phrases = self.run("phrases.py", results)?;
            if let (Some(all), Some(more)) = (figures.as_object_mut(), phrases.as_object()) {
                all.extend(more.clone());
            }
        }
        Ok(figures)
    }

    fn run(&self, scorer: &str, results: &Path) -> Result<Value> {
        let mut command = run::command(&self.python);
        command.arg("-B").arg(self.folder.join(scorer));
        command.arg(results).arg("--json");
        serde_json::from_str(&run::output(&mut command)?)
            .with_context(|| format!("{scorer} printed invalid JSON"))
    }
}

/// Formats the scores of Harvestman and its peers, with a column per kind of page; a star marks peers with a higher
/// score.
fn against_peers(figures: &Value, peers: &Value) -> Result<String> {
    let list = |key: &str| {
        peers[key]
            .as_array()
            .with_context(|| format!("peers.json has no {key}"))
    };
    let columns = list("columns")?;
    let mut lines = vec![format!("{:<28}", "F1 by kind of page")];
    for column in columns {
        lines[0].push_str(&format!("{:>10}", column["name"].as_str().unwrap_or("?")));
    }
    let ours: Vec<Option<f64>> = columns
        .iter()
        .map(|column| figures[column["figure"].as_str().unwrap_or("?")].as_f64())
        .collect();
    let cell = |value: Option<f64>, star: bool| match value {
        Some(value) => format!("{:>9.3}{}", value, if star { '*' } else { ' ' }),
        None => format!("{:>9} ", "-"),
    };
    let row = |name: &str, values: &[Option<f64>]| {
        let cells = values
            .iter()
            .zip(&ours)
            .map(|(value, ours)| cell(*value, value > ours));
        format!("{name:<28}{}", cells.collect::<String>())
    };
    lines.push(row("harvestman", &ours));
    for peer in list("peers")? {
        let values: Vec<Option<f64>> = (0..columns.len()).map(|i| peer["figures"][i].as_f64()).collect();
        lines.push(row(peer["name"].as_str().unwrap_or("?"), &values));
    }
    lines.push(String::new());
    lines.push("Structure preserved by the converter".to_owned());
    lines.push(format!(
        "{:<28}{}",
        "harvestman",
        cell(figures["conv.struct"].as_f64(), false)
    ));
    for peer in list("converters")? {
        let value = peer["conv.struct"].as_f64();
        lines.push(format!(
            "{:<28}{}",
            peer["name"].as_str().unwrap_or("?"),
            cell(value, value > figures["conv.struct"].as_f64())
        ));
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// Formats each score with its bar and goal; also returns the names of the scores below their bar.
fn against_bars(figures: &Value, peers: &Value) -> Result<(String, Vec<String>)> {
    let mut table = format!("{:<28}{:>9}{:>9}{:>9}\n", "figure", "ours", "bar", "goal");
    let mut short = Vec::new();
    for entry in peers["bars"].as_array().context("peers.json has no bars")? {
        let figure = entry["figure"].as_str().context("a bar needs a figure")?;
        let (Some(bar), Some(goal)) = (entry["bar"].as_f64(), entry["goal"].as_f64()) else {
            bail!("{figure} has no bar")
        };
        let Some(ours) = figures[figure].as_f64() else {
            short.push(figure.to_owned());
            continue;
        };
        let sign = if entry["lower"] == true { -1.0 } else { 1.0 };
        let reaches = |wanted: f64| (ours - wanted) * sign >= 0.0;
        let verdict = match (reaches(bar), reaches(goal)) {
            (_, true) => "goal",
            (true, false) => "bar",
            (false, false) => {
                short.push(figure.to_owned());
                "SHORT"
            }
        };
        table.push_str(&format!(
            "{figure:<28}{ours:>9.4}{bar:>9.3}{goal:>9.3}  {verdict}\n"
        ));
    }
    Ok((table, short))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn peers() -> Value {
        json!({
            "columns": [{"figure": "a.f1", "name": "a"}],
            "peers": [{"name": "one", "figures": [0.9]}, {"name": "two", "figures": [0.5]}],
            "converters": [],
            "bars": [
                {"figure": "a.f1", "bar": 0.7, "goal": 0.8},
                {"figure": "a.without", "bar": 0.1, "goal": 0.05, "lower": true}
            ]
        })
    }

    #[test]
    fn a_peer_with_a_higher_score_has_a_star() {
        let table = against_peers(&json!({"a.f1": 0.75}), &peers()).unwrap();
        assert!(
            table.contains("0.900*") && table.contains("0.500 ") && table.contains("0.750 "),
            "{table}"
        );
    }

    #[test]
    fn scores_below_their_bar_are_named() {
        let short = |figures: Value| against_bars(&figures, &peers()).unwrap().1;
        assert!(short(json!({"a.f1": 0.75, "a.without": 0.08})).is_empty());
        assert_eq!(
            short(json!({"a.f1": 0.65, "a.without": 0.11})),
            ["a.f1", "a.without"]
        );
        assert_eq!(short(json!({"a.f1": 0.75})), ["a.without"]);
    }
}
