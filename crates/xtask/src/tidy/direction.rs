//! Allowed dependencies between the crates of the project (docs/ARCHITECTURE.md, Direction).

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{project::Project, run};

/// Each crate with the project's crates that it may depend on, without the prefix of the package names.
const MAY_USE: &[(&str, &[&str])] = &[
    ("content", &[]),
    ("derive", &[]),
    ("core", &["content", "derive"]),
    ("fetch", &["core"]),
    ("browser", &["core"]),
    ("store", &["core"]),
    ("engine", &["core", "fetch", "browser", "store"]),
    ("server", &["core", "fetch", "browser", "store", "engine"]),
    ("client", &["core"]),
    ("wasm", &["core", "content"]),
    ("web", &["client", "core"]),
    ("xtask", &[]),
    ("tests", &["core", "store"]),
];
const PREFIX: &str = "harvestman-";
/// Crates that must not have an impure dependency, direct or indirect.
const PURE: &[&str] = &["content", "core"];
const IMPURE: &[&str] = &[
    "tokio", "mio", "getrandom", "rand", "hyper", "socket2", "axum", "sqlx",
];

pub(super) fn problems(metadata: &Value) -> Result<Vec<String>> {
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata has no list of packages")?;
    let ours: BTreeMap<&str, &Value> = packages
        .iter()
        .filter(|package| package["source"].is_null())
        .filter_map(|package| Some((package["name"].as_str()?.strip_prefix(PREFIX)?, package)))
        .collect();
    let mut found = Vec::new();
    for (name, package) in &ours {
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| known == name) else {
            found.push(format!(
                "{PREFIX}{name}: a new crate must be added to docs/ARCHITECTURE.md and to xtask tidy"
            ));
            continue;
        };
        for used in dependencies(package, &[Value::Null, "build".into()]) {
            match used.strip_prefix(PREFIX) {
                Some(used) if !allowed.contains(&used) => {
                    found.push(format!("{PREFIX}{name} must not depend on {PREFIX}{used}"));
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

fn dependencies<'a>(package: &'a Value, kinds: &[Value]) -> Vec<&'a str> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    all.filter(|used| kinds.contains(&used["kind"]))
        .filter_map(|used| used["name"].as_str())
        .collect()
}

/// Finds impure crates in the build of a pure one. Runs `cargo tree` per crate, because features that other crates
/// enable must not count.
pub(super) fn impurities(project: &Project) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for pure in PURE {
        let mut cargo = project.cargo();
        cargo.args([
            "tree", "--edges=normal", "--prefix=none", "--format={p}", "--package",
        ]);
        let tree = run::output(cargo.arg(format!("{PREFIX}{pure}")))?;
        found.extend(
            impure(&tree).map(|name| format!("{PREFIX}{pure} must stay pure, but its build contains {name}")),
        );
    }
    Ok(found)
}

fn impure(tree: &str) -> impl Iterator<Item = &'static str> + '_ {
    IMPURE
        .iter()
        .copied()
        .filter(|name| tree.lines().any(|line| line.split(' ').next() == Some(*name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, uses: &[&str]) -> Value {
        let uses: Vec<Value> = uses
            .iter()
            .map(|name| json!({ "name": name, "kind": null }))
            .collect();
        json!({ "name": name, "source": null, "dependencies": uses })
    }

    #[test]
    fn a_forbidden_dependency_and_an_unknown_crate_are_reported() {
        let metadata = json!({
            "packages": [
                package("harvestman-content", &[]),
                package("harvestman-core", &["harvestman-content", "url", "harvestman-store"]),
                package("harvestman-extra", &[]),
                { "name": "url", "source": "registry", "dependencies": [] },
            ],
        });
        let found = problems(&metadata).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("core must not depend on harvestman-store"),
            "{found:?}"
        );
        assert!(found[1].contains("extra: a new crate"), "{found:?}");
    }

    #[test]
    fn an_impure_crate_is_found_by_its_exact_name() {
        let tree = "harvestman-core v0.1.0 (/a)\nurl v2.5.0\ntokio v1.0.0\nrandom v1.0.0 (*)";
        assert_eq!(impure(tree).collect::<Vec<_>>(), ["tokio"]);
    }
}
