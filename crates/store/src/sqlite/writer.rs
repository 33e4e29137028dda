//! The writer task, the only one that writes to the database. Work that arrives while a transaction is being
//! written shares the next one. Each write task after the first has its own savepoint, so that one that fails does
//! not affect the others. Results are returned only after the transaction is on disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, query, query_scalar};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::error::StoreError;
use crate::health::WriteHealth;
use crate::limits;
use crate::sql::Work;
use crate::sqlite::folder::Folder;
use crate::sqlite::migrate;

const BEGIN: &str = "BEGIN IMMEDIATE";
/// Writes the write-ahead log into the database file and truncates it.
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Sends work to the writer task.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Box<dyn WriteTask>>>>,
    task: Mutex<Option<JoinHandle<Result<(), StoreError>>>>,
    health: Arc<WriteHealth>,
    /// Set when deleted content must not stay in the log: the log is checkpointed when the queue is next
    /// empty, and again later if a reader prevented it.
    pub(crate) checkpoint: Arc<AtomicBool>,
}

impl Writer {
    /// Starts the writer task. It holds the folder's lock until it ends.
    pub(crate) fn start(connection: SqliteConnection, folder: Folder) -> Self {
        let (sender, receiver) = mpsc::channel(limits::QUEUED_TASKS);
        let health = Arc::new(WriteHealth::default());
        let checkpoint = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(write_all(
            connection,
            receiver,
            folder,
            Arc::clone(&health),
            Arc::clone(&checkpoint),
        ));
        Self {
            queue: Mutex::new(Some(sender)),
            task: Mutex::new(Some(task)),
            health,
            checkpoint,
        }
    }

    /// Returns whether the database can be written.
    pub(crate) fn health(&self) -> Arc<WriteHealth> {
        self.health.clone()
    }

    /// Queues `work` without waiting for it. Drops it when the queue is full.
    pub(crate) fn post<F>(&self, work: F)
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, ()> + Send + 'static,
    {
        let (reply, _) = oneshot::channel();
        let queue = self.queue.lock().clone();
        let task = Box::new(TypedWriteTask {
            work: Some(work),
            result: None,
            reply,
        });
        if queue.is_none_or(|queue| queue.try_send(task).is_err()) {
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
        let queue = self.queue.lock().clone().ok_or(StoreError::Closed)?;
        let task = TypedWriteTask {
            work: Some(work),
            result: None,
            reply,
        };
        queue.send(Box::new(task)).await.map_err(|_| StoreError::Closed)?;
        drop(queue);
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Finishes queued work, checkpoints the log and records a clean stop.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        drop(self.queue.lock().take());
        let task = self.task.lock().take();
        match task {
            None => Ok(()),
            Some(task) => task.await.map_err(|_| StoreError::Closed)?,
        }
    }
}

/// A write task, independent of its result type.
trait WriteTask: Send {
    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> Work<'c, ()>;
    /// Sends the result, if the transaction was committed.
    fn reply(self: Box<Self>, outcome: Result<(), StoreError>);
}

struct TypedWriteTask<T, F> {
    work: Option<F>,
    result: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> WriteTask for TypedWriteTask<T, F>
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

