//! The table of settings (contract section 22): each is a flag, an environment variable and a key of
//! `harvestman.toml`. What is not here does not exist and is refused in files and on the command line.

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Key in `harvestman.toml`, in snake_case; flag and environment variable follow from it.
    pub key: &'static str,
    /// What stands for the value in the help text; empty for a switch.
    pub placeholder: &'static str,
    /// Value when nothing else is said; none for an optional setting.
    pub default: Option<&'static str>,
    /// Whether `config show` hides the value.
    pub secret: bool,
    /// One line of help.
    pub help: &'static str,
}

impl Setting {
    /// Name of the environment variable.
    pub fn environment(&self) -> String {
        format!("HARVESTMAN_{}", self.key.to_ascii_uppercase())
    }

    /// Name of the flag without the dashes.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Whether the setting is on or off.
    pub fn is_switch(&self) -> bool {
        self.placeholder.is_empty()
    }
}

const fn text(key: &'static str, placeholder: &'static str, help: &'static str) -> Setting {
    Setting {
        key,
        placeholder,
        default: None,
        secret: false,
        help,
    }
}

const fn switch(key: &'static str, help: &'static str) -> Setting {
    Setting {
        key,
        placeholder: "",
        default: Some("0"),
        secret: false,
        help,
    }
}

/// Every setting, in the order of the help text.
pub const SETTINGS: &[Setting] = &[
    Setting {
        default: Some("127.0.0.1:3002"),
        ..text(
            "listen",
            "ADDRESS:PORT",
            "Address and port that the server listens on",
        )
    },
    text(
        "data_dir",
        "FOLDER",
        "Folder of the embedded database and stored pages [default: the platform's data folder]",
    ),
    text(
        "database_url",
        "URL",
        "sqlite://FOLDER/harvestman.db: another way to name the data folder",
    ),
    Setting {
        secret: true,
        ..text(
            "api_keys",
            "KEY=TEAM[:NAME],...",
            "API keys to add to the store at start",
        )
    },
    text(
        "public_url",
        "URL",
        "Address that callers use, for links in answers [default: as the caller asked]",
    ),
    text(
        "allow_private_hosts",
        "HOST,...",
        "Private targets that may be reached: host, host:port, CIDR or * [default: none]",
    ),
    text(
        "chromium",
        "FILE|none",
        "Chromium for pages that need a browser [default: the one of this machine, if any]",
    ),
    text(
        "node",
        "FILE|none",
        "Node.js for code in browser sessions; needs playwright-core [default: the one of this machine, if any]",
    ),
    text(
        "python",
        "FILE|none",
        "Python for code in browser sessions; needs playwright [default: the one of this machine, if any]",
    ),
    switch(
        "unsandboxed_code",
        "Run code of browser sessions with the server's rights where there is no bubblewrap",
    ),
    text(
        "dns_servers",
        "IP:PORT,...",
        "DNS servers [default: the system's]",
    ),
    Setting {
        secret: true,
        ..text(
            "webhook_secret",
            "SECRET",
            "Secret that signs webhooks [default: unsigned]",
        )
    },
    Setting {
        default: Some("60,300,900"),
        ..text(
            "webhook_retry_seconds",
            "SECONDS,...",
            "Pauses before the repeats of a failed webhook delivery",
        )
    },
    text(
        "webhook_signature_aliases",
        "HEADER,...",
        "Further header names that carry a webhook's signature [default: none]",
    ),
    text(
        "llm_base_url",
        "URL",
        "Language model for prompts: an endpoint of the chat-completions protocol [default: none]",
    ),
    Setting {
        secret: true,
        ..text(
            "llm_api_key",
            "KEY",
            "Key for the language model [default: none is sent]",
        )
    },
    text("llm_model", "NAME", "Name of the language model"),
    text(
        "search_url",
        "URL",
        "Search provider: the address of a SearXNG instance with JSON output, or of another provider [default: none]",
    ),
    Setting {
        default: Some("searxng"),
        ..text(
            "search_provider",
            "NAME",
            "What the search provider speaks: searxng, serper or brave",
        )
    },
    Setting {
        secret: true,
        ..text(
            "search_api_key",
            "KEY",
            "Key for the search provider [default: none is sent]",
        )
    },
    switch(
        "allow_ignore_robots",
        "Let crawls ask for ignoreRobotsTxt and robotsUserAgent",
    ),
    switch(
        "allow_zero_data_retention",
        "Let requests ask for zeroDataRetention",
    ),
    text(
        "max_concurrency",
        "PAGES",
        "Pages of one team fetched at once [default: 64]",
    ),
    text(
        "key_max_concurrency",
        "PAGES",
        "Pages of one key fetched at once [default: as many as its team's]",
    ),
    text(
        "max_browser_pages",
        "PAGES",
        "Pages of all teams in the browser at once [default: 1 for each CPU core]",
    ),
    text(
        "max_sessions",
        "SESSIONS",
        "Browser sessions of one team at once [default: 1 for each CPU core]",
    ),
    text(
        "rate_limit",
        "REQUESTS",
        "Requests of one team per minute [default: any number]",
    ),
    text(
        "key_rate_limit",
        "REQUESTS",
        "Requests of one key per minute [default: any number]",
    ),
    text(
        "credit_budget",
        "CREDITS",
        "Credits of one team per calendar month (UTC) [default: any number]",
    ),
    Setting {
        default: Some("1024"),
        ..text(
            "cache_mib",
            "MIB",
            "Room on disk for fetched pages that answer maxAge, minAge and lockdown; 0 keeps none",
        )
    },
    switch(
        "no_auth",
        "Ask for no key: everybody acts on the built-in team; loopback only",
    ),
    switch("insecure", "Allow no_auth on an address that others can reach"),
    switch(
        "trust_proxy",
        "Believe X-Forwarded-Proto and X-Forwarded-Host of a reverse proxy in front",
    ),
    switch("metrics_public", "Show /metrics to others than this machine"),
    Setting {
        default: Some("info"),
        ..text("log", "FILTER", "What to log: a level, or target=level,...")
    },
];

/// The settings that a plan may have its own values of, below `[plans.NAME]` in the file.
pub const OF_PLANS: &[&str] = &[
    "max_concurrency",
    "key_max_concurrency",
    "max_sessions",
    "rate_limit",
    "key_rate_limit",
    "credit_budget",
];

/// The setting with this key.
pub fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
