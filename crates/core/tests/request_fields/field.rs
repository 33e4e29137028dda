//! Kinds of fields with valid and invalid values.

use serde_json::{Value, json};

/// One field with valid and invalid values.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) good: Vec<Value>,
    pub(crate) bad: Vec<Value>,
}

pub(crate) fn field(name: &'static str, good: Value, bad: Value) -> Field {
    let list = |value: Value| match value {
        Value::Array(items) => items,
        _ => panic!("{name}: give arrays"),
    };
    Field {
        name,
        good: list(good),
        bad: list(bad),
    }
}

pub(crate) fn flag(name: &'static str) -> Field {
    field(name, json!([true, false]), json!(["true", 1, 0, [], {}]))
}

pub(crate) fn text(name: &'static str, max: usize) -> Field {
    let (long, longer) = ("é".repeat(max), "é".repeat(max + 1));
    field(name, json!(["x", long]), json!([1, true, [], {}, longer]))
}

pub(crate) fn integer(name: &'static str, min: i64, max: Option<i64>) -> Field {
    let mut good = vec![json!(min), json!(min as f64), json!(min + 1)];
    let mut bad = vec![
        json!(min - 1),
        json!(min as f64 + 0.5),
        json!("5"),
        json!(true),
        json!([]),
        json!(1e300),
    ];
    match max {
        Some(max) => {
            good.push(json!(max));
            bad.push(json!(max + 1));
        }
        None => good.push(json!(1_000_000_000_000_i64)),
    }
    Field { name, good, bad }
}

/// Patterns that are skipped; too many or too long in total are an error of `includePaths`.
pub(crate) fn exclude_paths() -> Field {
    field(
        "excludePaths",
        json!([[], ["a"]]),
        json!(["a", [1], ["a".repeat(2001)]]),
    )
}

pub(crate) fn patterns(name: &'static str) -> Field {
    let many = vec!["a"; 1001];
    let long = vec!["a".repeat(2000); 51];
    field(
        name,
        json!([[], ["^/a"], ["a".repeat(2000)], vec!["a"; 1000]]),
        json!(["a", [1], ["a".repeat(2001)], many, long, {}]),
    )
}

pub(crate) fn url_field(name: &'static str) -> Field {
    field(
        name,
        json!([
            "https://a.test/", "a.test", "localhost:3000", "http://127.0.0.1/x?y#z"
        ]),
        json!([
            "",
            "ftp://a.test",
            "https://u:p@a.test",
            "https:///x",
            "javascript:alert(1)",
            1,
            {},
            [],
            ("a".repeat(8200))
        ]),
    )
}

pub(crate) fn headers(name: &'static str) -> Field {
    let many: serde_json::Map<String, Value> = (0..65).map(|n| (format!("x-{n}"), json!("v"))).collect();
    field(
        name,
        json!([{}, {"Cookie": "a=b", "User-Agent": "x"}, {"X-A": "tab\there"}]),
        json!([
            [], "a: b", {"a": 1}, {"a": null}, {"Host": "b.test"}, {"transfer-encoding": "chunked"}, {"a\r\nb": "c"},
            {"a": "b\r\nc: d"}, {"a": "b\u{0}"}, {"": "x"}, {"a b": "c"}, {"a": "x".repeat(17_000)}, many
        ]),
    )
}

pub(crate) fn location() -> Field {
    field(
        "location",
        json!([{}, {"country": "de"}, {"country": "JP", "languages": ["ja", "en-US"]}, {"languages": []}]),
        json!(["US", {"country": "XX"}, {"country": "USA"}, {"country": ""}, {"languages": ["e"]}, {"languages": "en"},
               {"languages": ["en_US"]}, {"city": "Berlin"}]),
    )
}

pub(crate) fn profile() -> Field {
    field(
        "profile",
        json!([{"name": "a"}, {"name": "a".repeat(128), "saveChanges": false}]),
        json!(["a", {}, {"name": ""}, {"name": "a".repeat(129)}, {"name": "a", "saveChanges": 1}, {"name": "a", "x": 1}]),
    )
}

