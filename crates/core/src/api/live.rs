//! Messages of the live job socket (docs/API.md section 15).

use serde::{Deserialize, Serialize};

use crate::api::job::JobProgress;
use crate::api::page::Document;

/// Close code for a client that is not authorized.
pub const CLOSE_UNAUTHORIZED: u16 = 3000;
/// Close code for an unknown job or an invalid id.
pub const CLOSE_UNKNOWN_JOB: u16 = 1008;
/// Close code for a failure of the server.
pub const CLOSE_SERVER_FAULT: u16 = 1011;
/// Close code for a job that has ended.
pub const CLOSE_DONE: u16 = 1000;
/// Close code for a server that shuts down.
pub const CLOSE_GOING_AWAY: u16 = 1001;
/// Maximum bytes of the reason of a close frame.
pub const MAX_CLOSE_REASON_BYTES: usize = 123;

/// Text message of the socket.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum LiveMessage {
    /// First message: the status so far.
    Catchup {
        /// Status with documents.
        data: Box<JobProgress>,
    },
    /// A page was processed.
    Document {
        /// Document of the page.
        data: Box<Document>,
    },
    /// The job completed; the socket closes.
    Done {
        /// Status without documents.
        data: Box<JobProgress>,
    },
    /// The job failed or was cancelled; the socket closes.
    Error {
        /// Error message.
        error: String,
    },
}

/// Returns the first message around a status response as text ([`crate::paging::status_json`]).
pub fn catchup_json(status: &str) -> String {
    format!(r#"{{"type":"catchup","data":{status}}}"#)
}

/// Returns the message of a page around its stored document.
pub fn document_json(document: &str) -> String {
    format!(r#"{{"type":"document","data":{document}}}"#)
}

/// Returns the last message of a completed job around its status without documents.
pub fn done_json(status: &str) -> String {
    format!(r#"{{"type":"done","data":{status}}}"#)
}

/// Returns the last message of a job that failed or was cancelled.
pub fn error_json(error: impl Into<String>) -> String {
    let message = LiveMessage::Error { error: error.into() };
    serde_json::to_string(&message).expect("a message has only string keys")
}

/// Truncates a text to the size of a close frame's reason, at a character boundary.
pub fn close_reason(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_CLOSE_REASON_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::job::JobStatus;

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
        let done = crate::paging::status_json(&head(JobStatus::Completed), []);
        assert!(matches!(
            serde_json::from_str(&done_json(&done)).unwrap(),
            LiveMessage::Done { .. }
        ));
        let error = error_json("the job was cancelled");
        assert_eq!(error, r#"{"type":"error","error":"the job was cancelled"}"#);
    }

    #[test]
    fn close_reasons_fit_into_a_frame() {
        assert_eq!(close_reason("short"), "short");
        assert_eq!(close_reason(&"é".repeat(100)).len(), 122);
    }
}
