//! Detects the type of a file: by content type, by file extension, by the bytes themselves. Never fails, and
//! reads only as much as necessary.

use memchr::memmem;
use serde::{Deserialize, Serialize};

macro_rules! types {
    ($($(#[$doc:meta])* $item:ident $name:literal [$($extension:literal)*] [$($mime:literal)*];)*) => {
        /// A file type that can be read.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum FileType { $($(#[$doc])* $item),* }

        impl FileType {
            /// All file types.
            pub const ALL: &[FileType] = &[$(FileType::$item),*];

            /// Returns its short name, which is also its first extension.
            pub fn name(self) -> &'static str {
                match self { $(FileType::$item => $name),* }
            }

            /// Returns its extensions in lower case, without the dot.
            pub fn extensions(self) -> &'static [&'static str] {
                match self { $(FileType::$item => &[$($extension),*]),* }
            }

            /// Returns its content types, the usual one first.
            pub fn content_types(self) -> &'static [&'static str] {
                match self { $(FileType::$item => &[$($mime),*]),* }
            }
        }
    };
}

types! {
    /// Portable Document Format.
    Pdf "pdf" ["pdf"] ["application/pdf" "application/x-pdf"];
    /// Word, also with macros and templates.
    Docx "docx" ["docx" "docm" "dotx" "dotm"] [
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template"
        "application/vnd.ms-word.document.macroenabled.12"
        "application/vnd.ms-word.template.macroenabled.12"
    ];
    /// Excel, also with macros, templates and binary workbooks.
    Xlsx "xlsx" ["xlsx" "xlsm" "xltx" "xltm" "xlsb"] [
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template"
        "application/vnd.ms-excel.sheet.macroenabled.12"
        "application/vnd.ms-excel.template.macroenabled.12"
        "application/vnd.ms-excel.sheet.binary.macroenabled.12"
    ];
    /// PowerPoint, also with macros, templates and shows.
    Pptx "pptx" ["pptx" "pptm" "potx" "potm" "ppsx" "ppsm"] [
        "application/vnd.openxmlformats-officedocument.presentationml.presentation"
        "application/vnd.openxmlformats-officedocument.presentationml.template"
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow"
        "application/vnd.ms-powerpoint.presentation.macroenabled.12"
        "application/vnd.ms-powerpoint.slideshow.macroenabled.12"
    ];
    /// Word before 2007.
    Doc "doc" ["doc" "dot"] ["application/msword" "application/vnd.ms-word"];
    /// Excel before 2007.
    Xls "xls" ["xls" "xlt"] ["application/vnd.ms-excel" "application/msexcel" "application/x-msexcel"];
    /// PowerPoint before 2007.
    Ppt "ppt" ["ppt" "pot" "pps"] ["application/vnd.ms-powerpoint" "application/mspowerpoint"];
    /// OpenDocument text.
    Odt "odt" ["odt" "ott"] [
        "application/vnd.oasis.opendocument.text" "application/vnd.oasis.opendocument.text-template"
    ];
    /// OpenDocument spreadsheet.
    Ods "ods" ["ods" "ots"] [
        "application/vnd.oasis.opendocument.spreadsheet"
        "application/vnd.oasis.opendocument.spreadsheet-template"
    ];
    /// OpenDocument presentation.
    Odp "odp" ["odp" "otp"] [
        "application/vnd.oasis.opendocument.presentation"
        "application/vnd.oasis.opendocument.presentation-template"
    ];
    /// Rich Text Format.
    Rtf "rtf" ["rtf"] ["application/rtf" "text/rtf" "text/richtext"];
    /// Electronic book.
    Epub "epub" ["epub"] ["application/epub+zip"];
    /// Values separated by commas, semicolons or bars.
    Csv "csv" ["csv"] ["text/csv" "application/csv" "text/comma-separated-values"];
    /// Tab-separated values.
    Tsv "tsv" ["tsv" "tab"] ["text/tab-separated-values"];
    /// Image in Portable Network Graphics.
    Png "png" ["png"] ["image/png"];
    /// JPEG image.
    Jpeg "jpeg" ["jpeg" "jpg"] ["image/jpeg" "image/jpg"];
    /// WebP image.
    Webp "webp" ["webp"] ["image/webp"];
    /// TIFF image.
    Tiff "tiff" ["tiff" "tif"] ["image/tiff"];
}

/// Bytes at the start of a PDF in which its signature may begin.
const PDF_MARK_WITHIN: usize = 1024;

