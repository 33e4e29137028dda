//! The languages that code may use on this server; starts their workers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use harvestman_core::api::interact::Language;
use tokio::sync::OnceCell;

use super::Worker;
use super::runtime::Runtime;
use crate::error::BrowserError;
use crate::files::CodeFolders;
use crate::sandbox::{Bubblewrap, Launcher};

/// The languages of this server.
pub(crate) struct Languages {
    pub(super) launcher: Launcher,
    pub(super) config: CodeConfig,
    node: OnceCell<Runtime>,
    python: OnceCell<Runtime>,
}

/// How this server runs code.
pub(crate) struct CodeConfig {
    /// `None`: code runs without isolation, or not at all.
    pub(crate) sandbox: Option<Bubblewrap>,
    /// Whether code may run without a sandbox.
    pub(crate) unsandboxed: bool,
    /// Home folder of code without a sandbox.
    pub(crate) folder: PathBuf,
    /// Folders that are hidden from code in a sandbox.
    pub(crate) private: Vec<PathBuf>,
    /// Bytes that the files of a session may add to those of its code.
    pub(crate) files_bytes: u64,
    /// Path of Node.js.
    pub(crate) node: Option<PathBuf>,
    /// Folders that are searched for playwright-core before those of Node.js.
    pub(crate) node_modules: Vec<PathBuf>,
    /// Path of Python.
    pub(crate) python: Option<PathBuf>,
}

impl Languages {
    /// Creates the languages of a server. No program is looked for yet.
    pub(crate) fn new(launcher: Launcher, config: CodeConfig) -> Languages {
        Languages {
            launcher,
            config,
            node: OnceCell::new(),
            python: OnceCell::new(),
        }
    }

    /// Returns where the code of one more browser finds files.
    pub(crate) fn code_folders(&self) -> CodeFolders {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let own = self.config.sandbox.is_none().then(|| {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            self.config
                .folder
                .join(format!("files-{}-{number}", std::process::id()))
        });
        let base = own.clone().unwrap_or_else(|| PathBuf::from("/tmp"));
        CodeFolders {
            uploads: base.join("files").display().to_string(),
            downloads: base.join("downloads").display().to_string(),
            own,
        }
    }

    /// Starts a worker.
    ///
    /// # Errors
    /// If the operator has not configured the language, or no sandbox is available.
    pub(crate) async fn start(&self, language: Language) -> Result<Worker, BrowserError> {
        Worker::start(self, self.runtime(language).await?).await
    }

    /// Checks that code of this language can be run here.
    ///
    /// # Errors
    /// As for [`Languages::start`].
    pub(crate) async fn check(&self, language: Language) -> Result<(), BrowserError> {
        match language {
            Language::Bash => Ok(()),
            Language::Node | Language::Python => self.runtime(language).await.map(drop),
        }
    }

    async fn runtime(&self, language: Language) -> Result<&Runtime, BrowserError> {
        let config = &self.config;
        if config.sandbox.is_none() && !config.unsandboxed {
            return Err(BrowserError::NotConfigured(
                "this server cannot run code because it has no sandbox: install bubblewrap and allow user \
                 namespaces, or set HARVESTMAN_UNSANDBOXED_CODE=1 to run code with the server's own rights"
                    .to_owned(),
            ));
        }
        match language {
            Language::Node => {
                let find = || Runtime::node(config.node.as_deref(), &config.node_modules);
                self.node.get_or_try_init(find).await
            }
            Language::Python => {
                let find = || Runtime::python(config.python.as_deref());
                self.python.get_or_try_init(find).await
            }
            Language::Bash => {
                let reason = "browser commands need no worker".to_owned();
                Err(BrowserError::NotConfigured(reason))
            }
        }
    }
}
