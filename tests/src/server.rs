//! Runs the real `harvestman` on a free port with a temporary data folder.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytes::Bytes;
use harvestman_store::{Store, StoreConfig};
use http::Method;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

use crate::client::{self, HttpResponse};

/// Key of the team `test`.
pub const KEY: &str = "fc-test";
/// Key of the team `other`.
pub const OTHER_KEY: &str = "fc-other";
/// Header with the key of the team `test`.
pub const AUTHORIZATION: (&str, &str) = ("authorization", "Bearer fc-test");
/// Header of a request with JSON.
pub const JSON: (&str, &str) = ("content-type", "application/json");

/// Time limit for waits. It is generous: reaching it means failure and is never a measurement.
const TIMEOUT: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A running server. Dropping it kills the process and removes its data.
pub struct TestServer {
    process: ServerProcess,
    folder: Folder,
    settings: Vec<(String, String)>,
}

/// Process with the address and link that it printed.
struct ServerProcess {
    child: Child,
    address: SocketAddr,
    sign_in_link: String,
}

impl TestServer {
    /// Starts a server that may fetch from 127.0.0.1.
    pub async fn start() -> TestServer {
        TestServer::start_with(&[]).await
    }

    /// Starts a server with additional settings (environment variables).
    pub async fn start_with(settings: &[(&str, &str)]) -> TestServer {
        TestServer::try_start_with(settings)
            .await
            .expect("the server starts and becomes ready")
    }

    /// Starts a server like [`TestServer::start_with`].
    ///
    /// # Errors
    /// It does not become ready; with its log.
    pub async fn try_start_with(settings: &[(&str, &str)]) -> anyhow::Result<TestServer> {
        let folder = Folder::new()?;
        let settings: Vec<_> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let process = launch(&folder, "127.0.0.1:0", &settings)?;
        let mut server = TestServer {
            process,
            folder,
            settings,
        };
        server.wait_until_ready().await?;
        Ok(server)
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.process.address
    }

