//! Files of a live browser: what its pages download, and what clients give to it, within limits.
//!
//! The browser writes downloads to a folder of its own ([`folder`]). Each one that ends is read, removed there and
//! handed to the owner; code gets a copy before its driver learns of the end. Uploads are kept in memory: commands
//! put them into fields of pages, code reads them from its own folder.

mod folder;
mod worker_pipe;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use crate::cdp::{Connection, Event, text};
use crate::error::BrowserError;
use crate::limits;

pub(crate) use folder::DownloadFolder;
pub(crate) use worker_pipe::WorkerPipe;

/// Limits of the files of one browser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileLimits {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
    /// Number of files, downloads that failed included.
    pub files: usize,
}

/// A download that has ended. Code that waits for it continues when this value is dropped.
#[derive(Debug)]
pub struct Download {
    /// File name that the page or the site suggested.
    pub name: String,
    /// URL of the file.
    pub url: String,
    /// Bytes received.
    pub size: u64,
    /// Content, or why there is none.
    pub content: Result<Bytes, String>,
    _handled: oneshot::Sender<()>,
}

/// A file that a client gave to the browser.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) content_type: String,
    pub(crate) bytes: Bytes,
}

/// Where code finds files.
#[derive(Clone, Debug)]
pub(crate) struct CodeFolders {
    pub(crate) uploads: String,
    pub(crate) downloads: String,
    /// Folder that contains both and is removed with the browser; `None` within a sandbox.
    pub(crate) own: Option<PathBuf>,
}

/// The files of one browser.
pub(crate) struct BrowserFiles {
    connection: Connection,
    folder: DownloadFolder,
    limits: FileLimits,
    code: CodeFolders,
    state: Mutex<State>,
    ended: mpsc::Sender<Download>,
    downloads: tokio::sync::Mutex<mpsc::Receiver<Download>>,
    /// One download at a time is in memory.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    running: HashMap<String, Running>,
    /// Files and their bytes so far, without running downloads.
    files: usize,
    bytes: u64,
    uploads: Vec<Upload>,
    workers: Vec<Weak<WorkerPipe>>,
    /// Browser contexts of clients whose downloads are kept too.
    contexts: Vec<String>,
}

/// A download that has not ended.
struct Running {
    name: String,
    url: String,
    received: u64,
    /// Why it is being cancelled.
    refusal: Option<String>,
}

/// Bounds the downloads of all browsers that are in memory.
static READS: Semaphore = Semaphore::const_new(limits::DOWNLOADS_AT_ONCE);

impl BrowserFiles {
    /// Lets the browser download. `events` are those of the browser itself.
    pub(crate) async fn start(
        connection: &Connection,
        folder: DownloadFolder,
        limits: FileLimits,
        code: CodeFolders,
        events: mpsc::Receiver<Event>,
    ) -> Result<Arc<BrowserFiles>, BrowserError> {
        let (ended, downloads) = mpsc::channel(1);
        let files = Arc::new(BrowserFiles {
            connection: connection.clone(),
            folder,
            limits,
            code,
            state: Mutex::default(),
            ended,
            downloads: tokio::sync::Mutex::new(downloads),
            turn: tokio::sync::Mutex::default(),
        });
        let behavior = files.behavior(None, false);
        connection.call("Browser.setDownloadBehavior", behavior).await?;
        tokio::spawn(files.clone().listen(events));
        Ok(files)
    }

    /// Returns the next download that has ended; `None` at the end of the browser. Cancel safe.
    pub(crate) async fn next_download(&self) -> Option<Download> {
        self.downloads.lock().await.recv().await
    }

    /// Sets whether pages of a browser context may download; `None`: the browser's own context.
    pub(crate) fn allow_downloads(&self, context: Option<String>, denied: bool) {
        let behavior = self.behavior(context.as_deref(), denied);
        if let Some(context) = context {
            let mut state = self.state.lock();
            if !state.contexts.contains(&context) && state.contexts.len() < limits::MAX_DOWNLOAD_CONTEXTS {
                state.contexts.push(context);
            }
        }
        self.connection.post("Browser.setDownloadBehavior", behavior);
    }

    fn behavior(&self, context: Option<&str>, denied: bool) -> Value {
        let mut behavior = match denied {
            true => json!({"behavior": "deny"}),
            false => json!({"behavior": "allowAndName", "downloadPath": self.folder.path()}),
        };
        behavior["eventsEnabled"] = true.into();
        if let Some(context) = context {
            behavior["browserContextId"] = context.into();
        }
        behavior
    }

