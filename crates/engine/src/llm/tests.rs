use std::net::Ipv4Addr;
use std::sync::Mutex;

use harvestman_fetch::{AllowList, FetchConfig};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// An endpoint that returns these responses in order and then repeats the last one.
struct Endpoint {
    llm: Llm,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    async fn start(responses: &[&str]) -> Endpoint {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let responses: Vec<String> = responses.iter().map(|response| (*response).to_owned()).collect();
        let received = requests.clone();
        tokio::spawn(async move {
            let mut hanging = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !complete(&request) {
                    if stream.read_buf(&mut request).await.unwrap() == 0 {
                        break;
                    }
                }
                let count = {
                    let mut received = received.lock().unwrap();
                    received.push(String::from_utf8(request).unwrap());
                    received.len()
                };
                let response = &responses[(count - 1).min(responses.len() - 1)];
                if response == "hang" {
                    hanging.push(stream);
                    continue;
                }
                // The client may have gone away.
                let _gone = stream.write_all(response.as_bytes()).await;
            }
        });
        let fetcher = Fetcher::new(FetchConfig {
            allow_private_hosts: AllowList::parse(&address.to_string()).unwrap(),
            ..FetchConfig::default()
        });
        let config = LlmConfig {
            base_url: Url::parse(&format!("http://{address}/v1/")).unwrap(),
            api_key: Some("secret-key".to_owned()),
            model: "small".to_owned(),
        };
        Endpoint {
            llm: Llm::new(fetcher.unwrap(), config),
            requests,
        }
    }

    async fn chat(&self) -> Result<Reply, LlmError> {
        let deadline = Instant::now() + Duration::from_secs(20);
        self.llm
            .chat(&[Message::User("hello".to_owned())], &[], deadline)
            .await
    }

    fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

fn complete(request: &[u8]) -> bool {
    let request = String::from_utf8_lossy(request);
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length: ")?
            .parse::<usize>()
            .ok()
    });
    length.is_some_and(|length| body.len() >= length)
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn ok_response() -> String {
    let body = json!({"choices": [{"message": {"content": "yes"}}]}).to_string();
    http("200 OK", "Content-Type: application/json\r\n", &body)
}

fn status_error(status: u16, message: &str) -> LlmError {
    LlmError::Status {
        status,
        message: message.to_owned(),
    }
}

#[tokio::test]
async fn a_conversation_is_sent_with_the_api_key() {
    let endpoint = Endpoint::start(&[&ok_response()]).await;
    assert_eq!(endpoint.chat().await.unwrap().text.as_deref(), Some("yes"));
    let request = endpoint.requests.lock().unwrap()[0].clone();
    assert!(
        request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request
            .to_ascii_lowercase()
            .contains("\r\nauthorization: bearer secret-key\r\n")
    );
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(
        body,
        json!({"model": "small", "messages": [{"role": "user", "content": "hello"}]})
    );
    assert!(!format!("{:?}", endpoint.llm).contains("secret"));
}

#[tokio::test]
async fn transient_failures_are_retried() {
    for first in [
        http("429 Too Many Requests", "Retry-After: 0\r\n", "{}"),
        http("500 Oops", "", ""),
        http("503 Busy", "Retry-After: 1\r\n", ""),
        http("200 OK", "", "not json"),
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_owned(),
    ] {
        let endpoint = Endpoint::start(&[&first, &ok_response()]).await;
        assert_eq!(
            endpoint.chat().await.unwrap().text.as_deref(),
            Some("yes"),
            "{first}"
        );
        assert_eq!(endpoint.count(), 2);
    }
}

