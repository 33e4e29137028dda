//! Compares the proxies of Trunk.toml with docs/ROUTES.md, so that the console reaches every path of the server under
//! `trunk serve` too.

use std::fs;

use anyhow::{Context, Result};

use super::routes::served_paths;
use crate::project::Project;

const TRUNK: &str = "Trunk.toml";
const ROUTES: &str = "docs/ROUTES.md";
/// Paths that are not forwarded: those that trunk serves, and those that only other programs use.
const NOT_FORWARDED: &[&str] = &["/", "/console", "/cdp", "/mcp", "/metrics"];

pub(super) fn problems(project: &Project) -> Result<Vec<String>> {
    let read = |file| fs::read_to_string(project.path(file)).context(file);
    Ok(compare(&read(TRUNK)?, &read(ROUTES)?))
}

fn compare(trunk: &str, routes: &str) -> Vec<String> {
    let proxies: Vec<&str> = trunk.lines().filter_map(proxy_path).collect();
    let paths = served_paths(routes);
    let is_reached = |path: &str| {
        let mut reachable = proxies.iter().chain(NOT_FORWARDED);
        reachable.any(|folder| is_below(path, folder))
    };
    let missing = paths
        .iter()
        .filter(|path| !is_reached(path))
        .map(|path| format!("{TRUNK}: no proxy for `{path}`"));
    let unused = proxies
        .iter()
        .filter(|proxy| !paths.iter().any(|path| is_below(path, proxy)))
        .map(|proxy| format!("{TRUNK}: no route below the proxy `{proxy}`"));
    missing.chain(unused).collect()
}

/// Parses the path of `backend = "http://host/path"`.
fn proxy_path(line: &str) -> Option<&str> {
    let url = line.strip_prefix("backend = \"")?.strip_suffix('"')?;
    let (_, rest) = url.split_once("://")?;
    rest.find('/').map(|at| &rest[at..])
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || (rest.starts_with('/') && folder != "/"))
}

#[cfg(test)]
mod tests {
    use super::compare;

    const ROUTES: &str = "| GET | `/` | served | x |\n| GET | `/console/{*path}` | served | x |\n\
                          | GET | `/v2/map` | served | x |\n| GET | `/v1/{*rest}` | old | x |\n";

    #[test]
    fn every_route_of_the_console_has_a_proxy() {
        let trunk = "[[proxy]]\nbackend = \"http://127.0.0.1:3002/v2\"\n";
        assert!(compare(trunk, ROUTES).is_empty());
        let more = format!("{ROUTES}| GET | `/v2x` | served | x |\n");
        assert_eq!(compare(trunk, &more), ["Trunk.toml: no proxy for `/v2x`"]);
        let other = format!("{trunk}backend = \"http://127.0.0.1:3002/docs\"\n");
        assert_eq!(
            compare(&other, ROUTES),
            ["Trunk.toml: no route below the proxy `/docs`"]
        );
    }
}
