//! The packages of a release: each is installed as its package manager does, in a folder of its own and without a
//! network, and crawls a site.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harvestman_tests::{Folder, Page, RunningSite, Site, assert_fields, printed, tools};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const PAGES: [&str; 3] = ["index.md", "a.md", "b.md"];

fn folder() -> PathBuf {
    tools::path("HARVESTMAN_TEST_DIST")
}

/// Returns the package whose file name starts and ends so.
fn package(start: &str, end: &str) -> PathBuf {
    let matching = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        (name.starts_with(start) && name.ends_with(end)).then_some(name)
    };
    let found: Vec<String> = fs::read_dir(folder()).unwrap().filter_map(matching).collect();
    assert_eq!(found.len(), 1, "{start}*{end}: {found:?}");
    folder().join(&found[0])
}

/// Runs a command, which must succeed, and returns its standard output.
#[track_caller]
fn run(command: &mut Command) -> String {
    printed(&command.output().unwrap(), 0).0
}

async fn site() -> RunningSite {
    Site::new()
        .page("/", Page::links("Start", &["/a", "/b"]))
        .page("/a", Page::links("A", &["/"]))
        .page("/b", Page::links("B", &["/a"]))
        .serve()
        .await
}

/// Crawls a site with an installed program and checks the pages.
async fn crawl(program: &Path) {
    let (site, work) = (site().await, Folder::new().unwrap());
    let mut command = Command::new(program);
    command
        .args(["crawl", &site.url("/"), "--local", "--out-dir", "pages"])
        .env("HARVESTMAN_CHROMIUM", "off")
        .current_dir(work.path());
    tokio::task::spawn_blocking(move || run(&mut command))
        .await
        .unwrap();
    let host = work
        .path()
        .join(format!("pages/127.0.0.1+{}", site.address().port()));
    let names = fs::read_dir(host).unwrap();
    let names: BTreeSet<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, BTreeSet::from(PAGES.map(str::to_owned)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_archive_has_the_program_its_manual_its_licences_and_its_parts() {
    run(Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(folder()));
    let root = Folder::new().unwrap();
    let archive = package("harvestman-", ".tar.gz");
    run(Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .current_dir(root.path()));
    let top = fs::read_dir(root.path()).unwrap().next().unwrap().unwrap().path();
    crawl(&top.join("harvestman")).await;
    for file in [
        "README.md", "LICENSE-MIT", "man/harvestman-crawl.1", "completions/_harvestman",
    ] {
        assert!(top.join(file).is_file(), "{file}");
    }
    let notices = fs::read_to_string(top.join("THIRD-PARTY-LICENSES.txt")).unwrap();
    let parts: Value = serde_json::from_str(&fs::read_to_string(top.join("sbom.cdx.json")).unwrap()).unwrap();
    assert_fields(&parts, json!({ "bomFormat": "CycloneDX", "specVersion": "1.6" }));
    let components = parts["components"].as_array().unwrap();
    let known: BTreeSet<&str> = components
        .iter()
        .map(|part| part["bom-ref"].as_str().unwrap())
        .chain(parts["metadata"]["component"]["bom-ref"].as_str())
        .collect();
    assert_eq!(known.len(), components.len() + 1);
    for name in ["tokio", "libsqlite3-sys", "leptos", "playwright-core"] {
        let part = components.iter().find(|part| part["name"] == name).expect(name);
        let line = format!("{name} {}: ", part["version"].as_str().unwrap());
        assert!(notices.contains(&line), "{line}");
    }
    assert!(!components.iter().any(|part| part["name"] == "criterion"));
    for edge in parts["dependencies"].as_array().unwrap() {
        let ends = edge["dependsOn"].as_array().unwrap().iter().chain([&edge["ref"]]);
        for end in ends {
            assert!(known.contains(end.as_str().unwrap()), "{end} is not a component");
        }
    }
    assert!(
        notices.contains("Permission is hereby granted"),
        "texts follow the list"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wheel_installs_the_program_into_an_empty_environment() {
    let root = Folder::new().unwrap();
    let environment = root.path().join("venv");
    let python = tools::path("HARVESTMAN_TEST_PYTHON");
    run(Command::new(python).args(["-m", "venv"]).arg(&environment));
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args([
        "install", "--quiet", "--no-index", "--disable-pip-version-check", "--find-links",
    ]);
    run(pip.arg(folder()).arg("harvestman"));
    crawl(&environment.join("bin/harvestman")).await;
    let pip = |arguments: &[&str]| run(Command::new(environment.join("bin/pip")).args(arguments));
    let about = pip(&["show", "--files", "harvestman"]);
    assert!(
        about.contains("sbom.cdx.json") && about.contains("THIRD-PARTY-LICENSES.txt"),
        "{about}"
    );
    pip(&["uninstall", "--yes", "harvestman"]);
    assert!(!environment.join("bin/harvestman").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_npm_package_starts_the_program_of_the_platform() {
    let root = Folder::new().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let npm = tools::path("HARVESTMAN_TEST_NPM");
    fs::write(root.path().join("package.json"), "{}").unwrap();
    run(Command::new(npm)
        .args([
            "install", "--offline", "--no-audit", "--no-fund", "--cache", "cache",
        ])
        .arg(package("harvestman-server-linux-", ".tgz"))
        .arg(package(&format!("harvestman-server-{version}"), ".tgz"))
        .current_dir(root.path()));
    let program = root.path().join("node_modules/.bin/harvestman-server");
    crawl(&program).await;

    // Without a command it serves, and passes signals on.
    let mut launcher = Command::new(&program)
        .env("HARVESTMAN_LISTEN", "127.0.0.1:0")
        .env("HARVESTMAN_DATA_DIR", root.path().join("data"))
        .env("HARVESTMAN_CHROMIUM", "off")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(launcher.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("listening on http://127.0.0.1:"), "{first}");
    kill_process(Pid::from_child(&launcher), Signal::TERM).unwrap();
    assert!(launcher.wait().unwrap().success());
    assert!(
        !root.path().join("data/harvestman.operator").exists(),
        "the server has stopped"
    );

    // Without the package of the platform it says what is missing.
    fs::remove_dir_all(root.path().join("node_modules").join(program_package())).unwrap();
    let output = Command::new(&program).output().unwrap();
    let (_, err) = printed(&output, 1);
    assert!(
        err.contains(&program_package()) && err.contains("--omit=optional"),
        "{err}"
    );
}

/// Returns the name of the npm package with the program.
fn program_package() -> String {
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("harvestman-server-linux-{cpu}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_debian_package_installs_upgrades_and_is_purged() {
    let root = Folder::new().unwrap();
    let admin = root.path().join("var/lib/dpkg");
    for folder in ["info", "updates"] {
        fs::create_dir_all(admin.join(folder)).unwrap();
    }
    for file in ["status", "available"] {
        fs::write(admin.join(file), "").unwrap();
    }
    // As root of a user namespace, in a root folder without other packages.
    let dpkg = |arguments: &[&str]| {
        let mut command = Command::new("bwrap");
        command.args([
            "--dev-bind", "/", "/", "--unshare-user", "--uid", "0", "--gid", "0", "dpkg",
        ]);
        command.args(["--force-script-chrootless", "--force-depends", "--root"]);
        command.arg(root.path()).args(arguments);
        command.env(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        );
        run(&mut command)
    };
    let file = package("harvestman_", ".deb");
    let file = file.to_str().unwrap();
    dpkg(&["--install", file]);
    let settings = root.path().join("etc/harvestman/harvestman.toml");
    let template = fs::read_to_string(&settings).unwrap();
    assert!(
        template.contains("\ndata_dir = \"/var/lib/harvestman\"\n"),
        "{template}"
    );
    let program = root.path().join("usr/bin/harvestman");
    crawl(&program).await;
    let shown = run(Command::new(&program)
        .args(["config", "show", "--config"])
        .arg(&settings));
    assert!(shown.contains("data_dir = \"/var/lib/harvestman\""), "{shown}");
    let unit = fs::read_to_string(root.path().join("usr/lib/systemd/system/harvestman.service")).unwrap();
    assert!(
        unit.contains("ExecStart=/usr/bin/harvestman serve --config /etc/harvestman/harvestman.toml\n"),
        "{unit}"
    );
    for file in [
        "usr/share/man/man1/harvestman.1.gz",
        "usr/share/bash-completion/completions/harvestman",
        "usr/share/doc/harvestman/copyright",
    ] {
        assert!(root.path().join(file).is_file(), "{file}");
    }

    let changed = template + "\nlisten = \"127.0.0.1:8000\"\n";
    fs::write(&settings, &changed).unwrap();
    dpkg(&["--install", file]);
    assert_eq!(
        fs::read_to_string(&settings).unwrap(),
        changed,
        "an upgrade keeps the settings"
    );
    let data = root.path().join("var/lib/harvestman");
    fs::create_dir_all(&data).unwrap();
    dpkg(&["--remove", "harvestman"]);
    assert!(!program.exists() && settings.exists() && data.exists());
    dpkg(&["--purge", "harvestman"]);
    assert!(!settings.exists() && !data.exists());
}
