//! The words of cached pages on their way into the full-text index. To index a page takes longer than to store it, and
//! many pages at once take less time than one after the other. So texts wait in memory until no page was cached for a
//! while, and a search waits until they are in the index. Nothing else waits: one write task takes few texts.

use std::borrow::Borrow;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::QueryBuilder;
use sqlx::sqlite::SqliteConnection;
use tokio::time::sleep;

use harvestman_core::ids::TeamId;
use harvestman_core::search::PageText;

use crate::error::StoreError;
use crate::limits;
use crate::sqlite::query::query;
use crate::sqlite::writer::Writer;
use crate::value::params;

/// Stands for the hash of a text that was lost with the server that had it in memory.
pub(super) const LOST: i64 = 0;

/// The text of a cached page.
#[derive(Debug)]
pub(super) struct IndexedText {
    id: i64,
    team: TeamId,
    /// See [`hash`].
    hash: i64,
    text: PageText,
}

impl IndexedText {
    pub(super) fn new(id: i64, team: TeamId, text: PageText) -> Self {
        let hash = hash(&text);
        Self { id, team, hash, text }
    }

    fn key(&self) -> (i64, i64) {
        (self.id, self.hash)
    }
}

/// Texts that are not in the index yet.
#[derive(Debug, Default)]
pub(super) struct IndexQueue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    texts: VecDeque<Arc<IndexedText>>,
    bytes: usize,
    /// Number of texts that were ever added, and of those that were taken to be written.
    added: u64,
    taken: u64,
    /// Write tasks that have taken texts and are not committed yet.
    writing: usize,
    /// Whether a task waits for a pause to index all texts.
    is_scheduled: bool,
}

impl Waiting {
    fn push(&mut self, texts: Vec<IndexedText>) {
        self.added += texts.len() as u64;
        self.bytes += texts.iter().map(|text| text.text.len()).sum::<usize>();
        self.texts.extend(texts.into_iter().map(Arc::new));
    }

    /// Takes the texts for one write task.
    fn take(&mut self) -> Vec<Arc<IndexedText>> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while bytes < limits::INDEXED_BYTES
            && taken.len() < limits::INDEXED_PAGES
            && let Some(next) = self.texts.pop_front()
        {
            bytes += next.text.len();
            taken.push(next);
        }
        self.bytes -= bytes;
        self.taken += taken.len() as u64;
        taken
    }

    /// Puts texts back that were not written.
    fn put_back(&mut self, taken: Vec<Arc<IndexedText>>) {
        self.taken -= taken.len() as u64;
        for text in taken.into_iter().rev() {
            self.bytes += text.text.len();
            self.texts.push_front(text);
        }
    }
}

/// A write task that has taken texts and is not committed yet.
struct Writing<'q>(&'q IndexQueue);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.0.lock().writing -= 1;
    }
}

impl IndexQueue {
    /// Adds the texts of pages that this transaction stores, unless the index has them. If too many are waiting, indexes
    /// the first ones at once.
    pub(super) async fn add(
        self: &Arc<Self>,
        writer: &Arc<Writer>,
        connection: &mut SqliteConnection,
        mut texts: Vec<IndexedText>,
    ) -> Result<(), StoreError> {
        let indexed = matching(connection, "page_text_hash", &texts).await?;
        remove_waiting(connection, &indexed).await?;
        texts.retain(|text| !indexed.contains(&text.key()));
        if texts.is_empty() {
            return Ok(());
        }
        QueryBuilder::new("INSERT OR REPLACE INTO page_text_waiting (id, hash) ")
            .push_values(&texts, |mut row, text| {
                row.push_bind(text.id).push_bind(text.hash);
            })
            .build()
            .execute(&mut *connection)
            .await?;
        self.0.lock().push(texts);
        self.schedule(writer);
        let mut written = Ok(());
        while let Some(texts) = self.take_excess() {
            if written.is_ok() {
                written = write(connection, &texts).await;
            }
        }
        written
    }

    fn take_excess(&self) -> Option<Vec<Arc<IndexedText>>> {
        let mut waiting = self.0.lock();
        (waiting.bytes > limits::INDEX_WAITING_BYTES).then(|| waiting.take())
    }

    /// Indexes all texts once none was added for a while.
    fn schedule(self: &Arc<Self>, writer: &Arc<Writer>) {
        let mut waiting = self.0.lock();
        if std::mem::replace(&mut waiting.is_scheduled, true) {
            return;
        }
        let mut seen = waiting.added;
        let (queue, writer) = (Arc::clone(self), Arc::clone(writer));
        tokio::spawn(async move {
            loop {
                sleep(limits::INDEX_PAUSE).await;
                let mut waiting = queue.0.lock();
                if std::mem::replace(&mut seen, waiting.added) == waiting.added {
                    waiting.is_scheduled = false;
                    break;
                }
            }
            queue.flush(&writer).await;
        });
    }

