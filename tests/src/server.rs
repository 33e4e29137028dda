//! The real `harvestman` on a free port, with a data folder of its own.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytes::Bytes;
use http::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::client::{self, Answer};

/// Key of the team `test`.
pub const KEY: &str = "fc-test";
/// Key of the team `other`.
pub const OTHER_KEY: &str = "fc-other";

/// Longest time for anything that must happen; passing it is a failure, never a measurement.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(25);

/// A running server. Dropping it kills the process and removes its data.
pub struct TestServer {
    started: Started,
    folder: Folder,
    settings: Vec<(String, String)>,
}

/// A process and what it said of itself.
struct Started {
    child: Child,
    address: SocketAddr,
    sign_in_link: String,
}

impl TestServer {
    /// Starts a server that may fetch from 127.0.0.1.
    pub async fn start() -> TestServer {
        TestServer::start_with(&[]).await
    }

    /// Starts a server with further settings (environment variables).
    ///
    /// # Panics
    /// When it does not get ready.
    pub async fn start_with(settings: &[(&str, &str)]) -> TestServer {
        let folder = Folder::new().expect("a folder for the data can be made");
        let settings: Vec<_> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let started = launch(&folder, "127.0.0.1:0", &settings).expect("the server starts");
        let mut server = TestServer {
            started,
            folder,
            settings,
        };
        server.wait_until_ready().await.expect("the server gets ready");
        server
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.started.address
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.started.child.id()
    }

    /// The most memory that its process had at once.
    ///
    /// # Panics
    /// Where the system does not tell (it does on Linux).
    pub fn most_memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        1024 * kilobytes.expect("the system tells the memory of a process")
    }

    /// Its data folder.
    pub fn data_dir(&self) -> &Path {
        &self.folder.path
    }

    /// Kills the process at once, as `kill -9` does.
    ///
    /// # Panics
    /// When it is gone already.
    pub fn kill9(&mut self) {
        assert!(
            self.started
                .child
                .try_wait()
                .expect("the process is ours")
                .is_none(),
            "the server ended by itself:\n{}",
            self.log()
        );
        self.started.child.kill().expect("the process is ours");
        self.started.child.wait().expect("the process is ours");
    }

    /// Asks the process to stop and waits for it.
    ///
    /// # Panics
    /// When it does not stop.
    pub async fn terminate(&mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.started.child), Signal::TERM).expect("the process is ours");
        let since = Instant::now();
        loop {
            if let Some(status) = self.started.child.try_wait().expect("the process is ours") {
                return status;
            }
            assert!(
                since.elapsed() < PATIENCE,
                "the server does not stop:\n{}",
                self.log()
            );
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Starts the server again, on the same data and the same port.
    ///
    /// # Panics
    /// When it still runs, or does not get ready.
    pub async fn restart(&mut self) {
        assert!(
            self.started
                .child
                .try_wait()
                .expect("the process is ours")
                .is_some(),
            "the server still runs"
        );
        let address = self.started.address.to_string();
        self.started = launch(&self.folder, &address, &self.settings).expect("the server starts again");
        self.wait_until_ready()
            .await
            .expect("the server gets ready again");
    }

    /// Tries to start a second server on the same data; how it ended and what it said.
    ///
    /// # Panics
    /// When it does not end.
    pub fn start_second(&self) -> (ExitStatus, String) {
        let mut child = command(&self.folder, "127.0.0.1:0", &self.settings)
            .arg("serve")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server can be run");
        let since = Instant::now();
        while child.try_wait().expect("the process is ours").is_none() {
            if since.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("a second server runs on the same data");
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        let output = child.wait_with_output().expect("the process is ours");
        (
            output.status,
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    /// Runs another command of the program with the same settings, on the same folder; whether it did it, and
    /// what it said.
    ///
    /// # Panics
    /// When it cannot be run.
    pub fn operate(&self, arguments: &[&str]) -> (bool, String) {
        let output = command(&self.folder, "127.0.0.1:0", &self.settings)
            .args(arguments)
            .output()
            .expect("the program can be run");
        let good = output.status.success();
        let said = if good { output.stdout } else { output.stderr };
        (good, String::from_utf8_lossy(&said).into_owned())
    }

    /// The link that the server printed: it signs a browser in, once.
    pub fn sign_in_link(&self) -> &str {
        &self.started.sign_in_link
    }

    /// What the server wrote to its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.log()).unwrap_or_default()
    }

    /// Asks with the key of the team `test`.
    pub async fn get(&self, path: &str) -> Answer {
        self.ask(
            Method::GET,
            path,
            &[("authorization", "Bearer fc-test")],
            Bytes::new(),
        )
        .await
    }

    /// Posts JSON with the key of the team `test`.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [
            ("authorization", "Bearer fc-test"),
            ("content-type", "application/json"),
        ];
        self.ask(Method::POST, path, &headers, body.to_string()).await
    }

    /// Deletes with the key of the team `test`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.ask(
            Method::DELETE,
            path,
            &[("authorization", "Bearer fc-test")],
            Bytes::new(),
        )
        .await
    }

    /// Asks anything. Nothing is added but `Host` and `Content-Length`.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        match client::ask(self.started.address, method, path, headers, body.into()).await {
            Ok(answer) => answer,
            Err(error) => panic!("no answer to {path}: {error:#}\nlog:\n{}", self.log()),
        }
    }

    /// Starts a crawl; its id.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn crawl(&self, request: &Value) -> String {
        self.start_job("/v2/crawl", request).await
    }

    /// Starts a batch scrape; the path of its status.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn batch(&self, request: &Value) -> String {
        let id = self.start_job("/v2/batch/scrape", request).await;
        format!("/v2/batch/scrape/{id}")
    }

    async fn start_job(&self, path: &str, request: &Value) -> String {
        let answer = self.post(path, request).await.ok();
        assert_eq!(answer["success"], true);
        answer["id"]
            .as_str()
            .expect("an accepted job has an id")
            .to_owned()
    }

    /// Waits until a crawl has ended; its last status, without documents.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn wait(&self, id: &str) -> Value {
        self.wait_for_end(&format!("/v2/crawl/{id}")).await
    }

    /// The same for a job whose status is read at `path`.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn wait_for_end(&self, path: &str) -> Value {
        let since = Instant::now();
        loop {
            let mut status = self.get(&format!("{path}?limit=1")).await.ok();
            if status["status"] != "scraping" {
                status["data"] = Value::Null;
                return status;
            }
            assert!(
                since.elapsed() < PATIENCE,
                "the job does not end: {status}\nlog:\n{}",
                self.log()
            );
            tokio::time::sleep(LOOK_AGAIN * 4).await;
        }
    }

    /// All documents of an ended crawl, read in answers of `page` documents by following `next`; also how many
    /// answers it took.
    ///
    /// # Panics
    /// When `next` leads elsewhere or goes on for ever.
    pub async fn documents(&self, id: &str, page: usize) -> (Vec<Value>, usize) {
        self.documents_at(&format!("/v2/crawl/{id}"), page).await
    }

    /// The same for a job whose status is read at `path`.
    ///
    /// # Panics
    /// When `next` leads elsewhere or goes on for ever.
    pub async fn documents_at(&self, path: &str, page: usize) -> (Vec<Value>, usize) {
        let mut path = format!("{path}?limit={page}");
        let (mut documents, mut answers) = (Vec::new(), 0);
        loop {
            let mut answer = self.get(&path).await.ok();
            answers += 1;
            let found = answer["data"].as_array_mut().expect("data is a list");
            assert!(found.len() <= page);
            documents.append(found);
            let Some(next) = answer["next"].as_str() else {
                return (documents, answers);
            };
            let rest = next.strip_prefix(&format!("http://{}", self.started.address));
            path = rest
                .unwrap_or_else(|| panic!("`next` leads to {next}"))
                .to_owned();
            assert!(answers < 100_000, "`next` goes on for ever");
        }
    }

    async fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let since = Instant::now();
        loop {
            if let Some(status) = self.started.child.try_wait()? {
                bail!("the server ended ({status}):\n{}", self.log());
            }
            let answer = client::ask(self.started.address, Method::GET, "/health", &[], Bytes::new()).await;
            if answer.as_ref().is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            if since.elapsed() > PATIENCE {
                bail!("no /health: {answer:?}\nlog:\n{}", self.log());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.started.child.kill();
        let _ = self.started.child.wait();
        if std::thread::panicking() {
            eprintln!("log of the server:\n{}", self.log());
        }
    }
}

