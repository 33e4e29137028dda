//! API calls as code to paste: curl, Node, Python, Rust, a command of the program, or a message to its MCP
//! server. The code never contains the key, only the name of the variable that holds it, and contains only
//! the fields of the body that differ from their defaults.

mod program;

use serde_json::Value;

use crate::api::body::{Body, Node};
use crate::api::wire_enum::wire_enum;

/// Environment variable that holds the key.
pub const KEY_VARIABLE: &str = "HARVESTMAN_API_KEY";

wire_enum! {
    /// Language of a snippet.
    SnippetLanguage {
        /// Shell command.
        Curl = "curl",
        /// JavaScript with `fetch`.
        Node = "node",
        /// Python with `requests`.
        Python = "python",
        /// Rust with `ureq`.
        Rust = "rust",
        /// Command line of the program itself.
        Cli = "cli",
        /// Tool call, as JSON-RPC.
        Mcp = "mcp",
    }
}

/// Call of the API.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// HTTP method: `GET`, `POST`, ...
    pub method: &'a str,
    /// URL of the server, without a trailing slash.
    pub base: &'a str,
    /// Path with query and a leading slash.
    pub path: &'a str,
    /// Request body, if there is one.
    pub body: Option<&'a Body>,
    /// Whether the server requires a key.
    pub with_key: bool,
}

impl Call<'_> {
    /// Returns the call in a language. Returns `None` for `Cli` if no command of the program makes the call,
    /// and for `Mcp` if no tool does.
    pub fn snippet(&self, language: SnippetLanguage) -> Option<String> {
        match language {
            SnippetLanguage::Curl => Some(self.curl()),
            SnippetLanguage::Node => Some(self.node()),
            SnippetLanguage::Python => Some(self.python()),
            SnippetLanguage::Rust => Some(self.rust()),
            SnippetLanguage::Cli => self.cli(),
            SnippetLanguage::Mcp => self.mcp(),
        }
    }

    fn url(&self) -> String {
        format!("{}{}", self.base, self.path)
    }

    fn curl(&self) -> String {
        let mut text = format!("curl -X {} {}", self.method, shell_word(&self.url()));
        if self.with_key {
            text.push_str(&format!(" \\\n  -H \"Authorization: Bearer ${KEY_VARIABLE}\""));
        }
        if let Some(body) = self.body {
            text.push_str(" \\\n  -H 'Content-Type: application/json' \\\n  -d ");
            text.push_str(&shell_word(&write(&Node::Object(body.clone()), &JSON, 0)));
        }
        text
    }

    fn node(&self) -> String {
        let mut text = format!("const response = await fetch({}, {{\n", json_string(&self.url()));
        text.push_str(&format!("  method: {},\n", json_string(self.method)));
        if self.with_key || self.body.is_some() {
            text.push_str("  headers: {\n");
            if self.with_key {
                let key = format!("`Bearer ${{process.env.{KEY_VARIABLE}}}`");
                text.push_str(&format!("    Authorization: {key},\n"));
            }
            if self.body.is_some() {
                text.push_str("    \"Content-Type\": \"application/json\",\n");
            }
            text.push_str("  },\n");
        }
        if let Some(body) = self.body {
            let body = write(&Node::Object(body.clone()), &JAVASCRIPT, 1);
            text.push_str(&format!("  body: JSON.stringify({body}),\n"));
        }
        text.push_str("});\nconsole.log(await response.json());");
        text
    }

    fn python(&self) -> String {
        let mut text = String::new();
        if self.with_key {
            text.push_str("import os\n\n");
        }
        text.push_str("import requests\n\nresponse = requests.request(\n");
        text.push_str(&format!(
            "    {},\n    {},\n",
            json_string(self.method),
            json_string(&self.url())
        ));
        if self.with_key {
            let key = format!("\"Bearer \" + os.environ[\"{KEY_VARIABLE}\"]");
            text.push_str(&format!("    headers={{\"Authorization\": {key}}},\n"));
        }
        if let Some(body) = self.body {
            let body = write(&Node::Object(body.clone()), &PYTHON, 1);
            text.push_str(&format!("    json={body},\n"));
        }
        text.push_str(")\nprint(response.json())");
        text
    }

    fn rust(&self) -> String {
        let verb = self.method.to_ascii_lowercase();
        let mut text = String::from("// cargo add serde_json; cargo add ureq --features json\n");
        text.push_str("fn main() -> Result<(), Box<dyn std::error::Error>> {\n");
        text.push_str(&format!(
            "    let mut response = ureq::{verb}({})\n",
            rust_string(&self.url())
        ));
        if self.with_key {
            let key = format!("format!(\"Bearer {{}}\", std::env::var(\"{KEY_VARIABLE}\")?)");
            text.push_str(&format!("        .header(\"Authorization\", {key})\n"));
        }
        match self.body {
            Some(body) => {
                let body = write(&Node::Object(body.clone()), &RUST, 2);
                text.push_str(&format!("        .send_json(serde_json::json!({body}))?;\n"));
            }
            None => text.push_str("        .call()?;\n"),
        }
        text.push_str("    let response: serde_json::Value = response.body_mut().read_json()?;\n");
        text.push_str("    println!(\"{response}\");\n    Ok(())\n}");
        text
    }
}