    /// Adds an upload and returns its path for code.
    ///
    /// # Errors
    /// Which limit it exceeds, or that there is a file of this name.
    pub(crate) async fn add_upload(&self, upload: Upload) -> Result<String, String> {
        let size = upload.bytes.len() as u64;
        let path = self.upload_path(&upload.name);
        let workers = {
            let mut state = self.state.lock();
            if state.uploads.iter().any(|known| known.name == upload.name) {
                return Err(format!("the session already has a file `{}`", upload.name));
            }
            if let Some(refusal) = self.refusal(&state, None, size) {
                return Err(refusal);
            }
            state.bytes += size;
            state.files += 1;
            state.uploads.push(upload.clone());
            state.live_workers()
        };
        copy_to(workers, &path, &upload.bytes).await;
        Ok(path)
    }

    /// Removes an upload that the owner could not keep.
    pub(crate) fn remove_upload(&self, name: &str) {
        let mut state = self.state.lock();
        if let Some(at) = state.uploads.iter().position(|upload| upload.name == name) {
            let upload = state.uploads.remove(at);
            state.bytes -= upload.bytes.len() as u64;
            state.files -= 1;
        }
    }

    /// Returns the path of an upload for code.
    pub(crate) fn upload_path(&self, name: &str) -> String {
        format!("{}/{name}", self.code.uploads)
    }

    /// Returns the uploads with these names, for [`crate::commands`].
    ///
    /// # Errors
    /// The first name that is unknown, with the known ones.
    pub(crate) fn uploads(&self, names: &[String]) -> Result<Vec<Upload>, String> {
        let state = self.state.lock();
        let find = |name: &String| {
            let wanted = name.strip_prefix(&self.code.uploads).unwrap_or(name);
            let wanted = wanted.strip_prefix('/').unwrap_or(wanted);
            let known = || {
                let names: Vec<_> = state
                    .uploads
                    .iter()
                    .map(|upload| format!("`{}`", upload.name))
                    .collect();
                match names.is_empty() {
                    true => "none was uploaded".to_owned(),
                    false => format!("uploaded: {}", names.join(", ")),
                }
            };
            let found = state.uploads.iter().find(|upload| upload.name == wanted);
            found
                .cloned()
                .ok_or_else(|| format!("the session has no file `{name}`; {}", known()))
        };
        names.iter().map(find).collect()
    }

    /// Returns where the driver of code expects downloads.
    pub(crate) fn code_downloads(&self) -> &str {
        &self.code.downloads
    }

    /// Gives a worker the uploads and all further files.
    pub(crate) async fn add_worker(&self, worker: &Arc<WorkerPipe>) {
        let uploads = {
            let mut state = self.state.lock();
            state.live_workers();
            state.workers.push(Arc::downgrade(worker));
            state.uploads.clone()
        };
        for upload in uploads {
            copy_to(
                vec![worker.clone()],
                &self.upload_path(&upload.name),
                &upload.bytes,
            )
            .await;
        }
    }

    /// Follows downloads until the browser ends.
    async fn listen(self: Arc<Self>, mut events: mpsc::Receiver<Event>) {
        while let Some(event) = events.recv().await {
            let Some(params) = event.read::<Value>() else {
                continue;
            };
            match event.method.as_str() {
                "Browser.downloadWillBegin" => self.begin(&params),
                "Browser.downloadProgress" => self.clone().progress(params),
                _ => {}
            }
        }
    }

    fn begin(&self, params: &Value) {
        let guid = text(params, "guid");
        let mut state = self.state.lock();
        let listed = state.files + state.running.len();
        if listed > self.limits.files {
            // The first download above the limit is listed with the reason; further ones are not.
            drop(state);
            self.cancel(&guid);
            return;
        }
        let refusal = (listed == self.limits.files).then(|| self.too_many());
        let is_refused = refusal.is_some();
        state.running.insert(
            guid.clone(),
            Running {
                name: text(params, "suggestedFilename"),
                url: text(params, "url"),
                received: 0,
                refusal,
            },
        );
        drop(state);
        self.connection
            .external()
            .report_download("Browser.downloadWillBegin", params);
        if is_refused {
            self.cancel(&guid);
        }
    }

