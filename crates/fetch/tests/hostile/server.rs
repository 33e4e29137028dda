//! A scripted server that sends arbitrary bytes, and the resolver and dialer that tests inject.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use harvestman_fetch::{
    AllowList, Dial, FetchConfig, FetchError, FetchRequest, FetchResponse, Fetcher, Resolve, ResolveError,
    Stream, TcpDialer,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

/// What the server does after reading a request.
pub(crate) enum ServerAction {
    /// Sends the bytes and waits for the next request.
    Keep(Vec<u8>),
    /// Sends the bytes and closes.
    Close(Vec<u8>),
    /// Sends the bytes, then nothing until the peer closes.
    Hang(Vec<u8>),
    /// Sends the first bytes, then the second ones repeatedly until the peer closes.
    Endless(Vec<u8>, Vec<u8>),
    /// Resets the connection.
    Reset,
}

/// A received request: the head as text, and the body.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) connections: Arc<AtomicUsize>,
    pub(crate) requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    /// One message per connection that the peer closed while a response was stalled or endless.
    pub(crate) closed: mpsc::UnboundedReceiver<()>,
    _task: AbortOnDropHandle<()>,
}

impl Server {
    pub(crate) async fn start(
        script: impl Fn(&ReceivedRequest) -> ServerAction + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (closed_sender, closed) = mpsc::unbounded_channel();
        let script = Arc::new(script);
        let task = tokio::spawn({
            let (connections, requests) = (connections.clone(), requests.clone());
            async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    connections.fetch_add(1, Ordering::SeqCst);
                    let (script, requests, closed_sender) =
                        (script.clone(), requests.clone(), closed_sender.clone());
                    tokio::spawn(async move {
                        // Many tests make the client disconnect early.
                        let _ = serve(stream, &*script, &requests, &closed_sender).await;
                    });
                }
            }
        });
        Server {
            address,
            connections,
            requests,
            closed,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Starts a server with one response for every request.
    pub(crate) async fn with(action: impl Fn() -> ServerAction + Send + Sync + 'static) -> Server {
        Server::start(move |_| action()).await
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    script: &(impl Fn(&ReceivedRequest) -> ServerAction + Send + Sync),
    requests: &Mutex<Vec<ReceivedRequest>>,
    closed_sender: &mpsc::UnboundedSender<()>,
) -> io::Result<()> {
    while let Some(request) = read_request(&mut stream).await? {
        requests.lock().unwrap().push(request.clone());
        match script(&request) {
            ServerAction::Keep(bytes) => stream.write_all(&bytes).await?,
            ServerAction::Close(bytes) => {
                stream.write_all(&bytes).await?;
                return stream.shutdown().await;
            }
            ServerAction::Hang(bytes) => {
                stream.write_all(&bytes).await?;
                let _ = stream.read(&mut [0; 1]).await;
                let _ = closed_sender.send(());
                return Ok(());
            }
            ServerAction::Endless(first, again) => {
                stream.write_all(&first).await?;
                while stream.write_all(&again).await.is_ok() {}
                let _ = closed_sender.send(());
                return Ok(());
            }
            ServerAction::Reset => {
                stream.set_zero_linger()?;
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn read_request(stream: &mut TcpStream) -> io::Result<Option<ReceivedRequest>> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut request = ReceivedRequest {
        head,
        body: bytes[head_end..].to_vec(),
    };
    let length: usize = request
        .header("content-length")
        .map_or(0, |value| value.parse().unwrap());
    while request.body.len() < length {
        stream.read_buf(&mut request.body).await?;
    }
    Ok(Some(request))
}

/// Returns a 200 response with a length.
pub(crate) fn ok(body: impl AsRef<[u8]>) -> Vec<u8> {
    response(200, "", body)
}

/// Returns a response with additional header lines, each with its line ending.
pub(crate) fn response(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Returns a fetcher that may reach loopback.
pub(crate) fn fetcher() -> Fetcher {
    fetcher_with("127.0.0.1")
}

pub(crate) fn fetcher_with(allow: &str) -> Fetcher {
    Fetcher::new(config(allow)).unwrap()
}

pub(crate) fn config(allow: &str) -> FetchConfig {
    FetchConfig {
        allow_private_hosts: AllowList::parse(allow).unwrap(),
        ..FetchConfig::default()
    }
}

/// Returns a GET request with a generous deadline.
pub(crate) fn get(url: Url) -> FetchRequest {
    FetchRequest::get(url, deadline_in(60_000))
}

pub(crate) fn deadline_in(milliseconds: u64) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds)
}

/// Fetches one page from a server with one response.
pub(crate) async fn fetch_one(
    action: impl Fn() -> ServerAction + Send + Sync + 'static,
) -> Result<FetchResponse, FetchError> {
    let server = Server::with(action).await;
    fetcher().fetch(get(server.url("/"))).await
}

/// A resolver with a list of responses per name; repeats the last one.
#[derive(Default)]
pub(crate) struct ScriptedResolver {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub(crate) lookups: AtomicUsize,
}

impl ScriptedResolver {
    pub(crate) fn new(names: &[(&str, &[&[&str]])]) -> Arc<ScriptedResolver> {
        let answers = names
            .iter()
            .map(|(name, rounds)| {
                let rounds = rounds
                    .iter()
                    .rev()
                    .map(|round| round.iter().map(|ip| ip.parse().unwrap()).collect());
                ((*name).to_owned(), rounds.collect())
            })
            .collect();
        Arc::new(ScriptedResolver {
            answers: Mutex::new(answers),
            lookups: AtomicUsize::new(0),
        })
    }
}

impl Resolve for ScriptedResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let found = match answers.get_mut(host) {
            None => Err(ResolveError::NotFound),
            Some(rounds) if rounds.len() > 1 => Ok(rounds.pop().unwrap()),
            Some(rounds) => Ok(rounds[0].clone()),
        };
        Box::pin(async move { found })
    }
}

/// A dialer that records the dialed addresses and connects to a loopback port, or nowhere.
pub(crate) struct RecordingDialer {
    pub(crate) dialed: Mutex<Vec<SocketAddr>>,
    target: Option<SocketAddr>,
}

impl RecordingDialer {
    pub(crate) fn new(target: Option<SocketAddr>) -> Arc<RecordingDialer> {
        Arc::new(RecordingDialer {
            dialed: Mutex::new(Vec::new()),
            target,
        })
    }

    pub(crate) fn dialed(&self) -> Vec<SocketAddr> {
        self.dialed.lock().unwrap().clone()
    }
}

impl Dial for RecordingDialer {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Stream>>> {
        self.dialed.lock().unwrap().push(address);
        match self.target {
            Some(real) => Box::pin(async move { TcpDialer.dial(real).await }),
            None => Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) }),
        }
    }
}
