//! Bytes to content: decoding, HTML to Markdown, links, metadata. Pure: no I/O, no clock.
