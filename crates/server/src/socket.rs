//! The live socket of a job (docs/API.md section 15): sends the current status, then each document as it completes, then
//! the end of the job. Requests are refused after the upgrade, by a close frame, because browsers hide the HTTP
//! response from scripts.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::job::{JobStatus, StatusPath, StatusQuery};
use harvestman_core::ids::JobId;
use harvestman_core::paging::MAX_DATA_BYTES;
use harvestman_store::{JobRow, Principal};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::auth;
use crate::error::Failure;
use crate::limits;
use crate::routes::job_id;
use crate::status::{StatusPage, job_row, state};

/// Close codes (RFC 6455 section 7.4).
pub(crate) const NORMAL: u16 = 1000;
pub(crate) const GOING_AWAY: u16 = 1001;
const POLICY: u16 = 1008;
const FAULT: u16 = 1011;
const UNAUTHORIZED: u16 = 3000;

/// Request to watch a job.
pub(crate) struct Asked {
    /// Kind of job.
    pub(crate) path: StatusPath,
    /// Job id in the path, not yet validated.
    pub(crate) id: String,
    /// Number of documents that the client already has (`?skip=`), or the error in the query.
    pub(crate) skip: Result<u64, Failure>,
}

/// Accepts the upgrade and serves the socket. A key that is offered as a subprotocol is echoed.
pub(crate) fn open(
    app: App,
    upgrade: WebSocketUpgrade,
    headers: &HeaderMap,
    asked: Asked,
    base: String,
) -> Response {
    let offered = headers
        .get(header::SEC_WEBSOCKET_PROTOCOL)
        .and_then(|list| Some(list.to_str().ok()?.split(',').next()?.trim().to_owned()))
        .filter(|offered| !offered.is_empty());
    let upgrade = upgrade
        .max_message_size(limits::SOCKET_MESSAGE_BYTES)
        .max_frame_size(limits::SOCKET_MESSAGE_BYTES);
    let upgrade = match &offered {
        Some(offered) => upgrade.protocols([offered.clone()]),
        None => upgrade,
    };
    let key = match headers.get(header::AUTHORIZATION) {
        None => offered,
        Some(_) => auth::key(headers).map(str::to_owned),
    };
    upgrade.on_upgrade(move |socket| async move {
        let mut watcher = Watcher {
            app,
            socket,
            key,
            path: asked.path,
            base,
            pinged: Instant::now(),
            heard: Instant::now(),
        };
        let who = watcher.caller().await.and_then(|who| {
            auth::count(&watcher.app, &who)?;
            Ok(who)
        });
        let (code, reason) = match (who, job_id(&asked.id), asked.skip) {
            (Err(failure), ..) | (_, Err(failure), _) | (.., Err(failure)) => refusal(&failure),
            (Ok(who), Ok(id), Ok(skip)) => match watcher.watch(&who, id, skip).await {
                Ok(end) => end,
                Err(End::Gone) => return,
                Err(End::Failed(failure)) => refusal(&failure),
            },
        };
        watcher.close(code, reason).await;
    })
}

/// Reason why a socket ends before the job.
enum End {
    /// The client disconnected, or does not read.
    Gone,
    /// The job cannot be read.
    Failed(Failure),
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        End::Failed(failure)
    }
}

fn refusal(failure: &Failure) -> (u16, String) {
    let code = match failure.0.code {
        ErrorCode::Unauthorized => UNAUTHORIZED,
        _ if failure.0.status() >= 500 => FAULT,
        _ => POLICY,
    };
    (code, failure.0.message.clone())
}

struct Watcher {
    app: App,
    socket: WebSocket,
    key: Option<String>,
    path: StatusPath,
    base: String,
    pinged: Instant,
    heard: Instant,
}

impl Watcher {
    /// Authenticates the client; called again while the socket is open, so that a revoked key closes it.
    async fn caller(&mut self) -> Result<Principal, Failure> {
        auth::authenticate_key(&self.app, self.key.as_deref()).await
    }

