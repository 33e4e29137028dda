//! The npm packages: `harvestman-server` starts the program, which is in a separate package for each platform. npm
//! installs only the package for its own platform.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::{PROGRAM, Release, SUMMARY, TEXTS, archive, archive::Entry};

const PACKAGE: &str = "harvestman-server";
/// Operating systems and processors that releases are built for.
const PLATFORMS: [(&str, &str); 4] = [
    ("linux", "x64"),
    ("linux", "arm64"),
    ("darwin", "x64"),
    ("darwin", "arm64"),
];

/// Writes the package that users install, and the package for this platform.
pub(super) fn write(release: &Release<'_>, folder: &Path) -> Result<[PathBuf; 2]> {
    let (os, cpu) = (release.platform.npm_os(), release.platform.npm_cpu());
    let of_platform = |(os, cpu): (&str, &str)| format!("{PACKAGE}-{os}-{cpu}");

    let name = of_platform((os, cpu));
    let mut about = manifest(release, &name, &format!("{SUMMARY} (program for {os} {cpu})"));
    about["os"] = json!([os]);
    about["cpu"] = json!([cpu]);
    if release.platform.glibc.is_some() {
        about["libc"] = json!(["glibc"]);
    }
    let program = Entry::program(format!("package/bin/{PROGRAM}"), &release.binary);
    let platform = pack(release, folder, &about, program, release.texts_in("package/"))?;

    let versions = PLATFORMS.map(|platform| (of_platform(platform), Value::from(release.version)));
    let mut about = manifest(release, PACKAGE, SUMMARY);
    about["bin"] = json!({PACKAGE: "bin/harvestman-server.js"});
    about["engines"] = json!({"node": ">=18"});
    about["optionalDependencies"] = Value::Object(versions.into_iter().collect());
    let source = release
        .project
        .path("crates/server/packaging/npm/harvestman-server.js");
    let mut launcher = Entry::file("package/bin/harvestman-server.js", &source)?;
    launcher.is_program = true;
    // The same file on each platform.
    let texts = release.texts.iter().filter(|text| TEXTS.contains(&&*text.path));
    let texts = texts.map(|text| text.at(format!("package/{}", text.path)));
    Ok([platform, pack(release, folder, &about, launcher, texts)?])
}

fn manifest(release: &Release<'_>, name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "version": release.version,
        "description": description,
        "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": concat!("git+", env!("CARGO_PKG_REPOSITORY"), ".git")},
    })
}

fn pack<'a>(
    release: &Release<'_>,
    folder: &Path,
    manifest: &Value,
    program: Entry<'a>,
    texts: impl Iterator<Item = Entry<'a>>,
) -> Result<PathBuf> {
    let name = manifest["name"].as_str().unwrap_or_default();
    let mut entries = vec![
        Entry::text("package/package.json", format!("{manifest:#}\n")),
        program,
    ];
    entries.extend(texts);
    let bytes = archive::tar_gz(&entries, release.effort, release.time)?;
    release.write(&folder.join(format!("{name}-{}.tgz", release.version)), &bytes)
}
