//! The binary `harvestman`.

fn main() -> std::process::ExitCode {
    harvestman_server::cli::main()
}