impl FileType {
    /// Returns the type for a content type, ignoring parameters.
    pub fn of_content_type(content_type: &str) -> Option<FileType> {
        let essence = content_type
            .split(';')
            .next()
            .unwrap_or("")
            .trim()
            .to_ascii_lowercase();
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.content_types().contains(&essence.as_str()))
    }

    /// Returns the type for the extension of a file name, or of the last segment of a path.
    pub fn of_name(name: &str) -> Option<FileType> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.extensions().contains(&extension.as_str()))
    }

    /// Returns whether it is an image, whose text has to be recognized.
    pub fn is_image(self) -> bool {
        matches!(
            self,
            FileType::Png | FileType::Jpeg | FileType::Webp | FileType::Tiff
        )
    }

    /// Detects the type from the content.
    pub fn of_bytes(body: &[u8]) -> Option<FileType> {
        if body.starts_with(b"PK\x03\x04") {
            return of_zip(body);
        }
        if body.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
            return of_compound(body);
        }
        if body.starts_with(b"{\\rtf") {
            return Some(FileType::Rtf);
        }
        of_image(body).or_else(|| find_pdf(body).map(|_| FileType::Pdf))
    }

    /// Returns the real type of a file declared as this type: servers often confuse the types of office
    /// files.
    pub fn corrected(self, body: &[u8]) -> FileType {
        match self {
            FileType::Csv | FileType::Tsv => self,
            _ => FileType::of_bytes(body).unwrap_or(self),
        }
    }
}

/// Returns where a PDF begins.
pub(super) fn find_pdf(body: &[u8]) -> Option<usize> {
    memmem::find(&body[..body.len().min(PDF_MARK_WITHIN)], b"%PDF-")
}

/// Detects the type of an image (WHATWG MIME sniffing section 6.1).
fn of_image(body: &[u8]) -> Option<FileType> {
    match body {
        _ if body.starts_with(b"\x89PNG\r\n\x1a\n") => Some(FileType::Png),
        _ if body.starts_with(b"\xFF\xD8\xFF") => Some(FileType::Jpeg),
        _ if body.starts_with(b"RIFF") && body.get(8..14) == Some(b"WEBPVP") => Some(FileType::Webp),
        _ if body.starts_with(b"II*\0") || body.starts_with(b"MM\0*") => Some(FileType::Tiff),
        _ => None,
    }
}

/// Detects the type of a zip archive: by the entry `mimetype`, which comes first in books and OpenDocument,
/// else by the folders of office packages.
fn of_zip(body: &[u8]) -> Option<FileType> {
    if body.get(30..38) == Some(b"mimetype") {
        let rest = &body[38..body.len().min(38 + 128)];
        let starts = |kind: &&FileType| rest.starts_with(kind.content_types()[0].as_bytes());
        // `...text` is also a prefix of `...text-template`, which is the same type.
        return FileType::ALL.iter().find(starts).copied();
    }
    let holds = |name: &[u8]| memmem::find(body, name).is_some();
    match () {
        () if holds(b"word/document") => Some(FileType::Docx),
        () if holds(b"xl/workbook") => Some(FileType::Xlsx),
        () if holds(b"ppt/presentation") => Some(FileType::Pptx),
        () if holds(b"META-INF/container.xml") => Some(FileType::Epub),
        () => None,
    }
}

/// Detects the type of a compound file by the names of its streams, in UTF-16.
fn of_compound(body: &[u8]) -> Option<FileType> {
    let holds = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        memmem::find(body, &name).is_some()
    };
    match () {
        // The type of the encrypted package is unknown; every reader reports that it is encrypted.
        () if holds("EncryptedPackage") => None,
        () if holds("WordDocument") => Some(FileType::Doc),
        () if holds("PowerPoint Document") => Some(FileType::Ppt),
        () if holds("Workbook") || holds("Book") => Some(FileType::Xls),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_types_are_detected_by_name_content_type_and_bytes() {
        assert_eq!(FileType::of_name("Report.PDF"), Some(FileType::Pdf));
        assert_eq!(FileType::of_name("/a.b/c"), None);
        assert_eq!(FileType::of_name("x.docm"), Some(FileType::Docx));
        assert_eq!(
            FileType::of_content_type("Application/PDF; a=b"),
            Some(FileType::Pdf)
        );
        assert_eq!(FileType::of_content_type("text/plain"), None);
        assert_eq!(FileType::of_bytes(b"\n%PDF-1.4"), Some(FileType::Pdf));
        assert_eq!(FileType::of_bytes(b"{\\rtf1 a}"), Some(FileType::Rtf));
        assert_eq!(
            FileType::of_bytes(b"PK\x03\x04 word/document.xml"),
            Some(FileType::Docx)
        );
        assert_eq!(FileType::of_bytes(b"PK\x03\x04"), None);
        assert_eq!(FileType::of_bytes(b""), None);
    }

    #[test]
    fn a_wrong_file_type_is_corrected_by_content() {
        assert_eq!(FileType::Doc.corrected(b"{\\rtf1 a}"), FileType::Rtf);
        assert_eq!(
            FileType::Xls.corrected(b"PK\x03\x04xl/workbook.xml"),
            FileType::Xlsx
        );
        assert_eq!(FileType::Docx.corrected(b"nothing"), FileType::Docx);
        assert_eq!(FileType::Csv.corrected(b"%PDF-"), FileType::Csv);
    }

    #[test]
    fn every_file_type_is_found_by_its_own_names() {
        for kind in FileType::ALL {
            assert_eq!(FileType::of_content_type(kind.content_types()[0]), Some(*kind));
            for extension in kind.extensions() {
                assert_eq!(
                    FileType::of_name(&format!("a.{extension}")),
                    Some(*kind),
                    "{extension}"
                );
            }
        }
    }
}