    fn progress(self: Arc<Self>, params: Value) {
        let guid = text(&params, "guid");
        let bytes = |field: &str| params[field].as_f64().unwrap_or_default() as u64;
        let (total, received) = (bytes("totalBytes"), bytes("receivedBytes"));
        let mut state = self.state.lock();
        let Some(download) = state.running.get_mut(&guid) else {
            return;
        };
        download.received = received;
        let is_refused = download.refusal.is_some();
        let refusal = match is_refused {
            true => None,
            false => self.refusal(&state, Some(&guid), total.max(received)),
        };
        if let Some(refusal) = refusal.clone()
            && let Some(download) = state.running.get_mut(&guid)
        {
            download.refusal = Some(refusal);
        }
        match params["state"].as_str() {
            Some(end @ ("completed" | "canceled")) => {
                let is_complete = end == "completed";
                let Some(download) = state.running.remove(&guid) else {
                    return;
                };
                state.files += 1;
                // Counted before it is read, so that downloads that end together stay within the limit.
                let counted = match is_complete && download.refusal.is_none() {
                    true => download.received,
                    false => 0,
                };
                state.bytes += counted;
                drop(state);
                tokio::spawn(async move { self.end(guid, download, is_complete, params).await });
            }
            _ => {
                drop(state);
                match refusal {
                    Some(_) => self.cancel(&guid),
                    None => self
                        .connection
                        .external()
                        .report_download("Browser.downloadProgress", &params),
                }
            }
        }
    }

    /// Hands a download that has ended to the owner and to code, then reports its end to clients.
    async fn end(&self, guid: String, download: Running, is_complete: bool, mut params: Value) {
        let _turn = self.turn.lock().await;
        let _read = READS.acquire().await.expect("the semaphore is never closed");
        let content = match download.refusal {
            Some(refusal) => {
                self.folder.remove(&guid);
                Err(refusal)
            }
            None if is_complete => self.folder.take(&guid, self.limits.file_bytes),
            None => Err("the download was cancelled or failed".to_owned()),
        };
        match &content {
            Ok(bytes) => copy_to(self.workers(), &format!("{}/{guid}", self.code.downloads), bytes).await,
            Err(_) => params["state"] = "canceled".into(),
        }
        let (handled, wait) = oneshot::channel();
        let ended = Download {
            name: download.name,
            url: download.url,
            size: content
                .as_ref()
                .map_or(download.received, |bytes| bytes.len() as u64),
            content,
            _handled: handled,
        };
        if self.ended.send(ended).await.is_ok() {
            let _dropped = wait.await;
        }
        self.connection
            .external()
            .report_download("Browser.downloadProgress", &params);
    }

    /// Returns why a file of `size` bytes is refused. `running` is the download that counts the file already, if any.
    fn refusal(&self, state: &State, running: Option<&str>, size: u64) -> Option<String> {
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        if size > self.limits.file_bytes {
            return Some(format!(
                "the file is larger than {}, the maximum for a file of a session",
                mib(self.limits.file_bytes)
            ));
        }
        let others = state
            .running
            .iter()
            .filter(|(guid, _)| Some(guid.as_str()) != running);
        let others: u64 = others.map(|(_, download)| download.received).sum();
        if state.bytes + others + size > self.limits.total_bytes {
            return Some(format!(
                "with this file the files of the session would exceed {}",
                mib(self.limits.total_bytes)
            ));
        }
        (running.is_none() && state.files + state.running.len() >= self.limits.files).then(|| self.too_many())
    }

    fn too_many(&self) -> String {
        format!("the session already has {} files, the maximum", self.limits.files)
    }

    /// Cancels a download; does nothing if there is none with this id.
    pub(crate) fn cancel(&self, guid: &str) {
        let contexts = self.state.lock().contexts.clone();
        for context in std::iter::once(None).chain(contexts.into_iter().map(Some)) {
            let mut params = json!({"guid": guid});
            if let Some(context) = context {
                params["browserContextId"] = context.into();
            }
            self.connection.post("Browser.cancelDownload", params);
        }
    }

    fn workers(&self) -> Vec<Arc<WorkerPipe>> {
        self.state.lock().live_workers()
    }
}

impl Drop for BrowserFiles {
    fn drop(&mut self) {
        if let Some(folder) = &self.code.own
            && let Err(error) = std::fs::remove_dir_all(folder)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "cannot remove the files of code");
        }
    }
}

impl State {
    fn live_workers(&mut self) -> Vec<Arc<WorkerPipe>> {
        self.workers.retain(|worker| worker.strong_count() > 0);
        self.workers.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Upload {
    /// Returns the file as an argument of `set_files.js`.
    pub(crate) fn argument(&self) -> Value {
        json!({"name": self.name, "type": self.content_type, "data": STANDARD.encode(&self.bytes)})
    }
}

/// Copies a file to workers. A worker that cannot read while its code runs gets the file before it runs other code.
async fn copy_to(workers: Vec<Arc<WorkerPipe>>, path: &str, bytes: &Bytes) {
    for worker in workers {
        let (path, bytes) = (path.to_owned(), bytes.clone());
        let copy = tokio::spawn(async move { worker.file(&path, &bytes).await });
        let _later = timeout(limits::FILE_COPY_TIMEOUT, copy).await;
    }
}
