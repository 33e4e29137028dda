//! Prints results to standard output, a file or a folder: plain text if the request has a single text format, else JSON.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches};
use harvestman_core::api::command::RequestCommand;
use serde::Serialize;
use serde_json::Value;

use crate::request::api_client::ApiClient;
use crate::request::page_files::PageFiles;

/// Returns the flag `-o`.
pub(crate) fn arguments() -> [Arg; 1] {
    let file = Arg::new("output").short('o').long("output").value_name("FILE");
    [file.help("Write the result to a file")]
}

/// Returns the flags of commands with a single result.
pub(crate) fn json_arguments() -> [Arg; 2] {
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    [
        switch("json").help("Print the whole response or document as JSON"),
        switch("pretty").help("Print JSON with line breaks, as on a terminal"),
    ]
}

/// Returns the flag `--out-dir` of commands with a document for each page.
pub(super) fn folder_argument() -> Arg {
    Arg::new("out-dir")
        .long("out-dir")
        .value_name("FOLDER")
        .conflicts_with_all(["output", "no-wait"])
        .help("Write each page to files of its own, in folders like those of the site")
}

/// Standard output, a file or a folder.
pub(crate) struct Output {
    to: Box<dyn Write + Send>,
    /// Folder for the documents. If it is set, they are not written to `to`.
    pages: Option<PageFiles>,
    /// Flags of a later command that continues the output.
    flags: String,
    has_file: bool,
    whole: bool,
    pretty: bool,
}

impl Output {
    /// Opens the output that the arguments name. With `--skip`, a file is appended to.
    pub(crate) fn of(given: &ArgMatches) -> anyhow::Result<Output> {
        let switch = |name: &str| given.try_get_one::<bool>(name).ok().flatten().copied();
        let skip = given.try_get_one::<u64>("skip").ok().flatten().copied();
        let file = given.get_one::<String>("output").map(Path::new);
        let folder = given
            .try_get_one::<String>("out-dir")
            .ok()
            .flatten()
            .map(Path::new);
        let to: Box<dyn Write + Send> = match file {
            Some(path) => {
                let mut options = File::options();
                match skip.unwrap_or(0) {
                    0 => options.write(true).create(true).truncate(true),
                    _ => options.append(true).create(true),
                };
                let file = options.open(path);
                Box::new(BufWriter::new(
                    file.with_context(|| format!("cannot write {}", path.display()))?,
                ))
            }
            None => Box::new(BufWriter::new(io::stdout())),
        };
        let output = match (file, folder) {
            (Some(file), _) => format!(" -o {}", shell_word(&file.to_string_lossy())),
            (None, Some(folder)) => format!(" --out-dir {}", shell_word(&folder.to_string_lossy())),
            (None, None) => String::new(),
        };
        let switches = ["json", "pretty"]
            .into_iter()
            .filter(|name| switch(name) == Some(true));
        Ok(Output {
            to,
            flags: switches
                .map(|name| format!(" --{name}"))
                .chain([output])
                .collect(),
            has_file: file.is_some(),
            pages: folder.map(PageFiles::create).transpose()?,
            whole: switch("json").unwrap_or(false),
            pretty: switch("pretty").unwrap_or(false) || file.is_none() && io::stdout().is_terminal(),
        })
    }

    /// Returns the flags of a later command that continues the output.
    pub(super) fn flags(&self) -> &str {
        &self.flags
    }

    /// Writes text and a line end.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            self.to.write_all(b"\n")?;
        }
        self.to.flush()
    }

    /// Writes the document of a page: on one line, or to its files.
    pub(super) fn document(&mut self, document: &Value) -> anyhow::Result<()> {
        if let Some(pages) = &self.pages {
            return pages.write(document);
        }
        serde_json::to_writer(&mut self.to, document)?;
        Ok(self.to.write_all(b"\n")?)
    }

    /// Flushes the output.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// Writes a part of a response; with `--json` the whole of it.
    pub(super) fn value(&mut self, response: &Value, part: &Value) -> io::Result<()> {
        match part {
            _ if self.whole => self.json(response),
            Value::String(text) => self.text(text),
            part => self.json(part),
        }
    }

    /// Returns whether a picture itself is written instead of its URL: to a file, or if the URL ends with this process.
    pub(super) fn takes_picture(&self, client: &ApiClient) -> bool {
        !self.whole && (self.has_file || client.is_in_process() && !io::stdout().is_terminal())
    }

    /// Writes a value as a line of JSON, at once.
    pub(crate) fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, value)?;
        self.to.write_all(b"\n")?;
        self.to.flush()
    }

    /// Writes bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)?;
        self.to.flush()
    }

    fn json(&mut self, value: &Value) -> io::Result<()> {
        match self.pretty {
            true => serde_json::to_writer_pretty(&mut self.to, value)?,
            false => serde_json::to_writer(&mut self.to, value)?,
        }
        self.to.write_all(b"\n")?;
        self.to.flush()
    }
}

