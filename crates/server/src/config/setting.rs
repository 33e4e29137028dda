//! The table of settings (docs/API.md section 22): each is a flag, an environment variable and a key of
//! `harvestman.toml`. Other keys and flags are rejected.

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Key in `harvestman.toml`, in snake_case; the flag follows from it, and without `variable` the environment variable.
    pub key: &'static str,
    /// Environment variable that a standard defines.
    pub variable: Option<&'static str>,
    /// Placeholder of the value in the help text; empty for a switch.
    pub placeholder: &'static str,
    /// Default value; none for an optional setting.
    pub default: Option<&'static str>,
    /// Whether `config show` hides the value.
    pub secret: bool,
    /// One line of help.
    pub help: &'static str,
}

impl Setting {
    /// Returns the name of the environment variable.
    pub fn environment(&self) -> String {
        match self.variable {
            Some(name) => name.to_owned(),
            None => format!("HARVESTMAN_{}", self.key.to_ascii_uppercase()),
        }
    }

    /// Returns the name of the variable that names a file with the value; only secrets have one.
    pub fn file_environment(&self) -> Option<String> {
        self.secret.then(|| format!("{}_FILE", self.environment()))
    }

    /// Returns the name of the flag without the leading dashes.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Returns whether the setting is a switch.
    pub fn is_switch(&self) -> bool {
        self.placeholder.is_empty()
    }
}

const fn text(key: &'static str, placeholder: &'static str, help: &'static str) -> Setting {
    Setting {
        key,
        variable: None,
        placeholder,
        default: None,
        secret: false,
        help,
    }
}

/// Returns a setting with a default value.
const fn preset(
    key: &'static str,
    placeholder: &'static str,
    default: &'static str,
    help: &'static str,
) -> Setting {
    Setting {
        default: Some(default),
        ..text(key, placeholder, help)
    }
}

const fn secret(setting: Setting) -> Setting {
    Setting {
        secret: true,
        ..setting
    }
}

const fn switch(key: &'static str, help: &'static str) -> Setting {
    Setting {
        default: Some("0"),
        ..text(key, "", help)
    }
}

