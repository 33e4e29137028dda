//! Downloads prebuilt programs with a time limit. A program is kept only if it runs and reports its version.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use anyhow::{Context, Result, bail};

use crate::{fingerprint::files_under, run};

/// Time limit for connecting, short so that a machine that cannot reach the host does not wait long.
const CONNECT_SECONDS: &str = "8";
const TOTAL_SECONDS: u64 = 120;

/// Writes the program `name` of `version` to `file`, from the first working archive of `urls`.
pub(super) fn program(urls: &[String], name: &str, version: &str, file: &Path) -> Result<()> {
    let mut last = anyhow::anyhow!("no archive for this platform");
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
            .with_context(|| format!("{url} does not contain {name}"))?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        match run::version_of(&program) {
            Some(found) if found == version => Ok(fs::rename(&program, file)?),
            found => bail!("the program from {url} does not run or has another version ({found:?})"),
        }
    });
    fs::remove_dir_all(&folder).ok();
    found
}

/// Downloads a `.tar.gz` and extracts it into the new folder `into`.
pub(super) fn fetch(url: &str, into: &Path) -> Result<()> {
    run::print_step(&format!("downloading {url}"));
    fs::remove_dir_all(into).ok();
    fs::create_dir_all(into)?;
    let archive = into.join("archive.tar.gz");
    let total = TOTAL_SECONDS.to_string();
    run::run_within(
        run::command("curl")
            .args([
                "-fsSL", "--proto", "=https", "--connect-timeout", CONNECT_SECONDS, "--max-time", &total,
            ])
            .arg("-o")
            .arg(&archive)
            .arg(url),
        Duration::from_secs(TOTAL_SECONDS + 5),
    )?;
    run::run(run::command("tar").arg("-xzf").arg(&archive).arg("-C").arg(into))?;
    Ok(fs::remove_file(&archive)?)
}
