//! WARC archives (ISO 28500): the responses and resources with an http address, one after the other. Reads what other
//! writers are known to write (bare line feeds, missing record ends). Never holds more than one record.

mod payload;

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use url::Url;

use crate::limits;
pub(super) use payload::Payload;

/// A record that holds a page.
pub(super) struct Item {
    /// `WARC-Record-ID` without its brackets.
    pub(super) id: String,
    pub(super) url: Url,
    /// Or why it is not read.
    pub(super) payload: Result<Payload, String>,
}

/// The pages of an archive. Ends at the first damage, which [`Records::end`] tells.
pub(super) struct Records {
    input: Box<dyn BufRead + Send>,
    error: Option<io::Error>,
}

/// The named fields of a record or a response, as they came.
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
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }
}

impl Records {
    /// Looks at the first bytes for the compression.
    pub(super) fn open(mut input: Box<dyn BufRead + Send>) -> io::Result<Self> {
        let packed = input.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let input = match packed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(input))),
            false => input,
        };
        Ok(Self { input, error: None })
    }

    /// Whether the archive was read to its end.
    pub(super) fn end(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }

    fn read(&mut self) -> io::Result<Option<Item>> {
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
            let Some((id, url)) = page(&fields) else {
                self.pass_over(length)?;
                continue;
            };
            let payload = if length > limits::RECORD_BYTES {
                self.pass_over(length)?;
                Err(format!(
                    "the record is larger than {} bytes",
                    limits::RECORD_BYTES
                ))
            } else {
                let mut block = Vec::new();
                if (&mut self.input).take(length).read_to_end(&mut block)? as u64 != length {
                    return Err(damaged("the last record is cut off"));
                }
                Ok(match fields.first("warc-type") {
                    Some("response") => Payload::Http(block),
                    _ => Payload::Bare {
                        content_type: fields.first("content-type").map(str::to_owned),
                        body: block,
                    },
                })
            };
            return Ok(Some(Item { id, url, payload }));
        }
    }

    /// The first line of the next record, after the empty lines that end the last.
    fn version(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match line(&mut self.input)? {
                None => return Ok(None),
                Some(line) if line.is_empty() => {}
                some => return Ok(some),
            }
        }
    }

    fn pass_over(&mut self, length: u64) -> io::Result<()> {
        match io::copy(&mut (&mut self.input).take(length), &mut io::sink())? == length {
            true => Ok(()),
            false => Err(damaged("the last record is cut off")),
        }
    }
}

impl Iterator for Records {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.read().unwrap_or_else(|error| {
            self.error = Some(error);
            None
        })
    }
}

/// Id and address of a record that holds a page: a response, or a resource as it is.
fn page(fields: &Fields) -> Option<(String, Url)> {
    if !matches!(fields.first("warc-type")?, "response" | "resource") {
        return None;
    }
    let bare = |text: &str| text.trim_start_matches('<').trim_end_matches('>').to_owned();
    let url = Url::parse(&bare(fields.first("warc-target-uri")?)).ok()?;
    let id = fields.first("warc-record-id").map(bare).unwrap_or_default();
    matches!(url.scheme(), "http" | "https").then_some((id, url))
}

/// Lines up to an empty one, continued lines joined.
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

/// One line without its end; none at the end of input.
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
