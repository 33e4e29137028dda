//! `dist`: packages one build of the binary for every way to install it: an archive, a Python wheel, npm packages and a
//! Debian package, with licences and bill of materials of everything inside, and checksums.

mod archive;
mod deb;
mod dependencies;
mod manual;
mod node;
mod notices;
mod platform;
mod sbom;
mod wheel;

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use self::{archive::Entry, dependencies::Dependencies, platform::Platform};
use crate::{
    compress::name_of, console, driver, embedded, fingerprint::files_under, project::Project, run,
    tools::Tools,
};

/// Program that the packages install.
const PROGRAM: &str = "harvestman";
const SUMMARY: &str = "Self-hosted web data service: scrape, crawl, map, extract and browser sessions";
/// Licence of the embedded filter lists.
const FILTER_LISTS: &str = "crates/browser/src/blocker/LICENCE.md";
/// Files of the clone that every package contains.
const TEXTS: [&str; 3] = ["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// What goes into the packages.
struct Release<'a> {
    project: &'a Project,
    version: &'static str,
    platform: Platform,
    /// The program.
    binary: Vec<u8>,
    /// README, licences of the project and of everything in the binary, and the bill of materials.
    texts: Vec<Entry<'a>>,
    effort: Effort,
    /// Time stamp of all files, in seconds since 1970, so that the same build gives the same packages.
    time: u64,
}

/// How much time compression may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For tests.
    Fast,
    /// For publication.
    Best,
}

impl Effort {
    fn gzip(self) -> flate2::Compression {
        match self {
            Effort::Fast => flate2::Compression::fast(),
            Effort::Best => flate2::Compression::best(),
        }
    }
}

/// Runs the task: builds a release and packages it; `--binary FILE` packages an existing build.
pub(crate) fn dist(project: &Project, tools: &Tools, arguments: &[String]) -> Result<()> {
    let binary = match arguments {
        [] => {
            tools.make()?;
            console::build(project, tools)?;
            driver::build(project, tools)?;
            tools.release()?;
            run::run(&mut project.release())?;
            project.target().join("release").join(PROGRAM)
        }
        [flag, file] if flag == "--binary" => PathBuf::from(file),
        _ => bail!("`dist` takes only `--binary FILE`"),
    };
    let folder = package(project, tools, &binary, Effort::Best)?;
    for file in files_under(&folder)? {
        println!("    {:>9} bytes  {}", fs::metadata(&file)?.len(), file.display());
    }
    Ok(())
}

/// Packages a binary, and returns the folder of the packages. It contains nothing else.
pub(crate) fn package(project: &Project, tools: &Tools, binary: &Path, effort: Effort) -> Result<PathBuf> {
    run::print_step("packaging the server");
    let folder = project.target().join("dist");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let work = project.target().join("xtask-dist");
    fs::create_dir_all(&work)?;

    let program = stripped(binary, &work.join(PROGRAM))?;
    let manual = manual::write(&program, &work)?;
    let embedded = embedded::EMBEDDED
        .iter()
        .map(|embedded| tools.embedded(project, embedded));
    let dependencies = Dependencies::read(project, embedded.collect::<Result<_>>()?)?;
    let binary = fs::read(&program).with_context(|| program.display().to_string())?;
    let filter_lists = fs::read_to_string(project.path(FILTER_LISTS)).context(FILTER_LISTS)?;
    let notices = format!("{}\n{filter_lists}", notices::text(&dependencies)?);
    let mut texts = vec![
        Entry::text("THIRD-PARTY-LICENSES.txt", notices),
        Entry::text(
            "sbom.cdx.json",
            sbom::document(&dependencies, env!("CARGO_PKG_VERSION")),
        ),
    ];
    for name in TEXTS {
        let text = fs::read_to_string(project.path(name)).context(name)?;
        texts.push(Entry::text(name, with_absolute_links(&text)));
    }
    let release = Release {
        project,
        version: env!("CARGO_PKG_VERSION"),
        platform: Platform::of_host(&binary),
        binary,
        texts,
        effort,
        time: time_stamp(project),
    };
    let mut written = vec![archive::write(&release, &manual, &folder)?];
    written.push(wheel::write(&release, &folder)?);
    written.extend(node::write(&release, &folder)?);
    written.extend(deb::write(&release, &manual, &work, &folder)?);
    write_checksums(&folder, &written)?;
    Ok(folder)
}

/// Makes the links of the README work outside of the clone.
fn with_absolute_links(text: &str) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    text.replace(
        "](docs/screens/",
        &format!("]({repository}/raw/main/docs/screens/"),
    )
    .replace("](docs/", &format!("]({repository}/blob/main/docs/"))
    .replace("](crates/", &format!("]({repository}/blob/main/crates/"))
    .replace("](LICENSE", &format!("]({repository}/blob/main/LICENSE"))
}

/// Returns a copy of the program without debug information. A machine without `strip` keeps it.
fn stripped(binary: &Path, to: &Path) -> Result<PathBuf> {
    ensure!(binary.is_file(), "{} is not a file", binary.display());
    fs::copy(binary, to).with_context(|| to.display().to_string())?;
    match run::find_in_path("strip") {
        Some(strip) => run::run(run::command(strip).arg("--strip-debug").arg(to))?,
        None => run::print_step("no `strip` in PATH: the program keeps its debug information"),
    }
    Ok(to.to_path_buf())
}

/// Returns `SOURCE_DATE_EPOCH`, else the time of the last commit, else the first time that a zip file can store.
fn time_stamp(project: &Project) -> u64 {
    const FIRST: u64 = 315_532_800;
    let set = std::env::var("SOURCE_DATE_EPOCH").ok();
    let of_commit = || {
        let mut git = run::command("git");
        git.current_dir(project.root())
            .args(["log", "-1", "--format=%ct"]);
        run::output(&mut git).ok()
    };
    let text = set.or_else(of_commit).unwrap_or_default();
    text.trim().parse().map_or(FIRST, |time: u64| time.max(FIRST))
}

fn write_checksums(folder: &Path, files: &[PathBuf]) -> Result<()> {
    let mut lines = String::new();
    for file in files {
        let digest = hex::encode(Sha256::digest(fs::read(file)?));
        lines.push_str(&format!("{digest}  {}\n", name_of(file)));
    }
    Ok(fs::write(folder.join("SHA256SUMS"), lines)?)
}

impl Release<'_> {
    /// Writes a package, with the time stamp of the release.
    fn write(&self, file: &Path, bytes: &[u8]) -> Result<PathBuf> {
        fs::write(file, bytes).with_context(|| file.display().to_string())?;
        let written = fs::File::options().append(true).open(file)?;
        written.set_modified(UNIX_EPOCH + Duration::from_secs(self.time))?;
        Ok(file.to_path_buf())
    }

    /// Returns the texts with the paths that they have below `folder`.
    fn texts_in(&self, folder: &str) -> impl Iterator<Item = Entry<'_>> {
        self.texts
            .iter()
            .map(move |text| text.at(format!("{folder}{}", text.path)))
    }
}
