//! Typed client of the API over fetch; builds for wasm32.
