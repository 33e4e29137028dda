//! Bytes to content: decoding, HTML to Markdown, links, metadata.
//!
//! One parse into one arena serves everything that is asked of a page. Pure: no I/O, no clock, no randomness, and no
//! recursion over what a page nests, so the same code runs natively and on wasm32. Work and output are bounded on any
//! input; a page that reaches a bound is cut and says so ([`Page::truncated`]), it never fails.

mod clean_html;
mod decode;
mod facts;
pub mod files;
mod html;
mod limits;
mod main_content;
mod markdown;
mod page;
mod signs;

pub use decode::{Decoded, decode, undeclared_charset};
pub use facts::{FactCell, FactTable, Facts};
pub use html::frames::{FrameTag, frame_tags, with_frames};
pub use html::json_ld::day;
pub use html::metadata::{MetadataValue, PageMetadata};
pub use html::select::{Selector, SelectorError};
pub use page::{Content, Page, Selection};
pub use signs::{Mount, Scripts, Signs};
