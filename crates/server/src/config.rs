//! What the operator decides: every setting parsed into a type that cannot be wrong. Reads flags,
//! environment and file once at start; never looks again.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use harvestman_engine::{Limits, LlmConfig, SearchConfig, SearchProvider};
use harvestman_fetch::AllowList;
use harvestman_store::DATABASE_FILE;
use http::HeaderName;
use url::Url;

mod nearest;
pub mod setting;
pub mod source;

pub use source::Values;

use crate::limits;

/// What is wrong with the settings, as a sentence for the operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError(pub String);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// A key that the operator configured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfiguredKey {
    /// The secret itself.
    pub key: String,
    /// Name of its team; made when new.
    pub team: String,
    /// Name of the key.
    pub name: String,
}

/// All settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Folder of the store.
    pub data_dir: PathBuf,
    /// Keys to add at start.
    pub api_keys: Vec<ConfiguredKey>,
    /// Address that callers use, without a trailing slash.
    pub public_url: Option<String>,
    /// Private targets that may be reached.
    pub allow_private_hosts: AllowList,
    /// Chromium; none when there shall be no browser, or there is none.
    pub chromium: Option<PathBuf>,
    /// Node.js for code in browser sessions; none when there shall be none, or there is none.
    pub node: Option<PathBuf>,
    /// Python for code in browser sessions, likewise.
    pub python: Option<PathBuf>,
    /// Whether code of browser sessions runs where it cannot be sandboxed.
    pub unsandboxed_code: bool,
    /// DNS servers; empty for the system's.
    pub dns_servers: Vec<SocketAddr>,
    /// Secret that signs webhooks.
    pub webhook_secret: Option<String>,
    /// Pauses before the repeats of a delivery.
    pub webhook_retries: Vec<Duration>,
    /// Further headers that carry the signature.
    pub webhook_signature_aliases: Vec<String>,
    /// The language model for prompts.
    pub llm: Option<LlmConfig>,
    /// The search provider.
    pub search: Option<SearchConfig>,
    /// Whether crawls may ask for `ignoreRobotsTxt`.
    pub allow_ignore_robots: bool,
    /// Whether requests may ask for `zeroDataRetention`.
    pub allow_zero_data_retention: bool,
    /// What a team may do.
    pub limits: Limits,
    /// What a team of a plan may do.
    pub plans: BTreeMap<String, Limits>,
    /// Pages of all teams in the browser at once.
    pub max_browser_pages: usize,
    /// What the page cache may take on disk, in bytes; 0 keeps nothing.
    pub cache_bytes: u64,
    /// Whether nobody needs a key.
    pub no_auth: bool,
    /// Whether forwarded headers are believed.
    pub trust_proxy: bool,
    /// Whether everybody sees the metrics.
    pub metrics_public: bool,
    /// Filter of the log.
    pub log: String,
}

impl Config {
    /// Parses all values. The error names the setting, where its value came from, and what is right.
    pub fn parse(values: &Values) -> Result<Config, ConfigError> {
        let listen = values.required("listen", address)?;
        let no_auth = values.required("no_auth", on_off)?;
        let insecure = values.required("insecure", on_off)?;
        if no_auth && !insecure && !listen.ip().is_loopback() {
            return Err(ConfigError(format!(
                "no_auth on {listen} would let everybody who can reach this machine use the server; \
                 listen on 127.0.0.1, or say --insecure if that is meant"
            )));
        }
        Ok(Config {
            listen,
            data_dir: named_folder(values)?.unwrap_or_else(data_folder),
            api_keys: values.list("api_keys", configured_key)?,
            public_url: values.optional("public_url", public_url)?,
            allow_private_hosts: values
                .optional("allow_private_hosts", AllowList::parse)?
                .unwrap_or_default(),
            chromium: values
                .optional("chromium", program)?
                .unwrap_or_else(harvestman_browser::find_chromium),
            node: values
                .optional("node", program)?
                .unwrap_or_else(harvestman_browser::find_node),
            python: values
                .optional("python", program)?
                .unwrap_or_else(harvestman_browser::find_python),
            unsandboxed_code: values.required("unsandboxed_code", on_off)?,
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
            allow_ignore_robots: values.required("allow_ignore_robots", on_off)?,
            allow_zero_data_retention: values.required("allow_zero_data_retention", on_off)?,
            limits: limits_of_team(values)?,
            plans: values
                .plans()
                .map(|(plan, values)| Ok((plan.to_owned(), limits_of_team(&values)?)))
                .collect::<Result<_, ConfigError>>()?,
            max_browser_pages: values
                .optional("max_browser_pages", concurrency)?
                .unwrap_or_else(cores),
            cache_bytes: values.required("cache_mib", mebibytes)?,
            no_auth,
            trust_proxy: values.required("trust_proxy", on_off)?,
            metrics_public: values.required("metrics_public", on_off)?,
            log: values.required("log", |text| {
                text.parse::<tracing_subscriber::filter::Targets>()
                    .map(|_| text.to_owned())
                    .map_err(|error| error.to_string())
            })?,
        })
    }
}

