//! Images as files: what a text recognizer gets from an image or a scanned PDF, and how the recognized text becomes a
//! page. Nothing is decoded here; only sizes are read, so that no image unpacks to more than the recognizer may use.

use super::markup::Markup;
use super::{FileDocument, FileError, FilePage, Scan};
use crate::limits;

/// Returns an image as a document of one page, whose text is not known yet.
pub(super) fn read(body: &[u8], is_wanted: bool) -> Result<FileDocument, FileError> {
    let scan = scan(1, body.to_vec())?;
    Ok(FileDocument {
        pages: vec![FilePage {
            number: 1,
            ..FilePage::default()
        }],
        textless: vec![1],
        scans: is_wanted.then_some(scan).into_iter().collect(),
        ..FileDocument::default()
    })
}

/// Returns an image of a page, within the limits.
///
/// # Errors
/// If it is damaged, or has too many pixels.
pub(super) fn scan(page: u32, data: Vec<u8>) -> Result<Scan, FileError> {
    let size = imagesize::blob_size(&data)
        .map_err(|error| FileError::Damaged(format!("no size in its header: {error}")))?;
    let (width, height) = (size.width, size.height);
    let is_small_enough = width <= limits::SCAN_SIDE_PIXELS
        && height <= limits::SCAN_SIDE_PIXELS
        && width.saturating_mul(height) <= limits::SCAN_PIXELS;
    if width == 0 || height == 0 {
        return Err(FileError::Damaged("it has no pixels".to_owned()));
    }
    if !is_small_enough {
        return Err(FileError::TooLarge(format!(
            "it has {width} x {height} pixels; the limit is {} a side and {} megapixels",
            limits::SCAN_SIDE_PIXELS,
            limits::SCAN_PIXELS / 1_000_000
        )));
    }
    Ok(Scan {
        page,
        length: data.len(),
        data,
    })
}

/// Returns the HTML of recognized text: a paragraph for each block of lines, with words that a line break splits
/// joined.
pub(super) fn html(text: &str) -> String {
    let mut html = Markup::default();
    let mut paragraph = String::new();
    for line in text.split(['\n', '\x0c']).chain([""]).map(str::trim) {
        if line.is_empty() {
            if !paragraph.is_empty() {
                html.element("p", &paragraph);
                paragraph.clear();
            }
            continue;
        }
        let splits_word = line.starts_with(char::is_lowercase)
            && paragraph
                .strip_suffix('-')
                .is_some_and(|start| start.ends_with(char::is_alphabetic));
        match splits_word {
            true => {
                paragraph.pop();
            }
            false if !paragraph.is_empty() => paragraph.push(' '),
            false => {}
        }
        paragraph.push_str(line);
    }
    html.into_html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_paragraphs() {
        let check = |text: &str, expected: &str| assert_eq!(html(text), expected);
        check("", "");
        check("One\ntwo\n\nThree\n\x0c", "<p>One two</p>\n<p>Three</p>\n");
        check(
            "exam-\nple, well-\nKnown 3-\n4",
            "<p>example, well- Known 3- 4</p>\n",
        );
        check("a < b", "<p>a &lt; b</p>\n");
    }

    #[test]
    fn images_with_too_many_pixels_are_refused() {
        let png = |width: u32, height: u32| {
            let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
            png.extend(width.to_be_bytes());
            png.extend(height.to_be_bytes());
            png.extend([8, 0, 0, 0, 0, 0, 0, 0, 0]);
            png
        };
        assert_eq!(scan(3, png(1700, 2200)).unwrap().page, 3);
        assert!(matches!(
            scan(1, png(30_000, 30_000)),
            Err(FileError::TooLarge(_))
        ));
        assert!(matches!(scan(1, png(100_000, 10)), Err(FileError::TooLarge(_))));
        assert!(matches!(scan(1, png(0, 10)), Err(FileError::Damaged(_))));
        assert!(matches!(
            scan(1, b"no image".to_vec()),
            Err(FileError::Damaged(_))
        ));
        assert!(matches!(scan(1, Vec::new()), Err(FileError::Damaged(_))));
    }
}