    /// Returns the id of its process.
    pub fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Returns the peak memory of its process in bytes.
    ///
    /// # Panics
    /// On systems without `/proc` (other than Linux).
    pub fn peak_memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        1024 * kilobytes.expect("/proc has the memory of a process")
    }

    /// Returns its data folder.
    pub fn data_dir(&self) -> &Path {
        &self.folder.path
    }

    /// Stops its process as it is, until [`TestServer::thaw`]. Returns when none of its threads runs any more, which a
    /// busy machine delays.
    pub fn freeze(&self) {
        let pid = Pid::from_child(&self.process.child);
        kill_process(pid, Signal::STOP).expect("the process is ours");
        waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).expect("the process is ours");
    }

    /// Lets its process run again.
    pub fn thaw(&self) {
        kill_process(Pid::from_child(&self.process.child), Signal::CONT).expect("the process is ours");
    }

    /// Kills the process, as `kill -9` does.
    pub fn kill9(&mut self) {
        assert!(
            self.process
                .child
                .try_wait()
                .expect("the process is ours")
                .is_none(),
            "the server has already ended:\n{}",
            self.log()
        );
        self.process.child.kill().expect("the process is ours");
        self.process.child.wait().expect("the process is ours");
    }

    /// Sends SIGTERM and waits for the end of the process.
    pub async fn terminate(&mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.process.child), Signal::TERM).expect("the process is ours");
        let since = Instant::now();
        loop {
            if let Some(status) = self.process.child.try_wait().expect("the process is ours") {
                return status;
            }
            assert!(
                since.elapsed() < TIMEOUT,
                "the server does not stop:\n{}",
                self.log()
            );
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Starts the server again with the same data and port.
    pub async fn restart(&mut self) {
        assert!(
            self.process
                .child
                .try_wait()
                .expect("the process is ours")
                .is_some(),
            "the server is still running"
        );
        let address = self.process.address.to_string();
        self.process = launch(&self.folder, &address, &self.settings).expect("the server starts again");
        self.wait_until_ready()
            .await
            .expect("the server becomes ready again");
    }

    /// Tries to start a second server with the same data, and returns its exit status and standard error.
    pub fn start_second(&self) -> (ExitStatus, String) {
        let mut child = command(&self.folder, "127.0.0.1:0", &self.settings)
            .arg("serve")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server can be run");
        let since = Instant::now();
        while child.try_wait().expect("the process is ours").is_none() {
            if since.elapsed() > TIMEOUT {
                let _ = child.kill();
                panic!("a second server is running with the same data");
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        let output = child.wait_with_output().expect("the process is ours");
        (
            output.status,
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    /// Runs another command of the program with the same settings and data, and returns whether it succeeded and its
    /// output (standard error if it failed).
    pub fn run_command(&self, arguments: &[&str]) -> (bool, String) {
        let output = command(&self.folder, "127.0.0.1:0", &self.settings)
            .args(arguments)
            .output()
            .expect("the program can be run");
        let good = output.status.success();
        let text = if good { output.stdout } else { output.stderr };
        (good, String::from_utf8_lossy(&text).into_owned())
    }

    /// Opens its store while the server is stopped.
    pub async fn store(&self) -> Store {
        let config = StoreConfig::new(self.folder.path.join("data"));
        Store::open(&config).await.expect("the server is stopped")
    }

    /// Returns the credits in the ledger of a team while the server is stopped.
    pub async fn ledger_total(&self, team: &str) -> u64 {
        let store = self.store().await;
        let id = store.ensure_team(team).await.expect("the team can be read");
        let total = store.ledger_total(id).await.expect("the ledger can be read");
        store.close().await.expect("the store closes");
        total
    }

    /// Returns the one-time sign-in link that the server printed.
    pub fn sign_in_link(&self) -> &str {
        &self.process.sign_in_link
    }

    /// Returns the log of the server.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.log()).unwrap_or_default()
    }

    /// Sends a GET request with the key of the team `test`.
    pub async fn get(&self, path: &str) -> HttpResponse {
        self.send(Method::GET, path, &[AUTHORIZATION], "").await
    }

    /// Sends a POST request with JSON and the key of the team `test`.
    pub async fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.send_json(Method::POST, path, body).await
    }

    /// Sends a PATCH request with JSON and the key of the team `test`.
    pub async fn patch(&self, path: &str, body: &Value) -> HttpResponse {
        self.send_json(Method::PATCH, path, body).await
    }

    async fn send_json(&self, method: Method, path: &str, body: &Value) -> HttpResponse {
        self.send(method, path, &[AUTHORIZATION, JSON], body.to_string())
            .await
    }

    /// Sends a DELETE request with the key of the team `test`.
    pub async fn delete(&self, path: &str) -> HttpResponse {
        self.send(Method::DELETE, path, &[AUTHORIZATION], "").await
    }

    /// Sends a request with JSON and the key of the team `other`.
    pub async fn send_as_other(&self, method: Method, path: &str, body: impl Into<Bytes>) -> HttpResponse {
        let headers = [("authorization", "Bearer fc-other"), JSON];
        self.send(method, path, &headers, body).await
    }

    /// Sends any request. Only `Host` and `Content-Length` are added.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> HttpResponse {
        match client::send_request(self.process.address, method, path, headers, body.into()).await {
            Ok(response) => response,
            Err(error) => panic!("no response to {path}: {error:#}\nlog:\n{}", self.log()),
        }
    }

    /// Starts a crawl and returns its id.
    pub async fn crawl(&self, request: &Value) -> String {
        self.start_job("/v2/crawl", request).await
    }

    /// Starts a batch scrape and returns the path of its status.
    pub async fn batch(&self, request: &Value) -> String {
        let id = self.start_job("/v2/batch/scrape", request).await;
        format!("/v2/batch/scrape/{id}")
    }

    /// Scrapes a page and returns its scrape id.
    pub async fn scrape_id(&self, request: &Value) -> String {
        let response = self.post("/v2/scrape", request).await.ok();
        let id = response["data"]["metadata"]["scrapeId"].as_str();
        id.expect("a scraped page has an id").to_owned()
    }

    async fn start_job(&self, path: &str, request: &Value) -> String {
        let response = self.post(path, request).await.ok();
        assert_eq!(response["success"], true);
        response["id"]
            .as_str()
            .expect("an accepted job has an id")
            .to_owned()
    }

    /// Waits until a crawl has ended and returns its final status, without documents.
    pub async fn wait(&self, id: &str) -> Value {
        self.wait_for_end(&format!("/v2/crawl/{id}")).await
    }

    /// Waits like [`TestServer::wait`] for a job with the status path `path`.
    pub async fn wait_for_end(&self, path: &str) -> Value {
        let is_final = |status: &Value| status["status"] != "scraping" && status["status"] != "processing";
        let mut status = self.wait_until(&format!("{path}?limit=1"), is_final).await;
        status["data"] = Value::Null;
        status
    }

    /// Repeats a GET request until its response satisfies `reached`, and returns that response.
    pub async fn wait_until(&self, path: &str, reached: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let response = self.get(path).await.ok();
            if reached(&response) {
                return response;
            }
            assert!(
                since.elapsed() < TIMEOUT,
                "{path} does not reach the expected state: {response}\nlog:\n{}",
                self.log()
            );
            tokio::time::sleep(POLL_INTERVAL * 2).await;
        }
    }

    /// Reads all documents of a finished crawl by following `next`, with `page` documents per response. Also returns
    /// the number of responses.
    pub async fn documents(&self, id: &str, page: usize) -> (Vec<Value>, usize) {
        self.documents_at(&format!("/v2/crawl/{id}"), page).await
    }

    /// Reads documents like [`TestServer::documents`] for a job with the status path `path`.
    pub async fn documents_at(&self, path: &str, page: usize) -> (Vec<Value>, usize) {
        let mut path = format!("{path}?limit={page}");
        let (mut documents, mut responses) = (Vec::new(), 0);
        loop {
            let mut response = self.get(&path).await.ok();
            responses += 1;
            let found = response["data"].as_array_mut().expect("data is a list");
            assert!(found.len() <= page);
            documents.append(found);
            let Some(next) = response["next"].as_str() else {
                return (documents, responses);
            };
            let rest = next.strip_prefix(&format!("http://{}", self.process.address));
            path = rest
                .unwrap_or_else(|| panic!("`next` is on another server: {next}"))
                .to_owned();
            assert!(responses < 100_000, "`next` never ends");
        }
    }

    async fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let since = Instant::now();
        loop {
            if let Some(status) = self.process.child.try_wait()? {
                bail!("the server ended ({status}):\n{}", self.log());
            }
            let response =
                client::send_request(self.process.address, Method::GET, "/health", &[], Bytes::new()).await;
            if response.as_ref().is_ok_and(|response| response.status == 200) {
                return Ok(());
            }
            if since.elapsed() > TIMEOUT {
                bail!("no /health: {response:?}\nlog:\n{}", self.log());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.process.child.kill();
        let _ = self.process.child.wait();
        if std::thread::panicking() {
            eprintln!("log of the server:\n{}", self.log());
        }
    }
}

/// Returns the server binary: `HARVESTMAN_TEST_SERVER`, else `HARVESTMAN_BIN`, else next to the folder of the test
/// executable.
///
/// # Errors
/// If there is none; the message says how to build it.
pub fn binary() -> anyhow::Result<PathBuf> {
    for name in ["HARVESTMAN_TEST_SERVER", "HARVESTMAN_BIN"] {
        if let Some(path) = std::env::var_os(name).map(PathBuf::from) {
            return if path.is_file() {
                Ok(path)
            } else {
                bail!("{name} is set to {}, which is not a file", path.display())
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
        .envs(std::env::var_os("HARVESTMAN_TEST_NODE").map(|node| ("HARVESTMAN_NODE", node)))
        .envs(settings.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null());
    command
}

/// Starts the process and reads its address and sign-in link from its first lines.
fn launch(folder: &Folder, listen: &str, settings: &[(String, String)]) -> anyhow::Result<ServerProcess> {
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
    // Further output is read and dropped so that the pipe never fills up.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    match address.zip(link) {
        Some((address, sign_in_link)) => Ok(ServerProcess {
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

/// A temporary folder, removed when dropped.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates an empty folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new() -> std::io::Result<Folder> {
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

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the log of the process that uses the folder.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
