//! The writer task, the only one that writes to the database. Work that arrives while a transaction is being
//! written shares the next one. Each piece of work has its own savepoint, so that one that fails does not
//! affect the others. Results are returned only after the transaction is on disk.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, query, query_scalar};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::error::StoreError;
use crate::limits;
use crate::sqlite::folder::Folder;

/// The future of a piece of work.
pub(crate) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'c>>;

/// Writes the write-ahead log into the database file and truncates it.
const FOLD: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Sends work to the writer task.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Piece>>>>,
    task: Mutex<Option<JoinHandle<Result<(), StoreError>>>>,
    trouble: Arc<Trouble>,
    /// Set when deleted content must not stay in the log: the log is checkpointed when the queue is next
    /// empty.
    pub(crate) fold: Arc<AtomicBool>,
}

/// Whether the last write failed for a transient reason (disk full, I/O error).
#[derive(Debug, Default)]
struct Trouble(AtomicBool);

impl Trouble {
    fn note(&self, met: &Result<(), StoreError>) {
        let now = matches!(met, Err(error) if error.is_transient());
        let before = self.0.swap(now, Ordering::Relaxed);
        match met {
            Err(error) if now && !before => tracing::error!(%error, "the database cannot be written"),
            _ if before && !now => tracing::info!("the database can be written again"),
            _ => {}
        }
    }
}

impl Writer {
    /// Starts the writer task. It holds the folder's lock until it ends.
    pub(crate) fn start(connection: SqliteConnection, folder: Folder) -> Self {
        let (sender, receiver) = mpsc::channel(limits::QUEUED_WORKS);
        let trouble = Arc::new(Trouble::default());
        let fold = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(write_all(
            connection,
            receiver,
            folder,
            Arc::clone(&trouble),
            Arc::clone(&fold),
        ));
        Self {
            queue: Mutex::new(Some(sender)),
            task: Mutex::new(Some(task)),
            trouble,
            fold,
        }
    }

    /// Whether the last write failed for a transient reason.
    pub(crate) fn in_trouble(&self) -> bool {
        self.trouble.0.load(Ordering::Relaxed)
    }

    /// Queues `work` without waiting for it. Drops it when the queue is full.
    pub(crate) fn post<F>(&self, work: F)
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, ()> + Send + 'static,
    {
        let (reply, _) = oneshot::channel();
        let queue = held(&self.queue).clone();
        let piece = Box::new(PieceOf {
            work: Some(work),
            result: None,
            reply,
        });
        if queue.is_none_or(|queue| queue.try_send(piece).is_err()) {
            tracing::debug!("write queue is full: optional write dropped");
        }
    }

