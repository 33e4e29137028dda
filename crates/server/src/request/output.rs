//! Where results go, and in which form: text as it is where one text was asked for, else JSON.

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
    /// The output that the arguments name. What is read on is written after what a file has.
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

    /// Text with a line end.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            self.to.write_all(b"\n")?;
        }
        self.to.flush()
    }

    /// JSON on one line.
    pub(super) fn line(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, value)?;
        self.to.write_all(b"\n")
    }

    /// Hands out what was written.
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

/// Writes the answer to a request: all of it with `--json`, else what was asked for.
pub(super) fn result(
    command: RequestCommand,
    body: &Value,
    answer: &Value,
    out: &mut Output,
) -> io::Result<()> {
    match essence(command, body, answer) {
        _ if out.whole => out.json(answer),
        Essence::Text(text) => out.text(&text),
        Essence::Json(value) => out.json(value),
    }
}

/// What was asked for, without the answer around it.
#[derive(PartialEq, Debug)]
pub(crate) enum Essence<'a> {
    /// Text as it is.
    Text(Cow<'a, str>),
    /// Anything else.
    Json(&'a Value),
}

/// What the answer to a request is about.
pub(crate) fn essence<'a>(command: RequestCommand, body: &Value, answer: &'a Value) -> Essence<'a> {
    let data = Some(&answer["data"])
        .filter(|data| !data.is_null())
        .unwrap_or(answer);
    let value = match command {
        RequestCommand::Scrape => the_format(body, data).unwrap_or(data),
        RequestCommand::Map => {
            let links = answer["links"].as_array().into_iter().flatten();
            let links: Vec<&str> = links.filter_map(|link| link["url"].as_str()).collect();
            return Essence::Text(links.join("\n").into());
        }
        _ => data,
    };
    match value {
        Value::String(text) => Essence::Text(text.into()),
        value => Essence::Json(value),
    }
}

/// What was made of the page, where one format was asked for.
fn the_format<'d>(body: &Value, document: &'d Value) -> Option<&'d Value> {
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
    fn one_format_stands_alone_and_several_are_the_document() {
        let document = json!({"markdown": "# A", "links": ["b"], "json": {"c": 1}, "metadata": {}});
        let check = |body: Value, expected: Option<Value>| {
            assert_eq!(the_format(&body, &document).cloned(), expected, "{body}");
        };
        check(json!({}), Some(json!("# A")));
        check(json!({"formats": ["links"]}), Some(json!(["b"])));
        check(json!({"formats": [{"type": "json"}]}), Some(json!({"c": 1})));
        check(json!({"formats": ["summary"]}), None);
        check(json!({"formats": ["markdown", "links"]}), None);
        check(json!({"formats": []}), None);
    }

    #[test]
    fn of_answers_the_data_are_shown_and_of_maps_the_addresses() {
        let map =
            json!({"success": true, "links": [{"url": "http://a/", "title": "A"}, {"url": "http://b/"}]});
        let shown = essence(RequestCommand::Map, &json!({}), &map);
        assert_eq!(shown, Essence::Text("http://a/\nhttp://b/".into()));
        let search = json!({"success": true, "data": {"web": []}});
        let shown = essence(RequestCommand::Search, &json!({}), &search);
        assert_eq!(shown, Essence::Json(&json!({"web": []})));
        let running = json!({"success": true, "status": "processing"});
        assert_eq!(
            essence(RequestCommand::Extract, &json!({}), &running),
            Essence::Json(&running)
        );
    }
}
