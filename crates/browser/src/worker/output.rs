//! Captured output of code, up to a limit for each stream.

use std::mem::take;

use parking_lot::Mutex;
use serde::Deserialize;

use crate::limits;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stream {
    Stdout,
    Stderr,
}

/// The output of both streams since it was last taken.
#[derive(Default)]
pub(super) struct Output(Mutex<[Vec<u8>; 2]>);

impl Output {
    pub(super) fn add(&self, stream: Stream, bytes: &[u8]) {
        let buffer = &mut self.0.lock()[stream as usize];
        let remaining = limits::MAX_OUTPUT_BYTES - buffer.len();
        buffer.extend_from_slice(&bytes[..bytes.len().min(remaining)]);
    }

    /// Takes stdout and stderr.
    pub(super) fn take(&self) -> (String, String) {
        let [stdout, stderr] = take(&mut *self.0.lock());
        (text(stdout), text(stderr))
    }
}

/// Converts bytes to text: replaces invalid UTF-8, drops a character that the limit cut.
fn text(mut bytes: Vec<u8>) -> String {
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    truncate(text, limits::MAX_OUTPUT_BYTES)
}

/// Cuts a text to at most `max_bytes` bytes.
pub(super) fn truncate(mut text: String, max_bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(max_bytes));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_is_cut_at_its_limit_between_characters() {
        let output = Output::default();
        output.add(Stream::Stderr, b"e");
        output.add(Stream::Stdout, b"x");
        for _ in 0..limits::MAX_OUTPUT_BYTES / 2 {
            output.add(Stream::Stdout, "ä".as_bytes());
        }
        output.add(Stream::Stdout, b"lost");
        let (stdout, stderr) = output.take();
        assert_eq!(stdout.len(), limits::MAX_OUTPUT_BYTES - 1);
        assert!(stdout.ends_with('ä'));
        assert_eq!(stderr, "e");
        assert_eq!(output.take(), (String::new(), String::new()));
    }
}
