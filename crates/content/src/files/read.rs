//! Reads bytes as a [`FileDocument`]: chooses the reader and catches its panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    FileDocument, FileError, FileRequest, FileType, ScanRequest, delimited, epub, office, open_document, pdf,
    rtf, scan,
};
use crate::limits;

/// Reads a file.
///
/// # Errors
///
/// See [`FileError`]. A panic of the reader counts as a damaged file.
pub fn read(request: &FileRequest, body: &[u8]) -> Result<FileDocument, FileError> {
    let read = || match request.file_type.corrected(body) {
        FileType::Pdf => pdf::read(body, request.max_pages, request.scans),
        kind @ (FileType::Docx
        | FileType::Xlsx
        | FileType::Pptx
        | FileType::Doc
        | FileType::Xls
        | FileType::Ppt) => office::read(kind, body),
        kind @ (FileType::Odt | FileType::Ods | FileType::Odp) => open_document::read(kind, body),
        FileType::Epub => epub::read(body),
        FileType::Rtf => rtf::read(body),
        FileType::Csv => Ok(delimited::read(body, false)),
        FileType::Tsv => Ok(delimited::read(body, true)),
        FileType::Png | FileType::Jpeg | FileType::Webp | FileType::Tiff => {
            scan::read(body, request.scans != ScanRequest::None)
        }
    };
    let document = catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(FileError::Damaged("its reader crashed".to_owned())))?;
    let size: usize = document.pages.iter().map(|page| page.html.len()).sum();
    if size > limits::FILE_HTML_BYTES {
        let what = format!("its text is larger than {} MiB", limits::FILE_HTML_BYTES >> 20);
        return Err(FileError::TooLarge(what));
    }
    Ok(document)
}
