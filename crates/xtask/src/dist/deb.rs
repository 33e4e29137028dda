//! The Debian package: program, man pages, completions, a systemd unit, a system user, a data folder and a settings
//! file that upgrades keep. `dpkg-deb` writes it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use flate2::write::GzEncoder;

use super::{Effort, PROGRAM, Release, SUMMARY, archive::Entry};
use crate::{compress::name_of, fingerprint::files_under, run};

/// Folder of the sources of the package.
const SOURCES: &str = "crates/server/packaging/debian";
const SETTINGS: &str = "etc/harvestman/harvestman.toml";
/// Line of the settings template that the package replaces.
const TEMPLATE_DATA_DIR: &str = "# data_dir = \"\"";
const DATA_DIR: &str = "data_dir = \"/var/lib/harvestman\"";
/// Packages that add features.
const RECOMMENDED: &str =
    "chromium-headless-shell | chromium, bubblewrap, nodejs (>= 20), libatomic1, python3, python3-venv";

/// Writes the package; none on a machine without `dpkg-deb`.
pub(super) fn write(
    release: &Release<'_>,
    manual: &[Entry<'_>],
    work: &Path,
    folder: &Path,
) -> Result<Option<PathBuf>> {
    let Some(dpkg_deb) = run::find_in_path("dpkg-deb") else {
        run::print_step("no `dpkg-deb` in PATH: no Debian package is written");
        return Ok(None);
    };
    let root = work.join("deb");
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| root.display().to_string())?;
    }
    let mut entries = vec![Entry::program(format!("usr/bin/{PROGRAM}"), &release.binary)];
    entries.extend(release.texts_in("usr/share/doc/harvestman/").map(|mut text| {
        if text.path.ends_with("THIRD-PARTY-LICENSES.txt") {
            text.path = "usr/share/doc/harvestman/copyright.third-party".to_owned();
        }
        text
    }));
    for entry in manual {
        entries.extend(manual_entry(entry, release.effort)?);
    }
    let source = |name: &str| release.project.path(SOURCES).join(name);
    entries.push(Entry::file(
        "usr/lib/systemd/system/harvestman.service",
        &source("harvestman.service"),
    )?);
    entries.push(Entry::file(
        "usr/share/doc/harvestman/copyright",
        &source("copyright"),
    )?);
    entries.push(Entry::text(SETTINGS, settings(&work.join(PROGRAM))?));
    for script in ["postinst", "prerm", "postrm"] {
        let mut script = Entry::file(format!("DEBIAN/{script}"), &source(script))?;
        script.is_program = true;
        entries.push(script);
    }
    entries.push(Entry::text("DEBIAN/conffiles", format!("/{SETTINGS}\n")));
    entries.push(Entry::text("DEBIAN/control", control(release, &entries)));
    for entry in &entries {
        let file = root.join(&entry.path);
        fs::create_dir_all(file.parent().context("a path below the root")?)?;
        fs::write(&file, &entry.bytes).with_context(|| file.display().to_string())?;
        fs::set_permissions(&file, fs::Permissions::from_mode(entry.mode()))?;
    }
    // dpkg refuses a control folder that others may write to.
    for folder in folders_of(&root)? {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    }
    let architecture = release.platform.debian_architecture();
    let file = folder.join(format!("{PROGRAM}_{}_{architecture}.deb", release.version));
    let mut command = run::command(dpkg_deb);
    command.env("SOURCE_DATE_EPOCH", release.time.to_string());
    command.arg("--root-owner-group").args(match release.effort {
        Effort::Fast => ["-Zgzip", "-z1"],
        Effort::Best => ["-Zxz", "-z6"],
    });
    run::output(command.arg("--build").arg(&root).arg(&file))?;
    fs::remove_dir_all(&root)?;
    Ok(Some(file))
}

/// Returns a man page or completion script at its place in the file system; none for a shell of another system.
fn manual_entry<'a>(entry: &'a Entry<'_>, effort: Effort) -> Result<Option<Entry<'a>>> {
    let name = name_of(Path::new(&entry.path));
    let path = match (entry.path.split('/').next(), &*name) {
        (Some("man"), _) => {
            let mut page = GzEncoder::new(Vec::new(), effort.gzip());
            std::io::Write::write_all(&mut page, &entry.bytes)?;
            return Ok(Some(Entry {
                path: format!("usr/share/man/man1/{name}.gz"),
                is_program: false,
                bytes: page.finish()?.into(),
            }));
        }
        (_, "harvestman.bash") => "usr/share/bash-completion/completions/harvestman",
        (_, "_harvestman") => "usr/share/zsh/vendor-completions/_harvestman",
        (_, "harvestman.fish") => "usr/share/fish/vendor_completions.d/harvestman.fish",
        _ => return Ok(None),
    };
    Ok(Some(entry.at(path.to_owned())))
}

/// Returns the settings file: the template with every setting, and the data folder of the service.
fn settings(program: &Path) -> Result<String> {
    let template = run::output(run::command(program).args(["config", "template"]))?;
    ensure!(
        template.matches(TEMPLATE_DATA_DIR).count() == 1,
        "the settings template has no line `{TEMPLATE_DATA_DIR}`"
    );
    Ok(template.replace(TEMPLATE_DATA_DIR, DATA_DIR))
}

fn control(release: &Release<'_>, entries: &[Entry<'_>]) -> String {
    let kib = entries.iter().map(|entry| entry.bytes.len()).sum::<usize>() / 1024;
    let libc = release.platform.glibc;
    let libc = libc.map_or(String::new(), |(major, minor)| {
        format!("libc6 (>= {major}.{minor}), libgcc-s1, ")
    });
    let (version, repository) = (release.version, env!("CARGO_PKG_REPOSITORY"));
    let architecture = release.platform.debian_architecture();
    format!(
        "Package: {PROGRAM}\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: The Harvestman developers <harvestman@users.noreply.github.com>\nInstalled-Size: {kib}\n\
         Depends: {libc}adduser\nRecommends: {RECOMMENDED}\nSection: web\nPriority: optional\n\
         Homepage: {repository}\nDescription: {SUMMARY}\n \
         One program with an embedded database, a web console and an API that speaks Firecrawl v2.\n"
    )
}

/// Returns all folders below `root`, and `root`.
fn folders_of(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = vec![root.to_path_buf()];
    for file in files_under(root)? {
        let above = file.ancestors().skip(1).take_while(|folder| *folder != root);
        folders.extend(above.map(Path::to_path_buf));
    }
    folders.sort();
    folders.dedup();
    Ok(folders)
}
