//! Cutting long answers into pieces: the 10 MiB rule and `next` of job status (contract section
//! 6.2), the opaque cursor of activity (section 6.9). Pure functions; documents travel as the text
//! they are stored as.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use crate::api::error::ApiError;
use crate::api::job::{JobProgress, StatusQuery};
use crate::api::problem::bad_field;
use crate::limits::MAX_STATUS_BYTES;
use crate::time::Timestamp;

/// Room kept for everything of a status answer that is not `data`.
const HEAD_BYTES: usize = 16 * 1024;

/// Bytes of documents, with the commas between them, that fit into one status answer.
pub const MAX_DATA_BYTES: usize = MAX_STATUS_BYTES - HEAD_BYTES;

/// Collects documents until an answer is full. The first document always fits.
#[derive(Clone, Debug)]
pub struct Chunk {
    bytes: usize,
    documents: u64,
    limit: u64,
    full: bool,
}

impl Chunk {
    /// An empty chunk for a request.
    pub fn new(query: StatusQuery) -> Self {
        Self {
            bytes: 0,
            documents: 0,
            limit: query.limit.unwrap_or(u64::MAX),
            full: false,
        }
    }

    /// Whether the next document, of this many bytes of JSON, belongs to this chunk. Once one does
    /// not, none does.
    pub fn take(&mut self, bytes: usize) -> bool {
        let with = self.bytes.saturating_add(bytes).saturating_add(1);
        let fits = self.documents == 0 || with <= MAX_DATA_BYTES;
        if self.full || self.documents == self.limit || !fits {
            self.full = true;
            return false;
        }
        self.bytes = with;
        self.documents += 1;
        true
    }

    /// Documents taken.
    pub fn documents(&self) -> u64 {
        self.documents
    }
}

/// The address of the rest, or nothing when the job ended and everything has been handed out.
///
/// `status_url` is the absolute address of the status without a query, `returned` the number of
/// documents in this answer, `available` the number of documents the job has now.
pub fn next_url(
    status_url: &str,
    query: StatusQuery,
    returned: u64,
    available: u64,
    ended: bool,
) -> Option<String> {
    let skip = query.skip.saturating_add(returned);
    if ended && skip >= available {
        return None;
    }
    // A caller beyond the end of a running job comes back to where it will end.
    Some(match query.limit {
        Some(limit) => format!("{status_url}?skip={skip}&limit={limit}"),
        None => format!("{status_url}?skip={skip}"),
    })
}

/// A status answer with documents as stored JSON texts, which are not parsed.
pub fn status_json<'d>(head: &JobProgress<()>, documents: impl IntoIterator<Item = &'d str>) -> String {
    let mut text = serde_json::to_string(head).expect("a status has only string keys");
    debug_assert!(text.ends_with("\"data\":[]}"), "data is the last field");
    text.truncate(text.len() - "]}".len());
    for (index, document) in documents.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(document);
    }
    text.push_str("]}");
    text
}

/// Place in a list ordered by time, newest first, then by id: what comes after it is older.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    /// Time of the last entry handed out.
    pub time: Timestamp,
    /// Its id.
    pub id: Uuid,
}

impl Cursor {
    /// The cursor as callers carry it.
    pub fn encode(self) -> String {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.time.0.to_be_bytes());
        bytes[8..].copy_from_slice(self.id.as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads back what [`Cursor::encode`] gave. Errors: 400.
    pub fn decode(text: &str) -> Result<Self, ApiError> {
        let read = || {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let (time, id) = bytes.split_at_checked(8)?;
            Some(Self {
                time: Timestamp(u64::from_be_bytes(time.try_into().ok()?)),
                id: Uuid::from_slice(id).ok()?,
            })
        };
        read().ok_or_else(|| bad_field("cursor", "must be the `cursor` of an earlier answer, unchanged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::job::JobStatus;
    use crate::api::page::Document;

    fn query(skip: u64, limit: Option<u64>) -> StatusQuery {
        StatusQuery { skip, limit }
    }

    #[test]
    fn next_is_null_exactly_when_the_job_ended_and_all_is_handed_out() {
        let url = "http://a.test/v2/crawl/1";
        let check = |skip, limit, returned, available, ended, expected: Option<&str>| {
            let next = next_url(url, query(skip, limit), returned, available, ended);
            assert_eq!(
                next.as_deref(),
                expected.map(|rest| format!("{url}?{rest}")).as_deref()
            );
        };
        check(0, None, 3, 3, true, None);
        check(0, None, 3, 3, false, Some("skip=3"));
        check(0, None, 2, 3, true, Some("skip=2"));
        check(2, None, 1, 3, true, None);
        check(0, Some(2), 2, 3, true, Some("skip=2&limit=2"));
        check(0, None, 0, 0, true, None);
        check(0, None, 0, 0, false, Some("skip=0"));
        check(9, None, 0, 3, true, None);
    }

    #[test]
    fn a_chunk_ends_at_ten_mebibytes_but_one_document_always_fits() {
        let mut chunk = Chunk::new(query(0, None));
        assert!(chunk.take(MAX_STATUS_BYTES * 2));
        assert!(!chunk.take(1));
        let mut chunk = Chunk::new(query(0, None));
        assert!(chunk.take(MAX_DATA_BYTES - 100));
        assert!(chunk.take(50));
        assert!(!chunk.take(100));
        assert!(!chunk.take(1), "order is kept: nothing is taken after a gap");
        assert_eq!(chunk.documents(), 2);
        let mut chunk = Chunk::new(query(0, Some(2)));
        assert_eq!([chunk.take(1), chunk.take(1), chunk.take(1)], [true, true, false]);
    }

    #[test]
    fn a_status_is_written_around_stored_documents() {
        let head = JobProgress::<()> {
            success: true,
            status: JobStatus::Scraping,
            total: 2,
            completed: 2,
            credits_used: 2,
            expires_at: Some(Timestamp(0)),
            created_at: None,
            completed_at: None,
            duration: None,
            next: None,
            warning: None,
            error: None,
            data: Vec::new(),
        };
        let none = status_json(&head, []);
        assert_eq!(
            none,
            r#"{"success":true,"status":"scraping","total":2,"completed":2,"creditsUsed":2,"expiresAt":"1970-01-01T00:00:00.000Z","next":null,"data":[]}"#
        );
        let text = status_json(&head, [r#"{"markdown":"a","metadata":{}}"#, r#"{"metadata":{}}"#]);
        let read: JobProgress<Document> = serde_json::from_str(&text).unwrap();
        assert_eq!(read.data.len(), 2);
        assert_eq!(read.data[0].markdown.as_deref(), Some("a"));
    }

    #[test]
    fn cursors_are_read_back_and_nothing_else() {
        let id = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
        let cursor = Cursor {
            time: Timestamp(1_769_850_300_123),
            id,
        };
        assert_eq!(Cursor::decode(&cursor.encode()).unwrap(), cursor);
        for bad in ["", "x", "!!!!", "AAAA", &cursor.encode()[1..]] {
            assert_eq!(Cursor::decode(bad).unwrap_err().status(), 400, "{bad}");
        }
    }
}
