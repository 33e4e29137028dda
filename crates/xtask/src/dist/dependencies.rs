//! What the binary contains: the crates that the server links, the crates of the embedded console, and the embedded npm
//! packages.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{project::Project, run};

/// Packages of the workspace that the binary contains, with the target that each is compiled for; none: this machine.
const ROOTS: [(&str, Option<&str>); 3] = [
    ("harvestman-server", None),
    ("harvestman-web", Some("wasm32-unknown-unknown")),
    ("harvestman-wasm", Some("wasm32-unknown-unknown")),
];

/// Third-party packages in the binary.
pub(super) struct Dependencies {
    /// Sorted by name and version.
    pub(super) list: Vec<Dependency>,
    /// Package URLs of the project's direct dependencies.
    pub(super) roots: BTreeSet<String>,
}

/// Package in the binary.
pub(super) struct Dependency {
    /// Name of its registry in package URLs.
    registry: &'static str,
    pub(super) name: String,
    pub(super) version: String,
    /// SPDX expression.
    pub(super) licence: String,
    pub(super) repository: Option<String>,
    /// SHA-256 of the package in hexadecimal.
    pub(super) checksum: Option<String>,
    pub(super) folder: PathBuf,
    /// Package URLs of the packages that it uses.
    pub(super) uses: BTreeSet<String>,
}

impl Dependency {
    /// Returns the package URL (github.com/package-url/purl-spec).
    pub(super) fn purl(&self) -> String {
        format!("pkg:{}/{}@{}", self.registry, self.name, self.version)
    }
}

impl Dependencies {
    /// Reads the dependencies of the project. `embedded`: folders of the embedded npm packages.
    pub(super) fn read(project: &Project, embedded: Vec<PathBuf>) -> Result<Dependencies> {
        let host = run::output(run::command("rustc").arg("-vV"))?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc does not print its host")?;
        let lock = fs::read_to_string(project.path("Cargo.lock")).context("cannot read Cargo.lock")?;
        let checksums = checksums(&lock);
        let (mut found, mut roots) = (BTreeMap::new(), BTreeSet::new());
        for (root, target) in ROOTS {
            let text = run::output(project.cargo().args([
                "metadata",
                "--format-version=1",
                "--locked",
                "--filter-platform",
                target.unwrap_or(host),
            ]))?;
            let graph: Value = serde_json::from_str(&text).context("cargo metadata printed invalid JSON")?;
            Graph::new(&graph).collect(root, &checksums, &mut found, &mut roots);
        }
        for folder in embedded {
            let package = npm_package(folder)?;
            roots.insert(package.purl());
            found.insert(package.purl(), package);
        }
        Ok(Dependencies {
            list: found.into_values().collect(),
            roots,
        })
    }
}

/// Result of `cargo metadata` for one target.
struct Graph<'a> {
    packages: BTreeMap<&'a str, &'a Value>,
    nodes: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Graph<'a> {
    fn new(metadata: &'a Value) -> Graph<'a> {
        let by_id = |list: &'a Value| {
            let items = list.as_array().into_iter().flatten();
            items.map(|item| (text(&item["id"]), item)).collect()
        };
        Graph {
            packages: by_id(&metadata["packages"]),
            nodes: by_id(&metadata["resolve"]["nodes"]),
        }
    }

    /// Adds what a package of the workspace links.
    fn collect(
        &self,
        root: &str,
        checksums: &BTreeMap<(&str, &str), &str>,
        found: &mut BTreeMap<String, Dependency>,
        roots: &mut BTreeSet<String>,
    ) {
        let named = self
            .packages
            .iter()
            .filter(|(_, package)| package["name"] == root);
        let mut open: Vec<&str> = named.map(|(id, _)| *id).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let linked: Vec<&str> = self.linked(id).collect();
            let purls = linked.iter().filter_map(|id| self.dependency(id, checksums));
            let purls: BTreeSet<String> = purls.map(|dependency| dependency.purl()).collect();
            match self.dependency(id, checksums) {
                Some(dependency) => {
                    let known = found.entry(dependency.purl()).or_insert(dependency);
                    known.uses.extend(purls);
                }
                None => roots.extend(purls),
            }
            open.extend(linked);
        }
    }

    /// Returns the packages that a package links: its dependencies except those of its tests and build script.
    fn linked(&self, id: &str) -> impl Iterator<Item = &'a str> {
        let all = self.nodes.get(id).and_then(|node| node["deps"].as_array());
        let is_linked = |dependency: &&Value| {
            let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
            kinds.into_iter().any(|kind| kind["kind"].is_null())
        };
        all.into_iter()
            .flatten()
            .filter(is_linked)
            .map(|dependency| text(&dependency["pkg"]))
    }

    /// Returns a package of a registry; none for one of the workspace.
    fn dependency(&self, id: &str, checksums: &BTreeMap<(&str, &str), &str>) -> Option<Dependency> {
        let package = self.packages.get(id)?;
        package["source"].as_str()?;
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        Some(Dependency {
            registry: "cargo",
            name: name.to_owned(),
            version: version.to_owned(),
            licence: text(&package["license"]).replace('/', " OR "),
            repository: package["repository"].as_str().map(str::to_owned),
            checksum: checksums
                .get(&(name, version))
                .map(|&checksum| checksum.to_owned()),
            folder: Path::new(text(&package["manifest_path"])).parent()?.to_path_buf(),
            uses: BTreeSet::new(),
        })
    }
}

/// Returns the npm package in a folder.
fn npm_package(folder: PathBuf) -> Result<Dependency> {
    let file = folder.join("package.json");
    let manifest = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let manifest: Value = serde_json::from_str(&manifest)?;
    Ok(Dependency {
        registry: "npm",
        name: text(&manifest["name"]).to_owned(),
        version: text(&manifest["version"]).to_owned(),
        licence: text(&manifest["license"]).to_owned(),
        repository: Some(text(&manifest["homepage"]).to_owned()),
        checksum: None,
        folder,
        uses: BTreeSet::new(),
    })
}

/// Returns the checksums in a Cargo.lock, by name and version.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let packages = lock.split("\n[[package]]\n").skip(1);
    let field = |package: &'_ str, name: &str| -> Option<(usize, usize)> {
        let start = package.find(&format!("{name} = \""))? + name.len() + 4;
        Some((start, start + package[start..].find('"')?))
    };
    packages
        .filter_map(|package| {
            let get = |name| field(package, name).map(|(start, end)| &package[start..end]);
            Some(((get("name")?, get("version")?), get("checksum")?))
        })
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_found_by_name_and_version() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"aa\"\n\n\
                    [[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        assert_eq!(checksums(lock), BTreeMap::from([(("a", "1.0.0"), "aa")]));
    }
}
