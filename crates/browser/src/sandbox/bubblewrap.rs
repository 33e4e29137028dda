//! Bubblewrap's arguments: what a process sees of the machine, which is as little as possible.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use super::group::Groups;
use super::init::{self, Stage};
use super::launcher::Launcher;
use super::{DOWNLOADS, INIT, SandboxedProcess};
use crate::limits;

const KNOWN_PATHS: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// A user id that no system assigns, so that it has only the rights that every user has.
const SANDBOX_USER: u32 = 64_123;

/// Bubblewrap, as available on this machine.
#[derive(Clone, Debug)]
pub struct Bubblewrap {
    program: PathBuf,
    /// Whether user namespaces can be nested, which a browser's own sandbox needs.
    can_nest: bool,
    /// User that starts sandboxes if the server runs as root and this works.
    user: Option<u32>,
    groups: Groups,
}

/// What one process can see and its resource limits.
#[derive(Clone, Debug)]
pub(crate) struct SandboxSpec {
    /// Visible files and folders, as host path and sandbox path; always read-only.
    pub(crate) visible: Vec<(PathBuf, PathBuf)>,
    /// Private folders of the server, hidden if they are within a visible folder.
    pub(crate) private: Vec<PathBuf>,
    /// Size of the writable in-memory folder.
    pub(crate) files_bytes: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) tasks: u64,
    pub(crate) access: Access,
    /// Port on its loopback interface that the server serves.
    pub(crate) port: u16,
}

/// The kind of process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// A browser, which creates its own sandboxes.
    Browser,
    /// Code of a user.
    Code,
}

impl Bubblewrap {
    /// Tests bubblewrap on this machine.
    ///
    /// # Errors
    /// Why it cannot be used, for the operator.
    pub(crate) async fn detect() -> Result<Bubblewrap, String> {
        let program = KNOWN_PATHS
            .iter()
            .map(PathBuf::from)
            .find(|path| path.is_file())
            .ok_or("bubblewrap is not installed")?;
        let mut bubblewrap = Bubblewrap {
            can_nest: false,
            user: rustix::process::geteuid().is_root().then_some(SANDBOX_USER),
            groups: Groups::detect(),
            program,
        };
        let spec = SandboxSpec::new(Access::Code, 0, vec![]);
        if bubblewrap.user.is_some() && bubblewrap.test_run(&spec, &["/usr/bin/true"]).await.is_err() {
            // Only root may create user namespaces here.
            bubblewrap.user = None;
        }
        bubblewrap.test_run(&spec, &["/usr/bin/true"]).await?;
        let bwrap = bubblewrap.program.to_string_lossy().into_owned();
        let nested = [
            bwrap.as_str(),
            "--unshare-user",
            "--ro-bind",
            "/",
            "/",
            "/usr/bin/true",
        ];
        let nested_result = bubblewrap
            .test_run(&SandboxSpec::new(Access::Browser, 0, vec![]), &nested)
            .await;
        if let Err(reason) = &nested_result {
            tracing::info!(%reason, "browsers run without their own nested sandbox");
        }
        if !bubblewrap.groups.complete() {
            tracing::warn!("no control groups: resource limits of sandboxes apply to single processes only");
        }
        Ok(Bubblewrap {
            can_nest: nested_result.is_ok(),
            ..bubblewrap
        })
    }

    /// Returns the path of the program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Returns whether a browser's own sandbox works inside.
    pub(crate) fn can_nest(&self) -> bool {
        self.can_nest
    }

    async fn test_run(&self, spec: &SandboxSpec, program: &[&str]) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command
            .args(spec.arguments())
            .arg("--")
            .args(program)
            .env_clear()
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let output = match timeout(limits::DETECT_TIMEOUT, command.output()).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => return Err(format!("cannot start {}: {error}", self.program.display())),
            Err(_) => return Err("bubblewrap does not finish".to_owned()),
        };
        match output.status.success() {
            true => Ok(()),
            false => Err(format!(
                "bubblewrap does not work on this machine: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )),
        }
    }

    /// Starts `program`, a path inside the sandbox, with the descriptors and environment that `set_up`
    /// configures.
    pub(crate) async fn start(
        &self,
        launcher: &Launcher,
        spec: &SandboxSpec,
        program: &Path,
        arguments: Vec<String>,
        set_up: impl FnOnce(&mut Command) -> io::Result<()>,
    ) -> io::Result<SandboxedProcess> {
        let group = self.groups.make(launcher, spec.memory_bytes, spec.tasks)?;
        let enter = Stage::Enter {
            port: spec.port,
            folder: (spec.access == Access::Browser).then(|| DOWNLOADS.into()),
            program: program.into(),
            arguments,
        };
        let init = &*launcher.init;
        let mut arguments = spec.arguments();
        arguments.extend([
            "--ro-bind".to_owned(),
            init.display().to_string(),
            INIT.to_owned(),
        ]);
        arguments.extend(["--remount-ro", "/", "--", INIT].map(str::to_owned));
        arguments.extend(enter.arguments());
        let required_paths = spec.visible.iter().map(|(from, _)| from.as_path()).chain([init]);
        let confine = Stage::Confine {
            user: self
                .user
                .filter(|_| required_paths.into_iter().all(is_world_readable)),
            groups: group
                .as_ref()
                .map(|group| group.procs_files())
                .unwrap_or_default(),
            data_bytes: (spec.access == Access::Code).then_some(limits::WORKER_MEMORY_BYTES),
            program: self.program.clone(),
            arguments,
        };
        let mut command = Command::new(init);
        command
            .args(confine.arguments())
            .env_clear()
            .kill_on_drop(true)
            .process_group(0);
        set_up(&mut command)?;
        let (ours, theirs) = UnixStream::pair()?;
        command.stdin(OwnedFd::from(theirs));
        let child = launcher.spawn(command).await?;
        let (port, downloads) = timeout(limits::START_TIMEOUT, init::receive(ours))
            .await
            .map_err(|_| io::Error::other("the sandbox did not start in time"))?
            .map_err(|_| io::Error::other("the sandbox failed to start"))?;
        Ok(SandboxedProcess {
            child,
            group,
            port,
            downloads,
        })
    }
}

