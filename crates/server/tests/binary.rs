//! Tests of the binary: output of a start, shutdown, rejection of invalid settings, key commands.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic shows where a test failed")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("harvestman-binary-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harvestman"));
    command
        .current_dir(folder)
        .env_clear()
        .env("HARVESTMAN_DATA_DIR", folder.join("data"));
    command
        .env("HARVESTMAN_LISTEN", "127.0.0.1:0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A running server; killed on drop.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    lines: Vec<String>,
}

impl Running {
    fn start(folder: &Path) -> Running {
        let mut child = command(folder).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        while !lines
            .last()
            .is_some_and(|line: &String| line.starts_with("Console: "))
        {
            let mut line = String::new();
            assert_ne!(
                out.read_line(&mut line).unwrap(),
                0,
                "stdout ended early: {lines:?}"
            );
            lines.push(line.trim_end().to_owned());
        }
        Running { child, out, lines }
    }

    fn line(&self, start: &str) -> Option<&str> {
        self.lines.iter().find_map(|line| line.strip_prefix(start))
    }

    fn address(&self) -> &str {
        self.line("Harvestman 0.1.0 listening on http://").unwrap()
    }

    fn ask(&self, line: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let length = body.len();
        let fixed = "host: x\r\nconnection: close\r\n";
        write!(
            stream,
            "{line} HTTP/1.1\r\n{fixed}{headers}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn ended(mut self) -> (ExitStatus, Duration) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < Duration::from_secs(15), "still running");
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "stdout has nothing after the banner");
        (status, since.elapsed())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn code_of(running: &Running) -> String {
    let link = running.line("Console: ").unwrap();
    let port = running.address().rsplit(':').next().unwrap();
    let code = link
        .strip_prefix(&format!("http://localhost:{port}/console/#start="))
        .unwrap();
    code.to_owned()
}

#[test]
fn only_the_first_start_prints_a_key_and_every_start_prints_a_sign_in_link() {
    let folder = Folder::new();
    let first = Running::start(&folder.0);
    let key = first
        .line("API key: ")
        .expect("the first start prints a key")
        .to_owned();
    assert!(key.starts_with("fc-") && key.len() == 67);
    let code = code_of(&first);
    let answer = first.ask("POST /console/api/start", "", &format!("{{\"code\":\"{code}\"}}"));
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"apiKey\":\"fc-"),
        "{answer}"
    );
    first.signal(Signal::TERM);
    let (status, took) = first.ended();
    assert!(
        status.success() && took < Duration::from_secs(10),
        "{status} after {took:?}"
    );

    let second = Running::start(&folder.0);
    assert_eq!(second.line("API key: "), None, "the second start prints no key");
    assert_ne!(code_of(&second), code);
    let active = second.ask(
        "GET /v2/crawl/active",
        &format!("authorization: Bearer {key}\r\n"),
        "",
    );
    assert!(active.starts_with("HTTP/1.1 200 OK\r\n"), "{active}");
    second.signal(Signal::INT);
    assert!(second.ended().0.success());
}

#[test]
fn two_servers_never_share_a_data_folder() {
    let folder = Folder::new();
    let first = Running::start(&folder.0);
    let second = command(&folder.0).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(told.contains("another server uses the data folder"), "{told}");
    drop(first);
}

#[test]
fn a_second_signal_stops_at_once() {
    let folder = Folder::new();
    let server = Running::start(&folder.0);
    // An incomplete request delays the graceful shutdown.
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let key = server.line("API key: ").unwrap();
    write!(
        stream,
        "POST /v2/crawl HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: 9\r\n\r\n{{"
    )
    .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    let (_, took) = server.ended();
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_shutdown_takes_at_most_ten_seconds_with_an_open_request() {
    let folder = Folder::new();
    let server = Running::start(&folder.0);
    let key = server.line("API key: ").unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "POST /v2/crawl HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: 9\r\n\r\n{{"
    )
    .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    let (status, took) = server.ended();
    assert!(
        status.success() && took < Duration::from_secs(10),
        "{status} after {took:?}"
    );
}

#[test]
fn invalid_settings_are_reported_with_exit_code_2() {
    let folder = Folder::new();
    for (name, value, expected) in [
        (
            "HARVESTMAN_LISTEN",
            "nowhere",
            "HARVESTMAN_LISTEN: `nowhere` is not address:port",
        ),
        ("HARVESTMAN_LOG", "a=b=c", "HARVESTMAN_LOG"),
    ] {
        let output = command(&folder.0).env(name, value).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(expected), "{told}");
    }
    std::fs::write(folder.0.join("harvestman.toml"), "listem = \"x\"\n").unwrap();
    let output = command(&folder.0).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("unknown setting `listem`") && told.contains("`listen`"),
        "{told}"
    );
    let flag = command(&folder.0).arg("--listem=x").output().unwrap();
    assert_eq!(flag.status.code(), Some(2));
}

#[test]
fn keys_are_created_listed_and_revoked_on_the_command_line() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let output = command(&folder.0).args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    let key = run(&["keys", "create", "--team", "red", "--name", "ci"]);
    assert!(key.starts_with("fc-") && key.len() == 67);
    let listed = run(&["keys", "list"]);
    assert!(
        listed.ends_with("  red  ci") && !listed.contains(&key),
        "{listed}"
    );
    let id = listed.split(' ').next().unwrap().to_owned();
    assert_eq!(run(&["keys", "revoke", &id]), format!("revoked {id}"));
    assert_eq!(run(&["keys", "list"]), "");
    assert_eq!(run(&["version"]), "harvestman 0.1.0");
}
