//! Chromium over CDP.