/// Writes the response to a request: the whole of it with `--json`, else the requested content.
pub(crate) fn result(
    command: RequestCommand,
    body: &Value,
    response: &Value,
    out: &mut Output,
) -> io::Result<()> {
    match content(command, body, response) {
        _ if out.whole => out.json(response),
        Content::Text(text) => out.text(&text),
        Content::Json(value) => out.json(value),
    }
}

/// Returns the URL of the picture if a scrape requested nothing else.
pub(super) fn picture_url<'r>(command: RequestCommand, body: &Value, response: &'r Value) -> Option<&'r str> {
    let data = Some(&response["data"]).filter(|_| command == RequestCommand::Scrape)?;
    let url = only_format(body, data)?.as_str()?;
    (data["screenshot"] == url).then_some(url)
}

/// Returns a number with its noun: `1 page`, `2 pages`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Quotes a word for a shell if it has characters other than those of plain names.
pub(super) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=@%+[]".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The requested content of a response.
#[derive(PartialEq, Debug)]
pub(crate) enum Content<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// Everything else.
    Json(&'a Value),
}

/// Extracts the requested content from a response.
pub(crate) fn content<'a>(command: RequestCommand, body: &Value, response: &'a Value) -> Content<'a> {
    let data = Some(&response["data"])
        .filter(|data| !data.is_null())
        .unwrap_or(response);
    let value = match command {
        RequestCommand::Scrape => only_format(body, data).unwrap_or(data),
        RequestCommand::Map => {
            let links = response["links"].as_array().into_iter().flatten();
            let links: Vec<&str> = links.filter_map(|link| link["url"].as_str()).collect();
            return Content::Text(links.join("\n").into());
        }
        _ => data,
    };
    match value {
        Value::String(text) => Content::Text(text.into()),
        value => Content::Json(value),
    }
}

/// Returns the content of the only requested format; none if there are several.
fn only_format<'d>(body: &Value, document: &'d Value) -> Option<&'d Value> {
    let name = match body["formats"].as_array().map(Vec::as_slice) {
        None => "markdown",
        Some([Value::String(name)]) => name,
        Some([format]) => format["type"].as_str()?,
        Some(_) => return None,
    };
    document.get(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_format_is_printed_alone_and_several_as_the_document() {
        let document = json!({"markdown": "# A", "links": ["b"], "json": {"c": 1}, "metadata": {}});
        let check = |body: Value, expected: Option<Value>| {
            assert_eq!(only_format(&body, &document).cloned(), expected, "{body}");
        };
        check(json!({}), Some(json!("# A")));
        check(json!({"formats": ["links"]}), Some(json!(["b"])));
        check(json!({"formats": [{"type": "json"}]}), Some(json!({"c": 1})));
        check(json!({"formats": ["summary"]}), None);
        check(json!({"formats": ["markdown", "links"]}), None);
        check(json!({"formats": []}), None);
    }

    #[test]
    fn responses_show_their_data_and_maps_their_urls() {
        let map =
            json!({"success": true, "links": [{"url": "http://a/", "title": "A"}, {"url": "http://b/"}]});
        let shown = content(RequestCommand::Map, &json!({}), &map);
        assert_eq!(shown, Content::Text("http://a/\nhttp://b/".into()));
        let search = json!({"success": true, "data": {"web": []}});
        let shown = content(RequestCommand::Search, &json!({}), &search);
        assert_eq!(shown, Content::Json(&json!({"web": []})));
        let running = json!({"success": true, "status": "processing"});
        assert_eq!(
            content(RequestCommand::Extract, &json!({}), &running),
            Content::Json(&running)
        );
    }
}
