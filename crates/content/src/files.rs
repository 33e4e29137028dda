//! Files that are not web pages: PDF, office documents, books, tables.
//!
//! A reader converts the bytes to HTML, page by page where the file has pages. Markdown, links and images are
//! then made from that HTML as from any page. Reading needs the feature `files`; detecting file types
//! (`kind`) does not. Every reader is bounded (see `limits`), but may still be slow or use much memory on
//! hostile bytes: run it where time and memory are limited.

#[cfg(feature = "files")]
mod archive;
#[cfg(feature = "files")]
mod delimited;
#[cfg(feature = "files")]
mod epub;
#[cfg(feature = "files")]
mod equation;
#[cfg(feature = "files")]
mod feed;
mod kind;
#[cfg(feature = "files")]
mod markup;
#[cfg(feature = "files")]
mod office;
#[cfg(feature = "files")]
mod open_document;
#[cfg(feature = "files")]
mod pdf;
#[cfg(feature = "files")]
mod read;
#[cfg(feature = "files")]
mod rtf;
#[cfg(feature = "files")]
mod scan;
#[cfg(feature = "files")]
mod text_format;
#[cfg(feature = "files")]
mod xml;

#[cfg(feature = "files")]
pub use feed::feed_html;
pub use kind::FileType;
#[cfg(feature = "files")]
pub use read::read;

use serde::{Deserialize, Serialize};

/// Reads no feeds: a build without the feature `files` shows them as XML.
#[cfg(not(feature = "files"))]
pub fn feed_html(_xml: &str, _url: &url::Url) -> Option<String> {
    None
}

/// How to read a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileRequest {
    /// Format of the file.
    pub file_type: FileType,
    /// Maximum number of PDF pages to read; `None` reads all.
    pub max_pages: Option<u32>,
    /// Which pages are needed as images.
    #[serde(default)]
    pub scans: ScanRequest,
}

/// Which pages of a file are returned as images too, for text recognition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScanRequest {
    /// None.
    #[default]
    None,
    /// Those without a text layer.
    Textless,
    /// Every page that is a scan, with or without a text layer.
    All,
}

/// An image of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Scan {
    /// Number of the page.
    pub page: u32,
    /// Length of the image in bytes.
    pub length: usize,
    /// The image as a file. A reader in another process sends it after the document.
    #[serde(skip)]
    pub data: Vec<u8>,
}

/// The content of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FileDocument {
    /// Its pages. A file without pages has one.
    pub pages: Vec<FilePage>,
    /// Number of pages, slides or sheets in the file; `None` when it does not say.
    pub total_pages: Option<u32>,
    /// Properties of the file, with the names of `meta` tags (`title`, `author`, `description`, `keywords`,
    /// `language`, `createdTime`, `modifiedTime`).
    pub properties: Vec<(String, String)>,
    /// Warnings for the caller, in full sentences.
    pub warnings: Vec<String>,
    /// Numbers of the pages whose text is not known, because it is in images only.
    #[serde(default)]
    pub textless: Vec<u32>,
    /// Images of pages, as requested, in the order of the pages.
    #[serde(default)]
    pub scans: Vec<Scan>,
    /// Number of pages whose text was recognized.
    #[serde(default)]
    pub recognized: u32,
}

/// One page of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FilePage {
    /// From 1.
    pub number: u32,
    /// Its text as HTML, well-formed, without `html` and `body`.
    pub html: String,
    /// Whether its first block continues the last one of the previous page.
    pub continues: bool,
}

/// Why a file could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
pub enum FileError {
    /// The file is encrypted with a password.
    #[error("it is password-protected")]
    Encrypted,
    /// The file is damaged or has another format; the text gives the detail.
    #[error("it is damaged or has another format: {0}")]
    Damaged(String),
    /// A limit was reached before there was any content; the text names it.
    #[error("it is too large: {0}")]
    TooLarge(String),
}

/// Returns the properties that are not empty.
#[cfg(feature = "files")]
fn properties<const N: usize>(known: [(&str, Option<&str>); N]) -> Vec<(String, String)> {
    known
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?.trim())))
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

impl FileDocument {
    /// Sets the text of a page to what was recognized in its images.
    #[cfg(feature = "files")]
    pub fn set_recognized(&mut self, page: u32, text: &str) {
        self.textless.retain(|number| *number != page);
        if let Some(page) = self.pages.iter_mut().find(|found| found.number == page) {
            page.html = scan::html(text);
            page.continues = false;
            self.recognized += 1;
        }
    }

    /// Adds a warning about the pages whose text is not known. `because` says why, as the end of a sentence.
    pub fn warn_of_textless(&mut self, because: &str) {
        let (missing, pages) = (self.textless.len(), self.pages.len());
        let warning = match (missing, pages) {
            (0, _) => return,
            (1, 1) => {
                format!("The file is an image without a text layer; it has no text here, because {because}.")
            }
            _ if missing == pages => {
                format!(
                    "The PDF is scanned: its pages are images without a text layer; they have no text here, because {because}."
                )
            }
            _ => format!(
                "{missing} of {pages} pages of the PDF are scanned images without a text layer; they have no text \
                 here, because {because}."
            ),
        };
        self.warnings.push(warning);
    }

    /// Returns the whole text as one HTML document. Paragraphs, lists and tables that a page break splits are
    /// joined; page boundaries are not visible.
    pub fn html(&self) -> String {
        let mut html = String::with_capacity(self.pages.iter().map(|page| page.html.len() + 1).sum());
        for page in &self.pages {
            let joint = [
                ("</p>\n", "<p>", " "),
                ("</ul>\n", "<ul>", ""),
                ("</table>\n", "<table>", ""),
            ]
            .into_iter()
            .find_map(|(end, start, between)| {
                let rest = page.html.strip_prefix(start).filter(|_| page.continues)?;
                Some((html.strip_suffix(end)?.len(), between, rest))
            });
            match joint {
                Some((length, between, rest)) => {
                    html.truncate(length);
                    html.push_str(between);
                    html.push_str(rest);
                }
                None => html.push_str(&page.html),
            }
        }
        html
    }
}
