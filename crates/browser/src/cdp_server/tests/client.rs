//! An external client of the endpoint.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::limits;

/// Returns status and body of a plain HTTP request.
pub(super) async fn get(host: &str, path: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let status = response[9..12].parse().unwrap();
    (status, response.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// A DevTools client.
pub(super) struct Client {
    pub(super) socket: WebSocketStream<TcpStream>,
    last_id: i64,
    pub(super) events: Vec<Value>,
}

impl Client {
    pub(super) async fn connect(address: &str) -> Client {
        let host = address.strip_prefix("ws://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        let (socket, _) = client_async(address, stream).await.unwrap();
        Client {
            socket,
            last_id: 0,
            events: Vec::new(),
        }
    }

    pub(super) async fn next(&mut self) -> Value {
        loop {
            let message = timeout(limits::COMMAND_TIMEOUT, self.socket.next()).await;
            if let Message::Text(text) = message.unwrap().unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Waits until the connection is closed.
    pub(super) async fn until_closed(&mut self) {
        let end = timeout(limits::COMMAND_TIMEOUT, async {
            while let Some(Ok(message)) = self.socket.next().await {
                if message.is_close() {
                    break;
                }
            }
        });
        end.await.unwrap();
    }

    /// Sends a command and returns the whole response; collects events received meanwhile.
    pub(super) async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.socket
            .send(Message::text(command.to_string()))
            .await
            .unwrap();
        loop {
            let message = self.next().await;
            if message["id"] == self.last_id {
                assert_eq!(message["sessionId"].as_str(), session);
                return message;
            }
            self.events.push(message);
        }
    }

    pub(super) async fn result(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let mut response = self.call(session, method, params).await;
        assert!(response["error"].is_null(), "{method}: {response}");
        response["result"].take()
    }

    pub(super) async fn refusal(&mut self, session: Option<&str>, method: &str, params: Value) -> String {
        let response = self.call(session, method, params).await;
        response["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{method}: {response}"))
            .to_owned()
    }

    /// Opens a page and returns its target id and session id.
    pub(super) async fn open_page(&mut self, title: &str) -> (String, String) {
        let page = json!({"url": format!("data:text/html,<title>{title}</title>")});
        let target = self.result(None, "Target.createTarget", page).await;
        let params = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.result(None, "Target.attachToTarget", params).await;
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let loaded = timeout(limits::COMMAND_TIMEOUT, async {
            while self.value(Some(&session), "document.title").await != title {}
        });
        loaded.await.unwrap();
        (target["targetId"].as_str().unwrap().to_owned(), session)
    }

    pub(super) async fn value(&mut self, session: Option<&str>, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        self.result(session, "Runtime.evaluate", params).await["result"]["value"].take()
    }
}
