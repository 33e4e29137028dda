//! Every bound of this crate. A page that reaches one is cut there and marked truncated, never refused.

/// Bytes at the start of a page that are searched for a `meta` charset, as browsers do.
pub(crate) const META_PRESCAN_BYTES: usize = 1024;
/// Bytes that the statistical charset detector looks at.
pub(crate) const DETECTION_BYTES: usize = 256 * 1024;

/// Elements open at one time; tags beyond are dropped, their text stays.
pub(crate) const OPEN_DEPTH: usize = 512;
/// Formatting elements (`b`, `i`, `font`, ...) open at one time; tags beyond are dropped, their text stays.
pub(crate) const OPEN_FORMATTING: usize = 64;
/// Attributes of one tag; the rest are dropped.
pub(crate) const ATTRIBUTES_PER_TAG: usize = 256;
/// Nodes of one page; the rest of the page is dropped.
pub(crate) const NODES: usize = 2_000_000;
/// Nodes that the tree builder may move about in one page while it repairs misnested tags.
pub(crate) const MOVED_NODES: usize = 4_000_000;
/// Bytes of page text that one parse takes.
pub(crate) const INPUT_BYTES: usize = 256 * 1024 * 1024;
/// Copied text and attribute values may be this many times the input, plus the slack.
pub(crate) const COPIED_TEXT_FACTOR: usize = 3;
/// Output may be this many times the input, plus the slack.
pub(crate) const OUTPUT_FACTOR: usize = 3;
/// Bytes added to the bounds that are multiples of the input.
pub(crate) const SLACK_BYTES: usize = 1024 * 1024;

/// Columns that one table cell may span, and columns of a table.
pub(crate) const TABLE_COLUMNS: usize = 1000;
/// Cells that one table may grow to by spans; a bigger one is written as text.
pub(crate) const TABLE_CELLS: usize = 200_000;
/// Nested quotes and lists that the Markdown shows; deeper ones continue on the deepest level.
pub(crate) const MARKDOWN_NESTING: usize = 32;
/// Characters of a fence or of an inline code delimiter.
pub(crate) const CODE_FENCE_CHARS: usize = 64;
/// TeX of one formula; a longer one is walked as characters.
pub(crate) const FORMULA_BYTES: usize = 4096;
/// Text of a link that holds blocks: up to here it becomes one line, beyond only its first block is linked.
pub(crate) const LINK_BLOCK_TEXT_BYTES: usize = 400;

/// Characters of a selector.
pub(crate) const SELECTOR_CHARS: usize = 1000;
/// Comma-separated alternatives of a selector.
pub(crate) const SELECTOR_ALTERNATIVES: usize = 64;
/// Compound parts of one alternative (`a b > c` has three).
pub(crate) const SELECTOR_PARTS: usize = 16;
/// Tests of one compound part (`a.b[c]` has three).
pub(crate) const SELECTOR_TESTS: usize = 16;

/// Bytes of one URL of a page; a longer one is not a link.
pub(crate) const URL_BYTES: usize = 65_536;
/// Distinct keys of page metadata.
pub(crate) const METADATA_KEYS: usize = 1000;
/// Bytes of one metadata value.
pub(crate) const METADATA_VALUE_BYTES: usize = 65_536;
/// Bytes of one JSON-LD block that are read.
pub(crate) const JSON_LD_BYTES: usize = 1024 * 1024;

/// Main text that is kept to tell two versions of a page apart, and text of one `noscript` that is looked at.
pub(crate) const MAIN_TEXT_BYTES: usize = 16 * 1024;
/// Code of one inline script that is looked at, and names of elements that are noted from all of them.
pub(crate) const SCRIPT_BYTES: usize = 64 * 1024;
pub(crate) const SCRIPT_NAMES: usize = 256;
/// Code of a script that may be a redirect, and the weight of the text beside it.
pub(crate) const REDIRECT_SCRIPT_BYTES: usize = 4096;

/// Objects that a page states, JSON-LD blocks that are read, and how deep microdata nests.
pub(crate) const FACT_OBJECTS: usize = 500;
pub(crate) const FACT_BLOCKS: usize = 50;
pub(crate) const FACT_NESTING: usize = 16;
/// References between objects that are filled in.
pub(crate) const FACT_REFERENCES: usize = 200;
/// Values of one property or items of one list, and lists of a page.
pub(crate) const FACT_LIST: usize = 1000;
pub(crate) const FACT_LISTS: usize = 200;
/// Bytes of one value.
pub(crate) const FACT_TEXT_BYTES: usize = 8192;
/// Tables of data, rows and columns of one, and cells of all.
pub(crate) const FACT_TABLES: usize = 100;
pub(crate) const FACT_ROWS: usize = 1000;
pub(crate) const FACT_COLUMNS: usize = 50;
pub(crate) const FACT_CELLS: usize = 20_000;
/// Pairs of a page, characters and words of a label, nodes of the block that holds a pair.
pub(crate) const FACT_PAIRS: usize = 1000;
pub(crate) const FACT_LABEL_CHARS: usize = 40;
pub(crate) const FACT_LABEL_WORDS: usize = 5;
pub(crate) const FACT_PAIR_NODES: u32 = 40;

#[cfg(feature = "files")]
pub(crate) use files::*;

/// Of files, which only the server reads.
#[cfg(feature = "files")]
mod files {
    /// Bytes of HTML that a file may become.
    pub(crate) const FILE_HTML_BYTES: usize = 64 * 1024 * 1024;
    /// Bytes that an archive may hold in all when it is unpacked.
    pub(crate) const ARCHIVE_BYTES: u64 = 200 * 1024 * 1024;
    /// Entries of an archive.
    pub(crate) const ARCHIVE_ENTRIES: usize = 20_000;
    /// Times that one entry of an archive may be larger than what is stored of it, once it has some MiB.
    pub(crate) const ARCHIVE_RATIO: u64 = 500;
    /// Characters of text that an office file may give.
    pub(crate) const OFFICE_TEXT_CHARS: usize = 32 * 1024 * 1024;
    /// Memory that converting an office file may take for what a small file can multiply, in bytes.
    pub(crate) const OFFICE_MEMORY_BYTES: u64 = 256 * 1024 * 1024;
    /// Pages of a PDF that are read, whatever is asked.
    pub(crate) const PDF_PAGES: u32 = 10_000;
    /// Blocks at the top and at the bottom of a page among which running headers and footers are looked for.
    pub(crate) const PDF_MARGIN_BLOCKS: usize = 3;
    /// Entries of a PDF's outline that are looked at.
    pub(crate) const PDF_OUTLINE_ENTRIES: usize = 20_000;
    /// Elements open at one time in the XML of a file.
    pub(crate) const XML_DEPTH: usize = 256;
    /// Times that one row or cell of a sheet is repeated.
    pub(crate) const REPEATED_CELLS: usize = 1000;
    /// Cells of all tables of a file.
    pub(crate) const FILE_CELLS: usize = 1_000_000;
    /// Groups open at one time in an RTF file.
    pub(crate) const RTF_DEPTH: usize = 256;
}