impl SandboxSpec {
    /// Creates a sandbox description that shows only the system's programs.
    pub(crate) fn new(access: Access, port: u16, private: Vec<PathBuf>) -> SandboxSpec {
        let (memory_bytes, tasks, files_bytes) = match access {
            Access::Browser => (
                limits::BROWSER_MEMORY_BYTES,
                limits::BROWSER_TASKS,
                limits::BROWSER_FILES_BYTES,
            ),
            Access::Code => (
                limits::WORKER_MEMORY_BYTES,
                limits::WORKER_TASKS,
                limits::WORKER_FILES_BYTES,
            ),
        };
        SandboxSpec {
            visible: vec![],
            private,
            files_bytes,
            memory_bytes,
            tasks,
            access,
            port,
        }
    }

    /// Returns bubblewrap's arguments except the program.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = Arguments::default();
        for namespace in ["user", "pid", "net", "ipc", "uts", "cgroup-try"] {
            arguments.add([format!("--unshare-{namespace}")]);
        }
        arguments.add(["--die-with-parent", "--new-session", "--hostname", "sandbox"]);
        arguments.add(["--uid", "1000", "--gid", "1000"]);
        if self.access == Access::Code {
            arguments.add(["--disable-userns"]);
        }
        arguments.add(["--ro-bind", "/usr", "/usr"]);
        for name in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] {
            match std::fs::read_link(name) {
                Ok(target) => arguments.add([OsStr::new("--symlink"), target.as_os_str(), OsStr::new(name)]),
                Err(_) => arguments.add(["--ro-bind-try", name, name]),
            }
        }
        for name in [
            "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/var/cache/fontconfig",
        ] {
            arguments.add(["--ro-bind-try", name, name]);
        }
        for (from, to) in &self.visible {
            arguments.add([OsStr::new("--ro-bind"), from.as_os_str(), to.as_os_str()]);
        }
        for folder in &self.private {
            let is_visible = self
                .visible
                .iter()
                .any(|(from, to)| from == to && folder.starts_with(from));
            if is_visible || folder.starts_with("/usr") {
                arguments.add([OsStr::new("--tmpfs"), folder.as_os_str()]);
                arguments.add([OsStr::new("--remount-ro"), folder.as_os_str()]);
            }
        }
        let shared = limits::SHARED_MEMORY_BYTES.to_string();
        arguments.add(["--proc", "/proc", "--dev", "/dev"]);
        match self.access {
            // The browser's own sandbox writes there about its own processes.
            Access::Browser => {
                for name in writable_proc_entries() {
                    arguments.add(["--ro-bind-try", &name, &name]);
                }
            }
            Access::Code => arguments.add(["--remount-ro", "/proc"]),
        }
        arguments.add(["--size", &shared, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]);
        arguments.add([
            "--size",
            &self.files_bytes.to_string(),
            "--tmpfs",
            "/tmp",
            "--chdir",
            "/tmp",
        ]);
        for (name, value) in [("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("LANG", "C.UTF-8")] {
            arguments.add(["--setenv", name, value]);
        }
        arguments.0
    }
}

/// Returns whether every user may read the path.
fn is_world_readable(path: &Path) -> bool {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let allows =
        |path: &Path, rights| std::fs::metadata(path).is_ok_and(|data| data.mode() & rights == rights);
    allows(&path, 0o5) && path.ancestors().skip(1).all(|folder| allows(folder, 0o1))
}

/// Returns the writable entries of `/proc` other than processes. They belong to root, and the kernel treats a
/// process started by a server that runs as root as root's, whatever its user id in the sandbox is.
fn writable_proc_entries() -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let is_process = entry
                .file_name()
                .to_string_lossy()
                .starts_with(|c: char| c.is_ascii_digit());
            let is_writable = entry
                .metadata()
                .is_ok_and(|data| data.is_dir() || data.mode() & 0o222 != 0);
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            is_writable && !is_process && !is_link
        })
        .map(|entry| entry.path().display().to_string())
        .collect()
}

#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn add(&mut self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) {
        let words = words
            .into_iter()
            .map(|word| word.as_ref().to_string_lossy().into_owned());
        self.0.extend(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sandboxed_process_cannot_change_kernel_settings() {
        let bubblewrap = Bubblewrap::detect().await.unwrap();
        for access in [Access::Browser, Access::Code] {
            let write = "file=/proc/sys/kernel/core_uses_pid; known=$(cat $file) && ! echo $known > $file";
            let spec = SandboxSpec::new(access, 0, vec![]);
            bubblewrap
                .test_run(&spec, &["/bin/sh", "-c", write])
                .await
                .unwrap();
        }
    }
}
