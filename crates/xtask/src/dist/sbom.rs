//! The bill of materials, in the JSON format of CycloneDX 1.6.

use serde_json::{Value, json};

use super::{
    PROGRAM,
    dependencies::{Dependencies, Dependency},
};

/// Returns the document for a version of the program.
pub(super) fn document(dependencies: &Dependencies, version: &str) -> String {
    let root = format!("pkg:cargo/harvestman-server@{version}");
    let mut edges = vec![json!({"ref": root, "dependsOn": dependencies.roots})];
    edges.extend(
        dependencies
            .list
            .iter()
            .map(|dependency| json!({"ref": dependency.purl(), "dependsOn": dependency.uses})),
    );
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": PROGRAM,
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "purl": root,
            },
        },
        "components": dependencies.list.iter().map(component).collect::<Vec<_>>(),
        "dependencies": edges,
    });
    format!("{document:#}\n")
}

fn component(dependency: &Dependency) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": dependency.purl(),
        "name": dependency.name,
        "version": dependency.version,
        "licenses": [{"expression": dependency.licence}],
        "purl": dependency.purl(),
    });
    if let Some(checksum) = &dependency.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(url) = &dependency.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": url}]);
    }
    component
}
