//! HTTP in front of the engine: the binary `harvestman`.

fn main() {}
