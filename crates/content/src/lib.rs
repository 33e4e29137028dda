//! Converts bytes to content: charset decoding, HTML to Markdown, links, metadata, stated facts, and (feature
//! `files`) PDF and office documents. Start with [`HtmlPage`].
//!
//! A page is parsed once into one arena, from which every output is made. The crate is pure: no I/O, no
//! clock, no randomness, and no recursion over nesting in the input, so the same code runs natively and on
//! wasm32. Work and output are bounded on any input: a page that reaches a limit is cut and marked
//! ([`HtmlPage::truncated`]); it never fails.

mod clean_html;
mod consent;
mod decode;
mod facts;
pub mod files;
mod hash;
mod html;
mod limits;
mod main_content;
mod markdown;
mod page;
mod render_signals;

pub use consent::selectors as consent_selectors;
pub use decode::{DecodedText, decode, needs_charsets, undeclared_charset};
pub use facts::{FactCell, FactTable, Facts};
pub use html::frames::{FrameTag, frame_tags, inline_frames};
pub use html::json_ld::parse_day;
pub use html::metadata::{MetadataValue, PageMetadata};
pub use html::redirect::refresh_target;
pub use html::select::{Selector, SelectorError};
pub use page::{Content, HtmlPage, Selection};
pub use render_signals::{ENOUGH_TEXT, Mount, RenderSignals, Scripts};
