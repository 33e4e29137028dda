//! The only way out: HTTP client with address guard, caps and deadlines.
