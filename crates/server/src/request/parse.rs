//! `harvestman parse FILE`: uploads a file, such as a PDF or an office document, and prints its content.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgMatches, Command, value_parser};
use harvestman_core::api::Wire;
use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::limits::MAX_UPLOAD_BYTES;
use serde_json::Value;

use crate::keys;
use crate::request::api_client::{self, ApiClient};
use crate::request::output::{self, Output};
use crate::request::{flags, help, local};

/// Name of the command.
pub(crate) const NAME: &str = "parse";
const PATH: &str = "/v2/parse";

/// Returns the grammar of the command.
pub(crate) fn command() -> Command {
    let file = Arg::new("file")
        .value_name("FILE")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("The file: PDF, office document, book, table or HTML");
    Command::new(NAME)
        .about("Convert a file: a PDF, office document, book or table")
        .after_help(help::AFTER)
        .arg(file)
        .args(ParseOptions::fields().iter().map(flags::argument))
        .args(api_client::arguments())
        .arg(local::argument())
        .args(output::arguments())
        .args(output::json_arguments())
}

/// Uploads the file and prints the result.
pub(super) async fn run(client: &ApiClient, options: &Value, given: &ArgMatches) -> anyhow::Result<()> {
    let path = given
        .get_one::<PathBuf>("file")
        .context("the parser requires a file")?;
    let response = Form::of_file(path, options)?.send(client).await?;
    super::warn(&response);
    output::result(
        RequestCommand::Scrape,
        options,
        &response,
        &mut Output::of(given)?,
    )?;
    Ok(())
}

/// A file with options, as a body of the type multipart/form-data.
pub(crate) struct Form {
    boundary: String,
    body: Vec<u8>,
}

impl Form {
    /// Reads a file into a form with these options.
    pub(crate) fn of_file(path: &Path, options: &Value) -> anyhow::Result<Form> {
        let unreadable = || format!("cannot read {}", path.display());
        let bytes = std::fs::metadata(path).with_context(unreadable)?.len();
        if bytes > MAX_UPLOAD_BYTES as u64 {
            anyhow::bail!("{} is larger than {} MiB", path.display(), MAX_UPLOAD_BYTES >> 20);
        }
        let file = std::fs::read(path).with_context(unreadable)?;
        Form::new(
            &path.file_name().unwrap_or_default().to_string_lossy(),
            &file,
            options,
        )
    }

    /// Returns the form of a file with this name and content.
    pub(crate) fn new(name: &str, file: &[u8], options: &Value) -> anyhow::Result<Form> {
        let boundary = keys::random_hex::<16>()?;
        let mut body = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n{options}\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\r\n",
            quoted_name(name)
        )
        .into_bytes();
        body.extend(file);
        body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
        Ok(Form { boundary, body })
    }

    /// Uploads the file for conversion and returns the response.
    pub(crate) async fn send(self, client: &ApiClient) -> anyhow::Result<Value> {
        self.send_to(client, PATH).await
    }

    /// Uploads the file to a path and returns the response.
    pub(crate) async fn send_to(self, client: &ApiClient, path: &str) -> anyhow::Result<Value> {
        let content_type = format!("multipart/form-data; boundary={}", self.boundary);
        client.post_bytes(path, &content_type, self.body).await
    }
}

/// Returns the name of a file as it is written in a form (WHATWG HTML, multipart/form-data encoding algorithm).
fn quoted_name(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_their_field() {
        assert_eq!(quoted_name("a \"b\"\r\n.pdf"), "a %22b%22%0D%0A.pdf");
    }
}
