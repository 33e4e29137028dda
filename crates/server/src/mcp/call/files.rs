//! Tools for the files of a browser session.

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Call;
use super::tool_arguments::ToolArguments;
use crate::limits;
use crate::mcp::tool_result::{Picture, ToolResult, value_text};
use crate::mcp::tools::names;
use crate::request::parse::Form;

impl Call<'_> {
    /// Lists the files of a session.
    pub(super) async fn session_files(&self, arguments: &ToolArguments) -> anyhow::Result<ToolResult> {
        let files = self.files_of(arguments).await?;
        let mut result = ToolResult::new(value_text(&files));
        result.line("Files", &files.as_array().map_or(0, Vec::len).into());
        Ok(result)
    }

    /// Gives a file to a session.
    pub(super) async fn upload(&self, arguments: &ToolArguments) -> anyhow::Result<ToolResult> {
        let form = self.form(arguments, &Value::Null)?;
        let response = form.send_to(self.client, &path_of(arguments)?).await?;
        let file = &response["file"];
        let mut result = ToolResult::new("The session has the file.");
        for (label, name) in [
            ("Name", "name"),
            ("Size in bytes", "sizeBytes"),
            ("Path for code", "path"),
        ] {
            result.line(label, &file[name]);
        }
        Ok(result)
    }

    /// Returns the content of a file: text as it is, a picture as a picture, a document as Markdown.
    pub(super) async fn download(&self, arguments: &ToolArguments) -> anyhow::Result<ToolResult> {
        let name = arguments.text(names::NAME).context("`name` is required")?;
        let files = self.files_of(arguments).await?;
        let files = files.as_array().map_or(&[][..], Vec::as_slice);
        // Files may have the same name; the last one is the newest.
        let Some(file) = files.iter().rev().find(|file| file["name"] == name) else {
            let known: Vec<&str> = files.iter().filter_map(|file| file["name"].as_str()).collect();
            bail!(
                "the session has no file `{name}`; its files are: {}",
                known.join(", ")
            );
        };
        let mut result = ToolResult::new("");
        for (label, name) in [
            ("Name", "name"),
            ("Content type", "contentType"),
            ("Size in bytes", "sizeBytes"),
            ("URL", "url"),
            ("Error", "error"),
        ] {
            result.line(label, &file[name]);
        }
        let (Some(url), Some(size)) = (file["url"].as_str(), file["sizeBytes"].as_u64()) else {
            return Ok(result);
        };
        if size > limits::MCP_FILE_BYTES {
            let most = limits::MCP_FILE_BYTES >> 20;
            result
                .lines
                .push(format!("Files above {most} MiB are not shown; fetch the URL."));
            return Ok(result);
        }
        let (content_type, bytes) = self.client.file(url).await?;
        if content_type.starts_with("image/") && bytes.len() <= limits::MCP_PICTURE_BYTES {
            result.pictures.push(Picture {
                mime_type: content_type,
                base64: STANDARD.encode(bytes),
            });
            return Ok(result);
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => text.clone_into(&mut result.content),
            _ => match Form::new(name, &bytes, &json!({}))?.send(self.client).await {
                Ok(response) => result.content = value_text(&response["data"]["markdown"]),
                Err(error) => result.line("Not shown", &format!("{error:#}").into()),
            },
        }
        Ok(result)
    }

    async fn files_of(&self, arguments: &ToolArguments) -> anyhow::Result<Value> {
        Ok(self.client.get(&path_of(arguments)?).await?["files"].take())
    }
}

fn path_of(arguments: &ToolArguments) -> anyhow::Result<String> {
    Ok(format!("/v2/browser/{}/files", arguments.id()?))
}
