//! The licences of everything that the binary contains: a list of packages, then each text once.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context, Result};

use super::dependencies::{Dependencies, Dependency};
use crate::{compress::name_of, fingerprint::files_under};

/// Beginnings of the names of files with licences and notices, in lower case.
const NAMES: [&str; 6] = [
    "license", "licence", "copying", "notice", "unlicense", "thirdpartynotices",
];
const HEAD: &str = "Harvestman contains the following packages. Their licences follow the list.\n\n";
const RULE: &str = "\n================================================================================\n";

/// Returns the document. A package without a licence text is listed with a note on where the text is.
pub(super) fn text(dependencies: &Dependencies) -> Result<String> {
    let mut list = HEAD.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for dependency in &dependencies.list {
        let title = format!("{} {}", dependency.name, dependency.version);
        list.push_str(&format!("{title}: {}", dependency.licence));
        let files = licence_files(dependency)?;
        if files.is_empty() {
            let at = match dependency.licence.contains("Apache-2.0") {
                true => "used under Apache-2.0, whose text is in LICENSE-APACHE",
                false => dependency
                    .repository
                    .as_deref()
                    .unwrap_or("no text in the package"),
            };
            list.push_str(&format!(" ({at})"));
        }
        list.push('\n');
        for file in files {
            let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            texts
                .entry(text.trim().to_owned())
                .or_default()
                .push(title.clone());
        }
    }
    for (text, mut titles) in texts {
        titles.dedup();
        list.push_str(&format!("{RULE}{}{RULE}\n{text}\n", titles.join(", ")));
    }
    Ok(list)
}

/// Returns the files with licences and notices in the folder of a package.
fn licence_files(dependency: &Dependency) -> Result<Vec<PathBuf>> {
    let is_licence = |file: &PathBuf| {
        let name = name_of(file).to_lowercase();
        NAMES.iter().any(|start| name.starts_with(start))
    };
    let in_folder = fs::read_dir(&dependency.folder)
        .with_context(|| dependency.folder.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()));
    let mut found = Vec::new();
    for path in in_folder.filter(is_licence) {
        // A folder `LICENSES` has one file per licence.
        found.extend(files_under(&path)?);
    }
    found.sort();
    Ok(found)
}