/// Every setting, in the order of the help text.
pub const SETTINGS: &[Setting] = &[
    preset(
        "listen",
        "ADDRESS:PORT",
        "127.0.0.1:3002",
        "Address and port that the server listens on",
    ),
    text(
        "data_dir",
        "FOLDER",
        "Folder of the database and stored pages [default: the platform's data folder]",
    ),
    secret(text(
        "database_url",
        "URL",
        "Database of one or many nodes, postgres://USER:PASSWORD@HOST/DATABASE; or sqlite://FOLDER/harvestman.db",
    )),
    text(
        "node_url",
        "URL",
        "URL at which the other servers of the database reach this one, for browser sessions [default: none]",
    ),
    secret(text(
        "cluster_secret",
        "SECRET",
        "Secret that all servers of the database share, at least 16 characters [default: none]",
    )),
    secret(text(
        "secret_key",
        "KEY",
        "Key that encrypts webhook secrets, request headers and browser profiles in the database, at least 16 \
         characters [default: that of harvestman.key in the data folder]",
    )),
    secret(text(
        "previous_secret_key",
        "KEY",
        "Earlier secret_key, or cluster_secret in its place: what it encrypted is encrypted again at start [default: none]",
    )),
    secret(text(
        "api_keys",
        "KEY=TEAM[:NAME],...",
        "API keys to add to the store at start",
    )),
    text(
        "public_url",
        "URL",
        "Base URL that clients use, for links in responses [default: as in the request]",
    ),
    text(
        "allow_private_hosts",
        "HOST,...",
        "Private targets that may be fetched: host, host:port, CIDR or * [default: none]",
    ),
    secret(text(
        "proxy",
        "[CLASS][@COUNTRY]=URL;...",
        "Proxies for pages, by class (basic, enhanced) and country; a URL alone applies to all [default: none]",
    )),
    switch(
        "proxy_remote_dns",
        "Let http, https and socks5h proxies resolve target names; the addresses are then not checked",
    ),
    text(
        "block_lists",
        "FILE,...",
        "Additional filter lists for blockAds, in Adblock Plus syntax or as host names",
    ),
    text(
        "chromium",
        "FILE|off",
        "Chromium for pages that need a browser [default: the installed one, if any]",
    ),
    text(
        "node",
        "FILE|off",
        "Node.js 20 or newer for code in browser sessions [default: the installed one, if any]",
    ),
    text(
        "python",
        "FILE|off",
        "Python for code in browser sessions; needs playwright [default: the installed one, if any]",
    ),
    text(
        "tesseract",
        "FILE|off",
        "tesseract for text recognition in images and scans [default: the installed one, if any]",
    ),
    text(
        "ocr_languages",
        "CODE+...",
        "Installed languages to use for text recognition [default: eng]",
    ),
    switch(
        "unsandboxed_code",
        "Run code in browser sessions with the server's permissions if bubblewrap is missing",
    ),
    text(
        "dns_servers",
        "IP:PORT,...",
        "DNS servers [default: those of the system]",
    ),
    secret(text(
        "webhook_secret",
        "SECRET",
        "Secret that signs webhooks [default: unsigned]",
    )),
    preset(
        "webhook_retry_seconds",
        "SECONDS,...",
        "60,300,900",
        "Delays before the retries of a failed webhook delivery",
    ),
    text(
        "webhook_signature_aliases",
        "HEADER,...",
        "Additional headers that carry the webhook signature [default: none]",
    ),
    text(
        "llm_base_url",
        "URL",
        "Language model for prompts: base URL of a chat-completions API [default: none]",
    ),
    secret(text(
        "llm_api_key",
        "KEY",
        "API key for the language model [default: none]",
    )),
    text("llm_model", "NAME", "Name of the language model"),
    text(
        "search_url",
        "URL",
        "URL of the search provider, for example a SearXNG instance with JSON output [default: none]",
    ),
    preset(
        "search_provider",
        "NAME",
        "searxng",
        "Protocol of the search provider: searxng, serper or brave",
    ),
    secret(text(
        "search_api_key",
        "KEY",
        "API key for the search provider [default: none]",
    )),
    switch(
        "allow_ignore_robots",
        "Allow crawls to set ignoreRobotsTxt and robotsUserAgent",
    ),
    switch(
        "allow_zero_data_retention",
        "Allow requests to set zeroDataRetention",
    ),
    text(
        "max_concurrency",
        "PAGES",
        "Pages fetched at once per team [default: 64]",
    ),
    text(
        "key_max_concurrency",
        "PAGES",
        "Pages fetched at once per key [default: the team's limit]",
    ),
    text(
        "max_browser_pages",
        "PAGES",
        "Browser pages open at once, for all teams [default: 1 per CPU core]",
    ),
    text(
        "node_pages",
        "PAGES",
        "Pages that this server fetches at once over HTTP, for all teams [default: 512]",
    ),
    text(
        "max_sessions",
        "SESSIONS",
        "Browser sessions open at once per team [default: 1 per CPU core]",
    ),
    preset(
        "session_file_mib",
        "MIB",
        "50",
        "Size of one file of a browser session in MiB, at most 512; larger downloads are cancelled",
    ),
    preset(
        "session_files_mib",
        "MIB",
        "100",
        "Size of all files of a browser session in MiB, at most 512",
    ),
    text(
        "rate_limit",
        "REQUESTS",
        "Requests per minute, per team [default: unlimited]",
    ),
    text(
        "key_rate_limit",
        "REQUESTS",
        "Requests per minute, per key [default: unlimited]",
    ),
    text(
        "credit_budget",
        "CREDITS",
        "Credits per calendar month (UTC), per team [default: unlimited]",
    ),
    preset(
        "cache_mib",
        "MIB",
        "1024",
        "Size of the page cache on disk in MiB, for maxAge, minAge and lockdown; 0 disables it",
    ),
    preset(
        "result_retention_hours",
        "HOURS",
        "24",
        "How long results of jobs and scrapes are kept after they end, 1 to 8760",
    ),
    preset(
        "min_free_mib",
        "MIB",
        "64",
        "Free disk space in MiB below which /ready reports the server as unavailable; 0 disables the check",
    ),
    preset(
        "drain_seconds",
        "SECONDS",
        "2",
        "Time for requests in flight to finish after SIGTERM, 0 to 3600",
    ),
    switch(
        "no_auth",
        "Require no API key: every request belongs to the built-in team; loopback only",
    ),
    switch(
        "insecure",
        "Allow no_auth on an address that other machines can reach, with any Host and Origin header",
    ),
    switch(
        "trust_proxy",
        "Trust X-Forwarded-Proto and X-Forwarded-Host from a reverse proxy",
    ),
    switch("metrics_public", "Serve /metrics to other machines"),
    preset(
        "log",
        "FILTER",
        "info",
        "Log filter: a level, or target=level,...",
    ),
    preset(
        "log_format",
        "FORMAT",
        "pretty",
        "Format of the log: pretty, or json with an object per line",
    ),
    text(
        "otlp_endpoint",
        "URL",
        "OpenTelemetry collector that gets traces and metrics, over HTTP with protobuf [default: none]",
    ),
    Setting {
        variable: Some("OTEL_EXPORTER_OTLP_HEADERS"),
        ..secret(text(
            "otlp_headers",
            "HEADERS",
            "Headers for the collector, NAME=VALUE,... with percent-encoded values [default: none]",
        ))
    },
];

/// Settings that a plan may override, in `[plans.NAME]` of the file.
pub const PLAN_SETTINGS: &[&str] = &[
    "max_concurrency", "key_max_concurrency", "max_sessions", "rate_limit", "key_rate_limit", "credit_budget",
];

/// Returns the setting with this key.
pub fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
