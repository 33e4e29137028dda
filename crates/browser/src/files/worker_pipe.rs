//! The pipe to a worker that runs code: sends it commands, and files for the code. Does not know what a command does.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;

use crate::limits;

/// Sends to one worker, one line of JSON after the other.
pub(crate) struct WorkerPipe(Mutex<pipe::Sender>);

impl WorkerPipe {
    pub(crate) fn new(commands: pipe::Sender) -> WorkerPipe {
        WorkerPipe(Mutex::new(commands))
    }

    /// Sends a command.
    ///
    /// # Errors
    /// If the worker has ended.
    pub(crate) async fn command(&self, command: &Value) -> Result<(), String> {
        write(&mut *self.0.lock().await, command).await
    }

    /// Writes a file at a path of the worker, unless the worker has ended.
    pub(crate) async fn file(&self, path: &str, bytes: &[u8]) {
        let mut commands = self.0.lock().await;
        // An empty file has one part.
        let parts = bytes.len().div_ceil(limits::FILE_PART_BYTES).max(1);
        for part in 0..parts {
            let start = part * limits::FILE_PART_BYTES;
            let data = &bytes[start..bytes.len().min(start + limits::FILE_PART_BYTES)];
            let command = json!({"file": path, "data": STANDARD.encode(data), "append": part > 0});
            if write(&mut commands, &command).await.is_err() {
                return;
            }
        }
    }
}

async fn write(commands: &mut pipe::Sender, command: &Value) -> Result<(), String> {
    let line = format!("{command}\n");
    let sent = commands.write_all(line.as_bytes()).await;
    sent.map_err(|error| format!("the worker accepts no commands: {error}"))
}