pub(crate) fn webhook() -> Field {
    field(
        "webhook",
        json!(["https://h.test/x", {"url": "https://h.test"}, {"url": "https://h.test", "events": []},
               {"url": "https://h.test", "headers": {"X-A": "b"}, "metadata": {"any": [1, {"x": null}]},
                "events": ["started", "completed", "failed"]}]),
        json!([1, "", "ftp://h.test", {}, {"url": ""}, {"url": "https://h.test", "events": ["paged"]},
               {"url": "https://h.test", "events": "page"}, {"url": "https://h.test", "headers": {"a": 1}},
               {"url": "https://h.test", "metadata": "x"}, {"url": "https://h.test", "event": ["page"]}]),
    )
}

pub(crate) fn sitemap() -> Field {
    field(
        "sitemap",
        json!(["skip", "include", "only"]),
        json!(["all", "", "Skip", 1, true, []]),
    )
}

pub(crate) fn schema() -> Field {
    field(
        "schema",
        json!([{}, {"type": "object", "properties": {"__x": {}}}]),
        json!(["object", [], 1, true]),
    )
}

/// Returns the fields that every body accepts.
pub(crate) fn caller() -> Vec<Field> {
    vec![text("origin", 1024), text("integration", 1024)]
}

/// Returns the fields that are accepted along with scrape options.
pub(crate) fn extras() -> Vec<Field> {
    let mut fields = caller();
    fields.extend([
        text("useMock", 1024),
        flag("domainTools"),
        field(
            "toolDetail",
            json!(["compact", "summary", "full"]),
            json!(["more", 1]),
        ),
        field(
            "auditMetadata",
            json!([{}, {"username": "a"}]),
            json!(["a", {"username": 1}, {"user": "a"}, {"username": "a".repeat(1025)}]),
        ),
        field(
            "threatProtection",
            json!([{}, {"mode": "off"}, {"mode": "normal", "blacklist": ["a.test"]}]),
            json!([true, "on", []]),
        ),
        flag("checkPromptInjection"),
        flag("safeMode"),
    ]);
    fields
}

pub(crate) fn formats() -> Field {
    let plain = [
        "markdown", "html", "rawHtml", "links", "images", "screenshot", "summary", "branding", "product",
        "menu", "rawBase64",
    ];
    let mut good: Vec<Value> = plain.iter().map(|name| json!([name])).collect();
    good.extend(plain.iter().map(|name| json!([{"type": name}])));
    good.extend([
        json!([]),
        json!(["markdown", "markdown", "links"]),
        json!([{"type": "screenshot", "fullPage": true, "quality": 100, "viewport": {"width": 7680, "height": 4320}}]),
        json!([{"type": "json", "prompt": "x"}]),
        json!([{"type": "json", "schema": {"type": "object"}, "checkPromptInjection": true}]),
        json!(["markdown", "changeTracking"]),
        json!(["markdown", {"type": "changeTracking", "modes": ["git-diff", "json"], "schema": {}, "prompt": "p", "tag": null}]),
        json!([{"type": "attributes", "selectors": [{"selector": "a", "attribute": "href"}]}]),
        json!([{"type": "question", "question": "q".repeat(10_000)}]),
        json!([{"type": "highlights", "query": "q"}]),
        json!([{"type": "query", "prompt": "q", "mode": "directQuote"}]),
    ]);
    let bad = json!([
        "markdown", {}, ["Markdown"], [1], [null], [{}], [{"type": 1}], ["json"], [{"type": "json"}],
        [{"type": "json", "schema": "x"}], [{"type": "json", "prompt": "p".repeat(10_001)}], [{"type": "json", "prompt": ""}],
        ["screenshot", {"type": "screenshot", "fullPage": true}],
        [{"type": "json", "prompt": "names"}, {"type": "json", "prompt": "prices"}], [{"type": "screenshot", "quality": 0}],
        [{"type": "screenshot", "quality": 101}], [{"type": "screenshot", "viewport": {"width": 100}}],
        [{"type": "screenshot", "viewport": {"width": 7681, "height": 1}}], [{"type": "markdown", "x": 1}],
        ["changeTracking"], ["markdown", {"type": "changeTracking", "modes": ["diff"]}], ["attributes"],
        [{"type": "attributes", "selectors": []}], [{"type": "attributes", "selectors": [{"selector": "a"}]}],
        [{"type": "attributes", "selectors": [{"selector": "", "attribute": "x"}]}], ["question"],
        [{"type": "question", "question": ""}], [{"type": "question", "question": "q".repeat(10_001)}],
        ["highlights"], [{"type": "query", "prompt": "q", "mode": "quote"}], ["audio"], ["video"],
        [{"type": "deterministicJson", "schema": {}}]
    ]);
    Field {
        name: "formats",
        good,
        ..field("formats", json!([]), bad)
    }
}

