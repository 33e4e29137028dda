//! PostgreSQL for tests: the programs of the distribution, and a cluster of their own in a temporary folder.

use std::{
    fs::{self, File},
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

use super::apt;
use crate::run;

/// Where the packages of Debian and Ubuntu put the programs, in a folder per version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The system user of the packages. PostgreSQL does not run as root.
const USER: &str = "postgres";

/// Prefix of the folder names.
const FOLDER: &str = "harvestman-postgres-";
/// File in the folder that is locked while its process runs.
const LOCK: &str = "lock";

/// A running PostgreSQL server; stopped and deleted on drop, or at the next start if its process was killed.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    _lock: File,
}

impl Cluster {
    /// Installs PostgreSQL if it is missing, and starts a server on a free port of 127.0.0.1. With `fsync` set to `on`,
    /// the server writes to the disk before it confirms a commit; with `off`, it does not.
    pub(super) fn start(fsync: &str) -> Result<Cluster> {
        let programs = programs().map_or_else(
            || {
                apt::install(&["postgresql"], "test the PostgreSQL store")?;
                programs().with_context(|| format!("PostgreSQL: no initdb in PATH or {VERSIONS}"))
            },
            Ok,
        )?;
        delete_abandoned(&programs)?;
        let folder = std::env::temp_dir().join(format!("{FOLDER}{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        let lock = File::create(folder.join(LOCK))?;
        lock.lock()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let cluster = Cluster {
            programs,
            folder,
            port,
            _lock: lock,
        };
        if is_root()? {
            let id = |flag| run::output(run::command("id").args([flag, USER]));
            let (user, group) = (id("-u")?.trim().parse::<u32>()?, id("-g")?.trim().parse::<u32>()?);
            chown(&cluster.folder, Some(user), Some(group))?;
        }
        let data = cluster.data();
        run::output(
            cluster
                .command("initdb")?
                .args([
                    "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D",
                ])
                .arg(&data),
        )
        .context("PostgreSQL: initdb failed")?;
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c fsync={fsync} -c max_connections=300",
            cluster.folder.display()
        );
        run::output(
            cluster
                .command("pg_ctl")?
                .args(["start", "--wait", "--silent", "-D"])
                .arg(&data)
                .arg("-l")
                .arg(cluster.folder.join("log"))
                .args(["-o", &options]),
        )
        .context("PostgreSQL: the server does not start")?;
        Ok(cluster)
    }

    /// Returns the URL of the server, without a database name.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}", self.port)
    }

    /// Returns the program that stops and starts the server.
    pub(crate) fn control(&self) -> PathBuf {
        self.programs.join("pg_ctl")
    }

    /// Returns the folder of the data.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Returns a command that runs a program of PostgreSQL, not as root.
    fn command(&self, program: &str) -> Result<Command> {
        let program = self.programs.join(program);
        let mut command = match is_root()? {
            false => run::command(program),
            true => {
                let mut command = run::command("setpriv");
                command
                    .args(["--reuid", USER, "--regid", USER, "--clear-groups"])
                    .arg(program);
                command
            }
        };
        // The user may not enter the folder of the clone.
        command.current_dir(&self.folder);
        Ok(command)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Ok(mut stop) = self.command("pg_ctl") {
            stop.args(["stop", "--silent", "--mode=immediate", "-D"])
                .arg(self.data());
            // Not by `run`, which starts nothing after a signal.
            stop.stdin(Stdio::null()).output().ok();
        }
        fs::remove_dir_all(&self.folder).ok();
    }
}

/// Stops and deletes the servers whose processes were killed.
fn delete_abandoned(programs: &Path) -> Result<()> {
    for entry in fs::read_dir(std::env::temp_dir())?.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(FOLDER) {
            continue;
        }
        if let Ok(lock) = File::open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            drop(Cluster {
                programs: programs.to_owned(),
                folder: entry.path(),
                port: 0,
                _lock: lock,
            });
        }
    }
    Ok(())
}

fn is_root() -> Result<bool> {
    Ok(fs::metadata("/proc/self")?.uid() == 0)
}

/// Returns the folder of the programs: of the newest version of the distribution, or of `initdb` in PATH.
fn programs() -> Option<PathBuf> {
    let version = |path: &Path| -> Option<u32> { path.file_name()?.to_str()?.parse().ok() };
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let newest = versions
        .map(|entry| entry.path())
        .filter(|path| path.join("bin/initdb").exists())
        .max_by_key(|path| version(path.as_path()));
    let in_path = || run::find_in_path("initdb").and_then(|file| Some(file.parent()?.to_owned()));
    newest.map(|path| path.join("bin")).or_else(in_path)
}
