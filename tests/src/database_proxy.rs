//! A network between a server and its PostgreSQL database that is slow or fails on request: connections are refused, go
//! silent, or break before the answer to a COMMIT arrives. It also counts statements.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// `CommandComplete` of a COMMIT.
const COMMITTED: &[u8] = b"C\0\0\0\x0bCOMMIT\0";
/// Start of every `CommandComplete`; the last byte of its length and the command follow.
const COMPLETED: &[u8] = b"C\0\0\0";
const BUFFER_BYTES: usize = 64 * 1024;
/// Largest number of reads from the database that are not delivered yet.
const MESSAGES_UNDERWAY: usize = 64;

/// A running proxy; connections through it end when it is dropped.
pub struct DatabaseProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

struct Shared {
    /// Host and port.
    database: Mutex<String>,
    network: watch::Sender<Network>,
    /// Delay of what arrives from the database, in microseconds.
    delay_us: AtomicU64,
    /// Loses the answer to every n-th COMMIT; 0 loses none.
    lose_every: AtomicU64,
    commits: AtomicU64,
    lost: AtomicU64,
    reads: AtomicU64,
    changes: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Network {
    Works,
    /// Connections are closed, and new ones refused.
    Refuses,
    /// Connections stay open, but nothing arrives.
    Silent,
}

impl DatabaseProxy {
    /// Starts a proxy to the server of a database URL.
    pub async fn start(database_url: &str) -> DatabaseProxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let shared = Arc::new(Shared {
            database: Mutex::new(authority(database_url).to_owned()),
            network: watch::Sender::new(Network::Works),
            delay_us: AtomicU64::new(0),
            lose_every: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            changes: AtomicU64::new(0),
        });
        let address = listener.local_addr().expect("the listener is bound");
        let accepting = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        DatabaseProxy {
            address,
            shared,
            accepting,
        }
    }

    /// Returns the database URL through the proxy.
    pub fn url(&self, database_url: &str) -> String {
        database_url.replacen(authority(database_url), &self.address.to_string(), 1)
    }

    /// Redirects new connections to the server of another database URL.
    pub fn redirect(&self, database_url: &str) {
        *self.shared.database.lock() = authority(database_url).to_owned();
    }

    /// Closes all connections and refuses new ones, as a database that restarts does.
    pub fn refuse(&self) {
        self.shared.network.send_replace(Network::Refuses);
    }

    /// Lets nothing through, without closing connections.
    pub fn cut(&self) {
        self.shared.network.send_replace(Network::Silent);
    }

    /// Ends a refusal or a cut.
    pub fn restore(&self) {
        self.shared.network.send_replace(Network::Works);
    }

    /// Delays what arrives from the database.
    pub fn delay(&self, delay: Duration) {
        let delay_us = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.shared.delay_us.store(delay_us, Ordering::Relaxed);
    }

    /// Breaks the connection instead of passing on the answer to every `nth` COMMIT; 0 breaks none.
    pub fn lose_commits(&self, nth: u64) {
        self.shared.lose_every.store(nth, Ordering::Relaxed);
    }

    /// Returns how many answers to a COMMIT were lost.
    pub fn lost_commits(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// Returns how many statements have read rows, and how many have changed rows.
    pub fn statements(&self) -> (u64, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&self.shared.reads), count(&self.shared.changes))
    }
}

impl Drop for DatabaseProxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.refuse();
    }
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        if *shared.network.borrow() != Network::Refuses {
            tokio::spawn(relay(client, shared.clone()));
        }
    }
}

/// Copies bytes in both directions until one side closes, or the network refuses.
async fn relay(client: TcpStream, shared: Arc<Shared>) {
    let address = shared.database.lock().clone();
    let Ok(database) = TcpStream::connect(address).await else {
        return;
    };
    // A network does not hold small messages back until earlier ones are acknowledged.
    for side in [&client, &database] {
        let _unsupported = side.set_nodelay(true);
    }
    let mut network = shared.network.subscribe();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_database, mut to_database) = database.into_split();
    let up = async {
        let mut bytes = vec![0; BUFFER_BYTES];
        loop {
            let length = from_client.read(&mut bytes).await?;
            wait_until_open(&shared).await;
            if length == 0 {
                return std::io::Result::Ok(());
            }
            to_database.write_all(&bytes[..length]).await?;
        }
    };
    // Bytes on their way, which do not delay those behind them.
    let (sender, mut arriving) = mpsc::channel(MESSAGES_UNDERWAY);
    let down = async {
        let mut length = 1;
        while length > 0 {
            let mut bytes = vec![0; BUFFER_BYTES];
            length = from_database.read(&mut bytes).await.unwrap_or(0);
            bytes.truncate(length);
            shared.count(&bytes);
            let delay = Duration::from_micros(shared.delay_us.load(Ordering::Relaxed));
            let _ended = sender.send((Instant::now() + delay, bytes)).await;
        }
        // The end is delivered as well.
        std::future::pending().await
    };
    let deliver = async {
        while let Some((at, bytes)) = arriving.recv().await {
            tokio::time::sleep_until(at).await;
            wait_until_open(&shared).await;
            if bytes.is_empty() || loses(&shared, &bytes) {
                break;
            }
            to_client.write_all(&bytes).await?;
        }
        std::io::Result::Ok(())
    };
    tokio::select! {
        // Either side may close at any time.
        _ended = up => {}
        _ended = deliver => {}
        () = down => {}
        _refused = network.wait_for(|network| *network == Network::Refuses) => {}
    }
}

async fn wait_until_open(shared: &Shared) {
    let mut network = shared.network.subscribe();
    let _closed = network.wait_for(|network| *network != Network::Silent).await;
}

impl Shared {
    /// Counts the statements that complete in these bytes.
    fn count(&self, bytes: &[u8]) {
        let ends = bytes.windows(COMPLETED.len()).enumerate();
        for (at, _) in ends.filter(|(_, window)| *window == COMPLETED) {
            let command = &bytes[(at + COMPLETED.len() + 1).min(bytes.len())..];
            let is = |word: &[u8]| command.starts_with(word);
            let affects_none = command
                .iter()
                .position(|byte| *byte == 0)
                .is_some_and(|end| command[..end].ends_with(b" 0"));
            if is(b"SELECT ") {
                self.reads.fetch_add(1, Ordering::Relaxed);
            } else if !affects_none && [b"INSERT ", b"UPDATE ", b"DELETE "].iter().any(|word| is(*word)) {
                self.changes.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

fn loses(shared: &Shared, bytes: &[u8]) -> bool {
    let every = shared.lose_every.load(Ordering::Relaxed);
    let is_commit = bytes.windows(COMMITTED.len()).any(|window| window == COMMITTED);
    if every == 0 || !is_commit {
        return false;
    }
    let lost = (shared.commits.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(every);
    shared.lost.fetch_add(u64::from(lost), Ordering::Relaxed);
    lost
}