pub(crate) fn actions() -> Field {
    field(
        "actions",
        json!([[], [{"milliseconds": 5}], [{"type": "wait", "milliseconds": 1.0}, {"type": "wait", "selector": "#a"}],
               [{"type": "click", "selector": "a", "all": true}], [{"type": "write", "text": ""}], [{"type": "press", "key": "Enter"}],
               [{"type": "scroll"}], [{"type": "scroll", "direction": "up", "selector": "#a"}], [{"type": "scroll", "selector": ""}],
               [{"type": "screenshot", "fullPage": true}, {"type": "screenshot"}], [{"type": "scrape"}],
               [{"type": "executeJavascript", "script": "1"}], [{"type": "generatePDF"}], [{"type": "pdf", "format": "A4", "landscape": true, "scale": 0.5}],
               vec![json!({"type": "scrape"}); 50]]),
        json!(["wait", {}, ["wait"], [{}], [{"type": "hover"}], [{"type": "wait"}], [{"type": "wait", "milliseconds": 0}],
               [{"type": "wait", "milliseconds": 5, "selector": "a"}], [{"type": "click"}], [{"type": "click", "selector": ""}],
               [{"type": "press"}], [{"type": "scroll", "direction": "left"}], [{"type": "screenshot", "quality": 200}],
               [{"type": "executeJavascript"}], [{"type": "pdf", "format": "B4"}], [{"type": "pdf", "scale": 0}],
               [{"type": "scrape", "x": 1}], [{"type": "wait", "milliseconds": 60_001}],
               [{"type": "wait", "milliseconds": 40_000}, {"type": "wait", "milliseconds": 20_001}],
               vec![json!({"type": "scrape"}); 51]]),
    )
}

pub(crate) fn parsers() -> Field {
    field(
        "parsers",
        json!([[], ["pdf"], ["image", "pdf"], [{"type": "pdf"}],
               [{"type": "pdf", "mode": "ocr", "maxPages": 10_000, "pages": true, "blocks": true, "pageMarkers": true}],
               [{"type": "pdf", "pageMarkdown": true}]]),
        json!(["pdf", ["doc"], [{}], [{"type": "pdf", "mode": "slow"}], [{"type": "pdf", "maxPages": 0}],
               [{"type": "pdf", "maxPages": 10_001}], [{"type": "image", "mode": "fast"}], [1]]),
    )
}

pub(crate) fn options() -> Vec<Field> {
    let selectors = |name| {
        field(
            name,
            json!([[], [".a", "#b c"]]),
            json!(["a", [1], [""], ["a".repeat(2001)]]),
        )
    };
    let mut fields = vec![
        formats(),
        flag("onlyMainContent"),
        flag("onlyCleanContent"),
        selectors("includeTags"),
        selectors("excludeTags"),
        integer("maxAge", 0, None),
        integer("minAge", 0, None),
        headers("headers"),
        field(
            "waitFor",
            json!([0, 1, 30_000, 5.0]),
            json!([-1, 60_001, 30_001, 0.5, "5"]),
        ),
        flag("mobile"),
        flag("skipTlsVerification"),
        integer("timeout", 1000, Some(300_000)),
        parsers(),
        actions(),
        location(),
        flag("removeBase64Images"),
        flag("blockAds"),
        flag("fastMode"),
        field(
            "proxy",
            json!(["basic", "enhanced", "stealth", "auto"]),
            json!(["tor", 1, {}]),
        ),
        flag("storeInCache"),
        flag("lockdown"),
        profile(),
        field(
            "redactPII",
            json!([true, false, {}, {"mode": "fast", "entities": ["EMAIL"], "replaceStyle": "mask"}]),
            json!(["yes", 1, {"mode": "slow"}, {"entities": ["AGE"]}, {"replaceStyle": "x"}, {"style": "tag"}]),
        ),
    ];
    fields.extend(extras());
    fields
}
