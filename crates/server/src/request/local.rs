//! Requests without a server: the routes and the engine of the server run in this process until the command ends. The
//! data folder is the one that `--data-dir` names, else a temporary one. A folder that the environment or a settings
//! file names belongs to a server and is not used.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches};
use harvestman_fetch::AllowList;
use serde_json::Value;
use tokio::time::timeout;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use url::{Host, Url};
use uuid::Uuid;

use crate::app::App;
use crate::config::source::Origin;
use crate::config::{Config, Values};
use crate::input::Usage;
use crate::request::api_client::ApiClient;
use crate::request::output::shell_word;
use crate::router::router;
use crate::{limits, log, serve};

/// Settings that are flags of a local run. The others come from the environment and the settings file.
pub(crate) const SETTINGS: &[&str] = &[
    "config", "data_dir", "allow_private_hosts", "chromium", "dns_servers", "log",
];
/// File that marks a data folder as temporary.
const TEMPORARY: &str = "harvestman.temporary";

/// Returns the flag `--local`.
pub(crate) fn argument() -> Arg {
    Arg::new("local")
        .long("local")
        .action(ArgAction::SetTrue)
        .conflicts_with_all(["api-url", "api-key"])
        .help_heading("Server")
        .help("Run in this process, without a server; the default if neither URL nor key of a server is set")
}

/// Rejects flags that have an effect only on a local run.
pub(super) fn refuse_settings(given: &ArgMatches) -> Result<(), Usage> {
    let is_given = |key: &&&str| given.value_source(key) == Some(clap::parser::ValueSource::CommandLine);
    match SETTINGS.iter().find(is_given) {
        Some(key) => Err(Usage(format!(
            "--{} applies to runs without a server; add --local, or remove it",
            key.replace('_', "-")
        ))),
        None => Ok(()),
    }
}

/// Returns whether the arguments name a data folder.
pub(super) fn names_folder(given: &ArgMatches) -> bool {
    given.contains_id("data_dir")
}

/// The server in this process.
pub(super) struct LocalServer {
    app: App,
    folder: PathBuf,
    client: ApiClient,
}

impl LocalServer {
    /// Starts the server for requests to these URLs. The user has named them, so URLs on this machine or at a private
    /// address may be fetched.
    pub(super) async fn start(given: &ArgMatches, urls: &[&str]) -> anyhow::Result<LocalServer> {
        let flag = |key: &str| {
            given
                .get_one::<String>(key)
                .filter(|_| SETTINGS.contains(&key))
                .cloned()
        };
        let values = Values::gather(
            |setting| SETTINGS.contains(&setting.key).then(|| flag(setting.key))?,
            |name| std::env::var(name).ok(),
            given.get_one::<PathBuf>("config").map(PathBuf::as_path),
        )?;
        let mut config = Config::parse(&values)?;
        if let Some((_, Origin::Default)) = values.of("log") {
            config.log.filter = Targets::new().with_default(Level::ERROR);
        }
        log::start(&config.log, None);
        let folder = match flag("data_dir") {
            Some(folder) => PathBuf::from(folder),
            None => temporary_folder()?,
        };
        config.data_dir.clone_from(&folder);
        // Only this process sends requests.
        config.no_auth = true;
        config.database_url = None;
        config.cluster_secret = None;
        config.api_keys = Vec::new();
        let mut flags = format!("--local --data-dir {}", shell_word(&folder.to_string_lossy()));
        let hosts = own_hosts(urls);
        flags.push_str(&setting_flags(given, &hosts));
        if !hosts.is_empty() {
            let list = AllowList::parse(&hosts.join(",")).map_err(anyhow::Error::msg)?;
            config.allow_private_hosts.extend(list);
        }
        let app = match serve::start(config, None).await {
            Ok(started) => App::new(started.parts),
            Err(error) => {
                remove_if_temporary(&folder);
                return Err(error);
            }
        };
        let client = ApiClient::in_process(router(app.clone()), flags);
        Ok(LocalServer { app, folder, client })
    }

    pub(super) fn client(&self) -> &ApiClient {
        &self.client
    }

    /// Stops the server. A temporary folder is removed, unless a job in it can be resumed.
    pub(super) async fn stop(self, can_resume: bool) -> anyhow::Result<()> {
        self.app.stopping().cancel();
        let ending = async {
            self.app.engine().shutdown().await;
            self.app.store().close().await
        };
        if let Ok(closed) = timeout(limits::STOP_TIME, ending).await {
            closed.context("cannot close the store")?;
        }
        if !can_resume {
            remove_if_temporary(&self.folder);
        }
        Ok(())
    }
}

/// Returns the settings in the arguments as flags of a later command, which may fetch the same private hosts.
fn setting_flags(given: &ArgMatches, hosts: &[String]) -> String {
    let mut flags = String::new();
    for key in SETTINGS.iter().filter(|key| **key != "data_dir") {
        let is_given = given.value_source(key) == Some(clap::parser::ValueSource::CommandLine);
        let text = match *key {
            "config" => given
                .get_one::<PathBuf>(key)
                .map(|path| path.to_string_lossy().into_owned()),
            key => given.get_one::<String>(key).cloned(),
        };
        let own = hosts.join(",");
        let text = match (text.filter(|_| is_given), *key) {
            (Some(text), "allow_private_hosts") if !own.is_empty() => format!("{text},{own}"),
            (None, "allow_private_hosts") if !own.is_empty() => own,
            (Some(text), _) => text,
            (None, _) => continue,
        };
        flags.push_str(&format!(" --{} {}", key.replace('_', "-"), shell_word(&text)));
    }
    flags
}

/// Creates a data folder that only this user can read.
fn temporary_folder() -> anyhow::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("harvestman-{}", Uuid::now_v7()));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(&folder)
        .and_then(|()| fs::write(folder.join(TEMPORARY), ""))
        .with_context(|| format!("cannot create the temporary folder {}", folder.display()))?;
    Ok(folder)
}

fn remove_if_temporary(folder: &Path) {
    if folder.join(TEMPORARY).is_file()
        && let Err(error) = fs::remove_dir_all(folder)
    {
        eprintln!("harvestman: cannot remove {}: {error}", folder.display());
    }
}

/// Returns `host:port` of each URL whose host is `localhost` or an IP address.
fn own_hosts(urls: &[&str]) -> Vec<String> {
    let of = |url: &&str| {
        let url = Url::parse(url)
            .or_else(|_| Url::parse(&format!("https://{url}")))
            .ok()?;
        let is_named = match url.host()? {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        };
        let port = url.port_or_known_default()?;
        is_named.then(|| format!("{}:{port}", url.host_str().unwrap_or_default()))
    };
    urls.iter().filter_map(of).collect()
}

/// Returns the URLs of a request body.
pub(super) fn urls(body: &Value) -> Vec<&str> {
    let list = body["urls"].as_array().into_iter().flatten();
    list.chain([&body["url"]]).filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_addresses_and_localhost_may_be_fetched() {
        let urls = [
            "http://localhost:8080/docs", "http://127.0.0.1/", "https://[::1]/", "docs.localhost",
            "https://example.com/", "intranet",
        ];
        let expected = [
            "localhost:8080", "127.0.0.1:80", "[::1]:443", "docs.localhost:443",
        ];
        assert_eq!(own_hosts(&urls), expected);
    }

    #[test]
    fn only_marked_folders_are_removed() {
        let temporary = temporary_folder().unwrap();
        let named = temporary.join("named");
        fs::create_dir(&named).unwrap();
        remove_if_temporary(&named);
        assert!(named.exists());
        remove_if_temporary(&temporary);
        assert!(!temporary.exists());
    }
}
