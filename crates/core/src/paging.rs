//! Pagination of long responses: the 10 MiB rule and `next` of job status (docs/API.md section 6.2), the
//! opaque cursor of activity (section 6.9). Documents are handled as stored JSON text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use crate::api::error::ApiError;
use crate::api::job::{JobProgress, StatusQuery};
use crate::api::problem::bad_field;
use crate::limits::MAX_STATUS_BYTES;
use crate::time::Timestamp;

/// Bytes reserved for everything in a status response except `data`.
const HEAD_BYTES: usize = 16 * 1024;

/// Maximum bytes of documents in one status response, including separating commas.
pub const MAX_DATA_BYTES: usize = MAX_STATUS_BYTES - HEAD_BYTES;

/// Returns the URL of the next chunk, or `None` when the job ended and every document was returned.
///
/// `status_url` is the absolute URL of the status without a query, `returned` the number of
/// documents in this response, `available` the number of documents the job has now.
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
    // While the job runs, a caller beyond the last document polls the same position again.
    Some(match query.limit {
        Some(limit) => format!("{status_url}?skip={skip}&limit={limit}"),
        None => format!("{status_url}?skip={skip}"),
    })
}

/// Builds a status response around stored JSON documents without parsing them.
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

/// Position in a list sorted by time, newest first, then by id. Entries after it are older.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    /// Time of the last entry returned.
    pub time: Timestamp,
    /// Id of that entry.
    pub id: Uuid,
}

impl Cursor {
    /// Encodes the cursor for the caller.
    pub fn encode(self) -> String {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.time.0.to_be_bytes());
        bytes[8..].copy_from_slice(self.id.as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Decodes a cursor from [`Cursor::encode`].
    ///
    /// # Errors
    /// 400 if `text` is not a cursor.
    pub fn decode(text: &str) -> Result<Self, ApiError> {
        let parse = || {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let (time, id) = bytes.split_at_checked(8)?;
            Some(Self {
                time: Timestamp(u64::from_be_bytes(time.try_into().ok()?)),
                id: Uuid::from_slice(id).ok()?,
            })
        };
        parse().ok_or_else(|| bad_field("cursor", "must be the unchanged `cursor` of an earlier response"))
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
    fn next_is_null_once_the_job_ended_and_all_documents_are_returned() {
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
    fn a_status_embeds_stored_documents_unparsed() {
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
    fn only_encoded_cursors_decode() {
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
