//! Creates the folders of what the binary embeds if they are missing: the console, the driver for code in Node.js, and
//! the script for consent banners. The server also builds without them: it then shows how to build the console, uses an
//! installed driver, and hides banners instead of answering them.

use std::path::Path;

const CONSOLE: &str = "../../dist";

fn main() {
    for folder in [CONSOLE, "driver", "consent"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        if let Err(error) = std::fs::create_dir_all(&path) {
            panic!("cannot create the folder {}: {error}", path.display());
        }
        // With debug assertions, the server reads the files at run time; without this feature, also the console.
        let is_embedded = folder != CONSOLE || std::env::var_os("CARGO_FEATURE_EMBEDDED_CONSOLE").is_some();
        if is_embedded && std::env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_none() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
}