    /// Runs `work` in a transaction and returns its result once it is durable. If this future is dropped, the
    /// work is either not started or still completed.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let queue = held(&self.queue).clone().ok_or(StoreError::Closed)?;
        let piece = PieceOf {
            work: Some(work),
            result: None,
            reply,
        };
        queue
            .send(Box::new(piece))
            .await
            .map_err(|_| StoreError::Closed)?;
        drop(queue);
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Finishes queued work, checkpoints the log and records a clean stop.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        drop(held(&self.queue).take());
        let task = held(&self.task).take();
        match task {
            None => Ok(()),
            Some(task) => task.await.map_err(|_| StoreError::Closed)?,
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A piece of work, independent of its result type.
trait Piece: Send {
    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> Work<'c, ()>;
    /// Sends the result, if the transaction was committed.
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

struct PieceOf<T, F> {
    work: Option<F>,
    result: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Piece for PieceOf<T, F>
where
    T: Send,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send,
{
    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> Work<'c, ()> {
        Box::pin(async move {
            let work = self.work.take().ok_or(StoreError::Closed)?;
            self.result = Some(work(connection).await?);
            Ok(())
        })
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { result, reply, .. } = *self;
        // The caller may have gone away.
        let _ = reply.send(outcome.and_then(|()| result.ok_or(StoreError::Closed)));
    }
}

async fn write_all(
    mut connection: SqliteConnection,
    mut queue: mpsc::Receiver<Box<dyn Piece>>,
    folder: Folder,
    trouble: Arc<Trouble>,
    fold: Arc<AtomicBool>,
) -> Result<(), StoreError> {
    while let Some(first) = queue.recv().await {
        let mut group = vec![first];
        while group.len() < limits::GROUP_WORKS
            && let Ok(piece) = queue.try_recv()
        {
            group.push(piece);
        }
        trouble.note(&write_group(&mut connection, group).await);
        if queue.is_empty() && fold.swap(false, Ordering::Relaxed) {
            let folded = fold_log(&mut connection).await;
            // The log cannot be truncated while a reader uses it.
            if !matches!(folded, Ok(true)) {
                fold.store(true, Ordering::Relaxed);
            }
            trouble.note(&folded.map(|_| ()));
        }
    }
    execute(&mut connection, FOLD).await?;
    connection.close().await?;
    folder.stopped_cleanly()
}

/// Returns false when a reader prevented it.
async fn fold_log(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    let busy: i64 = query_scalar(FOLD).fetch_one(connection).await?;
    Ok(busy == 0)
}

/// Runs a group in one transaction. Returns the transient error that occurred, if any.
async fn write_group(
    connection: &mut SqliteConnection,
    group: Vec<Box<dyn Piece>>,
) -> Result<(), StoreError> {
    let mut met = Ok(());
    if let Err(error) = execute(connection, "BEGIN IMMEDIATE").await {
        roll_back(connection).await;
        tracing::warn!(%error, works = group.len(), "cannot begin a transaction");
        answer_all(group, &Err(error.clone()));
        return Err(error);
    }
    let mut done = Vec::with_capacity(group.len());
    let mut rest = group.into_iter();
    while let Some(mut piece) = rest.next() {
        match run_piece(connection, piece.as_mut()).await {
            PieceEnd::Done => done.push(piece),
            PieceEnd::Refused(error) => {
                if error.is_transient() {
                    met = Err(error.clone());
                }
                piece.answer(Err(error));
            }
            PieceEnd::TransactionLost(error) => {
                roll_back(connection).await;
                tracing::warn!(%error, "transaction lost: the whole group was rolled back");
                done.push(piece);
                done.extend(rest);
                answer_all(done, &Err(error.clone()));
                return Err(error);
            }
        }
    }
    let outcome = execute(connection, "COMMIT").await;
    if let Err(error) = &outcome {
        roll_back(connection).await;
        tracing::warn!(%error, works = done.len(), "cannot commit a transaction");
    }
    answer_all(done, &outcome);
    outcome.and(met)
}

enum PieceEnd {
    Done,
    /// Rolled back to its savepoint; the transaction continues.
    Refused(StoreError),
    /// The whole transaction is gone; disk full and I/O errors may end it.
    TransactionLost(StoreError),
}

async fn run_piece(connection: &mut SqliteConnection, piece: &mut dyn Piece) -> PieceEnd {
    if let Err(error) = execute(connection, "SAVEPOINT piece").await {
        return PieceEnd::TransactionLost(error);
    }
    let outcome = piece.run(connection).await;
    let undo = outcome.is_err();
    if undo && execute(connection, "ROLLBACK TO piece").await.is_err() {
        return PieceEnd::TransactionLost(outcome.err().unwrap_or(StoreError::Closed));
    }
    match (execute(connection, "RELEASE piece").await, outcome) {
        (Err(error), _) => PieceEnd::TransactionLost(error),
        (Ok(()), Ok(())) => PieceEnd::Done,
        (Ok(()), Err(error)) => PieceEnd::Refused(error),
    }
}

async fn execute(connection: &mut SqliteConnection, sql: &'static str) -> Result<(), StoreError> {
    query(sql).execute(connection).await?;
    Ok(())
}

/// Rolls back. The transaction may have ended on its own; then there is nothing to roll back.
async fn roll_back(connection: &mut SqliteConnection) {
    let _ = query("ROLLBACK").execute(connection).await;
}

fn answer_all(pieces: Vec<Box<dyn Piece>>, outcome: &Result<(), StoreError>) {
    for piece in pieces {
        piece.answer(outcome.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Answer = oneshot::Receiver<Result<i64, StoreError>>;

    fn piece<F>(work: F) -> (Box<dyn Piece>, Answer)
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, i64> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        (
            Box::new(PieceOf {
                work: Some(work),
                result: None,
                reply,
            }),
            answer,
        )
    }

    /// Inserts a row of `bytes` bytes and returns its number.
    fn row(number: i64, bytes: i64) -> (Box<dyn Piece>, Answer) {
        piece(move |connection| {
            Box::pin(async move {
                query("INSERT INTO t VALUES (?1, zeroblob(?2))")
                    .bind(number)
                    .bind(bytes)
                    .execute(connection)
                    .await?;
                Ok(number)
            })
        })
    }

    async fn database() -> SqliteConnection {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        query("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
            .execute(&mut connection)
            .await
            .unwrap();
        connection
    }

    async fn numbers(connection: &mut SqliteConnection) -> Vec<i64> {
        query_scalar("SELECT n FROM t ORDER BY n")
            .fetch_all(connection)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn a_refused_piece_is_undone_alone() {
        let mut connection = database().await;
        let (first, first_answer) = row(1, 10);
        let (refused, refused_answer) = piece(|connection| {
            Box::pin(async move {
                query("INSERT INTO t VALUES (2, NULL)")
                    .execute(&mut *connection)
                    .await?;
                query("INSERT INTO t VALUES (1, NULL)")
                    .execute(&mut *connection)
                    .await?;
                Ok(2)
            })
        });
        let (last, last_answer) = row(3, 10);
        assert_eq!(
            write_group(&mut connection, vec![first, refused, last]).await,
            Ok(())
        );
        assert_eq!(first_answer.await.unwrap(), Ok(1));
        assert!(matches!(
            refused_answer.await.unwrap(),
            Err(StoreError::Database(_))
        ));
        assert_eq!(last_answer.await.unwrap(), Ok(3));
        assert_eq!(numbers(&mut connection).await, [1, 3]);
    }

    #[tokio::test]
    async fn a_full_disk_is_answered_truly_and_passes() {
        let mut connection = database().await;
        query("PRAGMA max_page_count = 20")
            .execute(&mut connection)
            .await
            .unwrap();
        let (pieces, answers): (Vec<_>, Vec<_>) =
            [row(1, 10), row(2, 1 << 20), row(3, 10)].into_iter().unzip();
        assert!(
            write_group(&mut connection, pieces)
                .await
                .is_err_and(|error| error.is_transient())
        );
        let mut stored = Vec::new();
        for answer in answers {
            match answer.await.unwrap() {
                Ok(number) => stored.push(number),
                Err(error) => assert!(error.is_transient(), "{error}"),
            }
        }
        assert!(!stored.contains(&2));
        assert_eq!(
            numbers(&mut connection).await,
            stored,
            "exactly the rows reported as stored are stored"
        );
        query("PRAGMA max_page_count = 2000")
            .execute(&mut connection)
            .await
            .unwrap();
        let (again, answer) = row(2, 1 << 20);
        assert_eq!(write_group(&mut connection, vec![again]).await, Ok(()));
        assert_eq!(answer.await.unwrap(), Ok(2));
    }

    #[tokio::test]
    async fn a_lost_transaction_is_lost_for_all_of_its_group() {
        let mut connection = database().await;
        let (first, first_answer) = row(1, 10);
        // SQLite may do this itself on an I/O error.
        let (breaking, breaking_answer) = piece(|connection| {
            Box::pin(async move {
                query("ROLLBACK").execute(connection).await?;
                Err(StoreError::Transient("disk".into()))
            })
        });
        let (last, last_answer) = row(3, 10);
        assert!(
            write_group(&mut connection, vec![first, breaking, last])
                .await
                .is_err()
        );
        for answer in [first_answer, breaking_answer, last_answer] {
            assert_eq!(answer.await.unwrap(), Err(StoreError::Transient("disk".into())));
        }
        assert_eq!(numbers(&mut connection).await, [0_i64; 0]);
        let (again, answer) = row(1, 10);
        assert_eq!(write_group(&mut connection, vec![again]).await, Ok(()));
        assert_eq!(answer.await.unwrap(), Ok(1));
    }
}