/// Returns a Rust string literal.
fn rust_string(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a quoted shell word in which nothing is expanded.
pub fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a JSON string, which is also a string literal of JavaScript and Python.
pub fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Literals of a language.
struct Dialect {
    indent: &'static str,
    bare_keys: bool,
    trailing_comma: bool,
    constants: [&'static str; 3],
    string: fn(&str) -> String,
}

const JSON: Dialect = Dialect {
    indent: "  ",
    bare_keys: false,
    trailing_comma: false,
    constants: ["null", "true", "false"],
    string: json_string,
};
const JAVASCRIPT: Dialect = Dialect {
    bare_keys: true,
    trailing_comma: true,
    ..JSON
};
const PYTHON: Dialect = Dialect {
    indent: "    ",
    trailing_comma: true,
    constants: ["None", "True", "False"],
    ..JSON
};
const RUST: Dialect = Dialect {
    indent: "    ",
    string: rust_string,
    ..JSON
};

/// Maximum characters of a list that is written on one line.
const LINE_CHARS: usize = 60;

fn write(node: &Node, dialect: &Dialect, depth: usize) -> String {
    match node {
        Node::Value(value) => write_value(value, dialect, depth),
        Node::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| write(item, dialect, depth + 1)).collect();
            write_list(items, dialect, depth)
        }
        Node::Object(body) => {
            let fields = body.fields().iter();
            let entries = fields
                .map(|(name, value)| (*name, write(value, dialect, depth + 1)))
                .collect::<Vec<_>>();
            write_object(&entries, dialect, depth)
        }
    }
}

fn write_value(value: &Value, dialect: &Dialect, depth: usize) -> String {
    let [null, yes, no] = dialect.constants;
    match value {
        Value::Null => null.to_owned(),
        Value::Bool(true) => yes.to_owned(),
        Value::Bool(false) => no.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => (dialect.string)(text),
        Value::Array(items) => {
            let items = items
                .iter()
                .map(|item| write_value(item, dialect, depth + 1))
                .collect();
            write_list(items, dialect, depth)
        }
        Value::Object(map) => {
            let entries: Vec<(&str, String)> = map
                .iter()
                .map(|(name, value)| (name.as_str(), write_value(value, dialect, depth + 1)))
                .collect();
            write_object(&entries, dialect, depth)
        }
    }
}

fn write_list(items: Vec<String>, dialect: &Dialect, depth: usize) -> String {
    let one_line = items.join(", ");
    if !one_line.contains('\n') && one_line.chars().count() <= LINE_CHARS {
        return format!("[{one_line}]");
    }
    write_lines('[', &items, ']', dialect, depth)
}