/// The binary: `HARVESTMAN_TEST_SERVER`, else `HARVESTMAN_BIN`, else beside the folder of the test executable.
///
/// # Errors
/// When there is none; the message says how to build it.
pub fn binary() -> anyhow::Result<PathBuf> {
    for name in ["HARVESTMAN_TEST_SERVER", "HARVESTMAN_BIN"] {
        if let Some(path) = std::env::var_os(name).map(PathBuf::from) {
            return if path.is_file() {
                Ok(path)
            } else {
                bail!("{name} names {}, which is no file", path.display())
            };
        }
    }
    let own = std::env::current_exe()?;
    let found = own
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(format!("harvestman{}", std::env::consts::EXE_SUFFIX)));
    found
        .into_iter()
        .find(|path| path.is_file())
        .context("no server to test; run `cargo build -p harvestman-server` first")
}

fn command(folder: &Folder, listen: &str, settings: &[(String, String)]) -> Command {
    let mut command = Command::new(binary().expect("the server is built"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HARVESTMAN_"))
    {
        command.env_remove(name);
    }
    command
        .current_dir(&folder.path)
        .env("HARVESTMAN_LISTEN", listen)
        .env("HARVESTMAN_DATA_DIR", folder.path.join("data"))
        .env(
            "HARVESTMAN_API_KEYS",
            format!("{KEY}=test:test,{OTHER_KEY}=other:other"),
        )
        .env("HARVESTMAN_ALLOW_PRIVATE_HOSTS", "127.0.0.1")
        .env("HARVESTMAN_CHROMIUM", "none")
        .env("HARVESTMAN_LOG", "info")
        .envs(settings.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null());
    command
}

/// Starts the process and reads from its first lines where it listens.
fn launch(folder: &Folder, listen: &str, settings: &[(String, String)]) -> anyhow::Result<Started> {
    let log = File::options().create(true).append(true).open(folder.log())?;
    let mut child = command(folder, listen, settings)
        .arg("serve")
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()?;
    let stdout = child.stdout.take().context("stdout is piped")?;
    let mut lines = BufReader::new(stdout).lines();
    let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, address) = line.split_once("listening on http://")?;
        address.trim().parse().ok()
    });
    let link = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("Console: ").map(str::to_owned));
    // What else it says is read and dropped, so that the pipe never fills up.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    match address.zip(link) {
        Some((address, sign_in_link)) => Ok(Started {
            child,
            address,
            sign_in_link,
        }),
        None => {
            let _ = child.kill();
            let status = child.wait()?;
            bail!(
                "the server ended ({status}):\n{}",
                std::fs::read_to_string(folder.log()).unwrap_or_default()
            )
        }
    }
}

/// A folder that goes with its owner.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> std::io::Result<Folder> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "harvestman-test-{}-{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Folder { path })
    }

    fn log(&self) -> PathBuf {
        self.path.join("log")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
