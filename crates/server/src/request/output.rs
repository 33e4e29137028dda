//! Prints results to standard output or a file: plain text if the request has a single text format, else JSON.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use clap::ArgMatches;
use harvestman_core::api::command::RequestCommand;
use serde_json::Value;

/// Standard output or a file.
pub(super) struct Output {
    to: Box<dyn Write + Send>,
    whole: bool,
    pretty: bool,
}

impl Output {
    /// Opens the output that the arguments name. With `--skip`, a file is appended to.
    pub(super) fn of(given: &ArgMatches) -> anyhow::Result<Output> {
        let switch = |name: &str| given.try_get_one::<bool>(name).ok().flatten().copied();
        let skip = given.try_get_one::<u64>("skip").ok().flatten().copied();
        let file = given.get_one::<String>("output").map(Path::new);
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
        Ok(Output {
            to,
            whole: switch("json").unwrap_or(false),
            pretty: switch("pretty").unwrap_or(false) || file.is_none() && io::stdout().is_terminal(),
        })
    }

    /// Writes text and a line end.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            self.to.write_all(b"\n")?;
        }
        self.to.flush()
    }

    /// Writes JSON on one line.
    pub(super) fn line(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, value)?;
        self.to.write_all(b"\n")
    }

    /// Flushes the output.
    pub(super) fn flush(&mut self) -> io::Result<()> {
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
pub(super) fn result(
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
