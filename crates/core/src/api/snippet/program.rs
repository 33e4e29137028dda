//! Requests as calls of the program itself: its command line, or a message to its MCP server.

use crate::api::body::{Body, Node};
use crate::api::command::{RequestCommand, flag};
use crate::api::snippet::{Call, JSON, KEY_VARIABLE, shell_word, write};
use serde_json::Value;

impl Call<'_> {
    /// Returns the command that sends this request, and its body.
    fn command(&self) -> Option<(RequestCommand, &Body)> {
        let command = RequestCommand::of_path(self.path).filter(|_| self.method == "POST")?;
        Some((command, self.body?))
    }

    pub(super) fn cli(&self) -> Option<String> {
        let (command, body) = self.command()?;
        let mut parts = vec![format!("harvestman {command}")];
        for (name, node) in body.fields() {
            match subject(node).filter(|_| *name == command.subject()) {
                Some(words) => parts[0].push_str(&words),
                None => parts.push(format!("--{} {}", flag::flag(name), text(node))),
            }
        }
        parts.push(format!("--api-url {}", word(self.base)));
        if self.with_key {
            parts.push(format!("--api-key \"${KEY_VARIABLE}\""));
        }
        Some(parts.join(" \\\n  "))
    }

    pub(super) fn mcp(&self) -> Option<String> {
        let (command, body) = self.command()?;
        let mut params = Body::default();
        params.put("name", &command.tool());
        params.put("arguments", body);
        let mut message = Body::default();
        message.put("jsonrpc", "2.0");
        message.put("id", &1u32);
        message.put("method", "tools/call");
        message.put("params", &params);
        Some(write(&Node::Object(message), &JSON, 0))
    }
}

/// Returns the subject of the request as shell words, each after a space, or `None` if a word would be parsed
/// as a flag.
fn subject(node: &Node) -> Option<String> {
    let items = match node {
        Node::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let words = items.iter().map(|item| match item {
        Node::Value(Value::String(text)) if !text.starts_with('-') => Some(format!(" {}", word(text))),
        _ => None,
    });
    words.collect()
}

/// Returns a value as the text of a flag.
fn text(node: &Node) -> String {
    let text = match node {
        Node::Value(Value::String(text)) => text.clone(),
        Node::Array(items) => flag::words(items).unwrap_or_else(|| write(node, &JSON, 1)),
        _ => write(node, &JSON, 1),
    };
    word(&text)
}

/// Returns a shell word, quoted if necessary.
fn word(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    match !text.is_empty() && text.chars().all(is_bare) {
        true => text.to_owned(),
        false => shell_word(text),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::api::snippet::SnippetLanguage;

    fn check(command: RequestCommand, language: SnippetLanguage, body: Value, expected: Expect) {
        let body = command.check(body).unwrap();
        let call = Call {
            method: "POST",
            base: "http://localhost:3002",
            path: command.path(),
            body: Some(&body),
            with_key: true,
        };
        expected.assert_eq(&call.snippet(language).unwrap());
    }

    #[test]
    fn a_crawl_on_the_command_line() {
        check(
            RequestCommand::Crawl,
            SnippetLanguage::Cli,
            json!({"url": "https://example.com/it's?a=b", "limit": 5, "includePaths": ["^/a\\d", "^/b,c"],
                "excludePaths": ["/old", "/x"], "allowSubdomains": true, "webhook": "https://example.com/hook",
                "scrapeOptions": {"formats": ["markdown", "links"], "timeout": 5000}}),
            expect![[r#"
                harvestman crawl 'https://example.com/it'\''s?a=b' \
                  --exclude-paths /old,/x \
                  --include-paths '["^/a\\d", "^/b,c"]' \
                  --limit 5 \
                  --allow-subdomains true \
                  --webhook https://example.com/hook \
                  --scrape-options '{
                    "formats": ["markdown", "links"],
                    "timeout": 5000
                  }' \
                  --api-url http://localhost:3002 \
                  --api-key "$HARVESTMAN_API_KEY""#]],
        );
    }

    #[test]
    fn every_request_has_its_words() {
        for (command, body, expected) in [
            (
                RequestCommand::Scrape,
                json!({"url": "https://a.test", "formats": ["html"]}),
                "scrape https://a.test --formats html",
            ),
            (
                RequestCommand::Batch,
                json!({"urls": ["https://a.test", "https://b.test/?x"]}),
                "batch https://a.test 'https://b.test/?x'",
            ),
            (
                RequestCommand::Map,
                json!({"url": "https://a.test", "search": "a b"}),
                "map https://a.test --search 'a b'",
            ),
            (
                RequestCommand::Search,
                json!({"query": "owls of Europe"}),
                "search 'owls of Europe'",
            ),
            (
                RequestCommand::Search,
                json!({"query": "-a"}),
                "search --query -a",
            ),
            (
                RequestCommand::Extract,
                json!({"urls": ["https://a.test"], "prompt": "all"}),
                "extract https://a.test --prompt all",
            ),
            (
                RequestCommand::Agent,
                json!({"prompt": "find it"}),
                "agent 'find it'",
            ),
        ] {
            let body = command.check(body).unwrap();
            let call = Call {
                method: "POST",
                base: "http://a.test",
                path: command.path(),
                body: Some(&body),
                with_key: false,
            };
            let code = call.snippet(SnippetLanguage::Cli).unwrap().replace(" \\\n ", "");
            assert_eq!(code, format!("harvestman {expected} --api-url http://a.test"));
        }
    }

    #[test]
    fn a_message_to_the_mcp_server() {
        check(
            RequestCommand::Search,
            SnippetLanguage::Mcp,
            json!({"query": "owls", "limit": 3, "scrapeOptions": {"formats": ["html"]}}),
            expect![[r#"
                {
                  "jsonrpc": "2.0",
                  "id": 1,
                  "method": "tools/call",
                  "params": {
                    "name": "harvestman_search",
                    "arguments": {
                      "query": "owls",
                      "limit": 3,
                      "scrapeOptions": {
                        "formats": ["html"]
                      }
                    }
                  }
                }"#]],
        );
    }

    #[test]
    fn other_calls_are_no_commands() {
        let call = Call {
            method: "GET",
            base: "http://a.test",
            path: "/v2/crawl/active",
            body: None,
            with_key: false,
        };
        assert_eq!(call.snippet(SnippetLanguage::Cli), None);
        assert_eq!(call.snippet(SnippetLanguage::Mcp), None);
    }
}
