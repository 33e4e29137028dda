//! Does what `harvestman sandbox-init` does, for the tests of this crate.

fn main() -> std::io::Result<()> {
    let argument = std::env::args().nth(2).unwrap_or_default();
    harvestman_browser::sandbox_init(&argument).map(|never| match never {})
}
