//! Minimal settings of a live browser: no sandbox, no code, and the test's own sites as its network.

use std::path::PathBuf;
use std::sync::Arc;

use harvestman_browser::{Blocker, FileLimits, LiveConfig, Sandbox, find_chromium};

use crate::sites;

/// Returns the settings, with a folder in the system's temporary folder.
pub(crate) fn config(name: &str) -> LiveConfig {
    let program = std::env::var_os("HARVESTMAN_CHROMIUM").map(PathBuf::from);
    let data = std::env::temp_dir().join(format!("harvestman-{name}-{}", std::process::id()));
    LiveConfig {
        program: program
            .or_else(find_chromium)
            .expect("a Chromium: `cargo xtask test` installs one"),
        folder: data.join("browser"),
        agent: "Harvestman/1.0".to_owned(),
        sandbox: Sandbox::Off,
        init: PathBuf::new(),
        node: None,
        node_modules: vec![],
        python: None,
        unsandboxed_code: false,
        blocker: Blocker::default(),
        egress: Arc::new(sites::serve),
        files: FileLimits {
            file_bytes: 1 << 20,
            total_bytes: 3 << 20,
            files: 5,
        },
    }
}