    /// Sends everything after the first `skip` documents until the job ends. Returns the code and reason of the close
    /// frame.
    async fn watch(&mut self, who: &Principal, id: JobId, skip: u64) -> Result<(u16, String), End> {
        let query = StatusQuery { skip, limit: None };
        let page = StatusPage::read(&self.app, who, self.path, id, query).await?;
        let status = page.json(&self.base, harvestman_engine::now());
        self.say(format!("{{\"type\":\"catchup\",\"data\":{status}}}"))
            .await?;
        let mut told = page.next_skip;
        forget(&self.app, &page.row, skip, told).await?;
        drop(page);
        loop {
            self.caller().await?;
            let row = job_row(&self.app, who, self.path, id).await?;
            let left = row.completed.saturating_sub(told).min(limits::SOCKET_DOCUMENTS);
            if left > 0 {
                let chunk = self
                    .app
                    .store()
                    .documents(id, told, Some(left), MAX_DATA_BYTES)
                    .await;
                let chunk = chunk.map_err(Failure::from)?;
                for document in chunk.documents {
                    self.say(format!("{{\"type\":\"document\",\"data\":{document}}}"))
                        .await?;
                }
                forget(&self.app, &row, told, chunk.next_skip).await?;
                told = chunk.next_skip;
                continue;
            }
            let last = match state(row.status) {
                JobStatus::Scraping => {
                    if self.wait(who, id, told).await? {
                        let reason = "the server is shutting down; try again in a moment";
                        return Ok((GOING_AWAY, reason.to_owned()));
                    }
                    continue;
                }
                JobStatus::Completed => {
                    let status =
                        StatusPage::of_end(row, self.path).json(&self.base, harvestman_engine::now());
                    format!("{{\"type\":\"done\",\"data\":{status}}}")
                }
                JobStatus::Failed => {
                    let why = row.error.unwrap_or_else(|| "the job failed".to_owned());
                    json!({ "type": "error", "error": why }).to_string()
                }
                JobStatus::Cancelled => {
                    json!({ "type": "error", "error": "the job was cancelled" }).to_string()
                }
            };
            self.say(last).await?;
            return Ok((NORMAL, String::new()));
        }
    }

    /// Waits for a change of the job, and pings the client meanwhile. Returns `true` when the server shuts down.
    async fn wait(&mut self, who: &Principal, id: JobId, told: u64) -> Result<bool, End> {
        let until_ping = limits::SOCKET_PING.saturating_sub(self.pinged.elapsed());
        tokio::select! {
            () = self.app.engine().changed(who, id, told, limits::SOCKET_PING) => return Ok(false),
            () = self.app.stopping().cancelled() => return Ok(true),
            message = self.socket.recv() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(End::Gone),
                Some(Ok(_)) => self.heard = Instant::now(),
            },
            () = tokio::time::sleep(until_ping) => {
                if self.heard.elapsed() > 3 * limits::SOCKET_PING {
                    return Err(End::Gone);
                }
                self.pinged = Instant::now();
                self.send(Message::Ping(Default::default()), limits::SOCKET_SEND).await?;
            }
        }
        Ok(false)
    }

    async fn say(&mut self, text: String) -> Result<(), End> {
        self.send(Message::Text(text.into()), limits::SOCKET_SEND).await
    }

    async fn send(&mut self, message: Message, time: Duration) -> Result<(), End> {
        match timeout(time, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }

    async fn close(&mut self, code: u16, reason: String) {
        let frame = CloseFrame {
            code,
            reason: short(&reason),
        };
        if self
            .send(Message::Close(Some(frame)), limits::SOCKET_SEND)
            .await
            .is_ok()
        {
            // The connection ends in order with the client's own close frame.
            let answered = async { while let Some(Ok(_)) = self.socket.recv().await {} };
            let _ = timeout(limits::REFUSAL_TIME, answered).await;
        }
    }
}

/// Deletes the documents that were sent if the job has zero data retention.
async fn forget(app: &App, row: &JobRow, skip: u64, upto: u64) -> Result<(), Failure> {
    if row.zero_data_retention && skip < upto {
        app.store().delete_delivered(row.id, skip, upto).await?;
    }
    Ok(())
}

/// Shortens a reason to the length that fits into a close frame.
fn short(reason: &str) -> Utf8Bytes {
    let mut end = reason.len().min(limits::CLOSE_REASON_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason[..end].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_shortened_at_a_character_boundary() {
        assert_eq!(short("short").as_str(), "short");
        let long = "ä".repeat(100);
        assert_eq!(short(&long).len(), 122);
    }

    #[test]
    fn refusals_have_the_documented_close_codes() {
        let code = |code| refusal(&Failure::new(code, "x")).0;
        assert_eq!(code(ErrorCode::Unauthorized), 3000);
        assert_eq!(code(ErrorCode::NotFound), 1008);
        assert_eq!(code(ErrorCode::BadRequest), 1008);
        assert_eq!(code(ErrorCode::Unavailable), 1011);
        assert_eq!(code(ErrorCode::Unknown), 1011);
    }
}
