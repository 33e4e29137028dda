//! Live browsers configured as on a server: in the sandbox of this machine, with Node.js and Python.

use std::path::PathBuf;

use harvestman_browser::{LiveBrowsers, LiveConfig, Sandbox, find_node, find_python};

use crate::plain;

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// Returns the settings of a server whose data folder is in the system's temporary folder.
pub(crate) async fn config(name: &str) -> LiveConfig {
    let modules = named("HARVESTMAN_TEST_JAVASCRIPT").map(|folder| folder.join("node_modules"));
    let sandbox = Sandbox::detect().await;
    assert!(
        matches!(sandbox, Sandbox::Bubblewrap(_)),
        "bubblewrap: `cargo xtask test` installs it"
    );
    LiveConfig {
        sandbox,
        init: PathBuf::from(env!("CARGO_BIN_EXE_sandbox_init")),
        node: named("HARVESTMAN_TEST_NODE").or_else(find_node),
        node_modules: modules.into_iter().collect(),
        python: named("HARVESTMAN_TEST_PYTHON").or_else(find_python),
        ..plain::config(name)
    }
}

pub(crate) async fn browsers(name: &str) -> LiveBrowsers {
    LiveBrowsers::new(config(name).await)
}
