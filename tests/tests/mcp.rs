//! `harvestman mcp` with a client of the Model Context Protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use harvestman_tests::server::{self, KEY};
use harvestman_tests::{Page, Site, TestServer};
use serde_json::{Value, json};

/// A client that waits for each response.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    fn start(server: &TestServer) -> Client {
        let mut child = Command::new(server::binary().unwrap())
            .arg("mcp")
            .env("HARVESTMAN_API_URL", format!("http://{}", server.address()))
            .env("HARVESTMAN_API_KEY", KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Client {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            last_id: 0,
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect(&line)
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let response = self.receive();
        assert_eq!(response["id"], id);
        response
    }

    /// Calls a tool and returns the text of its result, and whether it is an error.
    fn call(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let response = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        let result = &response["result"];
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{response}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"].as_bool().unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_send_requests_and_return_results() {
    let server = TestServer::start().await;
    let site = Site::new()
        .page("/", Page::links("Start", &["/a"]))
        .page("/a", Page::links("A", &[]))
        .serve()
        .await;
    let (start, a) = (site.url("/"), site.url("/a"));
    let mut client = Client::start(&server);
    let story = move || {
        let hello = client.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}}),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "harvestman");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let tools = client.request("tools/list", json!({}));
        let tools = tools["result"]["tools"].as_array().unwrap().clone();
        assert!(tools.iter().any(|tool| tool["name"] == "harvestman_scrape"));

        let (page, failed) = client.call("harvestman_scrape", json!({"url": a}));
        assert!(!failed && page.starts_with("# A\n"), "{page}");
        let (links, failed) = client.call("harvestman_map", json!({"url": start}));
        assert!(!failed && links.lines().any(|link| link == a), "{links}");
        let (problem, failed) = client.call("harvestman_scrape", json!({"url": a, "wait": 1}));
        assert!(
            failed && problem.contains("`wait` is not a known field"),
            "{problem}"
        );
        let (problem, failed) = client.call("harvestman_scrape", json!({"url": "http://127.0.0.1:1/"}));
        assert!(failed && problem.contains("127.0.0.1"), "{problem}");

        let (started, failed) = client.call("harvestman_crawl", json!({"url": start}));
        let id = serde_json::from_str::<Value>(&started).unwrap()["id"].clone();
        assert!(!failed && id.is_string(), "{started}");
        let status = loop {
            let (status, _) = client.call("harvestman_status", json!({"kind": "crawl", "id": id}));
            let status: Value = serde_json::from_str(&status).unwrap();
            if status["status"] != "scraping" {
                break status;
            }
        };
        assert_eq!(
            (&status["status"], &status["completed"]),
            (&json!("completed"), &json!(2))
        );
        let rest = json!({"kind": "crawl", "id": id, "skip": 1, "limit": 1});
        let (rest, _) = client.call("harvestman_status", rest);
        let rest: Value = serde_json::from_str(&rest).unwrap();
        assert_eq!(
            rest["data"].as_array().unwrap()[..],
            status["data"].as_array().unwrap()[1..]
        );

        let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}});
        let (data, failed) = client.call("harvestman_extract", json!({"urls": [a], "schema": schema}));
        assert!(!failed);
        assert_eq!(
            serde_json::from_str::<Value>(&data).unwrap(),
            json!({"title": "A"})
        );

        // Calls that are running at the end of the input still get a response.
        client.send(&json!({"jsonrpc": "2.0", "id": "last", "method": "tools/call",
            "params": {"name": "harvestman_scrape", "arguments": {"url": a}}}));
        drop(client.input);
        let mut last = String::new();
        client.output.read_line(&mut last).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&last).unwrap()["id"], "last");
        assert!(client.child.wait().unwrap().success());
    };
    tokio::task::spawn_blocking(story).await.unwrap();
}