    fn reply(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { result, reply, .. } = *self;
        // The caller may have gone away.
        let _ = reply.send(outcome.and_then(|()| result.ok_or(StoreError::Closed)));
    }
}

async fn write_all(
    mut connection: SqliteConnection,
    mut queue: mpsc::Receiver<Box<dyn WriteTask>>,
    folder: Folder,
    health: Arc<WriteHealth>,
    checkpoint: Arc<AtomicBool>,
) -> Result<(), StoreError> {
    let mut next_checkpoint = Instant::now();
    loop {
        tokio::select! {
            biased;
            first = queue.recv() => {
                let Some(first) = first else { break };
                let mut group = vec![first];
                while group.len() < limits::GROUP_TASKS
                    && let Ok(task) = queue.try_recv()
                {
                    group.push(task);
                }
                let written = match folder.check_files() {
                    Ok(()) => write_group(&mut connection, group, || queue.try_recv().ok()).await,
                    Err(error) => {
                        tracing::warn!(%error, tasks = group.len(), "cannot write");
                        reply_all(group, &Err(error.clone()));
                        Err(error)
                    }
                };
                record_health(&mut connection, written, &health).await;
            }
            () = sleep_until(next_checkpoint), if checkpoint.load(Ordering::Relaxed) => {}
        }
        let may_checkpoint = queue.is_empty() && Instant::now() >= next_checkpoint;
        if may_checkpoint && checkpoint.swap(false, Ordering::Relaxed) {
            let checkpointed = checkpoint_log(&mut connection).await;
            // The log cannot be truncated while a reader uses it.
            if !matches!(checkpointed, Ok(true)) {
                checkpoint.store(true, Ordering::Relaxed);
                next_checkpoint = Instant::now() + limits::CHECKPOINT_RETRY;
            }
            record_health(&mut connection, checkpointed.map(|_| ()), &health).await;
        }
    }
    let checked = folder.check_files();
    execute(&mut connection, CHECKPOINT).await?;
    connection.close().await?;
    checked?;
    folder.mark_stopped()
}

/// Records whether the database can be written. After a failure a page is written to find out: what succeeded may have
/// changed nothing.
async fn record_health(
    connection: &mut SqliteConnection,
    written: Result<(), StoreError>,
    health: &WriteHealth,
) {
    let written = match written {
        Ok(()) if health.is_failing() => migrate::write_version(connection, migrate::MIGRATIONS).await,
        written => written,
    };
    health.record(&written);
}

/// Checkpoints the log without waiting for readers. Returns false if a reader prevented it.
async fn checkpoint_log(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    set_busy_timeout(connection, Duration::ZERO).await?;
    let busy = query_scalar::<_, i64>(CHECKPOINT)
        .fetch_one(&mut *connection)
        .await;
    set_busy_timeout(connection, limits::BUSY_TIMEOUT).await?;
    Ok(busy? == 0)
}

async fn set_busy_timeout(connection: &mut SqliteConnection, timeout: Duration) -> Result<(), StoreError> {
    let pragma = format!("PRAGMA busy_timeout = {}", timeout.as_millis());
    query(AssertSqlSafe(pragma)).execute(connection).await?;
    Ok(())
}

/// Runs a group in one transaction, together with the tasks that `arriving` returns meanwhile. Returns the transient
/// error that occurred, if any.
async fn write_group(
    connection: &mut SqliteConnection,
    group: Vec<Box<dyn WriteTask>>,
    mut arriving: impl FnMut() -> Option<Box<dyn WriteTask>>,
) -> Result<(), StoreError> {
    let mut result = Ok(());
    if let Err(error) = execute(connection, BEGIN).await {
        roll_back(connection).await;
        tracing::warn!(%error, tasks = group.len(), "cannot begin a transaction");
        reply_all(group, &Err(error.clone()));
        return Err(error);
    }
    let mut done = Vec::with_capacity(group.len());
    let mut rest = group.into_iter();
    loop {
        let next = rest.next();
        let has_room = done.len() < limits::GROUP_TASKS;
        let Some(mut task) = next.or_else(|| has_room.then(&mut arriving).flatten()) else {
            break;
        };
        let ended = match done.is_empty() {
            true => run_first_task(connection, task.as_mut()).await,
            false => run_task(connection, task.as_mut()).await,
        };
        match ended {
            TaskEnd::Done => done.push(task),
            TaskEnd::Refused(error) => {
                if error.is_transient() {
                    result = Err(error.clone());
                }
                task.reply(Err(error));
            }
            TaskEnd::TransactionLost(error) => {
                roll_back(connection).await;
                tracing::warn!(%error, "transaction lost: the whole group was rolled back");
                done.push(task);
                done.extend(rest);
                reply_all(done, &Err(error.clone()));
                return Err(error);
            }
        }
    }
    let outcome = execute(connection, "COMMIT").await;
    if let Err(error) = &outcome {
        roll_back(connection).await;
        tracing::warn!(%error, tasks = done.len(), "cannot commit a transaction");
    }
    reply_all(done, &outcome);
    outcome.and(result)
}

enum TaskEnd {
    Done,
    /// Rolled back; the transaction continues with the work of the other tasks.
    Refused(StoreError),
    /// The whole transaction is gone; disk full and I/O errors may end it.
    TransactionLost(StoreError),
}

/// Runs the first task of a transaction. It needs no savepoint: if it fails, the transaction begins again.
async fn run_first_task(connection: &mut SqliteConnection, task: &mut dyn WriteTask) -> TaskEnd {
    let Err(error) = task.run(connection).await else {
        return TaskEnd::Done;
    };
    roll_back(connection).await;
    match execute(connection, BEGIN).await {
        Ok(()) => TaskEnd::Refused(error),
        Err(error) => TaskEnd::TransactionLost(error),
    }
}

async fn run_task(connection: &mut SqliteConnection, task: &mut dyn WriteTask) -> TaskEnd {
    if let Err(error) = execute(connection, "SAVEPOINT task").await {
        return TaskEnd::TransactionLost(error);
    }
    let outcome = task.run(connection).await;
    let undo = outcome.is_err();
    if undo && execute(connection, "ROLLBACK TO task").await.is_err() {
        return TaskEnd::TransactionLost(outcome.err().unwrap_or(StoreError::Closed));
    }
    match (execute(connection, "RELEASE task").await, outcome) {
        (Err(error), _) => TaskEnd::TransactionLost(error),
        (Ok(()), Ok(())) => TaskEnd::Done,
        (Ok(()), Err(error)) => TaskEnd::Refused(error),
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

fn reply_all(tasks: Vec<Box<dyn WriteTask>>, outcome: &Result<(), StoreError>) {
    for task in tasks {
        task.reply(outcome.clone());
    }
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions;
    use sqlx::sqlite::SqliteConnectOptions;

    use super::*;

    type Reply = oneshot::Receiver<Result<i64, StoreError>>;

    fn task<F>(work: F) -> (Box<dyn WriteTask>, Reply)
    where
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, i64> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        (
            Box::new(TypedWriteTask {
                work: Some(work),
                result: None,
                reply,
            }),
            answer,
        )
    }

    /// Inserts a row of `bytes` bytes and returns its number.
    fn row(number: i64, bytes: i64) -> (Box<dyn WriteTask>, Reply) {
        task(move |connection| {
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
    async fn a_failed_task_is_rolled_back_alone() {
        let mut connection = database().await;
        let refused = || {
            task(|connection| {
                Box::pin(async move {
                    for _ in 0..2 {
                        query("INSERT INTO t VALUES (2, NULL)")
                            .execute(&mut *connection)
                            .await?;
                    }
                    Ok(2)
                })
            })
        };
        let tasks = [refused(), row(1, 10), refused(), row(3, 10), refused()];
        let (tasks, replies): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
        assert_eq!(write_group(&mut connection, tasks, || None).await, Ok(()));
        let mut stored = Vec::new();
        for reply in replies {
            match reply.await.unwrap() {
                Ok(number) => stored.push(number),
                Err(error) => assert!(matches!(error, StoreError::Database(_)), "{error}"),
            }
        }
        assert_eq!(stored, [1, 3]);
        assert_eq!(numbers(&mut connection).await, [1, 3]);
    }

    #[tokio::test]
    async fn a_full_disk_is_a_transient_error_and_loses_nothing_acknowledged() {
        let mut connection = database().await;
        query("PRAGMA max_page_count = 20")
            .execute(&mut connection)
            .await
            .unwrap();
        let (tasks, answers): (Vec<_>, Vec<_>) =
            [row(1, 10), row(2, 1 << 20), row(3, 10)].into_iter().unzip();
        assert!(
            write_group(&mut connection, tasks, || None)
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
        assert_eq!(write_group(&mut connection, vec![again], || None).await, Ok(()));
        assert_eq!(answer.await.unwrap(), Ok(2));
    }

    #[tokio::test]
    async fn a_lost_transaction_fails_its_whole_group() {
        let mut connection = database().await;
        let (first, first_reply) = row(1, 10);
        // SQLite may do this itself on an I/O error.
        let (breaking, breaking_reply) = task(|connection| {
            Box::pin(async move {
                query("ROLLBACK").execute(connection).await?;
                Err(StoreError::Transient("disk".into()))
            })
        });
        let (last, last_reply) = row(3, 10);
        assert!(
            write_group(&mut connection, vec![first, breaking, last], || None)
                .await
                .is_err()
        );
        for answer in [first_reply, breaking_reply, last_reply] {
            assert_eq!(answer.await.unwrap(), Err(StoreError::Transient("disk".into())));
        }
        assert_eq!(numbers(&mut connection).await, [0_i64; 0]);
        let (again, answer) = row(1, 10);
        assert_eq!(write_group(&mut connection, vec![again], || None).await, Ok(()));
        assert_eq!(answer.await.unwrap(), Ok(1));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_a_page_that_was_written_ends_a_failure() {
        let folder = std::env::temp_dir().join(format!("harvestman-writer-{}", std::process::id()));
        let moved = folder.with_extension("moved");
        std::fs::create_dir(&folder).unwrap();
        let options = SqliteConnectOptions::new().filename(folder.join("db"));
        let mut connection = options.create_if_missing(true).connect().await.unwrap();
        query("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
            .execute(&mut connection)
            .await
            .unwrap();
        let health = WriteHealth::default();
        let nothing = || task(|_| Box::pin(async { Ok(0) }));
        // The first write to a page creates the rollback journal, next to the database.
        std::fs::rename(&folder, &moved).unwrap();
        for ((work, reply), stored) in [(row(1, 10), false), (nothing(), true)] {
            let written = write_group(&mut connection, vec![work], || None).await;
            record_health(&mut connection, written, &health).await;
            assert_eq!(reply.await.unwrap().is_ok(), stored);
            assert!(health.is_failing());
        }
        std::fs::rename(&moved, &folder).unwrap();
        let (work, reply) = nothing();
        let written = write_group(&mut connection, vec![work], || None).await;
        record_health(&mut connection, written, &health).await;
        assert_eq!(reply.await.unwrap(), Ok(0));
        assert!(!health.is_failing());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
