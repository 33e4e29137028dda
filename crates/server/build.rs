//! Makes sure that the folder of the console's files exists, also when the console was not built; the
//! server then says how to build it.

use std::path::Path;

fn main() {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist");
    if let Err(error) = std::fs::create_dir_all(&dist) {
        panic!("the folder {} cannot be made: {error}", dist.display());
    }
    println!("cargo:rerun-if-changed={}", dist.display());
    println!("cargo:rerun-if-changed=build.rs");
}
