//! Tests of the binary: output of a start, shutdown, rejection of invalid settings, key commands.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic shows where a test failed")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use harvestman_store::{DATABASE_FILE, Store, StoreConfig};
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

/// Returns the path of the database of servers in this folder.
fn database(folder: &Folder) -> PathBuf {
    folder.0.join("data").join(DATABASE_FILE)
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
struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    lines: Vec<String>,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let mut child = command(folder).arg("serve").spawn().unwrap();
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
        Server { child, out, lines }
    }

    fn line(&self, start: &str) -> Option<&str> {
        self.lines.iter().find_map(|line| line.strip_prefix(start))
    }

    fn address(&self) -> &str {
        self.line("Harvestman 0.1.0 listening on http://").unwrap()
    }

    fn request(&self, line: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let length = body.len();
        let common_headers = "host: x\r\nconnection: close\r\n";
        write!(
            stream,
            "{line} HTTP/1.1\r\n{common_headers}{headers}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait(mut self) -> (ExitStatus, Duration) {
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

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sign_in_code(server: &Server) -> String {
    let link = server.line("Console: ").unwrap();
    let port = server.address().rsplit(':').next().unwrap();
    let code = link
        .strip_prefix(&format!("http://localhost:{port}/console/#start="))
        .unwrap();
    code.to_owned()
}

#[test]
fn only_the_first_start_prints_a_key_and_every_start_prints_a_sign_in_link() {
    let folder = Folder::new();
    let first = Server::start(&folder.0);
    let key = first
        .line("API key: ")
        .expect("the first start prints a key")
        .to_owned();
    assert!(key.starts_with("fc-") && key.len() == 67);
    let code = sign_in_code(&first);
    let response = first.request("POST /console/api/start", "", &format!("{{\"code\":\"{code}\"}}"));
    assert!(
        response.starts_with("HTTP/1.1 200 OK\r\n") && response.contains("\"apiKey\":\"fc-"),
        "{response}"
    );
    first.signal(Signal::TERM);
    let (status, took) = first.wait();
    assert!(
        status.success() && took < Duration::from_secs(10),
        "{status} after {took:?}"
    );

    let second = Server::start(&folder.0);
    assert_eq!(second.line("API key: "), None, "the second start prints no key");
    assert_ne!(sign_in_code(&second), code);
    let active = second.request(
        "GET /v2/crawl/active",
        &format!("authorization: Bearer {key}\r\n"),
        "",
    );
    assert!(active.starts_with("HTTP/1.1 200 OK\r\n"), "{active}");
    second.signal(Signal::INT);
    assert!(second.wait().0.success());
}

#[test]
fn two_servers_never_share_a_data_folder() {
    let folder = Folder::new();
    let first = Server::start(&folder.0);
    let second = command(&folder.0).arg("serve").output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let stderr = String::from_utf8(second.stderr).unwrap();
    assert!(stderr.contains("another server uses the data folder"), "{stderr}");
    drop(first);
}

/// Sends an incomplete request, which delays the graceful shutdown.
fn open_request(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let key = server.line("API key: ").unwrap();
    write!(
        stream,
        "POST /v2/crawl HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: 9\r\n\r\n{{"
    )
    .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    stream
}

#[test]
fn a_second_signal_stops_at_once() {
    let folder = Folder::new();
    let server = Server::start(&folder.0);
    let _request = open_request(&server);
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    server.signal(Signal::TERM);
    let (_, took) = server.wait();
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_shutdown_takes_at_most_ten_seconds_with_an_open_request() {
    let folder = Folder::new();
    let server = Server::start(&folder.0);
    let _request = open_request(&server);
    server.signal(Signal::TERM);
    let (status, took) = server.wait();
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
        let output = command(&folder.0).arg("serve").env(name, value).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    std::fs::write(folder.0.join("harvestman.toml"), "listem = \"x\"\n").unwrap();
    let output = command(&folder.0).arg("serve").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("unknown setting `listem`") && stderr.contains("`listen`"),
        "{stderr}"
    );
    let flag = command(&folder.0).args(["serve", "--listem=x"]).output().unwrap();
    assert_eq!(flag.status.code(), Some(2));
}

#[tokio::test]
async fn keys_are_created_listed_and_revoked_on_the_command_line() {
    let folder = Folder::new();
    let misspelt = command(&folder.0).args(["keys", "create"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&misspelt.stderr);
    assert!(
        !misspelt.status.success() && stderr.contains("--data-dir"),
        "{stderr}"
    );
    assert!(!database(&folder).exists(), "no second database");
    let store = Store::open(&StoreConfig::new(database(&folder).parent().unwrap())).await;
    store.unwrap().close().await.unwrap();
    let run = |arguments: &[&str]| {
        let output = command(&folder.0).args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    run(&["teams", "create", "red"]);
    let unknown = command(&folder.0)
        .args(["keys", "create", "--team", "rde"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("unknown team `rde`"));
    assert_eq!(
        run(&["teams", "list"]).lines().count(),
        1,
        "a misspelt name creates no team"
    );
    let key = run(&["keys", "create", "--team", "red", "--name", "ci"]);
    assert!(key.starts_with("fc-") && key.len() == 67);
    let output = run(&["keys", "list"]);
    assert!(
        output.ends_with("  red  ci") && !output.contains(&key),
        "{output}"
    );
    let id = output.split(' ').next().unwrap().to_owned();
    assert_eq!(run(&["keys", "revoke", &id]), format!("revoked {id}"));
    assert_eq!(run(&["keys", "list"]), "");
    assert_eq!(run(&["version"]), "harvestman 0.1.0");
}

#[test]
fn the_log_can_be_json() {
    let folder = Folder::new();
    // The server cannot start: its folder is a file.
    std::fs::write(folder.0.join("data"), "").unwrap();
    let mut command = command(&folder.0);
    command.arg("serve").env("HARVESTMAN_UNKNOWN", "1");
    let output = command.env("HARVESTMAN_LOG_FORMAT", "json").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(line["level"], "WARN");
    let message = line["fields"]["message"].as_str().unwrap();
    assert!(message.contains("HARVESTMAN_UNKNOWN"), "{message}");
}
