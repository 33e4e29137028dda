//! The npm package: wasm-bindgen surface of client, core and content.
