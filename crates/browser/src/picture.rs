//! Screenshots and PDFs of a page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harvestman_core::api::action::PaperFormat;
use harvestman_core::api::format::Screenshot;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::error::BrowserError;
use crate::limits;
use crate::page::Page;
use crate::visitor::Visitor;

/// The image format of a screenshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

/// A screenshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Image format.
    pub format: PictureFormat,
    /// The image file.
    pub bytes: Vec<u8>,
}

impl PictureFormat {
    /// Returns `image/png` or `image/jpeg`.
    pub fn mime_type(self) -> &'static str {
        match self {
            PictureFormat::Png => "image/png",
            PictureFormat::Jpeg => "image/jpeg",
        }
    }

    /// Returns `png` or `jpg`.
    pub fn extension(self) -> &'static str {
        match self {
            PictureFormat::Png => "png",
            PictureFormat::Jpeg => "jpg",
        }
    }
}

/// Takes a screenshot of the viewport or of the whole page; resizes the viewport first if requested.
pub(crate) async fn take(
    page: &Page,
    visitor: &Visitor,
    options: &Screenshot,
    deadline: Instant,
) -> Result<Picture, BrowserError> {
    if options.viewport.is_some() {
        visitor.resize(page.session(), options.viewport).await?;
        page.wait_until_idle(deadline).await?;
    }
    let picture = capture(page, options, deadline).await?;
    if options.viewport.is_some() {
        visitor.resize(page.session(), None).await?;
    }
    Ok(picture)
}

/// Takes a screenshot of the current viewport or of the whole page.
pub(crate) async fn capture(
    page: &Page,
    options: &Screenshot,
    deadline: Instant,
) -> Result<Picture, BrowserError> {
    let (format, name) = match options.quality {
        Some(_) => (PictureFormat::Jpeg, "jpeg"),
        None => (PictureFormat::Png, "png"),
    };
    let mut params = json!({"format": name, "captureBeyondViewport": options.full_page});
    if let Some(quality) = options.quality {
        params["quality"] = quality.into();
    }
    if options.full_page {
        let layout = page
            .session()
            .call_until("Page.getLayoutMetrics", json!({}), deadline)
            .await?;
        let size = &layout["cssContentSize"];
        let height = size["height"]
            .as_f64()
            .unwrap_or(0.0)
            .clamp(1.0, limits::MAX_PICTURE_HEIGHT);
        let width = size["width"]
            .as_f64()
            .unwrap_or(0.0)
            .clamp(1.0, limits::MAX_PICTURE_HEIGHT);
        params["clip"] = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
    }
    let response = page
        .session()
        .call_until("Page.captureScreenshot", params, deadline)
        .await?;
    Ok(Picture {
        format,
        bytes: data(&response)?,
    })
}

/// Prints the page as PDF.
pub(crate) async fn print(
    page: &Page,
    paper: PaperFormat,
    landscape: bool,
    scale: f64,
    deadline: Instant,
) -> Result<Vec<u8>, BrowserError> {
    let (width, height) = inches(paper);
    let params = json!({
        "paperWidth": width,
        "paperHeight": height,
        "landscape": landscape,
        "scale": scale,
        "printBackground": true,
    });
    let response = page
        .session()
        .call_until("Page.printToPDF", params, deadline)
        .await?;
    data(&response)
}

fn data(response: &Value) -> Result<Vec<u8>, BrowserError> {
    STANDARD
        .decode(response["data"].as_str().unwrap_or_default())
        .map_err(|error| BrowserError::Refused {
            command: "the capture".to_owned(),
            reason: error.to_string(),
        })
}

/// Returns width and height of a sheet in portrait orientation, in inches.
fn inches(paper: PaperFormat) -> (f64, f64) {
    match paper {
        PaperFormat::A0 => (33.1, 46.8),
        PaperFormat::A1 => (23.4, 33.1),
        PaperFormat::A2 => (16.54, 23.4),
        PaperFormat::A3 => (11.7, 16.54),
        PaperFormat::A4 => (8.27, 11.7),
        PaperFormat::A5 => (5.83, 8.27),
        PaperFormat::A6 => (4.13, 5.83),
        PaperFormat::Letter => (8.5, 11.0),
        PaperFormat::Legal => (8.5, 14.0),
        PaperFormat::Tabloid => (11.0, 17.0),
        PaperFormat::Ledger => (17.0, 11.0),
    }
}
