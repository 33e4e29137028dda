//! HTML: parsing into one arena (`parse`, `dom`), and everything that is read from it without converting it.

pub(crate) mod attr;
mod build;
mod byline;
pub(crate) mod dom;
pub(crate) mod frames;
pub(crate) mod json_ld;
pub(crate) mod links;
pub(crate) mod metadata;
mod name_hash;
pub(crate) mod name_set;
mod names;
mod node;
pub(crate) mod outline;
mod page_title;
pub(crate) mod parse;
pub(crate) mod redirect;
pub(crate) mod select;
mod shadow;
pub(crate) mod tag;
mod tag_set;
mod tokenizer;