fn write_object(entries: &[(&str, String)], dialect: &Dialect, depth: usize) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let line = |(name, value): &(&str, String)| match dialect.bare_keys && is_name(name) {
        true => format!("{name}: {value}"),
        false => format!("{}: {value}", (dialect.string)(name)),
    };
    let lines: Vec<String> = entries.iter().map(line).collect();
    write_lines('{', &lines, '}', dialect, depth)
}

fn write_lines(open: char, lines: &[String], close: char, dialect: &Dialect, depth: usize) -> String {
    let inner = dialect.indent.repeat(depth + 1);
    let comma = if dialect.trailing_comma { "," } else { "" };
    let lines = lines.join(&format!(",\n{inner}"));
    format!(
        "{open}\n{inner}{lines}{comma}\n{}{close}",
        dialect.indent.repeat(depth)
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::api::wire_enum::WireEnum;
    use crate::api::{CrawlRequest, Wire};

    fn check(language: SnippetLanguage, request: &str, expected: expect_test::Expect) {
        let body = CrawlRequest::from_json(request.as_bytes()).unwrap().to_body();
        let call = Call {
            method: "POST",
            base: "http://localhost:3002",
            path: "/v2/crawl",
            body: Some(&body),
            with_key: true,
        };
        expected.assert_eq(&call.snippet(language).unwrap());
    }

    const SMALL: &str = r#"{"url":"https://example.com","limit":10000}"#;
    const LARGE: &str = r#"{"url":"https://example.com/it's","limit":5,"includePaths":["^/a\\d"],"allowSubdomains":true,
        "scrapeOptions":{"formats":["markdown",{"type":"json","prompt":"x","schema":{"type":"object","a-b":null}}]}}"#;

    #[test]
    fn curl() {
        check(
            SnippetLanguage::Curl,
            SMALL,
            expect![[r#"
            curl -X POST 'http://localhost:3002/v2/crawl' \
              -H "Authorization: Bearer $HARVESTMAN_API_KEY" \
              -H 'Content-Type: application/json' \
              -d '{
              "url": "https://example.com"
            }'"#]],
        );
        check(
            SnippetLanguage::Curl,
            LARGE,
            expect![[r#"
            curl -X POST 'http://localhost:3002/v2/crawl' \
              -H "Authorization: Bearer $HARVESTMAN_API_KEY" \
              -H 'Content-Type: application/json' \
              -d '{
              "url": "https://example.com/it'\''s",
              "includePaths": ["^/a\\d"],
              "limit": 5,
              "allowSubdomains": true,
              "scrapeOptions": {
                "formats": [
                  "markdown",
                  {
                    "type": "json",
                    "prompt": "x",
                    "schema": {
                      "a-b": null,
                      "type": "object"
                    }
                  }
                ]
              }
            }'"#]],
        );
    }

    #[test]
    fn node() {
        check(
            SnippetLanguage::Node,
            LARGE,
            expect![[r#"
            const response = await fetch("http://localhost:3002/v2/crawl", {
              method: "POST",
              headers: {
                Authorization: `Bearer ${process.env.HARVESTMAN_API_KEY}`,
                "Content-Type": "application/json",
              },
              body: JSON.stringify({
                url: "https://example.com/it's",
                includePaths: ["^/a\\d"],
                limit: 5,
                allowSubdomains: true,
                scrapeOptions: {
                  formats: [
                    "markdown",
                    {
                      type: "json",
                      prompt: "x",
                      schema: {
                        "a-b": null,
                        type: "object",
                      },
                    },
                  ],
                },
              }),
            });
            console.log(await response.json());"#]],
        );
    }

    #[test]
    fn python() {
        check(
            SnippetLanguage::Python,
            LARGE,
            expect![[r#"
            import os

            import requests

            response = requests.request(
                "POST",
                "http://localhost:3002/v2/crawl",
                headers={"Authorization": "Bearer " + os.environ["HARVESTMAN_API_KEY"]},
                json={
                    "url": "https://example.com/it's",
                    "includePaths": ["^/a\\d"],
                    "limit": 5,
                    "allowSubdomains": True,
                    "scrapeOptions": {
                        "formats": [
                            "markdown",
                            {
                                "type": "json",
                                "prompt": "x",
                                "schema": {
                                    "a-b": None,
                                    "type": "object",
                                },
                            },
                        ],
                    },
                },
            )
            print(response.json())"#]],
        );
    }

    #[test]
    fn rust() {
        check(
            SnippetLanguage::Rust,
            LARGE,
            expect![[r##"
            // cargo add serde_json; cargo add ureq --features json
            fn main() -> Result<(), Box<dyn std::error::Error>> {
                let mut response = ureq::post("http://localhost:3002/v2/crawl")
                    .header("Authorization", format!("Bearer {}", std::env::var("HARVESTMAN_API_KEY")?))
                    .send_json(serde_json::json!({
                        "url": "https://example.com/it's",
                        "includePaths": ["^/a\\d"],
                        "limit": 5,
                        "allowSubdomains": true,
                        "scrapeOptions": {
                            "formats": [
                                "markdown",
                                {
                                    "type": "json",
                                    "prompt": "x",
                                    "schema": {
                                        "a-b": null,
                                        "type": "object"
                                    }
                                }
                            ]
                        }
                    }))?;
                let response: serde_json::Value = response.body_mut().read_json()?;
                println!("{response}");
                Ok(())
            }"##]],
        );
        let call = Call {
            method: "DELETE",
            base: "http://a.test",
            path: "/v2/crawl/\u{7}",
            body: None,
            with_key: false,
        };
        // JSON would write this character as \u0007.
        let code = call.snippet(SnippetLanguage::Rust).unwrap();
        assert!(
            code.contains(r#"ureq::delete("http://a.test/v2/crawl/\u{7}")"#),
            "{code}"
        );
    }

    #[test]
    fn a_server_without_keys_is_called_without_one() {
        let call = Call {
            method: "GET",
            base: "http://a.test",
            path: "/v2/crawl/active",
            body: None,
            with_key: false,
        };
        for language in SnippetLanguage::ALL {
            assert!(call.snippet(*language).is_none_or(|code| !code.contains("KEY")));
        }
        assert_eq!(
            call.snippet(SnippetLanguage::Curl).as_deref(),
            Some("curl -X GET 'http://a.test/v2/crawl/active'")
        );
    }

    #[test]
    fn calls_without_a_body() {
        let call = Call {
            method: "GET",
            base: "http://localhost:3002",
            path: "/v2/crawl/1?skip=5",
            body: None,
            with_key: true,
        };
        expect![[r#"
            curl -X GET 'http://localhost:3002/v2/crawl/1?skip=5' \
              -H "Authorization: Bearer $HARVESTMAN_API_KEY""#]]
        .assert_eq(&call.snippet(SnippetLanguage::Curl).unwrap());
        expect![[r#"
            const response = await fetch("http://localhost:3002/v2/crawl/1?skip=5", {
              method: "GET",
              headers: {
                Authorization: `Bearer ${process.env.HARVESTMAN_API_KEY}`,
              },
            });
            console.log(await response.json());"#]]
        .assert_eq(&call.snippet(SnippetLanguage::Node).unwrap());
        expect![[r#"
            import os

            import requests

            response = requests.request(
                "GET",
                "http://localhost:3002/v2/crawl/1?skip=5",
                headers={"Authorization": "Bearer " + os.environ["HARVESTMAN_API_KEY"]},
            )
            print(response.json())"#]]
        .assert_eq(&call.snippet(SnippetLanguage::Python).unwrap());
    }
}
