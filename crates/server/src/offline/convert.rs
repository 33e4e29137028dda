//! `harvestman convert`: converts files, JSON lines and WARC archives to page documents like those of the API.

use std::borrow::Cow;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{RawPage, read_and_render};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use crate::input::{Usage, open};
use crate::limits;
use crate::offline::flags;
use crate::offline::lines::{Line, Lines};
use crate::offline::ordered::in_order;
use crate::offline::warc::{PageRecord, Records};
use crate::request::output::{self, Output};

/// Media type of text that is already decoded: the charset of its `meta` element no longer applies.
const DECODED_HTML: &str = "text/html; charset=utf-8";

/// One input line of `--jsonl`.
#[derive(Deserialize)]
struct InputLine<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow)]
    html: Cow<'a, str>,
}

/// The id of a line that is not a valid [`InputLine`].
#[derive(Deserialize)]
struct InputId {
    #[serde(default)]
    id: Value,
}

/// One line of output.
#[derive(Serialize)]
struct OutputLine {
    id: Value,
    #[serde(flatten)]
    result: Outcome,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Document(Box<Document>),
    Failed { error: String },
}

/// Builds the grammar of the command.
pub(crate) fn command() -> Command {
    let file = Arg::new("file")
        .value_name("FILE")
        .default_value("-")
        .value_parser(value_parser!(PathBuf))
        .help("Page, document, or JSON lines; - for standard input");
    let url = Arg::new("url")
        .long("url")
        .value_name("URL")
        .help("URL of the page, the base of its relative links [default: the URL of the file]");
    let jsonl = Arg::new("jsonl").long("jsonl").action(ArgAction::SetTrue).help(
        "Read lines {\"id\",\"url\",\"html\"} and write a line {\"id\", ...document} for each, in order",
    );
    let warc = Arg::new("warc")
        .long("warc")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .conflicts_with_all(["jsonl", "file", "url"])
        .help("Read the responses in a WARC archive (also .gz) and write lines as with --jsonl");
    Command::new("convert")
        .about("Convert pages and files to page documents, without a server or network")
        .args([file, url, jsonl, warc])
        .args(flags::arguments())
        .args(output::arguments())
        .args(output::json_arguments())
}

/// Converts the input in the arguments and writes the result as `scrape` does. Lines are written as soon as they are
/// ready.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let options = flags::options(matches)?;
    let url = matches
        .get_one::<String>("url")
        .map(|text| parse_url(text))
        .transpose()?;
    if let Some(archive) = matches.get_one::<PathBuf>("warc") {
        let mut records = Records::open(open(archive)?)?;
        let mut out = Output::of(matches)?;
        in_order(
            &mut records,
            |record| convert_record(record, &options),
            |line| out.line(&line),
        )?;
        return records
            .end()
            .with_context(|| format!("{} is damaged", archive.display()));
    }
    let file = matches.get_one::<PathBuf>("file").expect("it has a default");
    let url = url.map_or_else(|| file_url(file), Ok)?;
    if matches.get_flag("jsonl") {
        let mut lines = Lines::new(open(file)?, limits::LINE_BYTES);
        let mut out = Output::of(matches)?;
        in_order(
            &mut lines,
            |line| convert_line(&line, &url, &options),
            |line| out.line(&line),
        )?;
        return Ok(lines.end()?);
    }
    let mut body = Vec::new();
    open(file)?.take(limits::FILE_BYTES + 1).read_to_end(&mut body)?;
    anyhow::ensure!(
        body.len() as u64 <= limits::FILE_BYTES,
        "{} is larger than {} bytes",
        file.display(),
        limits::FILE_BYTES
    );
    let page = RawPage {
        requested: &url,
        url: &url,
        status: 200,
        content_type: content_type(file),
        body: &body,
    };
    let document = document(&page, &options).map_err(anyhow::Error::msg)?;
    let document = serde_json::to_value(&document)?;
    let mut out = Output::of(matches)?;
    Ok(output::result(
        RequestCommand::Scrape,
        &flags::body(matches),
        &document,
        &mut out,
    )?)
}

fn parse_url(text: &str) -> Result<Url, Usage> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https" | "file"));
    url.ok_or_else(|| Usage(format!("`{text}` is not a URL such as https://example.com/page")))
}

/// Returns the `file:` URL of a file; `file:///` for standard input.
fn file_url(file: &Path) -> anyhow::Result<Url> {
    let root = || Url::parse("file:///").context("a constant");
    if file.as_os_str() == "-" {
        return root();
    }
    let path = std::path::absolute(file)?;
    Url::from_file_path(path).map_or_else(|()| root(), Ok)
}

/// Returns the media type for a file extension; none for an unknown one, so that the bytes decide.
fn content_type(file: &Path) -> Option<&'static str> {
    let ending = file.extension()?.to_str()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "html" | "htm" => "text/html",
        "xhtml" | "xht" => "application/xhtml+xml",
        "md" | "markdown" => "text/markdown",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "json" => "application/json",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        _ => return None,
    })
}

fn convert_line(line: &Line, base: &Url, options: &ScrapeOptions) -> OutputLine {
    let Line::Text(text) = line else {
        return error_line(
            Value::Null,
            format!("the line is longer than {} bytes", limits::LINE_BYTES),
        );
    };
    let page: InputLine<'_> = match serde_json::from_slice(text) {
        Ok(page) => page,
        Err(error) => {
            let id = serde_json::from_slice(text).map_or(Value::Null, |input: InputId| input.id);
            return error_line(
                id,
                format!("the line is not a JSON object with the string `html`: {error}"),
            );
        }
    };
    let url = match page.url.as_deref().map(parse_url).transpose() {
        Ok(url) => url.unwrap_or_else(|| base.clone()),
        Err(error) => return error_line(page.id, error.0),
    };
    let raw = RawPage {
        requested: &url,
        url: &url,
        status: 200,
        content_type: Some(DECODED_HTML),
        body: page.html.as_bytes(),
    };
    output_line(page.id, document(&raw, options))
}

fn convert_record(record: PageRecord, options: &ScrapeOptions) -> OutputLine {
    let id = record.id.into();
    let response = match record.payload.and_then(|payload| payload.response()) {
        Ok(response) => response,
        Err(reason) => return error_line(id, reason),
    };
    let raw = RawPage {
        requested: &record.url,
        url: &record.url,
        status: response.status,
        content_type: response.content_type.as_deref(),
        body: &response.body,
    };
    output_line(id, document(&raw, options))
}

/// Converts a page to a document, without the metadata of a fetch.
fn document(page: &RawPage<'_>, options: &ScrapeOptions) -> Result<Document, String> {
    let rendered = catch_unwind(AssertUnwindSafe(|| {
        read_and_render(page, options, ScrapeId(Uuid::nil()))
    }))
    .map_err(|_| "internal error while converting this page".to_owned())?
    .map_err(|error| error.message)?;
    let mut document = *rendered.document;
    document.metadata.scrape_id = None;
    document.metadata.credits_used = None;
    document.metadata.proxy_used = None;
    Ok(document)
}

fn output_line(id: Value, result: Result<Document, String>) -> OutputLine {
    match result {
        Ok(document) => OutputLine {
            id,
            result: Outcome::Document(Box::new(document)),
        },
        Err(error) => error_line(id, error),
    }
}

fn error_line(id: Value, error: String) -> OutputLine {
    OutputLine {
        id,
        result: Outcome::Failed { error },
    }
}
