//! The live socket of a job (docs/API.md section 15): sends the current status, then each document as it completes,
//! then the end of the job. Requests are refused after the upgrade, by a close frame, because browsers hide the HTTP
//! response from scripts.

use std::convert::Infallible;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::job::{JobStatus, StatusPath, StatusQuery};
use harvestman_core::api::live::{
    CLOSE_DONE, CLOSE_GOING_AWAY, CLOSE_SERVER_FAULT, CLOSE_UNAUTHORIZED, CLOSE_UNKNOWN_JOB, catchup_json,
    close_reason, document_json, done_json, error_json,
};
use harvestman_core::ids::JobId;
use harvestman_core::paging::MAX_DATA_BYTES;
use harvestman_store::{JobRow, Principal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::auth;
use crate::error::Failure;
use crate::limits;
use crate::pings::Pings;
use crate::routes::job_id;
use crate::status::{StatusPage, job_row};

/// Request to watch a job.
pub(crate) struct WatchRequest {
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
    request: WatchRequest,
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
        let client = Client::default();
        let (sink, mut stream) = socket.split();
        let mut watcher = Watcher {
            app,
            sink,
            client: &client,
            key,
            path: request.path,
            base,
        };
        let counted = async {
            let principal = watcher.caller().await?;
            auth::count(&watcher.app, &principal).await?;
            Ok::<_, Failure>(principal)
        };
        let (code, reason) = match (counted.await, job_id(&request.id), request.skip) {
            (Err(failure), ..) | (_, Err(failure), _) | (.., Err(failure)) => refusal(&failure),
            (Ok(principal), Ok(id), Ok(skip)) => {
                let watched = tokio::select! {
                    watched = watcher.watch(&principal, id, skip) => watched,
                    never = client.read(&mut stream) => match never {},
                };
                match watched {
                    Ok(close) => close,
                    Err(WatchError::Disconnected) => return,
                    Err(WatchError::Failed(failure)) => refusal(&failure),
                }
            }
        };
        watcher.close(&mut stream, code, reason).await;
    })
}

/// Reason why a socket ends before the job.
enum WatchError {
    /// The client disconnected, or does not read.
    Disconnected,
    /// The job cannot be read.
    Failed(Failure),
}

impl From<Failure> for WatchError {
    fn from(failure: Failure) -> Self {
        WatchError::Failed(failure)
    }
}

fn refusal(failure: &Failure) -> (u16, String) {
    let code = match failure.0.code {
        ErrorCode::Unauthorized => CLOSE_UNAUTHORIZED,
        _ if failure.0.status() >= 500 => CLOSE_SERVER_FAULT,
        _ => CLOSE_UNKNOWN_JOB,
    };
    (code, failure.0.message.clone())
}

/// What is known of the client from its messages.
#[derive(Default)]
struct Client {
    pings: Pings,
    /// Cancelled when it disconnects.
    gone: CancellationToken,
}

impl Client {
    /// Reads its messages, also while others are sent to it. Reading also replies to its pings.
    async fn read(&self, stream: &mut SplitStream<WebSocket>) -> Infallible {
        while let Some(Ok(message)) = stream.next().await {
            self.pings.answered();
            if let Message::Close(_) = message {
                // The next read sends the reply.
                self.gone.cancel();
            }
        }
        self.gone.cancel();
        std::future::pending().await
    }
}

struct Watcher<'c> {
    app: App,
    sink: SplitSink<WebSocket, Message>,
    client: &'c Client,
    key: Option<String>,
    path: StatusPath,
    base: String,
}

