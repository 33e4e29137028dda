//! The server's route table against docs/ROUTES.md, both ways. Paths are compared; how a parameter is called is not.

use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result};

use crate::project::Project;

const DOCS: &str = "docs/ROUTES.md";
const TABLE: &str = "crates/server/src/router.rs";

pub(super) fn problems(project: &Project) -> Result<Vec<String>> {
    if !project.path(TABLE).is_file() {
        return Ok(Vec::new());
    }
    let read = |file| fs::read_to_string(project.path(file)).context(file);
    Ok(compare(&read(DOCS)?, &read(TABLE)?))
}

fn compare(docs: &str, table: &str) -> Vec<String> {
    let rows = documented(docs);
    let served: BTreeSet<String> = rows
        .iter()
        .filter(|row| row.served)
        .map(|row| row.path.clone())
        .collect();
    let known: BTreeSet<String> = rows.into_iter().map(|row| row.path).collect();
    let routed = routed(table);
    let missing = served
        .difference(&routed)
        .map(|path| format!("{DOCS}: {path} is served, but not in {TABLE}"));
    let hidden = routed
        .difference(&known)
        .map(|path| format!("{TABLE}: {path} is not in {DOCS}"));
    let early = routed.intersection(&known).filter(|path| !served.contains(*path));
    let early = early.map(|path| format!("{DOCS}: {path} is in {TABLE}, so it is not for later"));
    missing.chain(hidden).chain(early).collect()
}

struct Row {
    path: String,
    served: bool,
}

/// Rows of the form "| METHOD | `path` | state | what |".
fn documented(docs: &str) -> Vec<Row> {
    let row = |line: &str| {
        let mut cells = line.split('|').skip(2).map(str::trim);
        let path = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        let served = match cells.next()? {
            "served" => true,
            "later" | "not offered" => false,
            _ => return None,
        };
        Some(Row {
            path: nameless(path),
            served,
        })
    };
    docs.lines().filter_map(row).collect()
}

/// All paths in texts of the table, but not in its comments and tests.
fn routed(table: &str) -> BTreeSet<String> {
    let code = table.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let texts = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    texts
        .filter(|text| text.starts_with('/') && text.len() > 1)
        .map(nameless)
        .collect()
}

/// The path with `{}` for every parameter.
fn nameless(path: &str) -> String {
    let part = |part: &str| {
        if part.starts_with('{') {
            "{}".to_owned()
        } else {
            part.to_owned()
        }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::compare;

    const DOCS: &str = "| GET | `/v2/crawl/{id}` | served | x |\n| POST | `/v2/map` | later | x |\n\
                        | Method | Path | State | What |\n| `/v1/{rest}` | 404 |\n";

    #[test]
    fn both_sides_agree_when_every_path_is_on_both() {
        let table = "// \"/v2/comment\"\nroute(\"/v2/crawl/{job}\", get(crawl))";
        assert_eq!(compare(DOCS, table), Vec::<String>::new());
    }

    #[test]
    fn a_path_on_one_side_is_named() {
        let found = compare(DOCS, "route(\"/v2/map\", m).route(\"/v2/new\", n)");
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("/v2/crawl/{} is served, but not"), "{found:?}");
        assert!(found[1].contains("/v2/new is not in"), "{found:?}");
        assert!(found[2].contains("/v2/map is in"), "{found:?}");
    }
}
