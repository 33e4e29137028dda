//! Reads the responses and resources with an http or https URL from WARC archives (ISO 28500), one at a time. Accepts
//! known deviations of other writers (bare line feeds, missing record ends). Never holds more than one record.

mod payload;

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use url::Url;

use crate::limits;
pub(super) use payload::Payload;

/// Record with a page.
pub(super) struct PageRecord {
    /// `WARC-Record-ID` without its brackets.
    pub(super) id: String,
    pub(super) url: Url,
    /// The payload, or the reason why it was skipped.
    pub(super) payload: Result<Payload, String>,
}

/// Iterator over the pages of an archive. Ends at the first damaged record, which [`Records::end`] reports.
pub(super) struct Records {
    input: Box<dyn BufRead + Send>,
    error: Option<io::Error>,
}

/// Header fields of a record or a response, in their order.
#[derive(Default)]
struct Fields(Vec<(String, String)>);

impl Fields {
    fn of(lines: &[Vec<u8>]) -> Self {
        let field = |line: &Vec<u8>| {
            let text = String::from_utf8_lossy(line);
            let (name, value) = text.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        };
        Self(lines.iter().filter_map(field).collect())
    }

    fn first(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(field_name, _)| field_name == name);
        found.next().map(|(_, value)| value.as_str())
    }
}

impl Records {
    /// Opens an archive and detects gzip compression by its first bytes.
    pub(super) fn open(mut input: Box<dyn BufRead + Send>) -> io::Result<Self> {
        let is_gzip = input.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let input = match is_gzip {
            true => Box::new(BufReader::new(MultiGzDecoder::new(input))),
            false => input,
        };
        Ok(Self { input, error: None })
    }

    /// Returns the error that ended the iteration, if any.
    pub(super) fn end(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }

    fn read(&mut self) -> io::Result<Option<PageRecord>> {
        loop {
            let Some(version) = self.version()? else {
                return Ok(None);
            };
            if !version.starts_with(b"WARC/") {
                return Err(damaged("a record does not begin with WARC/"));
            }
            let fields = Fields::of(&head(&mut self.input)?);
            let length = fields
                .first("content-length")
                .and_then(|text| text.parse::<u64>().ok());
            let length = length.ok_or_else(|| damaged("a record has no Content-Length"))?;
            let Some((id, url)) = page_record(&fields) else {
                self.skip(length)?;
                continue;
            };
            let payload = if length > limits::RECORD_BYTES {
                self.skip(length)?;
                Err(format!(
                    "the record is larger than {} bytes",
                    limits::RECORD_BYTES
                ))
            } else {
                let mut block = Vec::new();
                if (&mut self.input).take(length).read_to_end(&mut block)? as u64 != length {
                    return Err(damaged("the last record is truncated"));
                }
                Ok(match fields.first("warc-type") {
                    Some("response") => Payload::Http(block),
                    _ => Payload::Bare {
                        content_type: fields.first("content-type").map(str::to_owned),
                        body: block,
                    },
                })
            };
            return Ok(Some(PageRecord { id, url, payload }));
        }
    }

    /// Reads the first line of the next record, after the empty lines that end the previous one.
    fn version(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match line(&mut self.input)? {
                None => return Ok(None),
                Some(line) if line.is_empty() => {}
                some => return Ok(some),
            }
        }
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        match io::copy(&mut (&mut self.input).take(length), &mut io::sink())? == length {
            true => Ok(()),
            false => Err(damaged("the last record is truncated")),
        }
    }
}

impl Iterator for Records {
    type Item = PageRecord;

    fn next(&mut self) -> Option<PageRecord> {
        self.read().unwrap_or_else(|error| {
            self.error = Some(error);
            None
        })
    }
}

/// Returns the id and URL of a record with a page: a response or a resource.
fn page_record(fields: &Fields) -> Option<(String, Url)> {
    if !matches!(fields.first("warc-type")?, "response" | "resource") {
        return None;
    }
    let bare = |text: &str| text.trim_start_matches('<').trim_end_matches('>').to_owned();
    let url = Url::parse(&bare(fields.first("warc-target-uri")?)).ok()?;
    let id = fields.first("warc-record-id").map(bare).unwrap_or_default();
    matches!(url.scheme(), "http" | "https").then_some((id, url))
}

/// Reads the lines up to an empty one and joins continued lines.
fn head(input: &mut impl BufRead) -> io::Result<Vec<Vec<u8>>> {
    let (mut lines, mut bytes): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
    while let Some(line) = line(input)? {
        bytes += line.len();
        if bytes > limits::RECORD_HEAD_BYTES {
            return Err(damaged("the head of a record is too long"));
        }
        match (line.first(), lines.last_mut()) {
            (None, _) => break,
            (Some(b' ' | b'\t'), Some(last)) => last.extend_from_slice(&line),
            _ => lines.push(line),
        }
    }
    Ok(lines)
}

/// Reads one line without its end; none at the end of input.
fn line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = limits::RECORD_HEAD_BYTES as u64 + 1;
    if input.take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() > limits::RECORD_HEAD_BYTES {
        return Err(damaged("a line of a record's head is too long"));
    }
    while matches!(line.last(), Some(b'\r' | b'\n')) {
        line.pop();
    }
    Ok(Some(line))
}

fn damaged(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
