//! All limits of this crate. A page that reaches one is cut there and marked truncated, never refused.

/// Bytes at the start of a page that are searched for a `meta` charset, as in browsers.
pub(crate) const META_PRESCAN_BYTES: usize = 1024;
/// Bytes that are searched for a `meta` charset if the page would otherwise need a guess.
pub(crate) const LATE_META_BYTES: usize = 64 * 1024;
/// Bytes that show whether text is UTF-16.
pub(crate) const UTF_16_BYTES: usize = 4096;
/// Bytes that the statistical charset detector reads.
#[cfg(feature = "charsets")]
pub(crate) const DETECTION_BYTES: usize = 256 * 1024;

/// Maximum number of open elements; further tags are dropped, their text is kept.
pub(crate) const OPEN_DEPTH: usize = 512;
/// Maximum number of open formatting elements (`b`, `i`, `font`, ...); further tags are dropped, their text
/// is kept.
pub(crate) const OPEN_FORMATTING: usize = 64;
/// Attributes per tag; further ones are dropped.
pub(crate) const ATTRIBUTES_PER_TAG: usize = u8::MAX as usize;
/// Nodes per page; the rest of the page is dropped.
pub(crate) const NODES: usize = 2_000_000;
/// Nodes that the tree builder may move in one page while it repairs misnested tags.
pub(crate) const MOVED_NODES: usize = 4_000_000;
/// Bytes of HTML that are parsed.
pub(crate) const INPUT_BYTES: usize = 256 * 1024 * 1024;
/// Maximum size of the output, as a multiple of the input, plus [`SLACK_BYTES`].
pub(crate) const OUTPUT_FACTOR: usize = 3;
/// Bytes added to the limits that are multiples of the input.
pub(crate) const SLACK_BYTES: usize = 1024 * 1024;

/// Columns per table, and columns that one cell may span.
pub(crate) const TABLE_COLUMNS: usize = 1000;
/// Cells that spans add per table; further spans are ignored.
pub(crate) const SPANNED_CELLS: usize = 200_000;
/// Cells per table up to which short rows are padded with empty cells.
pub(crate) const PADDED_CELLS: usize = 200_000;
/// Nesting of quotes and lists in the Markdown; deeper ones continue on the deepest level.
pub(crate) const MARKDOWN_NESTING: usize = 32;
/// Characters of a code fence or of an inline code delimiter.
pub(crate) const CODE_FENCE_CHARS: usize = 64;
/// Bytes of TeX per formula; a longer one is written as plain text.
pub(crate) const FORMULA_BYTES: usize = 4096;
/// Nodes of MathML per formula; a bigger one is written as plain text.
pub(crate) const FORMULA_NODES: usize = 16 * 1024;
/// Maximum bytes of text for a link that contains blocks to become one line; in a longer link, only the first
/// block is linked.
pub(crate) const LINK_BLOCK_TEXT_BYTES: u16 = 400;

/// Characters per selector.
pub(crate) const SELECTOR_CHARS: usize = 2000;
/// Comma-separated alternatives per selector.
pub(crate) const SELECTOR_ALTERNATIVES: usize = 64;
/// Compound parts per alternative (`a b > c` has three).
pub(crate) const SELECTOR_PARTS: usize = 16;
/// Tests per compound part (`a.b[c]` has three).
pub(crate) const SELECTOR_TESTS: usize = 16;
/// Levels of brackets in a selector.
pub(crate) const SELECTOR_NESTING: u8 = 8;
/// Maximum steps for matching the selectors of a page: one for each query about an element, more for long
/// attribute values.
pub(crate) const SELECTOR_STEPS: u64 = 100_000_000;

/// Bytes per URL; a longer one is not treated as a link.
pub(crate) const URL_BYTES: usize = 65_536;
/// Distinct metadata keys per page.
pub(crate) const METADATA_KEYS: usize = 1000;
/// Bytes per metadata value.
pub(crate) const METADATA_VALUE_BYTES: usize = 65_536;
/// Bytes per JSON-LD block; a longer one is ignored.
pub(crate) const JSON_LD_BYTES: usize = 1024 * 1024;

/// Bytes of main text kept to compare two versions of a page, and bytes of text read per `noscript`.
pub(crate) const MAIN_TEXT_BYTES: usize = 16 * 1024;
/// Bytes of code read per inline script, and element names collected from all of them.
pub(crate) const SCRIPT_BYTES: usize = 64 * 1024;
pub(crate) const SCRIPT_NAMES: usize = 256;
/// Bytes of code read from a script that may be a redirect.
pub(crate) const REDIRECT_SCRIPT_BYTES: usize = 4096;

