//! Messages of the live job socket (docs/API.md section 15).

use serde::{Deserialize, Serialize};

use crate::api::job::{JobProgress, JobStatus};
use crate::api::page::Document;

/// Close code: not authorised.
pub const CLOSE_UNAUTHORIZED: u16 = 3000;
/// Close code: unknown job or bad id.
pub const CLOSE_UNKNOWN_JOB: u16 = 1008;
/// Close code: server fault.
pub const CLOSE_SERVER_FAULT: u16 = 1011;
/// Close code: done.
pub const CLOSE_DONE: u16 = 1000;
/// Longest reason of a close frame, bytes.
pub const MAX_CLOSE_REASON_BYTES: usize = 123;

/// A text message of the socket.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum LiveMessage {
    /// The first message: the status so far.
    Catchup {
        /// With documents.
        data: Box<JobProgress>,
    },
    /// A page is done.
    Document {
        /// The page.
        data: Box<Document>,
    },
    /// The job completed; the socket closes.
    Done {
        /// Without documents.
        data: Box<JobProgress>,
    },
    /// The job failed or was cancelled; the socket closes.
    Error {
        /// Human sentence.
        error: String,
    },
}

/// The first message around a status answer as text ([`crate::paging::status_json`]).
pub fn catchup_json(status: &str) -> String {
    format!(r#"{{"type":"catchup","data":{status}}}"#)
}

/// The message of a page around its stored document.
pub fn document_json(document: &str) -> String {
    format!(r#"{{"type":"document","data":{document}}}"#)
}

/// The last message of a job that ended; nothing for a running one.
pub fn last_json(head: &JobProgress<()>) -> Option<String> {
    let error = match head.status {
        JobStatus::Scraping => return None,
        JobStatus::Completed => {
            let status = crate::paging::status_json(head, []);
            return Some(format!(r#"{{"type":"done","data":{status}}}"#));
        }
        JobStatus::Failed => head.error.as_deref().unwrap_or("The job failed."),
        JobStatus::Cancelled => "The job was cancelled.",
    };
    let message = LiveMessage::Error {
        error: error.to_owned(),
    };
    Some(serde_json::to_string(&message).expect("a message has only string keys"))
}

/// A text cut to what a close frame can carry, at a character boundary.
pub fn close_reason(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_CLOSE_REASON_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: JobStatus) -> JobProgress<()> {
        let text = format!(r#"{{"success":true,"status":"{status}","total":1,"completed":1}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn messages_around_stored_text_are_read_back() {
        let status =
            crate::paging::status_json(&head(JobStatus::Scraping), [r#"{"markdown":"a","metadata":{}}"#]);
        match serde_json::from_str(&catchup_json(&status)).unwrap() {
            LiveMessage::Catchup { data } => assert_eq!(data.data[0].markdown.as_deref(), Some("a")),
            other => panic!("{other:?}"),
        }
        let document = document_json(r#"{"metadata":{"title":"t"}}"#);
        assert!(matches!(
            serde_json::from_str(&document).unwrap(),
            LiveMessage::Document { .. }
        ));
        assert_eq!(last_json(&head(JobStatus::Scraping)), None);
        let done = last_json(&head(JobStatus::Completed)).unwrap();
        assert!(matches!(
            serde_json::from_str(&done).unwrap(),
            LiveMessage::Done { .. }
        ));
        let cancelled = last_json(&head(JobStatus::Cancelled)).unwrap();
        assert_eq!(cancelled, r#"{"type":"error","error":"The job was cancelled."}"#);
    }

    #[test]
    fn close_reasons_fit_into_a_frame() {
        assert_eq!(close_reason("short"), "short");
        assert_eq!(close_reason(&"é".repeat(100)).len(), 122);
    }
}
