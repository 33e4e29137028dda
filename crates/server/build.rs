//! Creates the folder of the console's files if it is missing, so that the server also builds without the console.
//! Such a server shows how to build the console instead.

use std::path::Path;

fn main() {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist");
    if let Err(error) = std::fs::create_dir_all(&dist) {
        panic!("cannot create the folder {}: {error}", dist.display());
    }
    println!("cargo:rerun-if-changed={}", dist.display());
    println!("cargo:rerun-if-changed=build.rs");
}
