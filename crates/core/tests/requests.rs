//! Request bodies as callers send them: which are accepted, which are rejected, and the error.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use harvestman_core::api::browser::BrowserRequest;
use harvestman_core::api::feedback::Feedback;
use harvestman_core::api::fields::{FieldType, Schema};
use harvestman_core::api::format::{Format, FormatKind};
use harvestman_core::api::parser::ParserKind;
use harvestman_core::api::wire_enum::WireEnum;
use harvestman_core::api::{BatchScrapeRequest, CrawlRequest, ErrorCode, MapRequest, ScrapeRequest, Wire};
use serde_json::{Value, json};

/// Parses a valid body and returns its serialized form.
#[track_caller]
fn accept<R: Wire>(body: Value) -> Value {
    let read = R::from_json(body.to_string().as_bytes()).unwrap_or_else(|error| panic!("{body}: {error}"));
    let sent = serde_json::to_value(read.to_body()).unwrap();
    let again = R::from_value(sent.clone()).unwrap_or_else(|error| panic!("{sent}: {error}"));
    assert_eq!(
        serde_json::to_value(again.to_body()).unwrap(),
        sent,
        "written, read and written again"
    );
    sent
}

/// Parses an invalid body and returns the paths of its problems and the message.
#[track_caller]
fn refuse<R: Wire>(body: Value) -> (Vec<String>, String) {
    let error = match R::from_json(body.to_string().as_bytes()) {
        Ok(_) => panic!("accepted: {body}"),
        Err(error) => error,
    };
    assert_eq!(error.code, ErrorCode::BadRequest);
    let details = error.details.expect("validation errors have details");
    let place = |detail: &Value| {
        let parts = detail["path"].as_array().unwrap().iter();
        assert!(!detail["message"].as_str().unwrap().is_empty());
        parts
            .map(|part| part.as_str().map_or(part.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join(".")
    };
    (
        details.as_array().unwrap().iter().map(place).collect(),
        error.message,
    )
}

#[test]
fn a_number_out_of_bounds_is_reported_with_its_unit() {
    let url = "https://a.test/";
    let (_, delay) = refuse::<CrawlRequest>(json!({"url": url, "delay": 1000}));
    assert_eq!(
        delay,
        "`delay` must be greater than 0 and at most 60 seconds, not 1000."
    );
    let (_, timeout) = refuse::<ScrapeRequest>(json!({"url": url, "timeout": 60}));
    assert_eq!(
        timeout,
        "`timeout` must be a whole number from 1000 to 300000 ms, not 60."
    );
}

#[test]
fn a_scrape_needs_only_a_url() {
    assert_eq!(
        accept::<ScrapeRequest>(json!({"url": "https://a.test/"})),
        json!({"url": "https://a.test/"})
    );
    let every_default = json!({
        "url": "a.test", "formats": ["markdown"], "onlyMainContent": true, "onlyCleanContent": false,
        "headers": {}, "waitFor": 0, "mobile": false, "timeout": 60000, "parsers": ["pdf"],
        "location": {"country": "us"}, "removeBase64Images": true, "blockAds": true, "proxy": "auto",
        "storeInCache": true, "lockdown": false, "redactPII": false, "zeroDataRetention": false,
        "fastMode": false, "useMock": "none", "domainTools": false,
        "threatProtection": {"mode": "off"}, "checkPromptInjection": false, "safeMode": false,
        "__experimental": {"x": 1}, "includeTags": null, "webhookless": null, "actions": []
    });
    let (places, _) = refuse::<ScrapeRequest>(every_default.clone());
    assert_eq!(places, ["webhookless"]);
    let mut fine = every_default;
    fine.as_object_mut().unwrap().remove("webhookless");
    assert_eq!(accept::<ScrapeRequest>(fine), json!({"url": "a.test"}));
}

#[test]
fn all_problems_are_reported_unknown_fields_first() {
    let body = json!({
        "ulr": "https://a.test", "scrapeOptions": {"formats": ["markdwn", {"type": "screenshot", "quality": 0}]},
        "limit": 0, "delay": 61, "sitemap": "all", "maxDiscoveryDepth": -1
    });
    let (places, sentence) = refuse::<CrawlRequest>(body);
    assert_eq!(
        places,
        [
            "ulr",
            "url",
            "maxDiscoveryDepth",
            "sitemap",
            "limit",
            "delay",
            "scrapeOptions.formats.0",
            "scrapeOptions.formats.1.quality"
        ]
    );
    assert!(
        sentence.contains("`ulr`") && sentence.contains("`url`"),
        "{sentence}"
    );
}

#[test]
fn a_format_can_be_requested_by_name_if_its_schema_says_so() {
    let Schema::OneOf(forms) = Format::schema(()) else {
        panic!("a format has several forms");
    };
    let Schema::Word(names) = forms[0] else {
        panic!("the first form of a format is its name");
    };
    for kind in FormatKind::ALL {
        let body = json!({"url": "https://a.test", "formats": ["markdown", kind.as_str()]});
        let accepted = ScrapeRequest::from_value(body).is_ok();
        assert_eq!(accepted, names.contains(&kind.as_str()), "{kind}");
    }
}

#[test]
fn every_field_of_a_crawl_is_parsed() {
    let body = json!({
        "url": "https://a.test/docs", "limit": 5.0, "maxDiscoveryDepth": 2, "sitemap": "skip",
        "includePaths": ["^/docs"], "delay": 0.5, "maxConcurrency": 3,
        "webhook": {"url": "https://hook.test/", "events": ["crawl.page", "completed", "page"], "metadata": {"a": [1]}},
        "scrapeOptions": {"formats": ["links", {"type": "markdown"}, "markdown"], "origin": "sdk"},
        "integration": null
    });
    assert_eq!(
        accept::<CrawlRequest>(body),
        json!({
            "url": "https://a.test/docs", "limit": 5, "maxDiscoveryDepth": 2, "sitemap": "skip",
            "includePaths": ["^/docs"], "delay": 0.5, "maxConcurrency": 3,
            "webhook": {"url": "https://hook.test/", "events": ["page", "completed"], "metadata": {"a": [1]}},
            "scrapeOptions": {"formats": ["links", "markdown"]}, "origin": "sdk"
        })
    );
}

#[test]
fn invalid_json_has_its_own_error_code() {
    let check = |body: &[u8], code: ErrorCode| {
        let error = ScrapeRequest::from_json(body).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(!error.message.is_empty());
    };
    check(b"", ErrorCode::InvalidJson);
    check(b"{\"url\": ", ErrorCode::InvalidJson);
    check(b"{\"url\": \"\xff\"}", ErrorCode::InvalidJson);
    check(br#"{"url": "\ud800"}"#, ErrorCode::InvalidJson);
    check("[".repeat(100_000).as_bytes(), ErrorCode::BadRequest);
    check(b"[]", ErrorCode::BadRequest);
    check(b"\"https://a.test\"", ErrorCode::BadRequest);
    check(b"null", ErrorCode::BadRequest);
}

#[test]
fn an_empty_body_is_read_where_no_field_is_required() {
    assert_eq!(
        BrowserRequest::from_json(b" \n").unwrap(),
        BrowserRequest::from_json(b"{}").unwrap()
    );
    assert!(MapRequest::from_json(b"").is_err());
}

#[test]
fn bodies_may_nest_up_to_64_levels() {
    let body = |levels: usize, text: &str| {
        let (open, close) = ("[".repeat(levels - 3), "]".repeat(levels - 3));
        // The body, the webhook and its metadata are three levels.
        format!(
            r#"{{"url": "a.test", "webhook": {{"url": "a.test", "metadata": {{"x": {open}{text}{close}}}}}}}"#
        )
    };
    let read = |levels, text| CrawlRequest::from_json(body(levels, text).as_bytes());
    assert!(read(64, "1").is_ok());
    let brackets_in_text = format!(r#""\"{}""#, "[{".repeat(100));
    assert!(read(64, &brackets_in_text).is_ok());
    assert!(read(10, "[],[],{},[[]]").is_ok());
    let error = read(65, "1").unwrap_err();
    assert_eq!(error.code, ErrorCode::BadRequest);
    assert!(error.message.contains("64"), "{error}");
}

#[test]
fn scraping_with_alexandria_is_not_supported() {
    let error = ScrapeRequest::from_json(br#"{"alexandria": {"id": "x"}}"#).unwrap_err();
    assert_eq!((error.code, error.status()), (ErrorCode::NotSupported, 501));
    let (places, _) = refuse::<ScrapeRequest>(json!({"url": "a.test", "alexandria": {}}));
    assert_eq!(places, ["alexandria"]);
    let feedback = br#"{"endpoint": "alexandria", "rating": "bad", "rationale": "x"}"#;
    assert_eq!(Feedback::from_json(feedback).unwrap_err().status(), 501);
}

#[test]
fn an_action_of_mcp_clients_is_a_pdf() {
    let read = |kind: &str| {
        ScrapeRequest::from_value(json!({"url": "a.test", "actions": [{"type": kind}]})).unwrap()
    };
    assert_eq!(read("generatePDF"), read("pdf"));
}

#[test]
fn hostile_bodies_get_short_errors_quickly() {
    let long = "k".repeat(1_000_000);
    let many: serde_json::Map<String, Value> = (0..100_000).map(|n| (format!("key{n}"), json!(n))).collect();
    let mut unknown = Value::Object(many.clone());
    unknown["url"] = json!("a.test");
    for body in [
        json!({"url": "a.test", long.clone(): 1}),
        json!({"url": "a.test", "headers": {long.clone(): 1}}),
        json!({"url": "a.test", "headers": {format!("{long} "): "v"}}),
        json!({"url": "a.test", "headers": many}),
        json!({"url": "a.test", "proxy": long.clone()}),
        json!({"url": format!("ftp{long}://a.test")}),
        json!({"url": "a.test", "includeTags": vec![1; 1000]}),
        unknown,
    ] {
        let error = ScrapeRequest::from_value(body).unwrap_err();
        assert!(error.message.len() < 500, "{} bytes", error.message.len());
        assert!(
            error.body().to_string().len() < 50_000,
            "{} bytes",
            error.body().to_string().len()
        );
    }
    let urls = json!({"urls": vec!["ftp://a"; 100_000], "ignoreInvalidURLs": false});
    let error = BatchScrapeRequest::from_value(urls).unwrap_err();
    assert_eq!(error.details.unwrap().as_array().unwrap().len(), 100);
}

/// Asserts that every name has a row below a heading of docs/COMPATIBILITY.md, with a verdict, and that it has
/// an effect.
#[track_caller]
fn check_verdicts(headings: &[&str], names: &[&str]) {
    let document = include_str!("../../../docs/COMPATIBILITY.md");
    let rows: Vec<Vec<&str>> = headings
        .iter()
        .flat_map(|heading| {
            let (_, rest) = document.split_once(&format!("# {heading}\n")).unwrap();
            rest.split("\n#").next().unwrap().lines()
        })
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    for name in names {
        let quoted = format!("`{name}`");
        let row = rows.iter().find(|row| row.len() > 3 && row[1].contains(&quoted));
        let row = row.unwrap_or_else(|| panic!("{headings:?} have no row for {name}"));
        assert!(
            ["works", "differs", "refused"].contains(&row[2]),
            "{name}: {row:?}"
        );
        assert!(!row[3].contains("ithout effect"), "{name} is ignored: {row:?}");
    }
}

#[test]
fn every_option_and_format_has_a_verdict_on_its_compatibility() {
    fn names<R: Wire>() -> Vec<&'static str> {
        R::fields().iter().map(|field| field.name).collect()
    }
    check_verdicts(&["Scrape options"], &names::<ScrapeRequest>());
    check_verdicts(&["Scrape options", "Crawl options"], &names::<CrawlRequest>());
    check_verdicts(&["Scrape options", "Map options"], &names::<MapRequest>());
    check_verdicts(&["Formats"], FormatKind::WORDS);
    check_verdicts(&["Parsers"], ParserKind::WORDS);
}