impl Watcher<'_> {
    /// Authenticates the client; called again while the socket is open, so that a revoked key closes it.
    async fn caller(&mut self) -> Result<Principal, Failure> {
        auth::authenticate_key(&self.app, self.key.as_deref()).await
    }

    /// Sends everything after the first `skip` documents until the job ends. Returns the code and reason of the close
    /// frame.
    async fn watch(
        &mut self,
        principal: &Principal,
        id: JobId,
        skip: u64,
    ) -> Result<(u16, String), WatchError> {
        let query = StatusQuery { skip, limit: None };
        let page = StatusPage::read(&self.app, principal, self.path, id, query).await?;
        let page = page.into_catchup();
        let status = page.json(&self.base, harvestman_engine::now());
        self.send_text(catchup_json(&status)).await?;
        let mut sent = page.next_skip;
        delete_delivered(&self.app, &page.row, skip, sent).await?;
        drop(page);
        loop {
            self.caller().await?;
            let row = job_row(&self.app, principal, self.path, id).await?;
            let remaining = row.completed.saturating_sub(sent).min(limits::SOCKET_DOCUMENTS);
            if remaining > 0 {
                let chunk = self
                    .app
                    .store()
                    .documents(id, sent, Some(remaining), MAX_DATA_BYTES)
                    .await;
                let chunk = chunk.map_err(Failure::from)?;
                for document in chunk.documents {
                    self.send_text(document_json(&document)).await?;
                }
                delete_delivered(&self.app, &row, sent, chunk.next_skip).await?;
                sent = chunk.next_skip;
                continue;
            }
            let final_message = match row.status {
                JobStatus::Scraping => {
                    if self.wait(principal, id, sent).await? {
                        let reason = "the server is shutting down; try again in a moment";
                        return Ok((CLOSE_GOING_AWAY, reason.to_owned()));
                    }
                    continue;
                }
                JobStatus::Completed => {
                    let status =
                        StatusPage::finished(row, self.path).json(&self.base, harvestman_engine::now());
                    done_json(&status)
                }
                JobStatus::Failed => error_json(row.error.as_deref().unwrap_or("the job failed")),
                JobStatus::Cancelled => error_json("the job was cancelled"),
            };
            self.send_text(final_message).await?;
            return Ok((CLOSE_DONE, String::new()));
        }
    }

    /// Waits for a change of the job, and pings the client meanwhile. Returns `true` when the server shuts down.
    async fn wait(&mut self, principal: &Principal, id: JobId, sent: u64) -> Result<bool, WatchError> {
        tokio::select! {
            () = self.app.engine().wait_for_change(principal, id, sent, limits::SOCKET_PING) => return Ok(false),
            () = self.app.stopping().cancelled() => return Ok(true),
            () = self.client.gone.cancelled() => return Err(WatchError::Disconnected),
            () = self.client.pings.due() => {
                if !self.client.pings.send() {
                    return Err(WatchError::Disconnected);
                }
                self.send(Message::Ping(Default::default())).await?;
            }
        }
        Ok(false)
    }

    async fn send_text(&mut self, text: String) -> Result<(), WatchError> {
        self.send(Message::Text(text.into())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), WatchError> {
        tokio::select! {
            biased;
            () = self.client.gone.cancelled() => Err(WatchError::Disconnected),
            sent = timeout(limits::SOCKET_SEND, self.sink.send(message)) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) | Err(_) => Err(WatchError::Disconnected),
            },
        }
    }

    async fn close(&mut self, stream: &mut SplitStream<WebSocket>, code: u16, reason: String) {
        let frame = CloseFrame {
            code,
            reason: close_reason(&reason).into(),
        };
        if self.send(Message::Close(Some(frame))).await.is_ok() {
            // The client's own close frame ends the connection cleanly.
            let closed = async { while let Some(Ok(_)) = stream.next().await {} };
            let _ = timeout(limits::REFUSAL_TIME, closed).await;
        }
    }
}

/// Deletes the documents that were sent if the job has zero data retention.
async fn delete_delivered(app: &App, row: &JobRow, skip: u64, until: u64) -> Result<(), Failure> {
    if row.zero_data_retention && skip < until {
        app.store().delete_delivered(row.id, skip, until).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
