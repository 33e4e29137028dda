//! Finds scanned pages and their images, for text recognition.

use std::ops::ControlFlow;

use unpdf::render::PageSelection;
use unpdf::{Document, Page, PageStreamOptions, ParseEvent, PdfParser};

use super::failure;
use crate::files::scan::scan;
use crate::files::{FileError, Scan, ScanRequest};
use crate::limits;

/// Share of a page that images cover on a scan.
const SCAN_COVERAGE: f32 = 0.5;

/// Returns the numbers of the pages whose text is in images only.
pub(super) fn textless_pages(document: &Document) -> Vec<u32> {
    let pages = document.pages.iter().filter(|page| is_textless(page));
    pages.map(|page| page.number).collect()
}

/// Returns the numbers of the pages whose images are requested.
pub(super) fn requested_pages(document: &Document, request: ScanRequest) -> Vec<u32> {
    let is_wanted = |page: &&Page| match request {
        ScanRequest::None => false,
        ScanRequest::Textless => is_textless(page),
        ScanRequest::All => is_textless(page) || page.image_coverage >= SCAN_COVERAGE,
    };
    document
        .pages
        .iter()
        .filter(is_wanted)
        .map(|page| page.number)
        .collect()
}

fn is_textless(page: &Page) -> bool {
    page.is_empty() && page.image_op_count > 0 && page.painted_text_chars == 0
}

/// Returns the images of pages, up to the limits, and warns of what is left out.
///
/// # Errors
/// If the file cannot be read again.
pub(super) fn read(
    parser: &PdfParser,
    pages: &[u32],
    warnings: &mut Vec<String>,
) -> Result<Vec<Scan>, FileError> {
    if pages.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = &pages[..pages.len().min(limits::SCANNED_PAGES)];
    let options = PageStreamOptions {
        extract_text: false,
        extract_resources: true,
        min_image_dimension: limits::SCAN_MIN_SIDE_PIXELS,
        pages: PageSelection::Pages(wanted.to_vec()),
        parallel: false,
        ..PageStreamOptions::default()
    };
    let mut scans: Vec<Scan> = Vec::new();
    let mut bytes = 0;
    let mut last_page = 0;
    let mut refusal = None;
    let on_event = |event| {
        let ParseEvent::PageParsed(page) = event else {
            return ControlFlow::Continue(());
        };
        let images = page.images.into_iter().take(limits::SCANS_PER_PAGE);
        for (_, image) in images {
            match scan(page.number, image.data) {
                Ok(found) => {
                    bytes += found.length;
                    scans.push(found);
                }
                Err(error) => {
                    refusal = Some(format!("An image of page {} was not read: {error}.", page.number))
                }
            }
        }
        if bytes > limits::SCAN_BYTES {
            // A page is read as a whole or not at all.
            scans.retain(|scan| scan.page != page.number);
            return ControlFlow::Break(());
        }
        last_page = page.number;
        ControlFlow::Continue(())
    };
    parser.for_each_page(options, on_event).map_err(failure)?;
    warnings.extend(refusal);
    let left_out = pages.iter().filter(|page| **page > last_page).count();
    if left_out > 0 {
        warnings.push(format!(
            "The text of {left_out} scanned pages was not recognized: at most {} pages and {} MiB of images are read \
             per file.",
            limits::SCANNED_PAGES,
            limits::SCAN_BYTES >> 20
        ));
    }
    Ok(scans)
}
