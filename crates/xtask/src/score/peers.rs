//! `score --peers`: runs other extractors on the pages of the corpus and compares their scores with Harvestman's.
//! The programs that call them are in `crates/content/score/peers`.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Corpus;
use crate::{project::Project, run, tools::Tools};

/// Folder of the programs that call the peers.
const PROGRAMS: &str = "crates/content/score/peers";
/// Suites of whole pages, from which the main content is extracted.
const SUITES: &[&str] = &["article", "typed", "traps", "phrases"];
/// Scores in the table, with their column titles.
const COLUMNS: &[(&str, &str)] = &[
    ("article.f1", "article"),
    ("typed.macro_f1", "typed"),
    ("typed.nonarticle.f1", "not art."),
    ("typed.struct", "structure"),
    ("traps.f1", "traps"),
    ("traps.struct", "structure"),
    ("phrases.precision", "phrases p"),
    ("phrases.recall", "r"),
    ("phrases.f1", "F1"),
];

/// An extractor, and the program that runs it.
pub(super) struct Peer {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<PathBuf>,
}

/// Installs the peers. Reports and skips peers that cannot be installed here.
pub(super) fn prepare(project: &Project, tools: &Tools) -> Vec<Peer> {
    let mut peers = Vec::new();
    for (language, found) in [
        ("Python", in_python(project, tools)),
        ("Rust", in_rust(project)),
        ("JavaScript", in_javascript(project, tools)),
    ] {
        match found {
            Ok(found) => peers.extend(found),
            Err(error) => run::print_step(&format!("not measured: peers in {language}: {error:#}")),
        }
    }
    peers
}

fn in_python(project: &Project, tools: &Tools) -> Result<Vec<Peer>> {
    let program = tools.peers_python(project)?;
    let script = project.path(PROGRAMS).join("extract.py");
    let peer = |name: &'static str| Peer {
        name,
        program: program.clone(),
        arguments: vec!["-B".into(), script.clone(), name.into()],
    };
    Ok(vec![peer("trafilatura"), peer("readability-lxml")])
}

fn in_rust(project: &Project) -> Result<Vec<Peer>> {
    let target = project.target().join("score-peers");
    run::run(
        project
            .cargo()
            .current_dir(project.path(PROGRAMS))
            .env("CARGO_TARGET_DIR", &target)
            .args(["build", "--release", "--locked"]),
    )?;
    let peer = |name: &'static str| Peer {
        name,
        program: target.join("release/peers"),
        arguments: vec![name.into()],
    };
    Ok(vec![peer("rs-trafilatura"), peer("dom_smoothie")])
}

fn in_javascript(project: &Project, tools: &Tools) -> Result<Vec<Peer>> {
    let packages = tools.peers_javascript(project)?;
    Ok(vec![Peer {
        name: "defuddle",
        program: tools.node()?.path().to_path_buf(),
        arguments: vec![project.path(PROGRAMS).join("extract.mjs"), packages],
    }])
}

/// Runs the peers, writes their Markdown to files in `folder` and returns the table of scores.
pub(super) fn measure(corpus: &Corpus, peers: &[Peer], folder: &Path, ours: &Value) -> Result<String> {
    let mut rows = vec![("harvestman", ours.clone())];
    for peer in peers {
        run::print_step(&format!("running {}", peer.name));
        let results = folder.join(format!("results-{}.jsonl", peer.name));
        let out = File::create(&results).with_context(|| results.display().to_string())?;
        for suite in SUITES {
            let mut command: Command = run::command(&peer.program);
            corpus.convert(command.args(&peer.arguments), suite, &out)?;
        }
        rows.push((peer.name, corpus.figures(&results)?));
    }
    Ok(table(&rows))
}

/// Formats the scores; a star marks each one above that of the first row.
fn table(rows: &[(&str, Value)]) -> String {
    let mut text = format!("{:<20}", "in this run");
    for (_, title) in COLUMNS {
        text.push_str(&format!("{title:>10}"));
    }
    for (name, figures) in rows {
        text.push_str(&format!("\n{name:<20}"));
        for (figure, _) in COLUMNS {
            let (value, first) = (figures[*figure].as_f64(), rows[0].1[*figure].as_f64());
            let star = if value > first { '*' } else { ' ' };
            match value {
                Some(value) => text.push_str(&format!("{value:>9.3}{star}")),
                None => text.push_str(&format!("{:>10}", "- ")),
            }
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_peer_with_a_higher_score_has_a_star() {
        let table = table(&[
            ("harvestman", json!({"article.f1": 0.96, "traps.f1": 0.9})),
            ("other", json!({"article.f1": 0.97, "traps.f1": 0.8})),
        ]);
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows[1].contains("0.960 ") && !rows[1].contains('*'), "{table}");
        assert!(
            rows[2].contains("0.970*") && rows[2].contains("0.800 "),
            "{table}"
        );
    }
}
