//! Files that are no web pages: PDF, office documents, books, tables.
//!
//! A reader turns the bytes into HTML of its own making, page by page where the file has pages; Markdown, links and
//! pictures are then made of it like of any page. Reading needs the feature `files`; telling files apart does not.
//! Every reader is bounded (see `limits`), but a reader may still be slow or need much memory on hostile bytes: run it
//! where time and memory are limited.

#[cfg(feature = "files")]
mod archive;
#[cfg(feature = "files")]
mod delimited;
#[cfg(feature = "files")]
mod epub;
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
mod xml;

pub use kind::FileType;
#[cfg(feature = "files")]
pub use read::read;

use serde::{Deserialize, Serialize};

/// What is wanted of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileRequest {
    /// How it is read.
    pub file_type: FileType,
    /// Pages of a PDF to read, at most; none reads all.
    pub max_pages: Option<u32>,
}

/// A file that was read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FileDocument {
    /// Its text. A file without pages has one.
    pub pages: Vec<FilePage>,
    /// Pages, slides or sheets that the file has; none where it does not say.
    pub total_pages: Option<u32>,
    /// What the file says about itself: names as of `meta` tags (`title`, `author`, `description`, `keywords`,
    /// `language`, `createdTime`, `modifiedTime`).
    pub properties: Vec<(String, String)>,
    /// What the caller should know, whole sentences.
    pub warnings: Vec<String>,
}

/// One page of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FilePage {
    /// From 1.
    pub number: u32,
    /// Its text as HTML, well-formed, without `html` and `body`.
    pub html: String,
    /// Its first paragraph goes on with the last one of the page before.
    pub continues: bool,
}

/// Why a file could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FileError {
    /// A password is needed.
    Encrypted,
    /// It is damaged, or not what it claims to be; the text says in what way.
    Damaged(String),
    /// A bound was reached before there was anything to give; the text says which.
    TooLarge(String),
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileError::Encrypted => f.write_str("it is protected with a password"),
            FileError::Damaged(what) => write!(f, "it is damaged or not what it claims to be: {what}"),
            FileError::TooLarge(what) => write!(f, "it is too large: {what}"),
        }
    }
}

impl std::error::Error for FileError {}

/// The properties that say something.
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
    /// The whole text as one HTML document. A paragraph or list that a page break divides is one again; where pages end
    /// does not show.
    pub fn html(&self) -> String {
        let mut html = String::with_capacity(self.pages.iter().map(|page| page.html.len() + 1).sum());
        for page in &self.pages {
            let joint = [("</p>\n", "<p>", " "), ("</ul>\n", "<ul>", "")]
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