    /// Returns once all texts that were added before are in the index, or one of them cannot be written.
    pub(super) async fn flush(&self, writer: &Writer) {
        let added = self.0.lock().added;
        loop {
            let texts = {
                let mut waiting = self.0.lock();
                let texts = match waiting.taken < added {
                    true => waiting.take(),
                    false => Vec::new(),
                };
                if texts.is_empty() && waiting.writing == 0 && !waiting.is_scheduled {
                    return;
                }
                waiting.writing += 1;
                texts
            };
            // Without texts, the task only waits for those before it.
            let is_last = texts.is_empty();
            let writing = Writing(self);
            let work = texts.clone();
            let written = writer
                .run(move |connection| Box::pin(async move { write(connection, &work).await }))
                .await;
            drop(writing);
            if let Err(error) = &written {
                tracing::debug!(%error, "cannot index cached pages");
                self.0.lock().put_back(texts);
            }
            if is_last || written.is_err() {
                return;
            }
        }
    }
}

/// Writes texts into the index, replacing earlier ones, except for pages that are gone or have another text by now.
async fn write(connection: &mut SqliteConnection, texts: &[Arc<IndexedText>]) -> Result<(), StoreError> {
    let waiting = matching(connection, "page_text_waiting", texts).await?;
    if waiting.is_empty() {
        return Ok(());
    }
    let texts = || texts.iter().filter(|text| waiting.contains(&text.key()));
    QueryBuilder::new("INSERT OR REPLACE INTO page_text_hash (id, hash) ")
        .push_values(texts(), |mut row, text| {
            row.push_bind(text.id).push_bind(text.hash);
        })
        .build()
        .execute(&mut *connection)
        .await?;
    QueryBuilder::new(
        "INSERT OR REPLACE INTO page_text (rowid, team, host, path, title, description, headings, body) ",
    )
    .push_values(texts(), |mut row, page| {
        let text = &page.text;
        row.push_bind(page.id)
            .push_bind(team_word(page.team))
            .push_bind(&text.host)
            .push_bind(&text.path)
            .push_bind(&text.title)
            .push_bind(&text.description)
            .push_bind(&text.headings)
            .push_bind(&text.body);
    })
    .build()
    .execute(&mut *connection)
    .await?;
    remove_waiting(connection, &waiting).await
}

/// Returns the ids and hashes of the texts that a table has.
async fn matching(
    connection: &mut SqliteConnection,
    table: &'static str,
    texts: &[impl Borrow<IndexedText>],
) -> Result<HashSet<(i64, i64)>, StoreError> {
    if texts.is_empty() {
        return Ok(HashSet::new());
    }
    // CROSS JOIN: SQLite looks up each row of the list, and not the reverse.
    let found: Vec<(i64, i64)> = QueryBuilder::new("SELECT id, hash FROM (")
        .push_values(texts.iter().map(Borrow::borrow), |mut row, text| {
            row.push_bind(text.id).push_bind(text.hash);
        })
        .push(") CROSS JOIN ")
        .push(table)
        .push(" ON id = column1 AND hash = column2")
        .build_query_as()
        .fetch_all(connection)
        .await?;
    Ok(found.into_iter().collect())
}

/// Records that the pages of these texts do not wait.
async fn remove_waiting(
    connection: &mut SqliteConnection,
    texts: &HashSet<(i64, i64)>,
) -> Result<(), StoreError> {
    if texts.is_empty() {
        return Ok(());
    }
    let mut delete = QueryBuilder::new("DELETE FROM page_text_waiting WHERE id IN (");
    let mut ids = delete.separated(", ");
    for (id, _) in texts {
        ids.push_bind(*id);
    }
    delete.push(")").build().execute(connection).await?;
    Ok(())
}

/// Marks the texts that the last server had in memory when it crashed.
pub(super) async fn recover(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    query("UPDATE page_text_waiting SET hash = ?1")
        .bind(LOST)
        .run(connection)
        .await
}

/// Indexes the text of a page whose text was lost, unless the page has been cached again since.
pub(super) async fn write_lost(
    connection: &mut SqliteConnection,
    id: i64,
    team: TeamId,
    text: PageText,
) -> Result<(), StoreError> {
    let text = IndexedText::new(id, team, text);
    let found = query("UPDATE page_text_waiting SET hash = ?2 WHERE id = ?1 AND hash = ?3")
        .bind_all(params![id, text.hash, LOST])
        .execute(&mut *connection)
        .await?;
    match found {
        0 => Ok(()),
        _ => write(connection, &[Arc::new(text)]).await,
    }
}

/// Returns a hash that is the same for the same text in every run of this build; another build may index it again.
fn hash(text: &PageText) -> i64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish().cast_signed()
}

/// Returns the word that stands for a team in the index.
pub(super) fn team_word(team: TeamId) -> String {
    format!("t{}x", hex::encode(team.0.as_bytes()))
}
