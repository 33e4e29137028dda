//! PostgreSQL of the cluster: a primary and a synchronous standby, which takes over when the primary fails.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use harvestman_tests::{TestDatabase, tools};
use tokio_postgres::{Client, NoTls};

/// How long a standby may take until it receives the log of its primary.
const STREAMS_WITHIN: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(200);

/// The database of the servers.
pub(crate) struct Database {
    first: TestDatabase,
    primary: Instance,
    standby: Instance,
}

/// A PostgreSQL server.
struct Instance {
    data: PathBuf,
    port: u16,
    /// User and group that it runs as.
    user: (u32, u32),
}

impl Database {
    /// Creates a database on the PostgreSQL server of the environment, and a standby of that server.
    pub(crate) async fn create() -> Result<Database> {
        let first = TestDatabase::create().await;
        let data = tools::path("HARVESTMAN_TEST_POSTGRES_DATA");
        let owner = fs::metadata(&data).with_context(|| data.display().to_string())?;
        let user = (owner.uid(), owner.gid());
        let instance = |data, port| Instance { data, port, user };
        let database = Database {
            standby: instance(
                data.with_extension("standby"),
                TcpListener::bind("127.0.0.1:0")?.local_addr()?.port(),
            ),
            primary: instance(data, port(first.url())?),
            first,
        };
        database.add_standby().await?;
        Ok(database)
    }

    /// Returns the URL of the primary.
    pub(crate) fn url(&self) -> Result<String> {
        let url = self.first.url();
        let port = |port| format!(":{port}/");
        Ok(url.replacen(&port(self::port(url)?), &port(self.primary.port), 1))
    }

    pub(crate) async fn connect(&self) -> Result<Client> {
        let (client, connection) = tokio_postgres::connect(&self.url()?, NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Restarts the primary without a checkpoint, as after a crash: transactions that are not committed are lost.
    pub(crate) fn restart(&self) -> Result<()> {
        self.primary.control(&["restart", "--mode=immediate"])
    }

    /// Stops the primary as in a crash, and makes the standby the primary, which has every commit.
    pub(crate) fn promote(&mut self) -> Result<()> {
        self.primary.control(&["stop", "--mode=immediate"])?;
        self.standby.control(&["promote"])?;
        std::mem::swap(&mut self.primary, &mut self.standby);
        self.primary.wait_for_standby(false)
    }

    /// Copies the primary to a new standby, for which every commit waits from then on.
    pub(crate) async fn add_standby(&self) -> Result<()> {
        self.standby.copy(&self.primary)?;
        let client = self.connect().await?;
        let since = Instant::now();
        let streams = "SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming'";
        while !client.query_one(streams, &[]).await?.get::<_, bool>(0) {
            ensure!(since.elapsed() < STREAMS_WITHIN, "the standby does not stream");
            tokio::time::sleep(POLL).await;
        }
        self.primary.wait_for_standby(true)
    }

    /// Makes the server of the environment the only one.
    fn end(&mut self) -> Result<()> {
        if self.primary.port != port(self.first.url())? {
            self.promote()?;
        } else {
            self.standby.control(&["stop", "--mode=immediate"])?;
        }
        self.primary.wait_for_standby(false)?;
        Ok(fs::remove_dir_all(&self.standby.data)?)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("faults: PostgreSQL is left as it is: {error:#}");
        }
    }
}

impl Instance {
    /// Starts this server as a standby with a copy of the primary's data.
    fn copy(&self, primary: &Instance) -> Result<()> {
        if self.data.exists() {
            fs::remove_dir_all(&self.data)?;
        }
        let port = primary.port.to_string();
        let mut copy = self.command("pg_basebackup")?;
        copy.args(["-h", "127.0.0.1", "-p", &port, "-U", "postgres"])
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "-D"])
            .arg(&self.data);
        run(&mut copy)?;
        let folder = self.data.parent().context("the data is in a folder")?;
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c fsync=off -c max_connections=300 \
             -c wal_retrieve_retry_interval=200ms",
            self.port,
            folder.display()
        );
        self.control(&["start", "-o", &options])
    }

    /// Sets whether commits wait for the standby.
    fn wait_for_standby(&self, waits: bool) -> Result<()> {
        let names = if waits { "*" } else { "" };
        let mut settings = fs::OpenOptions::new()
            .append(true)
            .open(self.data.join("postgresql.auto.conf"))?;
        writeln!(settings, "synchronous_standby_names = '{names}'")?;
        self.control(&["reload"])
    }

    /// Runs `pg_ctl` on this server.
    fn control(&self, arguments: &[&str]) -> Result<()> {
        let mut control = self.command("pg_ctl")?;
        control.args(arguments).args(["--silent", "-D"]).arg(&self.data);
        if arguments != ["reload"] {
            control.arg("--wait").arg("-l").arg(self.data.join("faults.log"));
        }
        run(&mut control)
    }

    /// Returns a command that runs a program of PostgreSQL as the user of this server.
    fn command(&self, program: &str) -> Result<Command> {
        let control = tools::path("HARVESTMAN_TEST_POSTGRES_CONTROL");
        let folder = self.data.parent().context("the data is in a folder")?;
        let mut command = Command::new(control.with_file_name(program));
        // The user may not enter the folder of the clone.
        command.current_dir(folder).uid(self.user.0).gid(self.user.1);
        Ok(command)
    }
}

fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("{command:?} does not start"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Returns the port of a database URL.
fn port(url: &str) -> Result<u16> {
    let port = url
        .rsplit_once('/')
        .and_then(|(server, _)| server.rsplit_once(':'));
    let (_, port) = port.context("the database URL has a port")?;
    port.parse().with_context(|| format!("a port, not {port}"))
}