#[tokio::test]
async fn other_failures_are_returned_at_once() {
    let wrong = http("401 Unauthorized", "", r#"{"error":{"message":"wrong key"}}"#);
    let endpoint = Endpoint::start(&[&wrong]).await;
    let error = endpoint.chat().await.unwrap_err();
    assert_eq!(error, status_error(401, "wrong key"));
    assert_eq!(
        error.to_string(),
        "the language model returned status 401: wrong key"
    );
    assert_eq!(endpoint.count(), 1);
    // Redirects are not followed: the key is meant for this host only.
    let away = http("302 Found", "Location: http://127.0.0.1:1/\r\n", "");
    let endpoint = Endpoint::start(&[&away]).await;
    assert_eq!(endpoint.chat().await.unwrap_err(), status_error(302, ""));
}

#[tokio::test]
async fn retries_are_limited() {
    let endpoint = Endpoint::start(&[&http("429 Too Many Requests", "Retry-After: 0\r\n", "")]).await;
    assert_eq!(endpoint.chat().await.unwrap_err(), status_error(429, ""));
    assert_eq!(endpoint.count(), limits::LLM_ATTEMPTS as usize);
    // A wait beyond the deadline ends the retries.
    let endpoint = Endpoint::start(&[&http("429 Too Many Requests", "Retry-After: 19\r\n", "")]).await;
    let deadline = Instant::now() + Duration::from_secs(10);
    let reply = endpoint.llm.chat(&[], &[], deadline).await;
    assert_eq!(reply.unwrap_err(), status_error(429, ""));
    assert_eq!(endpoint.count(), 1);
}

#[tokio::test]
async fn a_silent_or_endless_endpoint_is_abandoned() {
    let endpoint = Endpoint::start(&["hang"]).await;
    let deadline = Instant::now() + Duration::from_millis(200);
    assert_eq!(
        endpoint.llm.chat(&[], &[], deadline).await.unwrap_err(),
        LlmError::Timeout
    );
    let body = "x".repeat(limits::LLM_RESPONSE_BYTES as usize + 1);
    let endpoint = Endpoint::start(&[&http("200 OK", "", &body)]).await;
    assert!(matches!(
        endpoint.chat().await.unwrap_err(),
        LlmError::Unreachable(_)
    ));
    assert_eq!(endpoint.count(), 1);
}

#[tokio::test]
async fn an_attempt_without_a_response_is_repeated() {
    let mut endpoint = Endpoint::start(&["hang", &ok_response()]).await;
    let shared = Arc::get_mut(&mut endpoint.llm.shared).unwrap();
    shared.attempt_time = Duration::from_secs(1);
    assert_eq!(endpoint.chat().await.unwrap().text.as_deref(), Some("yes"));
}

#[tokio::test]
async fn json_is_requested_in_a_format_that_the_endpoint_supports() {
    let no = http("400 Bad Request", "", r#"{"error":"unknown field"}"#);
    let says = |text: &str| {
        let usage = json!({"prompt_tokens": 5, "completion_tokens": 2});
        let body = json!({"choices": [{"message": {"content": text}}], "usage": usage});
        http("200 OK", "", &body.to_string())
    };
    let endpoint = Endpoint::start(&[&no, &no, &says("gladly!"), &says("```json\n{\"a\": 1}\n```")]).await;
    let schema = json!({"type": "object"});
    let deadline = Instant::now() + Duration::from_secs(20);
    let messages = [Message::User("hello".to_owned())];
    let reply = endpoint
        .llm
        .chat_json(&messages, ReplyFormat::Schema("form", &schema), deadline)
        .await
        .unwrap();
    assert_eq!(reply.value, json!({"a": 1}));
    assert_eq!((reply.usage.input_tokens, reply.usage.total_tokens), (10, 14));
    let requests = endpoint.requests.lock().unwrap().clone();
    let form = |request: &String| {
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        body["response_format"]["type"].clone()
    };
    let forms: Vec<Value> = requests.iter().map(form).collect();
    assert_eq!(
        forms,
        [
            json!("json_schema"),
            json!("json_object"),
            Value::Null,
            json!("json_schema")
        ]
    );
}

#[test]
fn the_endpoint_is_derived_from_the_base_url() {
    for (base, expected) in [
        ("https://m.test/v1", "https://m.test/v1/chat/completions"),
        ("https://m.test/v1/", "https://m.test/v1/chat/completions"),
        ("https://m.test", "https://m.test/chat/completions"),
        (
            "https://m.test/x?api-version=1",
            "https://m.test/x/chat/completions?api-version=1",
        ),
        (
            "https://m.test/v1/chat/completions",
            "https://m.test/v1/chat/completions",
        ),
    ] {
        assert_eq!(endpoint(&Url::parse(base).unwrap()).as_str(), expected);
    }
}
