//! APIs that a crate may use: the pure crates use none of the system, the others only those of their purpose.

use crate::source::Source;

/// Rule that restricts an API to some folders.
struct Rule {
    what: &'static str,
    words: &'static [&'static str],
    only: Only,
}

enum Only {
    /// Forbidden in these folders.
    NotIn(&'static [&'static str]),
    /// Allowed only in these folders.
    In(&'static [&'static str]),
    /// Allowed only in these folders and in integration tests.
    InAndTests(&'static [&'static str]),
}

/// Pure crates, which get everything as values.
const PURE: &[&str] = &["crates/content/src", "crates/core/src"];

const RULES: &[Rule] = &[
    Rule {
        what: "async runtime",
        words: &["tokio", "async_std", "futures_util"],
        only: Only::NotIn(PURE),
    },
    Rule {
        what: "network",
        words: &[
            "std::net::TcpStream", "std::net::UdpSocket", "std::net::TcpListener", "ToSocketAddrs",
        ],
        only: Only::NotIn(PURE),
    },
    Rule {
        what: "files",
        words: &["std::fs", "std::env", "std::thread"],
        only: Only::NotIn(PURE),
    },
    Rule {
        what: "clock",
        words: &["Instant", "SystemTime", "Timestamp::now", "Zoned::now"],
        only: Only::NotIn(PURE),
    },
    Rule {
        what: "randomness",
        words: &["getrandom", "rand", "new_v4", "now_v7", "RandomState"],
        only: Only::NotIn(PURE),
    },
    Rule {
        what: "outgoing connections",
        words: &[
            "hyper::client", "hyper_util::client", "hyper_rustls", "TcpStream::connect", "reqwest", "ureq",
        ],
        only: Only::InAndTests(&["crates/fetch/src"]),
    },
    Rule {
        what: "processes",
        words: &["std::process::Command", "process::Command", "tokio::process"],
        only: Only::InAndTests(&[
            "crates/browser/src",
            "crates/engine/src/file_reader.rs",
            // Start tesseract within limits.
            "crates/engine/src/text_recognition.rs",
            "crates/server/src/recognize_text.rs",
            // Runs package managers, with consent.
            "crates/server/src/setup.rs",
            "crates/xtask/src",
        ]),
    },
    Rule {
        what: "SQL",
        words: &["sqlx", "rusqlite"],
        only: Only::In(&["crates/store/src", "crates/store/tests", "crates/store/examples"]),
    },
    Rule {
        what: "HTTP serving",
        words: &["axum"],
        only: Only::In(&["crates/server/src", "crates/server/tests"]),
    },
];

pub(super) fn problems(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for rule in RULES {
        for source in sources.iter().filter(|source| rule.forbids(source)) {
            for word in rule.words {
                let lines = source.lines_with(word);
                found.extend(lines.into_iter().map(|line| {
                    format!(
                        "{}:{line}: `{word}` ({}) is not allowed in this crate",
                        source.path.display(),
                        rule.what
                    )
                }));
            }
        }
    }
    found
}

impl Rule {
    fn forbids(&self, source: &Source) -> bool {
        match self.only {
            Only::NotIn(folders) => folders.iter().any(|folder| source.is_under(folder)),
            Only::In(folders) => !folders.iter().any(|folder| source.is_under(folder)),
            Only::InAndTests(folders) => {
                !source.is_test() && !folders.iter().any(|folder| source.is_under(folder))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_api_is_allowed_only_in_its_crate() {
        let check = |path: &str, code: &str, expected: usize| {
            assert_eq!(
                problems(&[Source::of(path, code)]).len(),
                expected,
                "{path}: {code}"
            );
        };
        check("crates/core/src/crawl.rs", "let now = Instant::now();", 1);
        check("crates/engine/src/driver.rs", "let now = Instant::now();", 0);
        check("crates/content/src/lib.rs", "use std::fs;", 1);
        check("crates/core/src/ids.rs", "Uuid::new_v4()", 1);
        check("crates/core/src/crawl.rs", "let random = 4;", 0);
        check("crates/engine/src/driver.rs", "sqlx::query(q)", 1);
        check("crates/store/src/sqlite.rs", "sqlx::query(q)", 0);
        check("crates/engine/src/lib.rs", "use axum::Router;", 1);
        check("crates/engine/src/llm.rs", "TcpStream::connect(a)", 1);
        check(
            "crates/server/tests/http/connections.rs",
            "TcpStream::connect(a)",
            0,
        );
        check("crates/server/src/main.rs", "tokio::process::Command::new(a)", 2);
    }
}
