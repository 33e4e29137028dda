//! Reads lines of bounded length. A longer line is skipped and reported, never held in memory.

use std::io::{self, BufRead, Read};

/// A line of the input.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// The line without its end.
    Text(Vec<u8>),
    /// A line above the limit, which was skipped.
    TooLong,
}

/// Iterator over the lines of an input, without empty ones. Ends at the first error, which [`Lines::end`] returns.
pub(crate) struct Lines<R> {
    input: R,
    max_bytes: usize,
    error: Option<io::Error>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, max_bytes: usize) -> Self {
        Self {
            input,
            max_bytes,
            error: None,
        }
    }

    /// Returns the error that ended the iteration, if any.
    pub(crate) fn end(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }

    fn read(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut line = Vec::new();
            let most = self.max_bytes as u64 + 1;
            if (&mut self.input).take(most).read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.len() > self.max_bytes {
                self.input.skip_until(b'\n')?;
                return Ok(Some(Line::TooLong));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(Line::Text(line)));
            }
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        self.read().unwrap_or_else(|error| {
            self.error = Some(error);
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_reported_and_empty_ones_skipped() {
        let text = |text: &str| Line::Text(text.as_bytes().to_vec());
        let mut lines = Lines::new(&b"one\n\n12345678\n1234567\r\n12345678901234567890\nend"[..], 8);
        let found: Vec<Line> = lines.by_ref().collect();
        assert_eq!(
            found,
            [
                text("one"),
                text("12345678"),
                text("1234567\r"),
                Line::TooLong,
                text("end")
            ]
        );
        lines.end().unwrap();
    }
}
