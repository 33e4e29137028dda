//! Prebuilt programs: an archive is fetched with a time limit, and kept only if the program in it says its version.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use anyhow::{Context, Result, bail};

use crate::{fingerprint::files_under, run};

/// A machine that can reach the release host answers within this time; one that cannot must not wait long.
const CONNECT_SECONDS: &str = "8";
const TOTAL_SECONDS: u64 = 120;

/// Puts program `name` of `version` from the first good archive of `urls` at `file`.
pub(super) fn program(urls: &[String], name: &str, version: &str, file: &Path) -> Result<()> {
    let mut last = anyhow::anyhow!("none exists for this machine");
    for url in urls {
        match from_archive(url, name, version, file) {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn from_archive(url: &str, name: &str, version: &str, file: &Path) -> Result<()> {
    let folder = file.with_file_name(format!(".{name}.download"));
    let found = fetch(url, &folder).and_then(|()| {
        let program = files_under(&folder)?
            .into_iter()
            .find(|path| path.file_name().is_some_and(|found| found == name))
            .with_context(|| format!("{url} holds no {name}"))?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        match run::version_of(&program) {
            Some(found) if found == version => Ok(fs::rename(&program, file)?),
            found => bail!("{url} does not run here or has another version ({found:?})"),
        }
    });
    fs::remove_dir_all(&folder).ok();
    found
}

/// Downloads a `.tar.gz` and unpacks it into the new folder `into`.
pub(super) fn fetch(url: &str, into: &Path) -> Result<()> {
    run::say(&format!("downloading {url}"));
    fs::remove_dir_all(into).ok();
    fs::create_dir_all(into)?;
    let archive = into.join("archive.tar.gz");
    let total = TOTAL_SECONDS.to_string();
    run::run_within(
        run::command("curl")
            .args([
                "-fsSL",
                "--proto",
                "=https",
                "--connect-timeout",
                CONNECT_SECONDS,
                "--max-time",
                &total,
            ])
            .arg("-o")
            .arg(&archive)
            .arg(url),
        Duration::from_secs(TOTAL_SECONDS + 5),
    )?;
    run::run(run::command("tar").arg("-xzf").arg(&archive).arg("-C").arg(into))?;
    Ok(fs::remove_file(&archive)?)
}
