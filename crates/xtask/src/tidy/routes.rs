//! Compares the server's route table with docs/ROUTES.md, in both directions: method, path and state. Names of path
//! parameters do not matter.

use std::{collections::BTreeSet, fmt, fs};

use anyhow::{Context, Result};

use crate::project::Project;

const DOCS: &str = "docs/ROUTES.md";
const ROUTER: &str = "crates/server/src/router.rs";
const NOT_OFFERED: &str = "crates/server/src/router/not_offered.rs";

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Route {
    method: String,
    path: String,
    state: &'static str,
}

pub(super) fn problems(project: &Project) -> Result<Vec<String>> {
    let read = |file| fs::read_to_string(project.path(file)).context(file);
    Ok(compare(&read(DOCS)?, &read(ROUTER)?, &read(NOT_OFFERED)?))
}

fn compare(docs: &str, served: &str, not_offered: &str) -> Vec<String> {
    let documented: BTreeSet<Route> = docs.lines().filter_map(parse_documented).collect();
    let mut routed: BTreeSet<Route> = served.lines().filter_map(served_row).collect();
    routed.extend(not_offered_rows(not_offered));
    let only_documented = documented.difference(&routed);
    let only_documented = only_documented.map(|route| format!("{DOCS}: not in the route table: {route}"));
    let only_routed = routed.difference(&documented);
    only_documented
        .chain(only_routed.map(|route| format!("{ROUTER}: not in {DOCS}: {route}")))
        .collect()
}

/// Returns the path of every served route in the text of docs/ROUTES.md. Names of parameters are left out.
pub(super) fn served_paths(docs: &str) -> BTreeSet<String> {
    let routes = docs.lines().filter_map(parse_documented);
    routes
        .filter(|route| route.state == "served")
        .map(|route| route.path)
        .collect()
}

/// Parses a row of the form "| METHOD | `path` | state | what |".
fn parse_documented(line: &str) -> Option<Route> {
    let mut cells = line.split('|').skip(1).map(str::trim);
    let method = cells.next()?;
    let path = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
    let state = cells.next()?;
    let state = ["served", "not offered", "old"]
        .into_iter()
        .find(|known| *known == state)?;
    Some(Route::new(method, path, state))
}

/// Parses a row of the form `Access METHOD "path" => handler;`.
fn served_row(line: &str) -> Option<Route> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [_, method, path, "=>", ..] => Some(Route::new(method, unquote(path)?, "served")),
        _ => None,
    }
}

/// Parses rows of the form `"path",`; the name of their list determines the state.
fn not_offered_rows(code: &str) -> Vec<Route> {
    let mut list_state = None;
    let mut found = Vec::new();
    for line in code.lines() {
        if let Some(list) = line.strip_prefix("const ") {
            list_state = [("NEVER", "not offered"), ("OLD", "old")]
                .into_iter()
                .find_map(|(start, state)| list.starts_with(start).then_some(state));
        }
        let Some(state) = list_state else { continue };
        let paths = line.split('"').skip(1).step_by(2);
        found.extend(paths.map(|path| Route::new("any", path, state)));
        if line.trim_end().ends_with("];") {
            list_state = None;
        }
    }
    found
}

fn unquote(word: &str) -> Option<&str> {
    word.strip_prefix('"')?.strip_suffix('"')
}

impl Route {
    fn new(method: &str, path: &str, state: &'static str) -> Route {
        let part = |part: &str| {
            if part.starts_with('{') {
                "{}".to_owned()
            } else {
                part.to_owned()
            }
        };
        let path = path.split('/').map(part).collect::<Vec<_>>().join("/");
        Route {
            method: method.to_owned(),
            path,
            state,
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} is {}", self.method, self.path, self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::compare;

    const DOCS: &str = "| Method | Path | State | What |\n| GET | `/v2/crawl/{id}` | served | x |\n\
                        | any | `/v2/gov` | not offered | |\n| any | `/v1/{*rest}` | old | |\n";
    const NOT_OFFERED: &str = "const NEVER: &[&str] = &[\"/v2/gov\"];\n\
                               const OLD_VERSIONS: &[&str] = &[\n    \"/v1/{*rest}\",\n];\nlet x = \"/other\";\n";

    #[test]
    fn equal_tables_have_no_problems() {
        let table = "// Key GET here\n        Key GET \"/v2/crawl/{job}\" => crawl::status;\n";
        assert_eq!(compare(DOCS, table, NOT_OFFERED), Vec::<String>::new());
    }

    #[test]
    fn a_route_in_only_one_table_is_reported() {
        let table = "Key POST \"/v2/crawl/{job}\" => crawl::status;\nKey POST \"/v2/map\" => map;";
        let found = compare(DOCS, table, NOT_OFFERED);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(
            found[0].contains("not in the route table: GET /v2/crawl/{} is served"),
            "{found:?}"
        );
        assert!(found[1].contains("POST /v2/crawl/{} is served"), "{found:?}");
        assert!(found[2].contains("POST /v2/map is served"), "{found:?}");
    }
}
