use std::path::Path;

use harvestman_store::SecretKey;

use super::source::Origin;
use super::*;

fn parse(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let environment = |name: &str| {
        pairs
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Config::parse(&Values::gather(|_| None, environment, None)?)
}

fn problem(name: &str, value: &str) -> String {
    parse(&[(name, value)]).unwrap_err().to_string()
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("harvestman-{}-{name}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn defaults_are_the_documented_ones() {
    let config = parse(&[]).unwrap();
    assert_eq!(config.listen, "127.0.0.1:3002".parse().unwrap());
    assert_eq!(config.webhook_retries, [60, 300, 900].map(Duration::from_secs));
    let limits = config.limits;
    assert_eq!((limits.max_concurrency, limits.max_sessions), (64, cores()));
    assert_eq!(config.max_browser_pages, cores());
    assert_eq!((limits.rate_limit, limits.credit_budget), (None, None));
    assert_eq!((limits.key_rate_limit, limits.key_max_concurrency), (None, None));
    assert!(config.plans.is_empty());
    assert!(!config.no_auth && !config.allow_ignore_robots && config.api_keys.is_empty());
}

#[test]
fn flags_override_environment_and_environment_overrides_file() {
    let path = file(
        "order",
        "listen = \"127.0.0.1:1\"\nlog = \"warn\"\nmax_concurrency = 7\n",
    );
    let flag = |setting: &setting::Setting| (setting.key == "listen").then(|| "127.0.0.1:3".to_owned());
    let environment = |name: &str| match name {
        "HARVESTMAN_LISTEN" => Some("127.0.0.1:2".to_owned()),
        "HARVESTMAN_LOG" => Some("debug".to_owned()),
        _ => None,
    };
    let values = Values::gather(flag, environment, Some(&path)).unwrap();
    assert_eq!(values.of("listen"), Some(("127.0.0.1:3", &Origin::Flag)));
    assert_eq!(values.of("log"), Some(("debug", &Origin::Environment)));
    assert_eq!(
        values.of("max_concurrency"),
        Some(("7", &Origin::File(path.clone())))
    );
    assert_eq!(values.of("insecure"), Some(("0", &Origin::Default)));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_unknown_key_in_the_file_is_rejected_with_a_suggestion() {
    let path = file("unknown", "lisen = \"127.0.0.1:1\"\n");
    let error = Values::gather(|_| None, |_| None, Some(&path))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("unknown setting `lisen`") && error.contains("did you mean `listen`?"),
        "{error}"
    );
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_missing_config_file_is_an_error() {
    let error = Values::gather(|_| None, |_| None, Some(Path::new("/nowhere/harvestman.toml"))).unwrap_err();
    assert!(error.to_string().contains("cannot read /nowhere/harvestman.toml"));
}

#[test]
fn lists_in_the_file_equal_comma_separated_text() {
    let path = file(
        "lists",
        "dns_servers = [\"127.0.0.1:53\", \"[::1]:53\"]\nwebhook_retry_seconds = [1, 2]\ntrust_proxy = true\n",
    );
    let config = Config::parse(&Values::gather(|_| None, |_| None, Some(&path)).unwrap()).unwrap();
    assert_eq!(config.dns_servers.len(), 2);
    assert_eq!(config.webhook_retries, [1, 2].map(Duration::from_secs));
    assert!(config.trust_proxy);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn errors_name_the_setting_and_a_valid_value() {
    #[rustfmt::skip]
    let cases = [
        ("HARVESTMAN_LISTEN", "3002", "HARVESTMAN_LISTEN: `3002` is not address:port"),
        ("HARVESTMAN_NO_AUTH", "yes", "HARVESTMAN_NO_AUTH: `yes` is not 0 or 1"),
        ("HARVESTMAN_DNS_SERVERS", "9.9.9.9", "is not ip:port"),
        ("HARVESTMAN_WEBHOOK_RETRY_SECONDS", "60,soon", "`soon` is not a number of seconds"),
        ("HARVESTMAN_PUBLIC_URL", "ftp://x/", "is not an http or https URL"),
        ("HARVESTMAN_PUBLIC_URL", "https://a:b@x/", "is not an http or https URL"),
        ("HARVESTMAN_MAX_CONCURRENCY", "0", "is not an integer from 1 to 10000"),
        ("HARVESTMAN_RATE_LIMIT", "0", "is not an integer of at least 1"),
        ("HARVESTMAN_CREDIT_BUDGET", "many", "is not an integer of at least 1"),
        ("HARVESTMAN_API_KEYS", "fc-a", "no `=`"),
        ("HARVESTMAN_API_KEYS", "fc a=team", "characters from A-Z"),
        ("HARVESTMAN_API_KEYS", "fc-a=", "empty team"),
    ];
    for (name, value, expected) in cases {
        let error = problem(name, value);
        assert!(error.contains(expected), "{name}={value}: {error}");
    }
}

#[test]
fn an_invalid_key_is_never_repeated_in_the_error() {
    let error = problem("HARVESTMAN_API_KEYS", "sec ret=team");
    assert!(!error.contains("sec ret"), "{error}");
}

#[test]
fn keys_that_encrypt_are_long_and_never_repeated_in_the_error() {
    for name in ["HARVESTMAN_SECRET_KEY", "HARVESTMAN_PREVIOUS_SECRET_KEY"] {
        let error = problem(name, "sec-ret");
        assert!(
            error.contains(name) && error.contains("16 characters") && !error.contains("sec-ret"),
            "{error}"
        );
    }
    let (one, two) = ("the first secret key", "the second secret key");
    let store = parse(&[
        ("HARVESTMAN_SECRET_KEY", one),
        ("HARVESTMAN_PREVIOUS_SECRET_KEY", two),
    ])
    .unwrap()
    .store();
    assert_eq!(
        (&store.secret_key, &store.cluster_key),
        (&SecretKey::parse(one), &None)
    );
    assert_eq!(store.earlier_keys[0], SecretKey::parse(two).unwrap());
    // The key of a cluster differs from its secret, which it may replace as the previous one.
    let cluster = parse(&[("HARVESTMAN_CLUSTER_SECRET", two)]).unwrap().store();
    assert_eq!(cluster.secret_key, None);
    assert_ne!(cluster.cluster_key, SecretKey::parse(two));
    assert_eq!(cluster.cluster_key.as_ref(), store.earlier_keys.get(1));
    assert!(!format!("{store:?}").contains("secret key"), "{store:?}");
}

#[test]
fn configured_keys_have_a_team_and_a_name() {
    let config = parse(&[("HARVESTMAN_API_KEYS", "fc-a=red, fc-b=blue:ci")]).unwrap();
    let key = |key: &str, team: &str, name: &str| ConfiguredKey {
        key: key.to_owned(),
        team: team.to_owned(),
        name: name.to_owned(),
    };
    assert_eq!(
        config.api_keys,
        [key("fc-a", "red", "configured"), key("fc-b", "blue", "ci")]
    );
}

#[test]
fn open_mode_requires_loopback_or_insecure() {
    assert!(parse(&[("HARVESTMAN_NO_AUTH", "1")]).unwrap().no_auth);
    let everywhere = ("HARVESTMAN_LISTEN", "0.0.0.0:3002");
    let error = parse(&[("HARVESTMAN_NO_AUTH", "1"), everywhere])
        .unwrap_err()
        .to_string();
    assert!(error.contains("--insecure"), "{error}");
    assert!(
        parse(&[
            ("HARVESTMAN_NO_AUTH", "1"),
            everywhere,
            ("HARVESTMAN_INSECURE", "1")
        ])
        .unwrap()
        .no_auth
    );
}

#[test]
fn a_language_model_needs_a_url_and_a_name() {
    assert!(parse(&[]).unwrap().llm.is_none());
    let base_url = ("HARVESTMAN_LLM_BASE_URL", "http://127.0.0.1:11434/v1");
    let (model, key) = (
        ("HARVESTMAN_LLM_MODEL", "small"),
        ("HARVESTMAN_LLM_API_KEY", "k-secret"),
    );
    let llm = parse(&[base_url, model, key]).unwrap().llm.unwrap();
    assert_eq!((llm.base_url.as_str(), llm.model.as_str()), (base_url.1, "small"));
    assert_eq!(llm.api_key.as_deref(), Some("k-secret"));
    assert!(!format!("{llm:?}").contains("secret"));
    assert!(setting::setting("llm_api_key").unwrap().secret);
    for half in [vec![base_url], vec![model], vec![key], vec![base_url, key]] {
        let error = parse(&half).unwrap_err().to_string();
        assert!(error.contains("both `llm_base_url` and `llm_model`"), "{error}");
    }
    let error = problem("HARVESTMAN_LLM_BASE_URL", "http://user:pass@m.test/");
    assert!(
        error.contains("HARVESTMAN_LLM_BASE_URL") && !error.contains("pass"),
        "{error}"
    );
    let error = problem("HARVESTMAN_LLM_API_KEY", "k-secret\n");
    assert!(
        error.contains("HARVESTMAN_LLM_API_KEY") && !error.contains("secret"),
        "{error}"
    );
}

#[test]
fn a_public_url_loses_its_trailing_slash_and_keeps_its_path() {
    let config = parse(&[("HARVESTMAN_PUBLIC_URL", "https://data.example.com/hm/")]).unwrap();
    assert_eq!(config.public_url.as_deref(), Some("https://data.example.com/hm"));
}

#[test]
fn unknown_variables_are_reported() {
    let variables = [
        ("HARVESTMAN_LISTEN", "127.0.0.1:1"),
        ("HARVESTMAN_LISTNE", "127.0.0.1:1"),
        ("HARVESTMAN_SEARCHING", "http://127.0.0.1:1"),
        ("HARVESTMAN_EMPTY", ""),
        ("HARVESTMAN_API_KEY", "fc-1"),
        ("PATH", "/bin"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(
        source::unknown_variables(variables.into_iter()),
        ["HARVESTMAN_LISTNE", "HARVESTMAN_SEARCHING"]
    );
}

#[test]
fn database_url_sets_the_data_folder() {
    let url = |url| parse(&[("HARVESTMAN_DATABASE_URL", url)]);
    assert_eq!(
        url("sqlite:///srv/hm/harvestman.db").unwrap().data_dir,
        Path::new("/srv/hm")
    );
    for wrong in [
        "mysql://db/x", "sqlite://", "sqlite://harvestman.db", "sqlite:///harvestman.db",
        "sqlite:///srv/other.db",
    ] {
        let error = url(wrong).unwrap_err().to_string();
        assert!(
            error.contains("sqlite://FOLDER/harvestman.db"),
            "{wrong}: {error}"
        );
    }
    let postgres = url("postgres://hm:hush@db/hm").unwrap();
    assert!(postgres.database_url.is_some() && !format!("{postgres:?}").contains("hush"));
    assert_eq!(url("sqlite:///srv/hm/harvestman.db").unwrap().database_url, None);
    let both = |folder| {
        parse(&[
            ("HARVESTMAN_DATA_DIR", folder),
            ("HARVESTMAN_DATABASE_URL", "sqlite:///srv/hm/harvestman.db"),
        ])
    };
    assert!(both("/srv/hm").is_ok());
    assert!(
        both("/srv/else")
            .unwrap_err()
            .to_string()
            .contains("set one of them")
    );
}

fn parse_file(name: &str, text: &str) -> Result<Config, ConfigError> {
    let path = file(name, text);
    let parsed = Values::gather(|_| None, |_| None, Some(&path)).and_then(|values| Config::parse(&values));
    std::fs::remove_file(path).unwrap();
    parsed
}

#[test]
fn a_plan_overrides_some_limits_and_inherits_the_others() {
    let text = "rate_limit = 10\nmax_sessions = 2\n[plans.small]\nrate_limit = 3\ncredit_budget = 100\n[plans.same]\n";
    let config = parse_file("plans", text).unwrap();
    assert_eq!(
        (config.limits.rate_limit, config.limits.credit_budget),
        (Some(10), None)
    );
    let small = config.plans["small"];
    assert_eq!(
        (small.rate_limit, small.credit_budget, small.max_sessions),
        (Some(3), Some(100), 2)
    );
    assert_eq!(config.plans["same"], config.limits);
}

#[test]
fn max_browser_pages_is_a_positive_number() {
    let of = |number| parse(&[("HARVESTMAN_MAX_BROWSER_PAGES", number)]);
    assert_eq!(of("7").unwrap().max_browser_pages, 7);
    for wrong in ["0", "-1", "many", "10001"] {
        let error = of(wrong).unwrap_err().to_string();
        assert!(error.contains("HARVESTMAN_MAX_BROWSER_PAGES"), "{error}");
    }
}

#[test]
fn an_invalid_plan_is_rejected_with_the_setting_and_the_plan() {
    for (text, expected) in [
        (
            "[plans.a]\nrate_limt = 1\n",
            "unknown setting `rate_limt` in [plans.a] of",
        ),
        ("[plans.a]\nrate_limt = 1\n", "did you mean `rate_limit`?"),
        (
            "[plans.a]\nlisten = \"127.0.0.1:1\"\n",
            "unknown setting `listen` in [plans.a]",
        ),
        ("[plans.a]\nmax_concurrency = 0\n", "`0` is not an integer from 1"),
        ("[plans]\na = 1\n", "write [plans.NAME]"),
        ("plans = 1\n", "write [plans.NAME]"),
    ] {
        let error = parse_file("bad-plans", text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_search_provider_needs_a_url_or_a_key() {
    assert!(parse(&[]).unwrap().search.is_none());
    let url = ("HARVESTMAN_SEARCH_URL", "http://127.0.0.1:8888/searx");
    let key = ("HARVESTMAN_SEARCH_API_KEY", "k-secret");
    let search = parse(&[url]).unwrap().search.unwrap();
    assert_eq!(
        (search.provider, search.url.as_str()),
        (SearchProvider::Searxng, url.1)
    );
    for (name, provider, usual) in [
        ("serper", SearchProvider::Serper, "https://google.serper.dev/"),
        ("brave", SearchProvider::Brave, "https://api.search.brave.com/"),
    ] {
        let kind = ("HARVESTMAN_SEARCH_PROVIDER", name);
        let search = parse(&[kind, key]).unwrap().search.unwrap();
        assert_eq!((search.provider, search.url.as_str()), (provider, usual));
        assert!(!format!("{search:?}").contains("secret"));
        assert!(parse(&[kind]).unwrap_err().to_string().contains("search_api_key"));
        assert_eq!(
            parse(&[kind, key, url]).unwrap().search.unwrap().url.as_str(),
            url.1
        );
    }
    assert!(parse(&[key]).unwrap_err().to_string().contains("search_url"));
    assert!(problem("HARVESTMAN_SEARCH_PROVIDER", "ask").contains("searxng"));
}

#[test]
fn a_secret_is_read_from_the_file_that_its_variable_names() {
    let path = file("secret", "hush\n");
    let path = path.to_str().unwrap();
    let config = parse(&[("HARVESTMAN_WEBHOOK_SECRET_FILE", path)]).unwrap();
    assert_eq!(config.webhook_secret.as_deref(), Some("hush"));
    let both = [
        ("HARVESTMAN_WEBHOOK_SECRET_FILE", path),
        ("HARVESTMAN_WEBHOOK_SECRET", "x"),
    ];
    assert!(parse(&both).unwrap_err().0.contains("set one of them"));
    std::fs::remove_file(path).unwrap();
    let missing = problem("HARVESTMAN_WEBHOOK_SECRET_FILE", "/nowhere/secret");
    assert!(
        missing.contains("HARVESTMAN_WEBHOOK_SECRET_FILE: cannot read /nowhere/secret"),
        "{missing}"
    );
    let variables = ["HARVESTMAN_WEBHOOK_SECRET_FILE", "HARVESTMAN_LISTEN_FILE"];
    let variables = variables.map(|name| (name.to_owned(), path.to_owned()));
    assert_eq!(
        source::unknown_variables(variables.into_iter()),
        ["HARVESTMAN_LISTEN_FILE"]
    );
}

#[test]
fn the_documentation_names_every_setting() {
    for page in ["docs/API.md", "docs/guide/settings.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let text = std::fs::read_to_string(path).unwrap();
        for setting in setting::SETTINGS {
            // Not the whole name, as in `HARVESTMAN_SEARCH_URL`, `_SEARCH_PROVIDER`.
            let variable = format!("_{}`", setting.key.to_uppercase());
            assert!(text.contains(&variable), "{page} does not name {variable}");
        }
    }
}
