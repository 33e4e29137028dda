//! Adds what the browser captured to a document: screenshots and PDFs as links to stored files, or inline where nothing
//! may be stored.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harvestman_browser::{ActionResults, Picture};
use harvestman_core::api::page::{ActionOutputs, Document};
use harvestman_store::{NewFile, Store, StoreError};
use uuid::Uuid;

use crate::browser_pages::PageCaptures;
use crate::clock;
use crate::turn::Turn;

/// Where the files of a document are stored and linked.
pub(crate) struct FileTarget {
    /// URL of this server as the client sees it.
    pub(crate) base: String,
    /// False if nothing may be stored.
    pub(crate) keep: bool,
    /// How long they stay available.
    pub(crate) retention: Duration,
}

/// Adds what the browser captured to the document.
pub(crate) async fn attach(
    store: &Store,
    target: &FileTarget,
    document: &mut Document,
    captures: PageCaptures,
    turn: &Turn,
) -> Result<(), StoreError> {
    let mut files = Vec::new();
    let mut link = |content_type: &'static str, extension: &str, bytes: Vec<u8>| {
        if !target.keep {
            return format!("data:{content_type};base64,{}", STANDARD.encode(bytes));
        }
        let token = Uuid::new_v4().simple().to_string();
        let url = format!("{}/files/{token}.{extension}", target.base);
        files.push(NewFile {
            token,
            content_type,
            bytes,
            expires_at: clock::now() + target.retention,
        });
        url
    };
    let mut picture = |picture: Picture| {
        link(
            picture.format.mime_type(),
            picture.format.extension(),
            picture.bytes,
        )
    };
    document.screenshot = captures.screenshot.map(&mut picture);
    document.branding = captures.branding;
    if let Some(steps) = captures.steps {
        let ActionResults {
            screenshots,
            scrapes,
            javascript_returns,
            pdfs,
        } = steps;
        let screenshots = screenshots.into_iter().map(&mut picture).collect();
        let pdfs = pdfs
            .into_iter()
            .map(|bytes| link("application/pdf", "pdf", bytes))
            .collect();
        document.actions = Some(ActionOutputs {
            screenshots,
            scrapes,
            javascript_returns,
            pdfs,
        });
    }
    if files.is_empty() {
        return Ok(());
    }
    let write = || store.store_files(files.clone(), clock::now());
    turn.on_store(StoreError::is_transient, write).await
}