fn limits_of_team(values: &Values) -> Result<Limits, ConfigError> {
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

/// A program; `none` for none.
fn program(text: &str) -> Result<Option<PathBuf>, String> {
    match text {
        "none" => Ok(None),
        _ if PathBuf::from(text).is_file() => Ok(Some(PathBuf::from(text))),
        _ => Err(format!("`{text}` is not a file; name the program, or say `none`")),
    }
}

/// The language model: an address and a name, or nothing at all.
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

/// The search provider: an address for SearXNG, a key for those that have one address for everybody.
fn search(values: &Values) -> Result<Option<SearchConfig>, ConfigError> {
    let provider = values.required("search_provider", |text| match text {
        "searxng" => Ok(SearchProvider::Searxng),
        "serper" => Ok(SearchProvider::Serper),
        "brave" => Ok(SearchProvider::Brave),
        _ => Err(format!("`{text}` is not searxng, serper or brave")),
    })?;
    let url = values.optional("search_url", base_url)?;
    let api_key = values.optional("search_api_key", header_text)?;
    let usual = match provider {
        SearchProvider::Searxng => None,
        SearchProvider::Serper => Some("https://google.serper.dev"),
        SearchProvider::Brave => Some("https://api.search.brave.com"),
    };
    let usual = usual
        .filter(|_| api_key.is_some())
        .and_then(|usual| Url::parse(usual).ok());
    match url.or(usual) {
        Some(url) => Ok(Some(SearchConfig {
            provider,
            url,
            api_key,
        })),
        None if provider == SearchProvider::Searxng && api_key.is_none() => Ok(None),
        None => Err(ConfigError(
            "a search provider needs `search_url`; serper and brave have one and need `search_api_key`"
                .to_owned(),
        )),
    }
}

/// The data folder, by its name or by its database's address; both must agree.
fn named_folder(values: &Values) -> Result<Option<PathBuf>, ConfigError> {
    let folder = values.optional("data_dir", |text| Ok(PathBuf::from(text)))?;
    let of_database = values.optional("database_url", folder_of_database)?;
    match (&folder, &of_database) {
        (Some(folder), Some(of_database)) if folder != of_database => Err(ConfigError(format!(
            "`database_url` is not in `data_dir` ({}); set one of them",
            folder.display()
        ))),
        _ => Ok(folder.or(of_database)),
    }
}

fn folder_of_database(url: &str) -> Result<PathBuf, String> {
    url.strip_prefix("sqlite://")
        .and_then(|path| path.strip_suffix(DATABASE_FILE))
        .filter(|folder| folder.ends_with('/'))
        .map(|folder| PathBuf::from(folder.trim_end_matches('/')))
        .filter(|folder| !folder.as_os_str().is_empty())
        .ok_or_else(|| {
            format!("`{url}` is not sqlite://FOLDER/{DATABASE_FILE}, the one kind of database that this version has")
        })
}

/// CPU cores of this machine; at least 1.
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
            let setting = setting::setting(key).expect("only keys of the table are asked for");
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
        Ok(self.optional(key, all)?.unwrap_or_default())
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Some(port) = text.strip_prefix("localhost:").and_then(|port| port.parse().ok()) {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse()
        .map_err(|_| format!("`{text}` is not address:port, for example 127.0.0.1:3002"))
}

fn on_off(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("`{text}` is neither 0 nor 1")),
    }
}

/// A number from 1 on.
fn positive<T: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    text.parse()
        .ok()
        .filter(|number| *number >= T::from(1))
        .ok_or_else(|| format!("`{text}` is not a number from 1 on"))
}

fn concurrency(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(pages @ 1..=10_000) => Ok(pages),
        _ => Err(format!("`{text}` is not a number from 1 to 10000")),
    }
}

/// Bytes of so many MiB.
fn mebibytes(text: &str) -> Result<u64, String> {
    let mib: Option<u32> = text.parse().ok();
    mib.map(|mib| u64::from(mib) << 20)
        .ok_or_else(|| format!("`{text}` is not a number of MiB from 0 to {}", u32::MAX))
}

fn base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is not a URL: {error}"))?;
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !plain {
        return Err("it is not a plain http or https address".to_owned());
    }
    Ok(url)
}

/// The message never holds the text itself.
fn header_text(text: &str) -> Result<String, String> {
    match text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("it has characters that cannot be sent in a header".to_owned()),
    }
}

fn public_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is not a URL: {error}"))?;
    let plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !plain {
        return Err(format!("`{text}` is not a plain http or https address"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The message never holds the key itself.
fn configured_key(text: &str) -> Result<ConfiguredKey, String> {
    let (key, owner) = text
        .split_once('=')
        .ok_or("an entry has no `=`; write key=team or key=team:name")?;
    let (team, name) = owner.split_once(':').unwrap_or((owner, "configured"));
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if key.is_empty() || key.len() > limits::API_KEY_CHARS || !key.chars().all(allowed) {
        return Err(format!(
            "a key of team `{team}` has other characters than A-Z a-z 0-9 - _ . or not 1 to {} of them",
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

/// The folder where programs keep their data on this platform.
fn data_folder() -> PathBuf {
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
