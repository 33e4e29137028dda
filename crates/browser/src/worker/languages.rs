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
    pub(super) init: PathBuf,
    pub(super) private: Vec<PathBuf>,
    /// `None`: code runs without isolation.
    pub(super) sandbox: Option<Bubblewrap>,
    /// Home folder of code without a sandbox.
    pub(super) folder: PathBuf,
    /// Bytes that the files of a session may add to those of its code.
    pub(crate) files_bytes: u64,
    allowed: bool,
    node: OnceCell<Runtime>,
    python: OnceCell<Runtime>,
    programs: Programs,
}

/// The programs that the operator has configured.
pub(crate) struct Programs {
    pub(crate) node: Option<PathBuf>,
    pub(crate) node_modules: Vec<PathBuf>,
    pub(crate) python: Option<PathBuf>,
}

impl Languages {
    /// Creates the languages of a server; `unsandboxed` is whether code may run without a sandbox.
    pub(crate) fn new(
        launcher: Launcher,
        init: PathBuf,
        folder: PathBuf,
        private: Vec<PathBuf>,
        sandbox: Option<Bubblewrap>,
        unsandboxed: bool,
        programs: Programs,
    ) -> Languages {
        Languages {
            allowed: sandbox.is_some() || unsandboxed,
            launcher,
            init,
            private,
            sandbox,
            folder,
            files_bytes: 0,
            node: OnceCell::new(),
            python: OnceCell::new(),
            programs,
        }
    }

    /// Returns where the code of one more browser finds files.
    pub(crate) fn code_folders(&self) -> CodeFolders {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let own = self.sandbox.is_none().then(|| {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            self.folder.join(format!("files-{}-{number}", std::process::id()))
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
        if !self.allowed {
            return Err(BrowserError::NotConfigured(
                "this server cannot run code because it has no sandbox: install bubblewrap and allow user \
                 namespaces, or set HARVESTMAN_UNSANDBOXED_CODE=1 to run code with the server's own rights"
                    .to_owned(),
            ));
        }
        let programs = &self.programs;
        match language {
            Language::Node => {
                let find = || Runtime::node(programs.node.as_deref(), &programs.node_modules);
                self.node.get_or_try_init(find).await
            }
            Language::Python => {
                let find = || Runtime::python(programs.python.as_deref());
                self.python.get_or_try_init(find).await
            }
            Language::Bash => {
                let reason = "browser commands need no worker".to_owned();
                Err(BrowserError::NotConfigured(reason))
            }
        }
    }
}