/// Stated objects per page, JSON-LD blocks read, and nesting of microdata.
pub(crate) const FACT_OBJECTS: usize = 500;
pub(crate) const FACT_BLOCKS: usize = 50;
pub(crate) const FACT_NESTING: usize = 16;
/// References between objects that are resolved.
pub(crate) const FACT_REFERENCES: usize = 200;
/// Values per property or items per list, and lists per page.
pub(crate) const FACT_LIST: usize = 1000;
pub(crate) const FACT_LISTS: usize = 200;
/// Bytes per value.
pub(crate) const FACT_TEXT_BYTES: usize = 8192;
/// Data tables per page, rows and columns per table, and cells in all tables.
pub(crate) const FACT_TABLES: usize = 100;
pub(crate) const FACT_ROWS: usize = 1000;
pub(crate) const FACT_COLUMNS: usize = 50;
pub(crate) const FACT_CELLS: usize = 20_000;
/// Label-value pairs per page, characters and words per label, and nodes of the block that contains a pair.
pub(crate) const FACT_PAIRS: usize = 1000;
pub(crate) const FACT_LABEL_CHARS: usize = 40;
pub(crate) const FACT_LABEL_WORDS: usize = 5;
pub(crate) const FACT_PAIR_NODES: u32 = 40;

#[cfg(feature = "files")]
pub(crate) use files::*;

/// Limits for reading files, which only the server does.
#[cfg(feature = "files")]
mod files {
    /// Bytes of HTML made from a file.
    pub(crate) const FILE_HTML_BYTES: usize = 64 * 1024 * 1024;
    /// Unpacked bytes per archive.
    pub(crate) const ARCHIVE_BYTES: u64 = 200 * 1024 * 1024;
    /// Entries per archive.
    pub(crate) const ARCHIVE_ENTRIES: usize = 20_000;
    /// Compression ratio per archive entry, checked once the entry exceeds some MiB.
    pub(crate) const ARCHIVE_RATIO: u64 = 500;
    /// Characters of text per office file.
    pub(crate) const OFFICE_TEXT_CHARS: usize = 32 * 1024 * 1024;
    /// Bytes of XML per equation of an office file; a longer one is written as plain text.
    pub(crate) const EQUATION_BYTES: usize = 256 * 1024;
    /// Parts of a Word document before 2007 that its styles hide; if there are more, they are not left out.
    pub(crate) const HIDDEN_TEXTS: usize = 100_000;
    /// Maximum memory for converting an office file, in bytes. A small file can need a multiple of its size.
    pub(crate) const OFFICE_MEMORY_BYTES: u64 = 256 * 1024 * 1024;
    /// Pages read per PDF, whatever the request says.
    pub(crate) const PDF_PAGES: u32 = 10_000;
    /// Bytes at the end of a PDF that are searched for the mark of its end.
    pub(crate) const PDF_END_BYTES: usize = 4096;
    /// Bytes of the pages of a PDF from which marked headers and footers are removed.
    pub(crate) const PDF_CHANGED_BYTES: usize = 64 * 1024 * 1024;
    /// Blocks at the top and at the bottom of a page that may be running headers and footers.
    pub(crate) const PDF_MARGIN_BLOCKS: usize = 3;
    /// Texts per page of a PDF, and per line, among which columns and tables are found.
    pub(crate) const PDF_PAGE_TEXTS: usize = 20_000;
    pub(crate) const PDF_LINE_TEXTS: usize = 1000;
    /// Comparisons of the drawn lines of a page with each other and with its texts, to find tables: per page of any
    /// PDF, and in all larger pages of one.
    pub(crate) const PDF_PAGE_PAIRS: u64 = 25_000_000;
    pub(crate) const PDF_PAIRS: u64 = 1_000_000_000;
    /// Bytes of the forms that one page paints, and what each of them counts in addition.
    pub(crate) const PDF_FORM_BYTES: usize = 32 * 1024 * 1024;
    pub(crate) const PDF_FORM_COST: usize = 256;
    /// Pages of a PDF whose images are returned for text recognition.
    pub(crate) const SCANNED_PAGES: usize = 200;
    /// Images per page that are returned, and bytes of all images of a file.
    pub(crate) const SCANS_PER_PAGE: usize = 8;
    pub(crate) const SCAN_BYTES: usize = 128 * 1024 * 1024;
    /// Sides of an image that may contain text, in pixels, and its area.
    pub(crate) const SCAN_MIN_SIDE_PIXELS: u32 = 64;
    pub(crate) const SCAN_SIDE_PIXELS: usize = 32_767;
    pub(crate) const SCAN_PIXELS: usize = 100_000_000;
    /// Outline entries read per PDF.
    pub(crate) const PDF_OUTLINE_ENTRIES: usize = 20_000;
    /// Maximum number of open elements in the XML of a file.
    pub(crate) const XML_DEPTH: usize = 256;
    /// Repetitions of one row or cell of a sheet.
    pub(crate) const REPEATED_CELLS: usize = 1000;
    /// Cells in all tables of a file.
    pub(crate) const FILE_CELLS: usize = 1_000_000;
    /// Maximum number of open groups in an RTF file.
    pub(crate) const RTF_DEPTH: usize = 256;
}
